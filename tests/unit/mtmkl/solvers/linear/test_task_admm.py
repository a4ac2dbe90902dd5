"""The pieces of the alternating direction method that its penalties share."""

from dataclasses import dataclass

import numpy as np
import pytest

from mtmkl.solvers.linear.ridge import solve_ridge
from mtmkl.solvers.linear.task_admm import solve
from mtmkl.solvers.linear.task_decomposition import decompose


@dataclass(frozen=True)
class Ridge:
    """γ||W||_F², whose problem has a solution in closed form."""

    gamma: float
    first_step: float = 1.0

    is_square = True

    def prox(self, V, step):
        Z = V * (step / (step + 2 * self.gamma))
        return Z, self.gamma * np.sum(Z * Z)

    def conjugate(self, M):
        return np.sum(M * M) / (4 * self.gamma)


@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0])
def test_ridge_is_solved_from_any_first_step(gamma, problem):
    X, y, task, n_tasks = problem
    tasks = decompose(X, y, task, n_tasks=n_tasks)
    ridge = solve_ridge(tasks, gamma)
    best = pytest.approx(ridge.certificate.objective, rel=1e-9)
    for step in (1e-3, 1.0, 1e4):
        solution = solve(tasks, Ridge(gamma, step), tol=1e-10)
        certificate = solution.certificate
        assert (certificate.objective, certificate.dual_objective) == (best, best)
        np.testing.assert_allclose(solution.dual, ridge.dual, atol=1e-3)


def test_a_start_at_the_solution_is_enough(make_problem):
    X, y, task = make_problem(4, 3, [5])
    tasks = decompose(X, y, task, n_tasks=4)
    first = solve(tasks, Ridge(1.0), tol=1e-8)
    again = solve(tasks, Ridge(1.0), tol=1e-8, start=first.extra["warm_start"])
    assert again.certificate.n_iter == 5 < first.certificate.n_iter
