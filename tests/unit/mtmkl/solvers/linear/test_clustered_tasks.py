"""CMTL's solver against an interior point, its certificate, and known limits."""

import numpy as np
import pytest
from norms import clustered

from mtmkl.certify.linear_problems import clustered_tasks
from mtmkl.certify.solving import find_optimum
from mtmkl.solvers.linear.clustered_tasks import solve
from mtmkl.solvers.linear.task_decomposition import decompose

EPSILONS = {"epsilon_mean": 0.1, "epsilon_between": 1.0, "epsilon_within": 8.0}
LAMBDAS = [0.02, 1.0, 20.0]


@pytest.mark.parametrize("lam", LAMBDAS)
def test_optimum_of_an_independent_solver_and_values_by_definition(lam, problem):
    X, y, task, T = problem
    tasks = decompose(X, y, task, n_tasks=T)
    for r in (2, T):
        solution = solve(tasks, lam, r, tol=1e-8, **EPSILONS)
        certificate, W, a = solution.certificate, solution.coef, solution.dual
        optimum = find_optimum(clustered_tasks(X, y, task, lam, r, **EPSILONS)).value
        assert certificate.objective == pytest.approx(optimum, rel=1e-6), r
        loss = np.sum((y - np.einsum("ij,ji->i", X, W[:, task])) ** 2)
        primal = loss + lam * clustered(W, r, **EPSILONS)
        assert certificate.objective == pytest.approx(primal, rel=1e-7), r
        M = np.column_stack([X[task == t].T @ a[task == t] for t in range(T)])
        mu = np.linalg.svd(M - M.mean(axis=1, keepdims=True), compute_uv=False)
        conjugate = mu[: r - 1] @ mu[: r - 1] / EPSILONS["epsilon_between"]
        conjugate += mu[r - 1 :] @ mu[r - 1 :] / EPSILONS["epsilon_within"]
        conjugate += np.sum(M.sum(axis=1) ** 2) / (EPSILONS["epsilon_mean"] * T)
        dual = y @ a - a @ a / 4 - conjugate / (4 * lam)
        assert certificate.dual_objective == pytest.approx(dual, rel=1e-9), r
        assert certificate.status == "converged"
        assert certificate.duality_gap <= 1e-8


def test_one_cluster_is_ridge_around_the_mean(make_problem):
    X, y, task = make_problem(5, 3, [4, 8])
    tasks = decompose(X, y, task, n_tasks=5)
    solution = solve(tasks, 2.0, 1, tol=1e-9, **EPSILONS)
    # Normal equations of the same quadratic problem, in one system.
    size = 3 * 5
    H, g = np.zeros((size, size)), np.zeros(size)
    for t in range(5):
        block = slice(3 * t, 3 * t + 3)
        H[block, block] = X[task == t].T @ X[task == t]
        g[block] = X[task == t].T @ y[task == t]
    couple = EPSILONS["epsilon_within"] * (np.eye(5) - 0.2) + 0.1 * np.full((5, 5), 0.2)
    W = np.linalg.solve(H + 2.0 * np.kron(couple, np.eye(3)), g).reshape(5, 3).T
    np.testing.assert_allclose(solution.coef, W, rtol=1e-3, atol=1e-5)
