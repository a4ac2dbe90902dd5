"""The pieces of the alternating direction method that its penalties share."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mtmkl.solvers.linear.ridge import solve_ridge
from mtmkl.solvers.linear.task_admm import PenaltySteps, solve
from mtmkl.solvers.linear.task_decomposition import decompose


@dataclass(frozen=True)
class Ridge:
    """γ||W||_F², whose problem has a solution in closed form."""

    gamma: float

    is_square = True

    def prox(self, V, step):
        Z = V * (step / (step + 2 * self.gamma))
        return Z, self.gamma * np.sum(Z * Z)

    def conjugate(self, M, Z):
        return np.sum(M * M) / (4 * self.gamma)


@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("step", [1e-3, 1.0, 1e4])
def test_ridge_is_solved_from_any_first_step(gamma, step, problem):
    X, y, task, n_tasks = problem
    tasks = decompose(X, y, task, n_tasks=n_tasks)
    solution = solve(tasks, Ridge(gamma), step=step, tol=1e-10)
    ridge = solve_ridge(tasks, gamma)
    assert solution.certificate.objective == pytest.approx(
        ridge.certificate.objective, rel=1e-9
    )
    assert solution.certificate.dual_objective == pytest.approx(
        ridge.certificate.objective, rel=1e-9
    )
    np.testing.assert_allclose(solution.dual, ridge.dual, atol=1e-3)


def test_balance_moves_the_step_towards_the_larger_residual():
    W, nothing = np.ones((2, 2)), np.zeros((2, 2))
    much, little = 1e-1, 1e-5

    def factor(Z, previous):
        steps = object.__new__(PenaltySteps)
        steps.step, steps.Z, steps.L = 1.0, Z, np.ones((2, 2))
        steps.previous, steps.pull = (previous, nothing), W - previous
        return steps.balance()

    assert factor(W - much, W - much - little) == 10.0
    assert factor(W - little, W - little - much) == 0.1
    assert factor(W - much, W) == 1.0
    assert factor(W, W) == 1.0


def test_a_start_at_the_solution_is_enough(make_problem):
    X, y, task = make_problem(4, 3, [5])
    tasks = decompose(X, y, task, n_tasks=4)
    first = solve(tasks, Ridge(1.0), step=1.0, tol=1e-8)
    again = solve(
        tasks, Ridge(1.0), step=1.0, tol=1e-8, start=first.extra["warm_start"]
    )
    assert again.certificate.n_iter == 5 < first.certificate.n_iter


def test_iterations_are_counted_from_the_first(make_problem, monkeypatch):
    X, y, task = make_problem(4, 3, [5])
    steps, prox = [], Ridge.prox
    monkeypatch.setattr(Ridge, "prox", lambda *given: steps.append(1) or prox(*given))
    tasks = decompose(X, y, task, n_tasks=4)
    assert solve(tasks, Ridge(1.0), step=1.0).certificate.n_iter == len(steps)


def test_stopping_short_warns(make_problem):
    X, y, task = make_problem(4, 3, [5])
    tasks = decompose(X, y, task, n_tasks=4)
    with pytest.warns(ConvergenceWarning, match="Ridge: stopped after 2 iterations"):
        solve(tasks, Ridge(1.0), step=1e3, tol=1e-12, max_iter=2)
