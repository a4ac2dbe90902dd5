"""FlexClus's solver against an interior point, its certificate, and known limits."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mtmkl.certify.linear_problems import flexible_clusters
from mtmkl.certify.solving import find_optimum
from mtmkl.solvers.linear.flexible_clusters import (
    FlexibleClusters,
    prox_pairwise,
    solve,
)
from mtmkl.solvers.linear.ridge import solve_ridge
from mtmkl.solvers.linear.task_decomposition import decompose

WEIGHTS = [(0.3, 1.0, 2.0), (5.0, 0.1, 0.5), (0.05, 0.02, 10.0), (1e3, 1.0, 1.0)]


def _pairs(U):
    T = U.shape[1]
    return [U[:, i] - U[:, j] for i in range(T) for j in range(i)]


def _objective(X, y, task, U, V, weights):
    W = U + V
    loss = np.sum((y - np.einsum("ij,ji->i", X, W[:, task])) ** 2)
    differences = sum(np.abs(pair).sum() for pair in _pairs(U))
    return (
        loss
        + weights[0] * differences
        + weights[1] * np.sum(U**2)
        + weights[2] * np.sum(V**2)
    )


@pytest.mark.parametrize("weights", WEIGHTS)
def test_reaches_the_optimum_of_an_independent_solver(weights, problem):
    X, y, task, n_tasks = problem
    tasks = decompose(X, y, task, n_tasks=n_tasks)
    solution = solve(tasks, *weights, tol=1e-8)
    U = solution.extra["common"]
    reached = _objective(X, y, task, U, solution.coef - U, weights)
    optimum = find_optimum(flexible_clusters(X, y, task, weights)).value
    assert reached == pytest.approx(optimum, rel=1e-6)
    assert solution.certificate.objective == pytest.approx(reached, rel=1e-9)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_certificate_is_what_the_dual_point_is_worth(weights, problem):
    X, y, task, n_tasks = problem
    solution = solve(decompose(X, y, task, n_tasks=n_tasks), *weights, tol=1e-7)
    a, certificate = solution.dual, solution.certificate
    M = np.array([X[task == t].T @ a[task == t] for t in range(n_tasks)])
    dual = y @ a - a @ a / 4 - FlexibleClusters(*weights).conjugate(M, M)
    assert certificate.status == "converged"
    assert certificate.dual_objective == pytest.approx(dual, rel=1e-9)
    assert dual <= certificate.objective * (1 + 1e-12)
    assert certificate.duality_gap <= 1e-7


@pytest.mark.parametrize("weights", WEIGHTS)
def test_conjugate_is_a_supremum(weights):
    """Ω*(M) + Ω(W) ≥ ⟨M, W⟩ for all W, with equality at a proximal point."""
    rng = np.random.default_rng(0)
    penalty = FlexibleClusters(*weights)
    B, step = rng.standard_normal((6, 4)), 3.0
    Z, value = penalty.prox(B, step)
    M = step * (B - Z)
    assert penalty.conjugate(M, Z) + value == pytest.approx(np.sum(M * Z), rel=1e-9)
    for _ in range(20):
        W = Z + rng.standard_normal(Z.shape)
        U = penalty.split(W)
        omega = (
            weights[0] * sum(np.abs(pair).sum() for pair in _pairs(U.T))
            + weights[1] * np.sum(U**2)
            + weights[2] * np.sum((W - U) ** 2)
        )
        assert penalty.conjugate(M, Z) + omega >= np.sum(M * W)


@pytest.mark.parametrize("weight", [0.0, 0.05, 0.3, 5.0])
def test_pairwise_prox_is_the_optimum(weight):
    B = np.random.default_rng(1).standard_normal((7, 3))
    B[3, 0] = B[1, 0]
    U = cp.Variable(B.T.shape)
    objective = weight * sum(cp.norm1(pair) for pair in _pairs(U))
    cp.Problem(cp.Minimize(objective + cp.sum_squares(U - B.T) / 2)).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12
    )
    np.testing.assert_allclose(prox_pairwise(B, weight)[0].T, U.value, atol=1e-6)


def test_pairwise_prox_pools_exactly():
    B = np.array([[3.0], [0.0], [0.1], [3.05]])
    U, _ = prox_pairwise(B, 0.2)
    assert U[1, 0] == U[2, 0] < U[0, 0] == U[3, 0]
    np.testing.assert_allclose(U.sum(), B.sum())
    all_pooled, differences = prox_pairwise(B, 10.0)
    assert np.ptp(all_pooled) == 0.0
    assert differences == pytest.approx(0.0, abs=1e-12)
    assert all_pooled[0, 0] == pytest.approx(B.mean())


@pytest.mark.parametrize("weight", [0.0, 0.01, 0.1])
def test_pairwise_differences_are_a_sum_over_pairs(weight):
    B = np.random.default_rng(2).standard_normal((30, 4))
    U, differences = prox_pairwise(B, weight)
    expected = sum(np.abs(pair).sum() for pair in _pairs(U.T))
    assert differences == pytest.approx(expected)


def test_pairwise_prox_of_equal_values_does_not_depend_on_their_order():
    rng = np.random.default_rng(3)
    B = rng.integers(4, size=(40, 3)).astype(float)
    order = rng.permutation(40)
    U, differences = prox_pairwise(B, 0.01)
    mixed, same = prox_pairwise(B[order], 0.01)
    np.testing.assert_allclose(mixed, U[order], rtol=1e-13)
    assert same == pytest.approx(differences, rel=1e-13)


def test_no_weight_on_differences_leaves_ridge_regressions(make_problem):
    X, y, task = make_problem(5, 4, [3, 9])
    tasks = decompose(X, y, task, n_tasks=5)
    solution = solve(tasks, 0.0, 2.0, 3.0, tol=1e-12)
    ridge = solve_ridge(tasks, 2.0 * 3.0 / 5.0)
    np.testing.assert_allclose(solution.coef, ridge.coef, rtol=1e-4, atol=1e-6)
    assert solution.certificate.objective == pytest.approx(
        ridge.certificate.objective, rel=1e-11
    )


def test_large_weight_on_differences_makes_the_common_part_equal(make_problem):
    X, y, task = make_problem(5, 4, [6])
    tasks = decompose(X, y, task, n_tasks=5)
    common = solve(tasks, 1e4, 1.0, 1.0).extra["common"]
    assert np.ptp(common, axis=1).max() == 0.0
    assert np.abs(common).max() > 0.0


def test_ridges_of_zero_count_as_the_least_one(make_problem):
    X, y, task = make_problem(4, 3, [8])
    tasks = decompose(X, y, task, n_tasks=4)
    zero, least = (
        solve(tasks, 1.0, ridge, 1.0).certificate.objective for ridge in (0.0, 1e-6)
    )
    assert zero == least


def test_warm_start_reaches_the_same_optimum(make_problem):
    X, y, task = make_problem(8, 5, [4, 7])
    tasks = decompose(X, y, task, n_tasks=8)
    start = None
    for weights in WEIGHTS:
        warm = solve(tasks, *weights, tol=1e-7, start=start)
        start = warm.extra["warm_start"]
        cold = solve(tasks, *weights, tol=1e-7)
        assert warm.certificate.objective == pytest.approx(
            cold.certificate.objective, rel=2e-7
        )


def test_stopping_short_warns_with_the_gap_and_keeps_the_bound_valid(make_problem):
    X, y, task = make_problem(6, 5, [4])
    tasks = decompose(X, y, task, n_tasks=6)
    with pytest.warns(ConvergenceWarning, match="relative duality gap of"):
        short = solve(tasks, 0.1, 1e-4, 10.0, max_iter=2, tol=1e-9).certificate
    assert (short.status, short.n_iter) == ("stopped", 2)
    optimum = solve(tasks, 0.1, 1e-4, 10.0, tol=1e-9).certificate
    assert short.dual_objective <= optimum.objective
    assert short.objective >= optimum.dual_objective


def test_targets_of_zero_are_solved_by_zero(make_problem):
    X, y, task = make_problem(3, 4, [5])
    solution = solve(decompose(X, 0 * y, task, n_tasks=3), 1.0, 1.0, 1.0)
    np.testing.assert_array_equal(solution.coef, 0.0)
    assert solution.certificate.duality_gap == 0.0
