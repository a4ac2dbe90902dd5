r"""Kernel selection by maximum entropy discrimination, over tasks that share switches.

With the duals β of :mod:`mtmkl.solvers.svm.task_duals`, whose weights are here expected
switches s_d, and q_d = ½ Σ_{t,f: σ(t,f)=d} β_t'K_tf β_t, the dual is

    max_β  Σ_t (c_t'β_t − ε‖β_t‖₁) − Σ_d log((α + exp q_d) / (1 + α))
    s.t.   lo ≤ β ≤ hi,  1'β_t = 0 for each task t,

which is the problem of Jebara (2011), sections 6, 7, 9 and 12, for classification and
ε-insensitive regression. Which switch a term has makes the difference between kernel
selection (σ(t, f) = f), kernel selection per task (one task at a time) and graph
structure (one switch per edge).
"""

from collections.abc import Callable

import numpy as np

from mtmkl.solvers.med.switches import SwitchedPath, minimise_over_switches
from mtmkl.solvers.solution import Solution, Status, certified
from mtmkl.solvers.svm.task_duals import DualProblem, TaskDuals, remedy_of
from mtmkl.typing import FloatArray

_NEAR_ALPHA = 1e-3


class MedPath(SwitchedPath):
    """Solutions for many (C, α), each started from the nearest so far.

    Quickest when both rise, α innermost; the solutions do not depend on the order.
    """

    def __init__(
        self, problem: DualProblem, *, tol: float = 1e-6, max_iter: int = 100
    ) -> None:
        super().__init__(tol, max_iter)
        self.problem = problem
        self._state: TaskDuals | None = None
        # log α, β and log-odds of the solutions for this C, and for the one before it.
        self._visited: list[tuple[float, FloatArray, FloatArray]] = []
        self._previous: list[tuple[float, FloatArray, FloatArray]] = []
        self._interior = 0.0

    def solve(self, C: float, log_alpha: float) -> Solution:
        """Solve for one (C, α)."""
        if self._state is None:
            self._state = TaskDuals(self.problem, C)
        state = self._state
        start = self._start(state, C, log_alpha)
        state.renew()
        result = minimise_over_switches(
            state,
            log_alpha,
            n_switches=self.problem.n_weights,
            start=start,
            tol=self.tol,
            max_iter=self.max_iter,
            floor=self.problem.floor(C),
            only_switched=True,
        )
        beta = state.beta.copy()
        self._visited.append((log_alpha, beta, result.extra["log_odds"]))
        is_stopped = result.certificate.status == "stopped"
        remedy = remedy_of(self.problem) if is_stopped else ""
        return self._certified(result, beta, state.intercept, remedy)

    def _start(self, state: TaskDuals, C: float, log_alpha: float) -> FloatArray | None:
        """Bring the state near to the solution and return log-odds for a start."""
        if C != state.C:
            self._previous, self._visited = self._visited, []
            self._interior = min(C, state.C)
            state.rescale(C)
        for visited, beta, log_odds in self._previous:
            # A solution that no bound holds is one for every box around it; an α that
            # was given as a share of q differs in its last digits.
            if np.isclose(visited, log_alpha, rtol=_NEAR_ALPHA, atol=_NEAR_ALPHA):
                if np.abs(beta).max() < self._interior:
                    state.start(beta)
                    return log_odds
                break
        return self._log_odds


class PerTaskPath(SwitchedPath):
    """Solutions for many (C, α) of tasks that share nothing.

    The problem of Jebara (2011), section 7.1, is the sum of one problem per task.

    Parameters
    ----------
    problem : DualProblem
    path : callable
        From the tasks of a problem to what solves it along a path, for instance
        :class:`~mtmkl.solvers.med.med.MedPath`.
    """

    def __init__(
        self, problem: DualProblem, path: Callable[[DualProblem], SwitchedPath]
    ) -> None:
        super().__init__()
        self._paths = [path(problem.task(t)) for t in range(problem.n_tasks)]

    def largest_q(self, C: float) -> float:
        """Return the largest q_d of any task at α = 0."""
        return max(path.largest_q(C) for path in self._paths)

    def solve(self, C: float, log_alpha: float) -> Solution:
        """Solve every task for one (C, α).

        Switches, "log_odds" and "q" are (T, S); the certificate is that of the sum,
        ``n_iter`` is the sum, too.
        """
        solutions = [path.solve(C, log_alpha) for path in self._paths]
        certificates = [solution.certificate for solution in solutions]
        statuses: set[Status] = {each.status for each in certificates}
        return Solution(
            coef=np.array([each.coef for each in solutions]),
            certificate=certified(
                [sum(each.objective for each in certificates)],
                sum(each.dual_objective for each in certificates),
                sum(each.n_iter for each in certificates),
                min(statuses, key=("stopped", "stalled", "converged").index),
                sum(each.floor for each in certificates),
            ),
            dual=np.concatenate([each.dual for each in solutions]),
            intercept=np.concatenate([each.intercept for each in solutions]),
            extra={
                "log_odds": np.array([each.extra["log_odds"] for each in solutions]),
                "q": np.array([each.extra["q"] for each in solutions]),
            },
        )
