r"""Multiple kernel learning with a p-norm over the tasks and a sum over the kernels.

The problem of MK-MTFL in Jawanpuria and Nath (2011), for p ≥ 2,

    min  ½ (Σ_j (Σ_t ‖w_tj‖^p)^{1/p})² + C Σ loss
      =  min over γ ≥ 0, 1'γ ≤ 1 of f(γ),

f as in :mod:`mtmkl.solvers.weights.mixed_norm_duals`, and with its dual

    max_β  ℓ(β) − max_j Q_j(β).

f is convex with the gradient −Q. With p = 2 all tasks have one weight per kernel.
Newton's method over γ is that of :mod:`mtmkl.solvers.weights.group_sharing` for tasks
that are tied; :func:`descend` is the paper's mirror descent.

References
----------
P. Jawanpuria, J. S. Nath, Multi-task multiple kernel learning, SIAM International
Conference on Data Mining, 2011.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np

from mtmkl.solvers.solution import Certificate, Solution, Status, warn_if_stopped
from mtmkl.solvers.svm.inner import (
    FINEST_ACCURACY,
    Inner,
    first_accuracy,
    next_accuracy,
)
from mtmkl.solvers.svm.task_duals import DualProblem, TaskDuals, remedy_of
from mtmkl.solvers.weights.group_sharing import GroupSharingPath
from mtmkl.solvers.weights.mixed_norm_duals import MixedNormDuals
from mtmkl.typing import FloatArray

MixedNormSolver = Literal["newton", "mirror_descent"]

_GROWTH, _CUT = 2.0, 0.5  # of adaptive steps
_ROUNDING = 1e-13


class MixedNormPath:
    """Solutions for many C, each started from the last.

    Parameters
    ----------
    problem : DualProblem
        All tasks with the same weights.
    p : float
        At least 2.
    solver : {"newton", "mirror_descent"}
    step : float, optional
        Of mirror descent, the same in every iteration; by default steps adapt.
    tol : float
        Relative duality gap.
    max_iter : int
        Limit on visited weights.
    """

    def __init__(
        self,
        problem: DualProblem,
        p: float,
        *,
        solver: MixedNormSolver = "newton",
        step: float | None = None,
        tol: float = 1e-4,
        max_iter: int = 500,
    ) -> None:
        self.problem = problem
        self.p = p if problem.n_tasks > 1 else 2.0
        self.solver = solver
        self.step = step
        self.tol = tol
        self.max_iter = max_iter
        self._duals: Callable[[float], TaskDuals | MixedNormDuals] = partial(
            TaskDuals, problem
        )
        if self.p > 2.0:
            self._duals = partial(MixedNormDuals, problem, p=self.p)
        self._newton = GroupSharingPath(
            problem,
            tol=tol,
            max_iter=max_iter,
            duals=self._duals,
            label=f"mixed norms, C={{C:g}}, p={self.p:g}",
        )
        self._state: TaskDuals | MixedNormDuals | None = None
        self._gamma = np.full(problem.n_weights, 1.0 / problem.n_weights)

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
            (N,); ``intercept``: (T,); ``extra``: "gamma" (k,), "lam" (T, k) and
            "seconds", since the start, at the entries of the history of mirror descent.
        """
        if self.solver == "newton":
            solution = self._newton.solve(C, 0.0)
            self._state, gamma = self._newton.state, solution.coef[0]
        else:
            if self._state is None:
                self._state = self._duals(C)
            elif C != self._state.C:
                self._state.rescale(C)
            solution = self._descended(self._state, C)
            gamma = self._gamma = solution.coef
        lam = np.ones((self.problem.n_tasks, gamma.size))
        if isinstance(self._state, MixedNormDuals):
            lam = self._state.lam
        return Solution(
            coef=gamma / lam,
            certificate=solution.certificate,
            dual=solution.dual,
            intercept=solution.intercept,
            extra={**solution.extra, "gamma": gamma, "lam": lam},
        )

    def _descended(self, state: TaskDuals | MixedNormDuals, C: float) -> Solution:
        state.renew()
        solution, limit = descend(
            state,
            self._gamma,
            step=self.step,
            tol=self.tol,
            max_iter=self.max_iter,
            floor=self.problem.floor(C),
        )
        warn_if_stopped(
            solution.certificate,
            f"mirror descent, C={C:g}, p={self.p:g}",
            self.tol,
            remedy=remedy_of(self.problem),
            limit=limit,
            stacklevel=5,
        )
        return solution


