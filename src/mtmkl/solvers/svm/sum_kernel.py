"""Support vector machines of many tasks on the sums of their kernels.

The problem of :mod:`mtmkl.solvers.svm.task_duals` with every weight 1.
"""

import numpy as np

from mtmkl.solvers.solution import Certificate, Solution, warn_if_stopped
from mtmkl.solvers.svm.inner import (
    FINEST_ACCURACY,
    Inner,
    first_accuracy,
    next_accuracy,
)
from mtmkl.solvers.svm.task_duals import DualProblem, TaskDuals


class SumKernelPath:
    """Solutions for many C, each started from the last.

    Parameters
    ----------
    problem : DualProblem
    tol : float
        Relative duality gap.
    """

    def __init__(self, problem: DualProblem, *, tol: float = 1e-6) -> None:
        self.problem = problem
        self.tol = tol
        self._state: TaskDuals | None = None

    def solve(self, C: float) -> Solution:
        """Solve for one C.

        Returns
        -------
        Solution
            ``coef`` and ``dual``: β (N,); ``intercept``: (T,), zeros without
            intercepts.
        """
        state = self._state = self._state or TaskDuals(self.problem, C)
        if C != state.C:
            state.enter(C)
        state.renew()
        floor = self.problem.floor(C)
        weights = np.ones(self.problem.n_weights)
        accuracy, history = first_accuracy(self.tol), []

        def is_reached(inner: Inner) -> bool:
            gap = inner.primal - (inner.linear - float(inner.q.sum()))
            return gap <= self.tol * max(abs(inner.primal), floor)

        inner = state.solve(weights, accuracy)
        while True:
            history.append(inner.primal)
            is_last = bool(inner.limit) or accuracy < FINEST_ACCURACY
            limit = inner.limit
            if is_last or is_reached(inner):
                # The result holds for sums that gathered no rounding.
                inner = state.evaluate(weights)
                history[-1] = inner.primal
                if is_last or is_reached(inner):
                    break
                state.refresh()
            allowed = self.tol * max(abs(inner.primal), floor)
            accuracy = next_accuracy(accuracy, inner, 0.25 * allowed)
            inner = state.solve(weights, accuracy)
        certificate = Certificate(
            objective=inner.primal,
            dual_objective=inner.linear - float(inner.q.sum()),
            n_iter=1,
            status="converged" if is_reached(inner) else "stalled",
            history=np.array(history),
            floor=floor,
        )
        warn_if_stopped(
            certificate, f"support vector machines, C={C:g}", self.tol,
            steps="passes", limit=limit, stacklevel=4,
        )  # fmt: skip
        beta = state.beta.copy()
        return Solution(
            coef=beta, certificate=certificate, dual=beta, intercept=state.intercept
        )
