"""Exact proximal points of squared norms, and dual norms, against their definitions."""

import cvxpy as cp
import numpy as np
import pytest
from norms import dual_norm, norm

from mtmkl.solvers.linear import penalties
from mtmkl.solvers.linear.penalties import prox_squared_norm

CODES = {"trace": penalties.TRACE, "rows": penalties.ROWS}
SHAPES = [(4, 7), (7, 4), (5, 5), (3, 1), (1, 4)]


def _norm_expression(name, W):
    return cp.sum(cp.norm(W, 2, axis=1)) if name == "rows" else cp.normNuc(W)


def _prox(name, Y, c):
    """Return the proximal point of (c/2)Ω² at Y, of shape (d, T), and Ω there."""
    Z, value = prox_squared_norm(np.ascontiguousarray(Y.T), c, CODES[name])
    return Z.T, value


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("c", [0.01, 0.7, 50.0])
def test_prox_minimises_its_problem(name, shape, c):
    Y = np.random.default_rng(1).standard_normal(shape)
    V = cp.Variable(shape)
    problem = cp.Problem(
        cp.Minimize(
            c / 2 * cp.square(_norm_expression(name, V)) + cp.sum_squares(V - Y) / 2
        )
    )
    problem.solve(solver=cp.CLARABEL)
    Z, size = _prox(name, Y, c)
    assert size == pytest.approx(norm(name, Z), rel=1e-7, abs=1e-9)
    value = c / 2 * size**2 + np.sum((Z - Y) ** 2) / 2
    assert value == pytest.approx(problem.value, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("shape", SHAPES)
def test_dual_norm_agrees_with_its_definition(name, shape):
    M = np.random.default_rng(2).standard_normal(shape)
    found = penalties.dual_norm(np.ascontiguousarray(M.T), CODES[name])
    assert found == pytest.approx(dual_norm(name, M), rel=1e-10)


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
