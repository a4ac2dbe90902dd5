r"""Algorithm 1 of Jebara (2011): sequential quadratic programming, task by task.

By Theorem 1 of the paper, with q̃, s̃ and g̃_d = K_dβ̃ at the present point,

    log(α + exp q_d(β)) ≤ log(α + exp q̃_d) + s̃_d g̃_d'(β − β̃)
        + ½ (β − β̃)'(𝒢_d g̃_d g̃_d' + K_d)(β − β̃),
    𝒢_d = tanh(½ log g)/(2 log g),   g = α exp(−q̃_d),   ¼ at g = 1,

so that maximising the resulting lower bound of J over the block β_t of one task is the
quadratic program of step 3b. The bound couples the tasks by 𝒢_d g̃_d g̃_d': it holds for
a step in one block, which is why step 3a stands inside the loop over the tasks. J then
never decreases. Steps of all tasks at once from one set of values (``simultaneous``)
are not covered by the bound and may lower J.

Here log g = log α − q̃_d is never exponentiated. The method of
:mod:`mtmkl.solvers.med.med` is faster; this one is there for the paper's own counts of
iterations.
"""

from dataclasses import KW_ONLY, dataclass
from itertools import pairwise

import numpy as np
from scipy.special import expit

from mtmkl.methods.med_kernel_selection import MEDKernelSelectionClassifier
from mtmkl.solvers.med.switches import SwitchedPath, switch_cost
from mtmkl.solvers.solution import Solution, Status, certified, warn_if_stopped
from mtmkl.solvers.svm.smo import DIAGONAL, Dual, pair_steps, workspace
from mtmkl.solvers.svm.task_duals import DualProblem, TaskDuals, remedy_of
from mtmkl.typing import FloatArray

_MAX_PAIR_STEPS = 10_000_000
_FINEST_ACCURACY, _REFINEMENT = 1e-14, 0.1


@dataclass(eq=False, repr=False)
class MEDByAlgorithm1(MEDKernelSelectionClassifier):
    """MED kernel selection, until a sweep changes λ little or the gap is reached.

    ``change_tol`` is ϖ of the paper, the largest relative change that is little.
    """

    _: KW_ONLY
    change_tol: float = 1e-3

    def _shared_path(self, tasks: DualProblem) -> SwitchedPath:
        return SqpPath(
            tasks, tol=self.tol, change_tol=self.change_tol, max_iter=self.max_iter
        )


class SqpPath(SwitchedPath):
    """Solutions for many (C, α) by Algorithm 1, each started from the last.

    It runs to a relative duality gap, or to its own stopping rule (step 4): a relative
    change of β of at most ``change_tol`` in a sweep. The quadratic programs are solved
    to a violation of ``accuracy`` in units of c, and more finely when a sweep changes
    nothing before the gap is reached.

    ``extra`` has the "dual_history" too, J after each sweep (step 3), and "stopped_by":
    "gap", "change", "limit" or "rounding".
    """

    def __init__(
        self,
        tasks: DualProblem,
        *,
        tol: float = 1e-6,
        change_tol: float = 0.0,
        max_iter: int = 10_000,
        accuracy: float = 1e-6,
        simultaneous: bool = False,
    ) -> None:
        super().__init__(tol, max_iter)
        self.tasks = tasks
        self.change_tol = change_tol
        self.accuracy, self.simultaneous = accuracy, simultaneous
        self._C, self._beta = 1.0, np.zeros(tasks.c.size)

    def solve(self, C: float, log_alpha: float) -> Solution:
        """Solve for one (C, α)."""
        tasks, accuracy = self.tasks, self.accuracy
        start = self._beta * min(C / self._C, 1.0)
        sweeps = _Sweeps(tasks, C, log_alpha, start)
        unit = float(np.abs(tasks.c).max(initial=1e-300))
        floor = tasks.floor(C)
        history, dual_history = [], []
        stopped_by = "limit"
        for _ in range(self.max_iter):
            before = sweeps.beta.copy()
            sweeps.sweep(accuracy * unit, simultaneous=self.simultaneous)
            dual_objective, gap = sweeps.evaluate()
            change = float(np.linalg.norm(sweeps.beta - before))
            size = float(np.linalg.norm(sweeps.beta))
            objective = dual_objective + gap
            history.append(objective)
            dual_history.append(dual_objective)
            if gap <= self.tol * max(abs(objective), floor):
                stopped_by = "gap"
                break
            if self.change_tol > 0.0 and change <= self.change_tol * size:
                stopped_by = "change"
                break
            if change == 0.0:
                if accuracy < _FINEST_ACCURACY:
                    stopped_by = "rounding"
                    break
                accuracy *= _REFINEMENT
        ended: dict[str, Status] = {"limit": "stopped", "rounding": "stalled"}
        status = ended.get(stopped_by, "converged")
        certificate = certified(history, dual_objective, len(history), status, floor)
        remedy = "lower change_tol or raise tol"
        if stopped_by == "limit":
            remedy = remedy_of(tasks)
        warn_if_stopped(
            certificate, "Algorithm 1", self.tol, steps="sweeps", remedy=remedy
        )
        self._C, self._beta = C, sweeps.beta
        return Solution(
            coef=sweeps.switches,
            certificate=certificate,
            dual=sweeps.beta,
            intercept=sweeps.duals.intercept,
            extra={
                "log_odds": sweeps.q - log_alpha,
                "q": sweeps.q,
                "dual_history": np.array(dual_history),
                "stopped_by": stopped_by,
            },
        )


