"""Support vector machines of many tasks on the sums of their kernels."""

import numpy as np

from mtmkl.solvers.descent import FINEST_TOLERANCE, first_tolerance, next_tolerance
from mtmkl.solvers.solution import Solution, Status, certified, warn_if_stopped
from mtmkl.solvers.svm.task_duals import DualProblem, TaskDuals


class SumKernelPath:
    """Solutions with every weight 1 for many C, each started from the last.

    Parameters
    ----------
    problem : DualProblem
    tol : float
        Relative duality gap.
    """

    def __init__(self, problem: DualProblem, *, tol: float = 1e-6) -> None:
        self.problem, self.tol = problem, tol
        self._state: TaskDuals | None = None

    def solve(self, C: float) -> Solution:
        """Solve for one C > 0 to a relative gap of ``tol``; quickest in rising order.

        Returns ``coef``: the weights (S,); ``dual``: β (N,); ``intercept``: (T,), zeros
        without intercepts.
        """
        if self._state is None:
            self._state = TaskDuals(self.problem, C)
        state, ones = self._state, np.ones(self.problem.n_weights)
        if state.C != C:
            state.rescale(C)
        state.renew()
        floor, tolerance = self.problem.floor(C), first_tolerance(self.tol)
        history: list[float] = []
        status: Status | None = None
        while status is None:
            solved = inner = state.solve(ones, tolerance)
            is_finest = bool(solved.limit) or tolerance < FINEST_TOLERANCE
            allowed = self.tol * max(abs(inner.primal), floor)
            if is_finest or inner.primal - inner.dual <= allowed:
                inner = state.evaluate(ones)
                allowed = self.tol * max(abs(inner.primal), floor)
            if inner.primal - inner.dual <= allowed:
                status = "converged"
            elif is_finest:
                status = "stalled"
            history.append(inner.primal)
            tolerance = next_tolerance(tolerance, inner, 0.25 * allowed)
        certificate = certified(history, inner.dual, 1, status, floor)
        what, limit = f"support vector machines, C={C:g}", solved.limit
        warn_if_stopped(certificate, what, self.tol, steps="passes", limit=limit)
        return Solution(
            ones, certificate, dual=state.beta.copy(), intercept=state.intercept
        )
