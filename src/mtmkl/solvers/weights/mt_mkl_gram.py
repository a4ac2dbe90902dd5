r"""Multi-task multiple kernel learning on Gram matrices.

The problem of :mod:`mtmkl.solvers.weights.mt_mkl_features`, where Algorithm 2 of the
paper is, for any kernels: term m has the matrix K_m over the examples of all tasks,
R_m[τ(i), τ(j)] k_m(x_i, x_j) for i and j. Minimised over its models, the problem is the
convex function of the weights

    V(θ),  θ ≥ 0, ||θ||_p ≤ 1,    V(θ) = max over α of  h(α) − Σ_m θ_m q_m,

with q_m = ½ β'K_mβ and β = yα, whose gradient is −q. Its dual is the maximum over α of
h(α) − ||q||_{p*}, which certifies what is found. The dual for given weights is solved
on Σ_m θ_m K_m: for the hinge loss by the support vector solver that all methods share,
with an intercept common to all tasks if there is to be one, for the logistic loss by
coordinate ascent.

The weights follow the paper's (22) [1]_, which never increases V. Along the same
direction in log θ longer steps are taken, up to the exponent 1/(p − 1) that is exact
where q does not change, as long as V falls. With p = ∞ all weights are 1. For p = 1
weights become 0, where (22) would leave them, and V may have kinks:
:class:`~mtmkl.solvers.weights.group_sharing.GroupSharingPath` has that case, in one
block.

References
----------
.. [1] C. Widmer, M. Kloft, V. T. Sreedharan and G. Rätsch, Framework for multi-task
   multiple kernel learning and applications in genome analysis, arXiv:1506.09153, 2015.
"""

import numpy as np

from mtmkl.kernels.gram import GramBlocks
from mtmkl.solvers.solution import Certificate, Solution, Status, warn_if_stopped
from mtmkl.solvers.svm.inner import FINEST_ACCURACY, first_accuracy, next_accuracy
from mtmkl.solvers.svm.logistic_duals import LogisticDuals
from mtmkl.solvers.svm.task_duals import DualProblem, TaskDuals, remedy_of
from mtmkl.solvers.weights.group_sharing import GroupSharingPath
from mtmkl.solvers.weights.mt_mkl_features import LossName
from mtmkl.solvers.weights.norm_weights import (
    dual_norm,
    equal_weights,
    next_weights,
    on_sphere,
)
from mtmkl.typing import FloatArray

# Steps in log θ, in units of that of (22).
_LENGTHENING = 1.5  # after each that was of use
_LONGEST = 50.0
_SUFFICIENT = 0.1  # least decrease of V, as a share of what its gradient promises


