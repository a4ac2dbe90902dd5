"""Exact proximal points of squared norms, and dual norms, against their definitions."""

import cvxpy as cp
import numpy as np
import pytest

from mtmkl.solvers.penalties import PENALTIES, shrink_level

SHAPES = [(4, 7), (7, 4), (5, 5), (3, 1), (1, 4)]


def _norm_expression(name, W):
    T = W.shape[1]
    if name == "rows":
        return cp.sum(cp.norm(W, 2, axis=1))
    if name == "deviations":
        W = W @ (np.eye(T) - 1 / T)
    return cp.normNuc(W)


@pytest.mark.parametrize("name", PENALTIES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("c", [0.01, 0.7, 50.0])
def test_prox_minimises_its_problem(name, shape, c):
    Y = np.random.default_rng(1).standard_normal(shape)
    penalty = PENALTIES[name]
    V = cp.Variable(shape)
    problem = cp.Problem(
        cp.Minimize(
            c / 2 * cp.square(_norm_expression(name, V)) + cp.sum_squares(V - Y) / 2
        )
    )
    problem.solve(solver=cp.CLARABEL)
    Z = penalty.prox_squared(Y, c)
    value = c / 2 * penalty.value(Z) ** 2 + np.sum((Z - Y) ** 2) / 2
    assert value == pytest.approx(problem.value, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", PENALTIES)
def test_value_agrees_with_its_definition(name):
    W = np.random.default_rng(2).standard_normal((4, 6))
    expected = float(_norm_expression(name, cp.Constant(W)).value)
    assert PENALTIES[name].value(W) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", PENALTIES)
def test_conjugate_bound_is_attained_at_a_proximal_point(name):
    """⟨M, W⟩ ≤ Ω°(M)Ω(W), with equality for M = (Y − prox)/c = Ω(W)·subgradient."""
    rng = np.random.default_rng(3)
    Y, c = rng.standard_normal((5, 8)), 0.3
    penalty = PENALTIES[name]
    W = penalty.prox_squared(Y, c)
    M = (Y - W) / c
    assert penalty.dual_norm(M) == pytest.approx(penalty.value(W), rel=1e-9)
    assert np.sum(M * W) == pytest.approx(penalty.value(W) ** 2, rel=1e-9)
    for _ in range(20):
        other = rng.standard_normal(Y.shape)
        assert np.sum(M * other) <= penalty.dual_norm(M) * penalty.value(other) + 1e-9


def test_dual_norm_of_deviations_is_infinite_off_its_domain():
    M = np.array([[1.0, -1.0], [2.0, -2.0]])
    penalty = PENALTIES["deviations"]
    assert penalty.dual_norm(M) == pytest.approx(np.linalg.norm(M, 2))
    assert penalty.dual_norm(M + 1.0) == np.inf


def test_shrink_level_solves_its_equation():
    s = np.array([0.1, 3.0, 0.5, 2.0])
    for c in (0.0, 0.05, 1.0, 1e6):
        level = shrink_level(s, c)
        assert level == pytest.approx(c * np.maximum(s - level, 0).sum(), rel=1e-9)


def test_prox_is_the_identity_without_penalty_and_rejects_a_negative_one():
    Y = np.random.default_rng(4).standard_normal((3, 5))
    for penalty in PENALTIES.values():
        np.testing.assert_allclose(penalty.prox_squared(Y, 0.0), Y, atol=1e-12)
        with pytest.raises(ValueError, match="at least 0"):
            penalty.prox_squared(Y, -1.0)


@pytest.mark.parametrize("name", PENALTIES)
def test_prox_of_zero_is_zero(name):
    Z = PENALTIES[name].prox_squared(np.zeros((3, 4)), 2.0)
    np.testing.assert_array_equal(Z, 0.0)


def test_prox_leaves_exact_zero_rows_and_exact_rank():
    Y = np.random.default_rng(5).standard_normal((6, 9))
    rows = PENALTIES["rows"].prox_squared(Y, 2.0)
    assert 0 < np.sum(np.all(rows == 0, axis=1)) < 6
    singular = np.linalg.svd(PENALTIES["trace"].prox_squared(Y, 2.0), compute_uv=False)
    assert 0 < np.sum(singular > 1e-12 * singular[0]) < 6
