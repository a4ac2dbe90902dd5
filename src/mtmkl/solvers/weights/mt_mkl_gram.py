r"""Multi-task multiple kernel learning on Gram matrices.

The problem of :mod:`mtmkl.solvers.weights.mt_mkl_features`, where Algorithm 2 of the
paper is, for any kernels: term m has the matrix K_m over the samples of all tasks,
R_m[τ(i), τ(j)] k_m(x_i, x_j) for i and j. Minimised over its models, the problem is the
convex function of the weights

    V(θ),  θ ≥ 0, ||θ||_p ≤ 1,    V(θ) = max over α of  h(α) − Σ_m θ_m q_m,

with q_m = ½ β'K_mβ and β = yα, whose gradient is −q. Its dual is the maximum over α of
h(α) − ||q||_{p*}, which certifies what is found. The dual for given weights is solved
on Σ_m θ_m K_m: for the hinge loss by the support vector solver that all methods share,
with an intercept common to all tasks if there is to be one, for the logistic loss by
coordinate ascent.

The weights follow the paper's (22), which never increases V. Along the same direction
in log θ longer steps are taken, up to the exponent 1/(p − 1) that is exact where q does
not change, as long as V falls. With p = ∞ all weights are 1. For p = 1 weights become
0, where (22) would leave them, and V may have kinks:
:mod:`mtmkl.solvers.weights.pairwise_sharing` has that case, in one block.
"""

from dataclasses import replace

import numpy as np

from mtmkl.kernels.gram import GramBlocks
from mtmkl.solvers.descent import Descent
from mtmkl.solvers.solution import Solution, warn_if_stopped
from mtmkl.solvers.svm.logistic_duals import LogisticDuals
from mtmkl.solvers.svm.task_duals import DualProblem, TaskDuals, remedy_of
from mtmkl.solvers.weights.mt_mkl_features import LossName
from mtmkl.solvers.weights.norm_weights import dual_norm, equal_weights, next_weights
from mtmkl.solvers.weights.pairwise_sharing import PairwiseSharingPath
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
        One block of the samples of all tasks, of matrices alone.
    y : ndarray of shape (n,)
        ±1, in the order of the block.
    p, loss, tol, max_iter
        As for :class:`mtmkl.methods.MultiTaskMKLClassifier`.
    fit_intercept : bool
        Whether there is an intercept, common to all tasks; for the hinge loss.
    rng : Generator
        Draws the order of the samples of the logistic loss.
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
        self._problem = DualProblem.of(y, blocks, fit_intercept=fit_intercept)
        self._p, self._loss = p, loss
        self._tol, self._max_iter = tol, max_iter
        self._rng = rng
        self._theta = equal_weights(blocks.n_terms, p)
        self._state: TaskDuals | LogisticDuals | None = None
        self._shared: PairwiseSharingPath | None = None
        if p == 1:
            self._shared = PairwiseSharingPath(
                self._problem,
                tol=tol,
                max_iter=max_iter,
                duals=self._duals,
                label=f"multi-task kernel learning, {loss} loss, C={{C:g}}, p=1",
            )

    def solve(self, C: float) -> Solution:
        """Solve for one C > 0.

        Returns ``coef``: θ (M,); ``dual``: β (n,); ``intercept``: (1,), 0 without one.
        Iterations are visited weights. Warns if ``max_iter`` or rounding comes before
        ``tol``.
        """
        if self._shared is not None:
            solution = self._shared.solve(C, 0.0)
            return replace(solution, coef=solution.coef[0])
        if self._state is None:
            self._state = self._duals(C)
        elif C != self._state.C:
            self._state.rescale(C)
        self._state.renew()
        search = _Search(
            self._state, self._theta, self._p, self._tol, self._max_iter - 1
        )
        certificate = search.run()
        self._theta = search.theta
        warn_if_stopped(
            certificate,
            f"multi-task kernel learning, {self._loss} loss, C={C:g}, p={self._p:g}",
            self._tol,
            steps="visited weights",
            remedy=remedy_of(self._problem) if certificate.status == "stopped" else "",
            limit=search.limit,
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


class _Search(Descent):
    """Steps by (22), or longer, to the best weights on the sphere of the p-norm."""

    def __init__(
        self,
        state: TaskDuals | LogisticDuals,
        theta: FloatArray,
        p: float,
        tol: float,
        max_iter: int,
    ) -> None:
        super().__init__(state, tol, max_iter)
        self.theta, self.p, self.length = theta, p, 1.0
        self.longest = 1.0 if np.isinf(p) else min((p + 1.0) / (p - 1.0), _LONGEST)
        self.solve()

    @property
    def weights(self) -> FloatArray:
        """The weights θ."""
        return self.theta

    def values(self) -> tuple[float, float]:
        return self.inner.primal, self.inner.linear - dual_norm(self.inner.q, self.p)

    def step(self) -> None:
        theta, before = self.theta, self.inner
        self.move(next_weights(theta, before.q, self.p, self.length))
        promised = float(before.q @ (self.theta - theta))
        decrease = before.dual - self.inner.dual
        if self.length > 1.0 and decrease < _SUFFICIENT * promised:
            # Too long a step; one by (22) does not raise V.
            self.length = self.longest = max(self.length / _LENGTHENING, 1.0)
            self.move(next_weights(theta, before.q, self.p))
        else:
            self.length = min(self.length * _LENGTHENING, self.longest)

    def move(self, theta: FloatArray) -> None:
        """Go to other weights."""
        self.theta = theta
        self.n_iter += 1
        self.solve()
