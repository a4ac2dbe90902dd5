import numpy as np
import pytest
from dual_problems import Toy, stacked

from mtmkl.kernels.gram import GramBlocks
from mtmkl.solvers.svm.task_steps import (
    LINEAR,
    N_STATISTICS,
    QUADRATIC,
    diagonals,
    rescale,
    write_sums,
)


@pytest.mark.parametrize(
    ("linear", "factor"),
    [(1.5, 1.5), (3.0, 2.0), (-1.0, 0.0)],  # inside, to the bound of 0.5, to nothing
)
def test_duals_are_multiplied_by_what_is_best_in_their_box(linear, factor):
    statistics, beta = np.zeros((1, N_STATISTICS)), np.array([0.5, 0.0, -0.25])
    statistics[0, [LINEAR, QUADRATIC]] = linear, 1.0
    X = np.random.default_rng(0).normal(size=(3, 2))
    weight = np.array([[0, 1]])  # one feature, one Gram matrix
    kernels = np.array([0, 3]), np.array([0]), X[:, :1], (X @ X.T).ravel(), weight
    sums = beta, np.empty((1, 1)), np.empty(3)
    write_sums(kernels, sums)
    expected = [factor * each for each in sums]
    rescale(kernels, sums, -np.ones(3), np.ones(3), statistics)
    for found, each in zip(sums, expected, strict=True):
        np.testing.assert_allclose(found, each)


def test_diagonals_are_of_weighted_sums_of_shared_matrices_and_features():
    toy, weights = Toy(sizes=(4, 4)), np.array([0.5, 2.0, 3.0])
    X = toy.X[0]
    blocks = GramBlocks.of(
        [4, 4],
        features=np.vstack([X[:, :1], X[:, 1:2]]),
        grams=stacked([[X @ X.T, toy.gaussians[0][0]]]),
        entries=[0, 0],
    )
    weight = np.array([[0, 1, 2], [2, 1, 0]])
    arrays = blocks.offsets, blocks.entries, blocks.features, blocks.grams.ravel()
    squares = np.sum(X**2, axis=1)
    expected = [
        0.5 * X[:, 0] ** 2 + 2.0 * squares + 3.0,
        3.0 * X[:, 1] ** 2 + 2.0 * squares + 0.5,
    ]
    found = diagonals((*arrays, weight), weights)
    np.testing.assert_allclose(found, np.concatenate(expected), rtol=1e-12)
