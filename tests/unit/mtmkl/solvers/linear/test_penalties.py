"""Exact proximal points of squared norms against their definition."""

import numpy as np
import pytest
from norms import norm

from mtmkl.certify.linear_problems import squared_norm
from mtmkl.certify.solving import find_optimum
from mtmkl.solvers.linear import penalties
from mtmkl.solvers.linear.penalties import prox_squared_norm

CODES = {"trace": penalties.TRACE, "rows": penalties.ROWS}
SHAPES = [(4, 7), (7, 4), (5, 5), (3, 1), (1, 4)]


def _prox(name, Y, c):
    """Return the proximal point of (c/2)Ω² at Y, of shape (d, T), and Ω there."""
    Z, value = prox_squared_norm(np.ascontiguousarray(Y.T), c, CODES[name])
    return Z.T, value


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("c", [0.01, 0.7, 50.0])
def test_prox_minimises_its_problem(name, shape, c):
    """Twice it is a regression: each task has the unit vectors as its samples."""
    d, n_tasks = shape
    Y = np.random.default_rng(1).standard_normal(shape)
    X, task = np.tile(np.eye(d), (n_tasks, 1)), np.repeat(np.arange(n_tasks), d)
    optimum = find_optimum(squared_norm(X, Y.T.ravel(), task, c, name)).value
    Z, size = _prox(name, Y, c)
    assert size == pytest.approx(norm(name, Z), rel=1e-7, abs=1e-9)
    value = c * size**2 + np.sum((Z - Y) ** 2)
    assert value == pytest.approx(optimum, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", CODES)
def test_prox_without_penalty_and_of_zero_is_the_point_itself(name):
    Y = np.random.default_rng(4).standard_normal((3, 5))
    np.testing.assert_allclose(_prox(name, Y, 0.0)[0], Y, atol=1e-12)
    Z, size = _prox(name, 0 * Y, 2.0)
    np.testing.assert_array_equal(Z, 0.0)
    assert size == 0.0


def test_prox_leaves_exact_zero_rows_and_exact_rank():
    Y = np.random.default_rng(5).standard_normal((6, 9))
    rows, _ = _prox("rows", Y, 2.0)
    assert 0 < np.sum(np.all(rows == 0, axis=1)) < 6
    singular = np.linalg.svd(_prox("trace", Y, 2.0)[0], compute_uv=False)
    assert 0 < np.sum(singular > 1e-12 * singular[0]) < 6
