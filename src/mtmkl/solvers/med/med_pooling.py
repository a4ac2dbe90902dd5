r"""Adaptive pooling by maximum entropy discrimination (Jebara 2011, section 8).

Task t classifies by s_t⟨θ_t, φ_t(x)⟩ + ⟨θ, φ(x)⟩ + b_t, with a communal kernel k and a
kernel k_t of its own. With q_t = ½ β_t'K_tβ_t the dual is

    max_β  c'β − ½ β'Kβ − Σ_t log((α + exp q_t) / (1 + α))
    s.t.   β_i between 0 and C y_i,  1'β_t = 0 for each task t,

K the communal Gram matrix of all samples, and the primal

    min  Σ_t KL(Bern(s_t) ‖ Bern(1/(1 + α))) + ½ ||θ||² + ½ Σ_t ||θ_t||²/s_t
         + C Σ hinge.

For fixed s it is one support vector machine with the kernel k + δ_tu s_t k_t and one
bias per task, that is with T equality constraints, which
:mod:`mtmkl.solvers.med.med_pooling_steps` solves.

Of many samples no communal matrix is needed: a factor F takes its place, K = FF'
between tasks, by which time and memory grow as N. Where FF' is no more than near to K,
as of a Cholesky factorisation that was cut, the problem with FF' is solved again and
again, each time with the outputs that FF' lacks at the last β for an intercept. All
bounds are those of the problem with K itself, whose outputs are computed for them.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from mtmkl.kernels.gram import GramMemoryError
from mtmkl.solvers.descent import Inner
from mtmkl.solvers.med import med_pooling_steps as steps
from mtmkl.solvers.med.med_pooling_steps import Pooled
from mtmkl.solvers.med.switches import (
    SwitchedPath,
    minimise_over_switches,
    prior_cost,
    switch_cost,
)
from mtmkl.solvers.solution import Solution, Status, certified
from mtmkl.solvers.svm.smo import SLICE, step_cost
from mtmkl.solvers.svm.task_duals import limit_of_tolerance
from mtmkl.typing import FloatArray

_STEPS_PER_EXAMPLE = 10_000  # whose work is granted to a solution
_MOST_CORRECTIONS = 60  # of outputs that a factor lacks
_SHARE = 1e-3  # of the tolerance that is left to the problem with the factor
_MEMORY = 12  # corrections that are mixed


class PoolingPath(SwitchedPath):
    """Solutions for many (C, α), each started from the last.

    Parameters
    ----------
    communal : ndarray of shape (N, N) or (N, r)
        Gram matrix of k over all samples, sorted by task; or, given ``within``, a
        factor F.
    specialised : sequence of ndarray of shape (n_t, n_t)
        Gram matrices of the k_t.
    c : ndarray of shape (N,)
        Labels −1 and +1.
    within : sequence of ndarray of shape (n_t, n_t), optional
        The blocks of the communal Gram matrix within tasks, with a factor F.
    whole : object, optional
        The communal Gram matrix K, if K − FF' ⪰ 0 is not zero between tasks: it has
        ``product(β)``, which returns Kβ, and ``matrix()``, which returns K, or raises
        GramMemoryError if that is too large.
    """

    def __init__(
        self,
        communal: FloatArray,
        specialised: Sequence[FloatArray],
        c: FloatArray,
        *,
        tol: float = 1e-6,
        max_iter: int = 100,
        within: Sequence[FloatArray] = (),
        whole: Any = None,
    ) -> None:
        super().__init__(tol, max_iter)
        self._problem = _Pooling(communal, within, specialised, c)
        self._whole = whole

    def solve(self, C: float, log_alpha: float) -> Solution:
        """Solve for one (C, α)."""
        self._problem.set_box(C)
        self._problem.renew()
        result = None if self._whole is None else self._corrected(log_alpha)
        if result is None:
            result = self._minimum(log_alpha, self.tol)
        problem = self._problem
        return self._certified(result, problem.beta.copy(), problem.intercept)

    def _minimum(self, log_alpha: float, tol: float) -> Solution:
        problem = self._problem
        return minimise_over_switches(
            problem,
            log_alpha,
            n_switches=problem.intercept.size,
            start=problem.first_log_odds(log_alpha, self._log_odds),
            tol=tol,
            max_iter=self.max_iter,
        )

    def _corrected(self, log_alpha: float) -> Solution | None:
        """Solve with the factor for the outputs that it lacks, until they are right.

        That is a fixed point of β ↦ the solution with what is lacking at β, which
        mixing the last of them (Anderson's acceleration) approaches in few steps. None
        if it does not, and the matrix takes over from the factor.
        """
        problem, whole = self._problem, self._whole
        # β beside Kβ; and for each step what came out, and by how much it differs.
        point = np.stack([problem.beta, whole.product(problem.beta)])
        images: list[FloatArray] = []
        residuals: list[FloatArray] = []
        history, n_iter, bound = [], 0, -np.inf
        while True:
            problem.correct(*point)
            found = self._minimum(log_alpha, _SHARE * self.tol)
            images.append(np.stack([problem.beta, whole.product(problem.beta)]))
            residuals.append(problem.beta - point[0])
            log_odds, limit = found.extra["log_odds"], found.extra["limit"]
            inner = problem.evaluate(found.coef, images[-1][1])
            objective = inner.primal + prior_cost(log_odds, log_alpha)
            bound = max(bound, inner.linear - switch_cost(inner.q, log_alpha))
            history.append(objective)
            n_iter += found.certificate.n_iter
            is_reached = objective - bound <= self.tol * abs(objective)
            # Where rounding ends the problem within, corrections may still be of use.
            most = _MEMORY if limit else _MOST_CORRECTIONS
            if is_reached or len(history) >= most:
                break
            self._log_odds = None if log_alpha == -np.inf else log_odds
            steps = np.diff(residuals, axis=0).T
            shares = np.linalg.lstsq(steps, residuals[-1], rcond=None)[0]
            point = images[-1] - np.tensordot(shares, np.diff(images, axis=0), axes=1)
            del images[:-_MEMORY], residuals[:-_MEMORY]
        status: Status = "converged"
        if not is_reached:
            status = "stalled" if limit else "stopped"
            with suppress(GramMemoryError):
                self._problem, self._whole = problem.with_matrix(whole.matrix()), None
                return None
        certificate = certified(history, bound, n_iter, status)
        extra = {**found.extra, "q": inner.q}
        return replace(found, certificate=certificate, extra=extra)


class _Pooling:
    """The joint support vector dual, an ``InnerProblem``."""

    def __init__(
        self,
        communal: FloatArray,
        within: Sequence[FloatArray],
        specialised: Sequence[FloatArray],
        c: FloatArray,
    ) -> None:
        sizes = np.array([len(K) for K in specialised], dtype=np.intp)
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        blocks = within or [communal[i:j, i:j] for i, j in pairwise(offsets.tolist())]
        self._specialised, self.labels = specialised, c
        self._data = Pooled(
            np.ascontiguousarray(communal),
            bool(within),
            np.concatenate([K.ravel() for K in blocks]),
            np.concatenate([K.ravel() for K in specialised]),
            offsets,
            np.concatenate([[0], np.cumsum(sizes**2)]).astype(np.intp),
            c,
            np.zeros(c.size),
            np.zeros(c.size),
        )
        self.diagonal = np.concatenate([K.diagonal() for K in blocks])
        self.diagonal += np.concatenate([K.diagonal() for K in specialised])
        self.beta, self.intercept = np.zeros(c.size), np.zeros(sizes.size)
        self.C = 0.0
        self._outputs = np.zeros((2, c.size))
        self.renew()

    def renew(self) -> None:
        """Grant the work of one solution."""
        n = self.labels.size
        self.work_left = _STEPS_PER_EXAMPLE * n * step_cost(n)

    def set_box(self, C: float) -> None:
        """Change C, with β scaled into the new box."""
        if self.C > C:
            self.beta *= C / self.C
            self.refresh()
        self.C = C
        bound = C * self.labels
        lo, hi = np.minimum(bound, 0.0), np.maximum(bound, 0.0)
        self._data = self._data._replace(lo=lo, hi=hi)

    def first_log_odds(
        self, log_alpha: float, last: FloatArray | None
    ) -> FloatArray | None:
        """Return log-odds to start from, and continue from the β that they lead to."""
        if log_alpha == -np.inf:
            return None
        log_odds = np.zeros(self.intercept.size) if last is None else last.copy()
        steps.move_switches(
            tuple(self._data), log_alpha, self.beta, self._outputs, log_odds
        )
        return log_odds

    def solve(self, s: FloatArray, tolerance: float) -> Inner:
        """Solve for switches s until no optimality condition is violated by more.

        Or by no more than rounding errors make, as far as the work granted lasts.
        """
        progress = steps.first_progress(tolerance, self.work_left)
        finished = False
        while not finished:  # back in Python, an interrupt is seen
            finished = steps.solve_joint(
                tuple(self._data),
                s,
                tolerance,
                self.diagonal,
                self.beta,
                self._outputs,
                progress,
                SLICE,
            )
        self.work_left = float(progress[steps.WORK])
        violation = float(progress[steps.VIOLATION])
        limit = ""
        if violation > tolerance:
            limit = limit_of_tolerance(
                violation, float(self.diagonal.max()), self.C, self.work_left
            )
        return replace(self._values(self._data, s, self._outputs), limit=limit)

    def _values(self, data: Pooled, s: FloatArray, outputs: FloatArray) -> Inner:
        """Return the values at β for the targets of the data; keep the intercepts."""
        q, self.intercept, linear, quadratic, loss = steps.values_of(
            tuple(data), s, self.beta, outputs
        )
        return Inner(
            q=q,
            linear=linear - 0.5 * quadratic + float(s @ q),
            primal=0.5 * quadratic + loss,
            dual=linear - 0.5 * quadratic,
        )

    def evaluate(self, s: FloatArray, communal: FloatArray | None = None) -> Inner:
        """Return what β is worth for switches s, with outputs from scratch.

        Given communal outputs take the place of the factor's, for the labels.
        """
        data, outputs = self._data, self.outputs_of(self.beta)
        if communal is not None:
            data, outputs[0] = data._replace(c=self.labels), communal
        inner = self._values(data, s, outputs)
        sizes = np.abs(data.c) + np.repeat(
            np.abs(self.intercept), np.diff(data.offsets)
        )
        rounding = np.finfo(float).eps * self.C * float(sizes[self.beta != 0.0].sum())
        return replace(inner, primal=inner.primal + rounding)

    def with_matrix(self, communal: FloatArray) -> "_Pooling":
        """Return the problem with the communal Gram matrix for its factor, at β."""
        other = _Pooling(communal, [], self._specialised, self.labels)
        other.beta[:] = self.beta
        other.set_box(self.C)
        other.refresh()
        return other

    def refresh(self) -> None:
        """Continue from outputs computed from β."""
        self._outputs = self.outputs_of(self.beta)

    def outputs_of(self, beta: FloatArray) -> FloatArray:
        """Return kβ and each task's own k_tβ_t, shape (2, N)."""
        return steps.outputs_of(tuple(self._data), beta)

    def correct(self, beta: FloatArray, communal: FloatArray) -> None:
        """Solve from now on for what is left of the labels by the factor's lack at β.

        That is the difference of the given communal outputs of β from the factor's.
        """
        lacking = communal - self.outputs_of(beta)[0]
        self._data = self._data._replace(c=self.labels - lacking)

    def curvature(self, s: FloatArray) -> FloatArray:
        """Return V''(s), shape (T, T), at the last solution."""
        return steps.curvature(tuple(self._data), s, self.beta, self._outputs)
