"""Multi-task regression data shared by the tests of the methods."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def data():
    """Eight tasks of 4 to 9 examples whose coefficients have rank 2 in 5 inputs."""
    rng = np.random.default_rng(0)
    task = rng.permutation(np.repeat(np.arange(8), [4, 5, 6, 7, 8, 9, 4, 5]))
    W = rng.standard_normal((5, 2)) @ rng.standard_normal((2, 8))
    X = rng.standard_normal((task.size, 5)) + 0.5
    y = np.einsum("ij,ji->i", X, W[:, task]) + 0.2 * rng.standard_normal(task.size)
    return X, y, task
