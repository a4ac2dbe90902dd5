import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from mtmkl.kernels.base import from_spec
from mtmkl.kernels.precomputed import ExponentialDistance, Precomputed
from mtmkl.methods import IndependentSVM


def gram(n=12, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, X @ X.T


def rows(numbers):
    return np.asarray(numbers, dtype=float)[:, None]


def test_values_are_looked_up():
    _, K = gram()
    kernel = Precomputed(K).fit(rows([4, 0, 7]))
    np.testing.assert_array_equal(
        kernel(rows([4, 0]), rows([7, 0, 11])), K[np.ix_([4, 0], [7, 0, 11])]
    )
    np.testing.assert_array_equal(kernel.diagonal(rows([3, 3])), K[[3, 3], [3, 3]])


def test_an_estimator_is_that_of_the_features():
    X, K = gram(40)
    y = np.sign(X[:, 0] + 0.3)
    task = np.arange(40) % 2
    number = rows(np.arange(40))
    given = IndependentSVM(kernels=[Precomputed(K)]).fit(number, y, task)
    direct = IndependentSVM(kernels=["linear"]).fit(X, y, task)
    np.testing.assert_allclose(
        given.decision_function(number, task),
        direct.decision_function(X, task),
        rtol=1e-9,
        atol=1e-9,
    )


def test_the_scale_of_distances_is_the_mean_of_distinct_training_pairs():
    D = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    kernel = ExponentialDistance(D).fit(rows([0, 1, 3, 3, 0]))
    assert kernel.scale == pytest.approx((1 + 3 + 2) / 3)
    np.testing.assert_allclose(kernel(rows([5]), rows([1])), [[np.exp(-4 / 2)]])
    np.testing.assert_array_equal(kernel.diagonal(rows([5, 1])), [1.0, 1.0])


def test_copies_share_the_matrix():
    _, K = gram()
    estimator = clone(IndependentSVM(kernels=[Precomputed(K, label="a")]))
    assert estimator.kernels[0].matrix is K
    assert copy.deepcopy(estimator.kernels[0]).matrix is K
    again = pickle.loads(pickle.dumps(Precomputed(K)))
    np.testing.assert_array_equal(again.matrix, K)


@pytest.mark.parametrize("name", ["precomputed", "exponential_distance"])
def test_a_name_waits_for_the_data(name):
    kernel = from_spec({"name": name, "matrix": "colour"})
    with pytest.raises(ValueError, match="'colour' is a name, which only a data set"):
        kernel.fit(rows([0]))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((3, 4)), r"square, one row per example, got shape \(3, 4\)"),
        (np.zeros((3, 3), dtype=int), "floating-point entries, got int64"),
    ],
)
def test_a_matrix_of_another_form_is_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        Precomputed(matrix)


def test_what_is_wrong_in_the_training_part_is_named():
    _, K = gram()
    K[2, 5] += 1.0
    Precomputed(K).fit(rows([0, 1, 2]))
    with pytest.raises(ValueError, match="must be symmetric, entries differ by up to"):
        Precomputed(K).fit(rows([2, 5]))
    K[2, 5] = np.nan
    with pytest.raises(ValueError, match=r"matrix\[2, 5\] is nan"):
        Precomputed(K).fit(rows([2, 5]))
    with pytest.raises(ValueError, match="distances, at least 0, got -"):
        ExponentialDistance(-np.ones((3, 3))).fit(rows([0, 1]))


@pytest.mark.parametrize("number", [12, -1, 2.5])
def test_a_row_that_is_not_there_is_named(number):
    with pytest.raises(ValueError, match=rf"X\[1, 0\] is {number:g}, not a row"):
        Precomputed(gram()[1]).fit(rows([0, number]))


def test_inputs_of_two_columns_are_refused():
    with pytest.raises(ValueError, match=r"have one column.*got 2 columns"):
        Precomputed(gram()[1]).fit(np.zeros((3, 2)))
