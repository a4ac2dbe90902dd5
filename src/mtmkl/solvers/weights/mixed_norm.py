r"""Multiple kernel learning with a p-norm over the tasks and a sum over the kernels.

The problem of MK-MTFL in Jawanpuria and Nath (2011), for p ≥ 2,

    min  ½ (Σ_j (Σ_t ‖w_tj‖^p)^{1/p})² + C Σ loss
      =  min over γ ≥ 0, 1'γ ≤ 1 of f(γ),

f as in :mod:`mtmkl.solvers.weights.mixed_norm_duals`, and with its dual

    max_β  ℓ(β) − max_j Q_j(β).

f is convex with the gradient −Q. With p = 2 all tasks have one weight per kernel. The
solver is Newton's method over γ, that of :mod:`mtmkl.solvers.weights.group_sharing` for
tasks that are tied.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from mtmkl.solvers.solution import Solution
from mtmkl.solvers.svm.task_duals import DualProblem, TaskDuals
from mtmkl.solvers.weights.group_sharing import GroupSharingPath
from mtmkl.solvers.weights.mixed_norm_duals import MixedNormDuals
from mtmkl.typing import FloatArray


class MixedNormPath:
    """Solutions for many C, each started from the last.

    Parameters
    ----------
    problem : DualProblem
        All tasks with the same weights.
    p : float
        At least 2.
    tol : float
        Relative duality gap.
    max_iter : int
        Limit on visited weights.
    """

    def __init__(
        self, problem: DualProblem, p: float, *, tol: float = 1e-4, max_iter: int = 500
    ) -> None:
        self._newton = GroupSharingPath(
            problem,
            tol=tol,
            max_iter=max_iter,
            duals=partial(duals_of, problem, p),
            label=f"mixed norms, C={{C:g}}, p={p:g}",
        )

    def solve(self, C: float) -> Solution:
        """Solve for one C.

        Parameters
        ----------
        C : float
            Weight of the loss, positive.

        Returns
        -------
        Solution
            ``coef``: η (T, k), the weights of the kernels in each task; ``dual``: β
            (N,); ``intercept``: (T,); ``extra``: "gamma" (k,) and "lam" (T, k).
        """
        solution = self._newton.solve(C, 0.0)
        return with_own_weights(solution, solution.coef[0], self._newton.state)


def duals_of(problem: DualProblem, p: float, C: float) -> TaskDuals | MixedNormDuals:
    """Return the duals at γ; with p = 2 or one task there is no λ to find."""
    if p == 2.0 or problem.n_tasks == 1:
        return TaskDuals(problem, C)
    return MixedNormDuals(problem, C, p)


def with_own_weights(
    solution: Solution, gamma: FloatArray, state: TaskDuals | MixedNormDuals
) -> Solution:
    """Return a solution in γ with the weights γ/λ of each task."""
    lam = np.ones((state.problem.n_tasks, gamma.size))
    if isinstance(state, MixedNormDuals):
        lam = state.lam
    extra = {**solution.extra, "gamma": gamma, "lam": lam}
    return replace(solution, coef=gamma / lam, extra=extra)
