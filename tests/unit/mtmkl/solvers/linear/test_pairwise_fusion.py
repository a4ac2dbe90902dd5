"""MeTaG's solver against an interior point on all levels, its certificate, limits."""

import numpy as np
import pytest
from bounds import assert_between

from mtmkl.certify.linear_problems import pairwise_fusion
from mtmkl.solvers.linear.pairwise_fusion import RIDGE, solve
from mtmkl.solvers.linear.task_decomposition import decompose

WEIGHTS = [0.05, 0.5, 4.0]


@pytest.mark.parametrize("lam", WEIGHTS)
def test_reaches_the_optimum_over_all_levels(lam, problem):
    X, y, task, T = problem
    solution = solve(decompose(X, y, task, n_tasks=T), lam, 1.5, 3, tol=1e-8)
    stated = pairwise_fusion((X, y, task), [lam / 1.5**h for h in range(3)])
    assert_between(solution.certificate, stated)


def test_large_weight_gives_one_regression_at_once(make_problem):
    X, y, task = make_problem(5, 3, [6])
    solution = solve(decompose(X, y, task, n_tasks=5), 1e4, 2.0, 3, tol=1e-12)
    assert solution.certificate.n_iter == 1
    assert solution.certificate.duality_gap <= 1e-12
    assert np.ptp(solution.coef, axis=1).max() == 0.0
    pooled = np.linalg.solve(X.T @ X + RIDGE / 3 * 5 * np.eye(3), X.T @ y)
    np.testing.assert_allclose(solution.coef[:, 0], pooled, rtol=1e-9)
