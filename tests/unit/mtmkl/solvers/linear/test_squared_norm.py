"""The default solver against an interior point, its certificate, and known limits."""

import numpy as np
import pytest
from bounds import assert_between
from norms import NAMES, norm

from mtmkl.certify.linear_problems import squared_norm
from mtmkl.solvers.linear import squared_norm as squared
from mtmkl.solvers.linear import working_sets
from mtmkl.solvers.linear.task_decomposition import decompose


def prepare(X, y, task, penalty, *, n_tasks):
    make = working_sets.RowProblem.of if penalty == "rows" else decompose
    return make(X, y, task, n_tasks=n_tasks)


def solve(tasks, gamma, *, penalty="trace", **options):
    if penalty == "rows":
        return working_sets.solve(tasks, gamma, **options)
    return squared.solve(tasks, gamma, penalty=penalty, **options)


@pytest.mark.parametrize("penalty", NAMES)
def test_optimum_of_an_independent_solver_lies_between_the_bounds(penalty, problem):
    X, y, task, n_tasks = problem
    tasks = prepare(X, y, task, penalty, n_tasks=n_tasks)
    for gamma in (1e-2, 1.0, 30.0):
        solution = solve(tasks, gamma, penalty=penalty, tol=1e-8)
        stated = squared_norm((X, y, task), gamma, penalty)
        assert_between(solution.certificate, stated)
        size = norm(penalty, solution.coef)
        assert solution.extra["norm"] == pytest.approx(size, rel=1e-9)


@pytest.mark.parametrize("gamma", [0.01, 0.1])
def test_bound_keeps_up_where_tasks_share_few_of_their_orthogonal_inputs(gamma):
    # As narrow kernels make them: with the step that serves the coefficients the bound
    # is more than 1e-4 away after 1,000 iterations.
    rng = np.random.default_rng(0)
    n_tasks, n, n_shared = 20, 4, 10
    inputs = n_shared + np.arange(n_tasks * n).reshape(n_tasks, n)
    inputs[:, :2] = [rng.choice(n_shared, 2, replace=False) for _ in range(n_tasks)]
    X, task = np.eye(n_shared + n_tasks * n)[inputs.ravel()], np.arange(n_tasks)
    y = 10.0 * rng.normal(size=n_tasks * n)
    tasks = decompose(X, y, np.repeat(task, n), n_tasks=n_tasks)
    solution = solve(tasks, gamma, tol=1e-5, max_iter=500)
    assert solution.certificate.status == "converged"
