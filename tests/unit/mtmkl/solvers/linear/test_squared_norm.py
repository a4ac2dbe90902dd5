"""The default solver against an interior point, its certificate, and known limits."""

import numpy as np
import pytest
from bounds import assert_between
from norms import NAMES, norm
from sklearn.exceptions import ConvergenceWarning

from mtmkl.certify.linear_problems import squared_norm
from mtmkl.solvers.linear import squared_norm as squared
from mtmkl.solvers.linear import working_sets
from mtmkl.solvers.linear.squared_norm import solve_group
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
        stated = squared_norm(X, y, task, gamma, penalty)
        assert_between(solution.certificate, stated)
        size = norm(penalty, solution.coef)
        assert solution.extra["norm"] == pytest.approx(size, rel=1e-9)


def test_stopping_short_warns_with_the_gap_and_keeps_the_bound_valid(make_problem):
    X, y, task = make_problem(6, 5, [4])
    tasks = decompose(X, y, task, n_tasks=6)
    with pytest.warns(ConvergenceWarning, match="relative duality gap of"):
        short = solve(tasks, 0.1, max_iter=3)
    assert short.certificate.status == "stopped"
    assert short.certificate.n_iter == 3
    optimum = solve(tasks, 0.1, tol=1e-9).certificate
    assert short.certificate.dual_objective <= optimum.objective
    assert short.certificate.objective >= optimum.dual_objective


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


def test_group_is_solved_as_the_subset_of_its_tasks(make_problem):
    X, y, task = make_problem(6, 5, [7, 3, 9, 4])
    members, number = np.array([4, 1, 2]), np.array([-1, 1, 2, -1, 0, -1])
    mine = np.isin(task, members)
    some = decompose(X[mine], y[mine], number[task[mine]], n_tasks=3)
    subset = solve(some, 0.3, tol=1e-9)
    tasks = decompose(X, y, task, n_tasks=6)
    group = solve_group(tasks, members, 0.3, tol=1e-9)
    objectives = [each.certificate.objective for each in (group, subset)]
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-13)
    np.testing.assert_allclose(group.coef, subset.coef, atol=1e-12)
    np.testing.assert_allclose(some.expand(group.dual), subset.dual, atol=1e-10)
