"""Maximum entropy discrimination with switches of their own for every task.

The problem of Jebara (2011), section 7.1, is the sum of one problem per task.
"""

from collections.abc import Callable

import numpy as np

from mtmkl.solvers.med.switches import SwitchedPath
from mtmkl.solvers.solution import Certificate, Solution
from mtmkl.solvers.svm.task_duals import DualProblem


class PerTaskPath(SwitchedPath):
    """Solutions for many (C, α) of tasks that share nothing.

    A ``path`` such as :class:`~mtmkl.solvers.med.med.MedPath` is made for each.
    """

    def __init__(
        self, tasks: DualProblem, path: Callable[[DualProblem], SwitchedPath]
    ) -> None:
        super().__init__()
        self._paths = [path(tasks.task(t)) for t in range(tasks.n_tasks)]

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
        objective = sum(each.objective for each in certificates)
        statuses = {each.status for each in certificates}
        return Solution(
            coef=np.array([each.coef for each in solutions]),
            certificate=Certificate(
                objective=objective,
                dual_objective=sum(each.dual_objective for each in certificates),
                n_iter=sum(each.n_iter for each in certificates),
                status=next(
                    status
                    for status in ("stopped", "stalled", "converged")
                    if status in statuses
                ),
                history=np.array([objective]),
                floor=sum(each.floor for each in certificates),
            ),
            dual=np.concatenate([each.dual for each in solutions]),
            intercept=np.concatenate([each.intercept for each in solutions]),
            extra={
                "log_odds": np.array([each.extra["log_odds"] for each in solutions]),
                "q": np.array([each.extra["q"] for each in solutions]),
            },
        )
