"""Strings of the benchmarks: their features, and the map of all terms written out."""

import numpy as np
import pytest


@pytest.fixture
def strings(benchmark):
    return benchmark("strings")


def test_strings_are_counts_of_norm_one(strings):
    X, y, task = strings.draw_strings(1203)
    assert X.shape == (1203, strings.N_FEATURES)
    assert X.has_canonical_format
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1.0)
    assert 430 < np.diff(X.indptr).mean() < 480
    # Of 500 draws the least count is 1: all entries are whole multiples of the least.
    row = X[0].data / X[0].data.min()
    np.testing.assert_allclose(row, np.round(row))
    assert set(np.unique(y)) == {-1.0, 1.0}
    assert set(np.unique(task)) == set(range(strings.N_TASKS))
    again = strings.draw_strings(1203)[0]
    np.testing.assert_array_equal(again.data, X.data)


def test_expanded_map_has_the_sum_kernel(strings):
    X, _, task = strings.draw_strings(60)
    theta = np.array([0.2, 0.5, 1.3])
    Z = strings.expanded(X, task, theta)
    similarity = np.tensordot(theta, np.array(strings.TASK_KERNELS), axes=1)
    wanted = (X @ X.T).toarray() * similarity[np.ix_(task, task)]
    np.testing.assert_allclose((Z @ Z.T).toarray(), wanted, atol=1e-12)
