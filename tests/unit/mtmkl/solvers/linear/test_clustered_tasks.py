"""CMTL's solver against an interior point, its certificate, and known limits."""

import pytest
from bounds import assert_between

from mtmkl.certify.linear_problems import clustered_tasks
from mtmkl.solvers.linear.clustered_tasks import ClusteredTasks
from mtmkl.solvers.linear.task_admm import solve
from mtmkl.solvers.linear.task_decomposition import decompose

EPSILONS = {"epsilon_mean": 0.1, "epsilon_between": 2.0, "epsilon_within": 8.0}
LAMBDAS = [0.02, 1.0, 20.0]


@pytest.mark.parametrize("lam", LAMBDAS)
def test_optimum_of_an_independent_solver_lies_between_the_bounds(lam, problem):
    X, y, task, T = problem
    tasks = decompose(X, y, task, n_tasks=T)
    for r in {1, 2, T}:
        solution = solve(tasks, ClusteredTasks(lam, r, **EPSILONS), tol=1e-8)
        stated = clustered_tasks((X, y, task), lam, r, **EPSILONS)
        assert_between(solution.certificate, stated)
