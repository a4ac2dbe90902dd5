from itertools import product

import numpy as np
import pytest

from mtmkl.datasets.ising import ising_graphs, state_probabilities, states


@pytest.mark.parametrize("n_nodes", [2, 3, 5])
def test_probabilities_against_the_definition(n_nodes):
    rng = np.random.default_rng(n_nodes)
    upper = np.triu(rng.normal(size=(n_nodes, n_nodes)), 1)
    coupling, field = upper + upper.T, rng.normal(size=n_nodes)
    listed = states(np.arange(2**n_nodes), n_nodes)
    assert {*map(tuple, listed)} == {*product((0, 1), repeat=n_nodes)}
    weights = np.exp([x @ field + x @ coupling @ x for x in listed])
    found = state_probabilities(coupling, field)
    np.testing.assert_allclose(found, weights / weights.sum(), rtol=1e-12)


def test_tasks_are_nodes():
    data = ising_graphs(n_nodes=4, n_train=10, n_test=5, seed=1)
    assert data.n_tasks == 4
    assert np.all(data.task_sizes == 15)
    for m in range(4):
        rows = data.rows_of(m)
        np.testing.assert_array_equal(data.X[rows], data.X[data.rows_of(0)])
        np.testing.assert_array_equal(data.y[rows], 2 * data.X[rows, m] - 1)
        assert data.truth["is_test"][rows].sum() == 5
    adjacency, coupling = data.truth["adjacency"], data.truth["coupling"]
    np.testing.assert_array_equal(adjacency, adjacency.T)
    np.testing.assert_array_equal(coupling != 0, adjacency == 1)
    assert 0 < adjacency.sum() < 12
    magnitude = np.abs(coupling[adjacency == 1])
    assert 0.5 <= magnitude.min() <= magnitude.max() <= 1.5


def test_nodes_are_balanced_and_samples_follow_the_model():
    data = ising_graphs(n_nodes=5, n_train=40_000, n_test=1, seed=2)
    X = data.X[data.rows_of(0)]
    np.testing.assert_allclose(X.mean(axis=0), 0.5, atol=0.02)
    chance = state_probabilities(data.truth["coupling"], data.truth["field"])
    numbers = (X @ 2 ** np.arange(5)).astype(int)
    found = np.bincount(numbers, minlength=32) / len(X)
    # Six standard deviations of a share at most.
    assert np.all(np.abs(found - chance) <= 6 * np.sqrt(chance / len(X)))


def test_more_samples_extend_the_same_draw():
    few, many = (ising_graphs(n_train=n, n_test=3, seed=4) for n in (20, 50))
    np.testing.assert_array_equal(few.truth["coupling"], many.truth["coupling"])
    np.testing.assert_array_equal(few.X[:20], many.X[:20])
    other = ising_graphs(n_train=20, n_test=3, seed=5)
    assert not np.array_equal(few.truth["coupling"], other.truth["coupling"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_nodes": 21}, "'n_nodes' .* Got 21"),
        ({"least_coupling": 2.0}, "least_coupling is 2.0, more than the 1.5 of"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        ising_graphs(**options)
