"""CMTL's solver against an interior point, its certificate, and known limits."""

import numpy as np
import pytest
from regression_problems import assert_between

from mtmkl.certify.linear_problems import clustered_tasks
from mtmkl.certify.solving import find_optimum
from mtmkl.solvers.linear.clustered_tasks import solve
from mtmkl.solvers.linear.task_decomposition import decompose

EPSILONS = {"epsilon_mean": 0.1, "epsilon_between": 1.0, "epsilon_within": 8.0}
LAMBDAS = [0.02, 1.0, 20.0]


@pytest.mark.parametrize("lam", LAMBDAS)
def test_optimum_of_an_independent_solver_lies_between_the_bounds(lam, problem):
    X, y, task, T = problem
    tasks = decompose(X, y, task, n_tasks=T)
    for r in (2, T):
        solution = solve(tasks, lam, r, tol=1e-8, **EPSILONS)
        stated = clustered_tasks(X, y, task, lam, r, **EPSILONS)
        assert_between(solution.certificate, find_optimum(stated).value)


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