class _Sweeps:
    """The point β, its outputs K_tf β_t and its q, changed by sweeps over the tasks."""

    def __init__(
        self, tasks: DualProblem, C: float, log_alpha: float, start: FloatArray
    ) -> None:
        for t, row in enumerate(tasks.weight):
            if np.unique(row).size < row.size:
                raise ValueError(f"two terms of task {t} share a switch")
        self.tasks, self.log_alpha = tasks, log_alpha
        self.lo, self.hi = tasks.box(C)
        self.duals = TaskDuals(tasks, C)
        self.beta = start
        self.rows = [slice(*ends) for ends in pairwise(tasks.offsets)]
        self.outputs = [self._outputs(t) for t in range(tasks.n_tasks)]
        self.totals = [self._total(t) for t in range(tasks.n_tasks)]
        self.evaluate()

    @property
    def switches(self) -> FloatArray:
        """The switches that belong to β."""
        return expit(self.q - self.log_alpha)

    def _grams(self, t: int) -> FloatArray:
        """Return the Gram matrices of a task, (n, n, G)."""
        blocks = self.tasks.blocks
        n = blocks.sizes[t]
        grams: FloatArray = blocks.grams[blocks.pairs(t)].reshape(n, n, -1)
        return grams

    def _total(self, t: int) -> FloatArray:
        x = self.tasks.blocks.features[self.rows[t]]
        total: FloatArray = x @ x.T + self._grams(t).sum(axis=2, dtype=np.float64)
        return total

    def _outputs(self, t: int) -> FloatArray:
        b, x = self.beta[self.rows[t]], self.tasks.blocks.features[self.rows[t]]
        of_grams = np.tensordot(b, self._grams(t), axes=1)
        return np.concatenate([x * (b @ x), of_grams], axis=1)

    def sweep(self, tol: float, *, simultaneous: bool) -> None:
        """Do step 3 of the algorithm."""
        start = self.q.copy()
        for t, rows in enumerate(self.rows):
            own = self.tasks.weight[t]
            log_g = self.log_alpha - (start if simultaneous else self.q)[own]
            b, outputs = self.beta[rows], self.outputs[t]
            share = 0.5 * b @ outputs
            Q = self.totals[t] + (bound_curvature(log_g) * outputs) @ outputs.T
            # The gradient of the bound at β̃ is that of J.
            v = self.tasks.c[rows] - outputs @ expit(-log_g)
            linear = v + Q @ b
            work, index = workspace(b.size)
            work[DIAGONAL] = Q.diagonal()
            box = self.lo[rows], self.hi[rows]
            dual = Dual(linear, *box, self.tasks.epsilon, b, v)
            pair_steps(Q, dual, work, index, tol, _MAX_PAIR_STEPS, 0.0)
            self.outputs[t] = self._outputs(t)
            self.q[own] += 0.5 * b @ self.outputs[t] - share

    def evaluate(self) -> tuple[float, float]:
        """Renew q, and return J and the duality gap."""
        tasks, beta = self.tasks, self.beta
        self.duals.start(beta)
        self.q = self.duals.solve(np.zeros(tasks.n_weights), np.inf).q
        linear = float(tasks.c @ beta - tasks.epsilon * np.abs(beta).sum())
        inner = self.duals.solve(self.switches, np.inf)
        value = linear - switch_cost(self.q, self.log_alpha)
        return value, inner.primal - inner.dual


def bound_curvature(log_g: FloatArray) -> FloatArray:
    """Return 𝒢 = tanh(½ log g)/(2 log g), ¼ at g = 1 and 0 at g = 0."""
    quarter = np.full_like(log_g, 0.25)
    return np.divide(np.tanh(0.5 * log_g), 2.0 * log_g, out=quarter, where=log_g != 0.0)
