"""Multi-task data shared by the tests of the methods."""

import itertools

import numpy as np
import pytest


@pytest.fixture(scope="session")
def data():
    """Eight tasks of 4 to 9 samples whose coefficients have rank 2 in 5 features."""
    rng = np.random.default_rng(0)
    task = rng.permutation(np.repeat(np.arange(8), [4, 5, 6, 7, 8, 9, 4, 5]))
    W = rng.standard_normal((5, 2)) @ rng.standard_normal((2, 8))
    X = rng.standard_normal((task.size, 5)) + 0.5
    y = np.einsum("ij,ji->i", X, W[:, task]) + 0.2 * rng.standard_normal(task.size)
    return X, y, task


@pytest.fixture(scope="session")
def related():
    """Four tasks of 9 to 20 samples whose models are close to each other."""
    rng = np.random.default_rng(5)
    task = rng.permutation(np.repeat(np.arange(4), [12, 20, 15, 9]))
    X = rng.standard_normal((56, 3)) + 0.4
    W = rng.standard_normal((3, 1)) + 0.3 * rng.standard_normal((3, 4))
    y = np.einsum("ij,ji->i", X, W[:, task]) + 0.3 * rng.standard_normal(56)
    return X, y, task


@pytest.fixture(scope="session")
def labelled(related):
    """The same with labels."""
    X, y, task = related
    return X, np.where(y > np.median(y), 1.0, -1.0), task


@pytest.fixture(scope="session")
def pairs_of_classes():
    """Pairs of five classes as ten tasks, which share their samples."""
    rng = np.random.default_rng(0)
    means = 1.5 * rng.standard_normal((5, 6))
    points = means[:, None, :] + rng.standard_normal((5, 8, 6))
    X, y, task = [], [], []
    for t, (a, b) in enumerate(itertools.combinations(range(5), 2)):
        X += [points[a], points[b]]
        y += [-np.ones(8), np.ones(8)]
        task.append(np.full(16, t))
    return np.vstack(X) * [1, 10, 0.1, 1, 1, 1] + 3, np.hstack(y), np.hstack(task)