def descend(
    state: TaskDuals | MixedNormDuals,
    gamma: FloatArray,
    *,
    step: float | None,
    tol: float,
    max_iter: int,
    floor: float,
) -> tuple[Solution, str]:
    """Minimise f by mirror descent in the entropy geometry of the simplex.

    An iteration multiplies γ by exp(s·Q). Adaptive steps s double, and are halved where
    f is above its model of the first order with the divergence KL(γ⁺ ‖ γ)/s. Lower
    bounds are those of each β and, where f has kinks, of their means by step.

    Parameters
    ----------
    state : TaskDuals or MixedNormDuals
        The duals at γ, continued.
    gamma : ndarray of shape (k,)
        Where to start, positive.
    step : float, optional
        The s of all iterations; None for adaptive ones.
    tol : float
        Relative duality gap.
    max_iter : int
    floor : float
        As for :func:`~mtmkl.solvers.solution.relative_gap`.

    Returns
    -------
    solution : Solution
        With the best lower bound met.
    limit : str
        What a stalled search was limited by.
    """
    begin = time.process_time()
    accuracy = first_accuracy(tol)
    history: list[float] = []
    seconds: list[float] = []
    inner = state.solve(gamma, accuracy)
    limit, n_iter, bound, best_beta = inner.limit, 0, -np.inf, state.beta.copy()
    length = step
    # γ itself may underflow, and would never come back.
    logs = np.log(np.maximum(gamma, 1e-300))
    mean = _Mean(state.beta)
    is_evaluated = False
    status: Status
    while True:
        value = inner.linear - float(inner.q.max())
        if value > bound:
            bound, best_beta = value, state.beta.copy()
        if mean.bound > bound:
            bound, best_beta = mean.bound, mean.beta.copy()
        gap = inner.primal - bound
        allowed = tol * max(abs(inner.primal), floor)
        is_finest = bool(limit) or accuracy < FINEST_ACCURACY
        inner_gap = inner.primal - inner.dual
        is_stalled = is_finest and inner_gap >= 0.5 * gap
        if gap <= allowed or is_stalled or n_iter >= max_iter:
            if is_evaluated:
                status = "stalled" if is_stalled else "stopped"
                if gap <= allowed:
                    status = "converged"
                break
            # What is handed out holds for sums that gathered no rounding.
            inner, is_evaluated = state.evaluate(gamma), True
            fresh = state.at(best_beta).solve(np.zeros(gamma.size), np.inf)
            bound = fresh.linear - float(fresh.q.max())
            continue
        if is_evaluated:
            state.refresh()
            is_evaluated = False
        if inner_gap > max(0.1 * gap, 0.3 * allowed) and not is_finest:
            wanted = max(0.05 * gap, 0.15 * allowed)
            accuracy = next_accuracy(accuracy, inner, wanted)
            inner = state.solve(gamma, accuracy)
            limit = inner.limit
            continue
        history.append(inner.primal)
        seconds.append(time.process_time() - begin)
        if length is None:
            length = 1.0 / max(float(inner.q.max()), 1e-300)
        while True:
            new_logs = logs + length * inner.q
            new_logs -= new_logs.max()
            moved = np.exp(new_logs)
            moved /= moved.sum()
            trial = state.solve(moved, accuracy)
            used = moved > 0.0
            change = np.log(moved[used]) - logs[used] + np.log(np.exp(logs).sum())
            divergence = float(moved[used] @ change)
            model = inner.dual - float(inner.q @ (moved - gamma)) + divergence / length
            ceiling = model + _ROUNDING * abs(model) + inner_gap
            if step is not None or trial.dual <= ceiling:
                break
            length *= _CUT
        if step is None:
            length *= _GROWTH
        gamma, logs, inner, limit = moved, new_logs, trial, trial.limit
        n_iter += 1
        if n_iter & (n_iter - 1) == 0:
            mean = _Mean(state.beta)  # the first iterations are far from the others
        mean.add(inner, state.beta, length)
    history.append(inner.primal)
    seconds.append(time.process_time() - begin)
    certificate = Certificate(
        objective=inner.primal,
        dual_objective=bound,
        n_iter=n_iter,
        status=status,
        history=np.array(history),
        floor=floor,
    )
    solution = Solution(
        coef=gamma,
        certificate=certificate,
        dual=state.beta.copy(),
        intercept=state.intercept,
        extra={"q": inner.q, "seconds": np.array(seconds)},
    )
    return solution, limit


class _Mean:
    """The mean of duals, weighted, with what it puts below the minimum."""

    def __init__(self, beta: FloatArray) -> None:
        self.beta = np.zeros_like(beta)
        self.q: FloatArray | float = 0.0
        self.linear = self.total = 0.0
        self.bound = -np.inf

    def add(self, inner: Inner, beta: FloatArray, weight: float) -> None:
        """Add duals; ℓ of the mean is at least the mean ℓ, and Q at most its mean."""
        self.total += weight
        share = weight / self.total
        self.beta += share * (beta - self.beta)
        self.linear += share * (inner.linear - self.linear)
        self.q = self.q + share * (inner.q - self.q)
        self.bound = self.linear - float(np.max(self.q))
