"""MeTaG's solver against an interior point on all levels, its certificate, limits."""

import numpy as np
import pytest

from mtmkl.certify.linear_problems import pairwise_fusion
from mtmkl.certify.solving import find_optimum
from mtmkl.solvers.linear.pairwise_fusion import RIDGE, solve
from mtmkl.solvers.linear.task_decomposition import decompose

WEIGHTS = [0.05, 0.5, 4.0]


def _pairs(W):
    T = W.shape[1]
    return [W[:, i] - W[:, j] for i in range(T) for j in range(i)]


def _value(X, y, task, levels, lam, phi):
    """Return the printed objective of the levels, an array (H, d, T)."""
    W = levels.sum(axis=0)
    value = np.sum((y - np.einsum("ij,ji->i", X, W[:, task])) ** 2)
    for h, level in enumerate(levels):
        value += lam / phi**h * sum(np.linalg.norm(pair) for pair in _pairs(level))
        value += RIDGE * level.shape[1] * np.sum(level.mean(axis=1) ** 2)
    return value


def _levels(W, n_levels):
    mean = np.repeat(W.mean(axis=1, keepdims=True), W.shape[1], axis=1) / n_levels
    return np.array([*[mean] * (n_levels - 1), W - (n_levels - 1) * mean])


@pytest.mark.parametrize("lam", WEIGHTS)
def test_reaches_the_optimum_over_all_levels(lam, problem):
    X, y, task, T = problem
    solution = solve(decompose(X, y, task, n_tasks=T), lam, 1.5, 3, tol=1e-8)
    certificate, a = solution.certificate, solution.dual
    reached = _value(X, y, task, _levels(solution.coef, 3), lam, 1.5)
    assert certificate.objective == pytest.approx(reached, rel=1e-8)
    weights = [lam / 1.5**h for h in range(3)]
    optimum = find_optimum(pairwise_fusion(X, y, task, weights)).value
    assert reached == pytest.approx(optimum, rel=1e-6)
    M = np.column_stack([X[task == t].T @ a[task == t] for t in range(T)])
    total = M.sum(axis=1)
    dual = y @ a - a @ a / 4 - total @ total / (4 * RIDGE / 3 * T)
    assert certificate.dual_objective == pytest.approx(dual, rel=1e-6)
    assert certificate.dual_objective <= optimum * (1 + 1e-7)
    assert certificate.status == "converged"
    assert certificate.duality_gap <= 1e-8


def test_large_weight_gives_one_regression_at_once(make_problem):
    X, y, task = make_problem(5, 3, [6])
    solution = solve(decompose(X, y, task, n_tasks=5), 1e4, 2.0, 3, tol=1e-12)
    assert solution.certificate.n_iter == 1
    assert solution.certificate.duality_gap <= 1e-12
    assert np.ptp(solution.coef, axis=1).max() == 0.0
    pooled = np.linalg.solve(X.T @ X + RIDGE / 3 * 5 * np.eye(3), X.T @ y)
    np.testing.assert_allclose(solution.coef[:, 0], pooled, rtol=1e-9)


def test_single_task_is_least_squares(make_problem):
    X, y, task = make_problem(1, 3, [8])
    solution = solve(decompose(X, y, task, n_tasks=1), 1.0, 2.0, 3)
    alone = np.linalg.lstsq(X, y, rcond=None)[0]
    np.testing.assert_allclose(solution.coef[:, 0], alone, rtol=1e-6)
    assert solution.certificate.duality_gap <= 1e-6
