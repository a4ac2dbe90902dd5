"""Working sets of features: few of them are solved for, and all are certified."""

import numpy as np
import pytest
from sklearn.linear_model import MultiTaskLasso

from mtmkl.solvers.linear import working_sets
from mtmkl.solvers.linear.working_sets import RowProblem, solve


def shared_inputs(d=150, n=40, n_tasks=5, n_relevant=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    W = np.zeros((d, n_tasks))
    W[:n_relevant] = rng.standard_normal((n_relevant, n_tasks))
    return X, X @ W + 0.5 * rng.standard_normal((n, n_tasks))


def problem_of(X, Y):
    n_tasks = Y.shape[1]
    task = np.repeat(np.arange(n_tasks), len(X))
    return RowProblem.of(np.tile(X, (n_tasks, 1)), Y.T.ravel(), task, n_tasks=n_tasks)


@pytest.mark.parametrize("gamma", [0.03, 1.0, 30.0])
def test_it_is_the_group_lasso_at_its_own_weight(gamma):
    X, Y = shared_inputs()
    solution = solve(problem_of(X, Y), gamma, tol=1e-10)
    alpha = gamma * solution.extra["norm"] / len(X)
    lasso = MultiTaskLasso(alpha=alpha, fit_intercept=False, tol=1e-12, max_iter=10**5)
    np.testing.assert_allclose(solution.coef.T, lasso.fit(X, Y).coef_, atol=1e-5)
    assert solution.certificate.duality_gap <= 1e-10


def test_tasks_with_the_same_inputs_are_one_group_wherever_the_rows_are():
    X, Y = shared_inputs(d=60)
    problem, task = problem_of(X, Y), np.repeat(np.arange(5), len(X))
    assert [tasks for _, _, tasks in problem.groups] == [slice(0, 5)]
    apart = RowProblem.of(problem.X + 1e-15, problem.y, task, n_tasks=5)
    order = np.argsort(np.tile(np.arange(len(X)), 5), kind="stable")
    mixed = RowProblem.of(problem.X[order], problem.y[order], task[order], n_tasks=5)
    values = [
        solve(each, 1.0, tol=1e-9).certificate.objective
        for each in (problem, apart, mixed)
    ]
    np.testing.assert_allclose(values, values[0], rtol=1e-8)


@pytest.mark.parametrize("gamma", [0.03, 1.0, 30.0])
def test_rows_in_turn_and_alternating_directions_agree(gamma, monkeypatch):
    X, Y = shared_inputs()
    X[:, 1::2] = X[:, ::2] + 0.1 * X[:, 1::2]
    for most in (0, 60, 10_000):
        monkeypatch.setattr(working_sets, "_MOST_SWEEPS", most)
        found = solve(problem_of(X, Y), gamma, tol=1e-7).certificate
        assert found.status == "converged"
        assert found.duality_gap <= 1e-7


def test_only_the_inputs_in_use_and_some_others_are_solved_for(monkeypatch):
    asked = []
    gram = RowProblem.gram
    monkeypatch.setattr(
        RowProblem,
        "gram",
        lambda self, rows: asked.append(rows.size) or gram(self, rows),
    )
    X, Y = shared_inputs(d=400, n=60)
    solution = solve(problem_of(X, Y), 5.0)
    in_use = np.count_nonzero(solution.coef.any(axis=1))
    assert in_use >= 4
    assert max(asked) <= max(16, 4 * in_use) < 200