class GramPath:
    """Solutions for many C, each started from the last.

    Parameters
    ----------
    blocks : GramBlocks
        One block of the examples of all tasks, of matrices alone.
    y : ndarray of shape (n,)
        ±1, in the order of the block.
    p : float
        Norm of the weights, from 1 to ``np.inf``.
    loss : {"hinge", "logistic"}
    fit_intercept : bool
        Whether there is an intercept, common to all tasks; for the hinge loss.
    tol : float
        Relative duality gap.
    max_iter : int
        Limit on visited weights.
    rng : Generator
        Draws the order of the examples of the logistic loss.

    Raises
    ------
    ValueError
        For an intercept with the logistic loss.
    """

    def __init__(
        self,
        blocks: GramBlocks,
        y: FloatArray,
        *,
        p: float,
        loss: LossName = "hinge",
        fit_intercept: bool = False,
        tol: float = 1e-4,
        max_iter: int = 1000,
        rng: np.random.Generator,
    ) -> None:
        if loss == "logistic" and fit_intercept:
            raise ValueError("the logistic loss is solved without intercept")
        self._problem = DualProblem.of(y, blocks, fit_intercept=fit_intercept)
        self._p, self._loss = p, loss
        self._tol, self._max_iter = tol, max_iter
        self._rng = rng
        self._theta = equal_weights(blocks.n_terms, p)
        self._state: TaskDuals | LogisticDuals | None = None
        self._shared: GroupSharingPath | None = None
        if p == 1:
            self._shared = GroupSharingPath(
                self._problem,
                tol=tol,
                max_iter=max_iter,
                duals=self._duals,
                label=f"multi-task kernel learning, {loss} loss, C={{C:g}}, p=1",
            )

    def solve(self, C: float) -> Solution:
        """Solve for one C.

        Parameters
        ----------
        C : float
            Positive.

        Returns
        -------
        Solution
            ``coef``: θ (M,); ``dual``: β (n,); ``intercept``: (1,), 0 without one.
            Iterations are visited weights.

        Warns
        -----
        ConvergenceWarning
            If ``max_iter`` or rounding comes before ``tol``; the message says the gap
            reached.
        """
        if self._shared is not None:
            solution = self._shared.solve(C, 0.0)
            return Solution(
                coef=solution.coef[0],
                certificate=solution.certificate,
                dual=solution.dual,
                intercept=solution.intercept,
            )
        if self._state is None:
            self._state = self._duals(C)
        elif C != self._state.C:
            self._state.rescale(C)
        self._state.renew()
        certificate, limit = self._descend(self._state)
        warn_if_stopped(
            certificate,
            f"multi-task kernel learning, {self._loss} loss, C={C:g}, p={self._p:g}",
            self._tol,
            steps="visited weights",
            remedy=remedy_of(self._problem) if certificate.status == "stopped" else "",
            limit=limit,
        )
        return Solution(
            coef=self._theta,
            certificate=certificate,
            dual=self._state.beta.copy(),
            intercept=self._state.intercept,
        )

    def _duals(self, C: float) -> TaskDuals | LogisticDuals:
        if self._loss == "logistic":
            return LogisticDuals(self._problem.blocks, self._problem.c, C, self._rng)
        return TaskDuals(self._problem, C)

    def _descend(self, state: TaskDuals | LogisticDuals) -> tuple[Certificate, str]:
        """Move the weights until the gap is closed, and say what limits it."""
        p, tol, theta = self._p, self._tol, self._theta
        longest = 1.0 if np.isinf(p) else min((p + 1.0) / (p - 1.0), _LONGEST)
        length, accuracy = 1.0, first_accuracy(tol)
        history: list[float] = []
        status: Status
        inner, n_iter, is_evaluated = state.solve(theta, accuracy), 1, False
        limit = inner.limit
        while True:
            inner_gap = inner.primal - inner.dual
            dual = inner.linear - dual_norm(inner.q, p)
            gap, allowed = inner.primal - dual, tol * abs(inner.primal)
            is_finest = bool(limit) or accuracy < FINEST_ACCURACY
            is_stalled = is_finest and inner_gap >= 0.5 * gap
            if gap <= allowed or is_stalled or n_iter >= self._max_iter:
                if is_evaluated:
                    status = "stalled" if is_stalled else "stopped"
                    if gap <= allowed:
                        status = "converged"
                    break
                # What is handed out holds for sums that gathered no rounding.
                inner, is_evaluated = state.evaluate(theta), True
                continue
            if is_evaluated:
                state.refresh()
                is_evaluated = False
            history.append(inner.primal)
            if inner_gap >= 0.5 * gap:
                wanted = max(0.1 * gap, 0.25 * allowed)
                accuracy = next_accuracy(accuracy, inner, wanted)
                inner = state.solve(theta, accuracy)
                limit = inner.limit
                continue
            moved = self._moved(theta, inner.q, length)
            trial = state.solve(moved, accuracy)
            n_iter += 1
            promised = float(inner.q @ (moved - theta))
            if length > 1.0 and inner.dual - trial.dual < _SUFFICIENT * promised:
                # Too long a step; one by (22) does not raise V.
                length = longest = max(length / _LENGTHENING, 1.0)
                moved = self._moved(theta, inner.q, 1.0)
                trial = state.solve(moved, accuracy)
                n_iter += 1
            else:
                length = min(length * _LENGTHENING, longest)
            theta, inner, limit = moved, trial, trial.limit
        self._theta = theta
        history.append(inner.primal)
        certificate = Certificate(
            objective=inner.primal,
            dual_objective=dual,
            n_iter=n_iter,
            status=status,
            history=np.array(history),
        )
        return certificate, limit

    def _moved(self, theta: FloatArray, q: FloatArray, length: float) -> FloatArray:
        """Return weights on the line in log θ through those of (22)."""
        best = next_weights(theta, q, self._p)
        if length == 1.0:
            return best
        logs = np.log(theta) + length * np.log(best / theta)
        return on_sphere(np.exp(logs - logs.max()), self._p)
