"""Support vector machines of many tasks on the sums of their kernels."""

from collections.abc import Sequence

import numpy as np

from mtmkl.solvers.solution import Certificate, Solution, Status, warn_if_stopped
from mtmkl.solvers.svm.inner import FINEST_TOLERANCE, first_tolerance, next_tolerance
from mtmkl.solvers.svm.task_duals import DualProblem, TaskDuals


def solve_sum_kernel(
    problem: DualProblem, costs: Sequence[float], *, tol: float = 1e-6
) -> list[Solution]:
    """Solve with every weight 1 for one C after the other, each from the last.

    That is quickest in rising order. Returns for each ``coef`` and ``dual``: β (N,);
    ``intercept``: (T,), zeros without intercepts.
    """
    state = TaskDuals(problem, costs[0])
    ones = np.ones(problem.n_weights)
    found = []
    for C in costs:
        if state.C != C:
            state.rescale(C)
        state.renew()
        floor, tolerance = problem.floor(C), first_tolerance(tol)
        history: list[float] = []
        status: Status | None = None
        while status is None:
            solved = inner = state.solve(ones, tolerance)
            is_finest = bool(solved.limit) or tolerance < FINEST_TOLERANCE
            allowed = tol * max(abs(inner.primal), floor)
            if is_finest or inner.primal - inner.dual <= allowed:
                inner = state.evaluate(ones)
                allowed = tol * max(abs(inner.primal), floor)
            if inner.primal - inner.dual <= allowed:
                status = "converged"
            elif is_finest:
                status = "stalled"
            history.append(inner.primal)
            tolerance = next_tolerance(tolerance, inner, 0.25 * allowed)
        certificate = Certificate(
            inner.primal, inner.dual, 1, status, np.array(history), floor
        )
        warn_if_stopped(
            certificate, f"support vector machines, C={C:g}", tol,
            steps="passes", limit=solved.limit, stacklevel=4,
        )  # fmt: skip
        beta = state.beta.copy()
        found.append(Solution(beta, certificate, dual=beta, intercept=state.intercept))
    return found
