"""FlexClus's solver against an interior point, its certificate, and known limits."""

import numpy as np
import pytest
from bounds import assert_between

from mtmkl.certify.linear_problems import flexible_clusters
from mtmkl.solvers.linear.flexible_clusters import FlexibleClusters, prox_pairwise
from mtmkl.solvers.linear.task_admm import solve
from mtmkl.solvers.linear.task_decomposition import decompose

WEIGHTS = [(0.3, 1.0, 2.0), (5.0, 0.1, 0.5), (0.05, 0.02, 10.0), (1e3, 1.0, 1.0)]


@pytest.mark.parametrize("weights", WEIGHTS)
def test_optimum_of_an_independent_solver_lies_between_the_bounds(weights, problem):
    X, y, task, n_tasks = problem
    tasks = decompose(X, y, task, n_tasks=n_tasks)
    solution = solve(tasks, FlexibleClusters(*weights), tol=1e-8)
    assert_between(solution.certificate, flexible_clusters((X, y, task), weights))


def test_pairwise_prox_pools_exactly():
    B = np.array([[3.0], [0.0], [0.1], [3.05]])
    U, _ = prox_pairwise(B, 0.2)
    assert U[1, 0] == U[2, 0] < U[0, 0] == U[3, 0]
    np.testing.assert_allclose(U.sum(), B.sum())
    all_pooled, differences = prox_pairwise(B, 10.0)
    assert np.ptp(all_pooled) == 0.0
    assert differences == pytest.approx(0.0, abs=1e-12)
    assert all_pooled[0, 0] == pytest.approx(B.mean())


def test_large_weight_on_differences_makes_the_common_part_equal(make_problem):
    X, y, task = make_problem(5, 4, [6])
    tasks = decompose(X, y, task, n_tasks=5)
    penalty = FlexibleClusters(1e4, 1.0, 1.0)
    common = penalty.split(np.ascontiguousarray(solve(tasks, penalty).coef.T))
    assert np.ptp(common, axis=0).max() == 0.0
    assert np.abs(common).max() > 0.0


def test_problem_that_leaves_much_free_is_solved_in_few_iterations():
    """Once the bound serves, the objective must not be left to creep."""
    rng = np.random.default_rng(0)
    n_tasks, n, d = 10, 12, 40
    base = rng.normal(size=(60, d)) @ rng.normal(size=(d, d))
    X = np.vstack([base[rng.choice(60, n, replace=False)] for _ in range(n_tasks)])
    y, task = np.sign(rng.normal(size=n_tasks * n)), np.repeat(np.arange(n_tasks), n)
    tasks = decompose(X, y, task, n_tasks=n_tasks)
    penalty = FlexibleClusters(2.0**-9, 2.0**-9, 512.0)
    solution = solve(tasks, penalty, tol=1e-8, max_iter=1000)
    assert solution.certificate.status == "converged"
