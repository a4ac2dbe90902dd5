r"""Adaptive pooling by maximum entropy discrimination (Jebara 2011, section 8).

Task t classifies by s_t⟨θ_t, φ_t(x)⟩ + ⟨θ, φ(x)⟩ + b_t, with a communal kernel k and a
kernel k_t of its own. With q_t = ½ β_t'K_tβ_t the dual is

    max_β  c'β − ½ β'Kβ − Σ_t log((α + exp q_t) / (1 + α))
    s.t.   β_i between 0 and C y_i,  1'β_t = 0 for each task t,

K the communal Gram matrix of all examples, and the primal

    min  Σ_t KL(Bern(s_t) ‖ Bern(1/(1 + α))) + ½ ||θ||² + ½ Σ_t ||θ_t||²/s_t
         + C Σ hinge.

For fixed s it is one support vector machine with the kernel k + δ_tu s_t k_t and one
bias per task, that is with T equality constraints, which
:mod:`mtmkl.solvers.med.med_pooling_steps` solves.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from mtmkl.solvers.med import med_pooling_free as free
from mtmkl.solvers.med import med_pooling_steps as steps
from mtmkl.solvers.med.switches import (
    SwitchedPath,
    minimise_over_switches,
    switched_solution,
)
from mtmkl.solvers.solution import Solution
from mtmkl.solvers.svm.inner import Inner
from mtmkl.solvers.svm.smo import step_cost
from mtmkl.solvers.svm.task_duals import limit_of_accuracy
from mtmkl.typing import FloatArray

_STEPS_PER_EXAMPLE = 10_000  # whose work is granted to a solution


class PoolingPath(SwitchedPath):
    """Solutions for many (C, α), each started from the last.

    Parameters
    ----------
    communal : array-like of shape (N, N)
        Gram matrix of k over all examples, sorted by task.
    specialised : sequence of ndarray of shape (n_t, n_t)
        Gram matrices of the k_t.
    c : array-like of shape (N,)
        Labels −1 and +1.
    tol : float
        Relative duality gap.
    max_iter : int
        Limit on Newton steps of one solution.
    """

    def __init__(
        self,
        communal: ArrayLike,
        specialised: Sequence[FloatArray],
        c: ArrayLike,
        *,
        tol: float = 1e-6,
        max_iter: int = 100,
    ) -> None:
        super().__init__()
        self._problem = _Pooling(
            np.ascontiguousarray(communal, dtype=np.float64),
            [np.ascontiguousarray(K, dtype=np.float64) for K in specialised],
            np.asarray(c, dtype=np.float64),
        )
        self.tol = tol
        self.max_iter = max_iter
        self._log_odds: FloatArray | None = None

    def solve(self, C: float, log_alpha: float) -> Solution:
        """Solve for one (C, α).

        Returns
        -------
        Solution
            ``coef``: the switches (T,); ``dual``: β (N,); ``intercept``: (T,);
            ``extra``: "log_odds" (T,) and "q" (T,).
        """
        problem = self._problem
        problem.set_box(C)
        problem.renew()
        start = problem.first_log_odds(log_alpha, self._log_odds)
        result = minimise_over_switches(
            problem,
            log_alpha,
            n_switches=problem.intercept.size,
            start=start,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        # Those of α = 0 are infinite.
        self._log_odds = result.log_odds if log_alpha > -np.inf else None
        return switched_solution(
            result,
            dual=problem.beta.copy(),
            intercept=problem.intercept.copy(),
            tol=self.tol,
        )


class _Pooling:
    """The joint support vector dual, an ``InnerProblem``."""

    def __init__(
        self, communal: FloatArray, specialised: list[FloatArray], c: FloatArray
    ) -> None:
        sizes = np.array([len(K) for K in specialised], dtype=np.intp)
        n, n_tasks = c.size, sizes.size
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        # As the compiled functions take them.
        self._data = (
            communal,
            np.concatenate([K.ravel() for K in specialised]),
            self.offsets,
            np.concatenate([[0], np.cumsum(sizes**2)]).astype(np.intp),
        )
        self.c = c
        self.diagonal = communal.diagonal() + np.concatenate(
            [K.diagonal() for K in specialised]
        )
        self.beta, self.intercept = np.zeros(n), np.zeros(n_tasks)
        self.C = 0.0
        self._outputs = np.zeros((2, n))
        # The factor of the free variables, of which only the part that is needed is
        # ever touched; its rows and columns, its size, and the switches it is for.
        self._factor = (
            np.empty(n * (n + n_tasks + 1)),
            *np.empty((2, n), dtype=np.intp),
            np.zeros(free.N_SIZES, dtype=np.intp),
            np.zeros(n_tasks),
        )
        self.renew()

    def renew(self) -> None:
        """Grant the work of one solution."""
        self.work_left = _STEPS_PER_EXAMPLE * self.c.size * step_cost(self.c.size)

    def set_box(self, C: float) -> None:
        """Change C, with β scaled into the new box."""
        if self.C > C:
            self.beta *= C / self.C
            self.refresh()
        self.C = C
        self._lo, self._hi = np.minimum(C * self.c, 0.0), np.maximum(C * self.c, 0.0)

    def first_log_odds(
        self, log_alpha: float, last: FloatArray | None
    ) -> FloatArray | None:
        """Return log-odds to start from, and continue from the β that they lead to."""
        if log_alpha == -np.inf:
            return None
        log_odds = np.zeros(self.intercept.size) if last is None else last.copy()
        steps.move_switches(
            *self._data,
            self.c,
            self._lo,
            self._hi,
            log_alpha,
            self.beta,
            self._outputs,
            log_odds,
        )
        return log_odds

    def solve(self, s: FloatArray, accuracy: float) -> Inner:
        """Solve for switches s until no optimality condition is violated by more.

        Or by no more than rounding errors make, as far as the work granted lasts.
        """
        progress = steps.first_progress(accuracy, self.work_left)
        finished = False
        while not finished:  # back in Python, an interrupt is seen
            finished = steps.solve_joint(
                *self._data,
                self.c,
                self._lo,
                self._hi,
                s,
                accuracy,
                self.diagonal,
                self.beta,
                self._outputs,
                *self._factor,
                progress,
            )
        self.work_left = float(progress[steps.WORK])
        violation = float(progress[steps.VIOLATION])
        limit = ""
        if violation > accuracy:
            limit = limit_of_accuracy(
                violation, float(self.diagonal.max()), self.C, self.work_left
            )
        return replace(self._values(s, self._outputs), limit=limit)

    def _values(self, s: FloatArray, outputs: FloatArray) -> Inner:
        """Return the values at β, and keep the intercepts."""
        q, values = np.empty(s.size), np.empty(steps.N_VALUES)
        steps.write_values(
            self.offsets,
            self.c,
            self._lo,
            self._hi,
            s,
            self.beta,
            outputs,
            q,
            self.intercept,
            values,
        )
        linear, quadratic, loss = values.tolist()
        return Inner(
            q=q,
            linear=linear - 0.5 * quadratic + float(s @ q),
            primal=0.5 * quadratic + loss,
            dual=linear - 0.5 * quadratic,
        )

    def evaluate(self, s: FloatArray) -> Inner:
        """Return what β is worth for switches s, with outputs from scratch."""
        outputs = np.empty_like(self._outputs)
        self._write_outputs(outputs)
        inner = self._values(s, outputs)
        sizes = np.abs(self.c) + np.repeat(
            np.abs(self.intercept), np.diff(self.offsets)
        )
        rounding = np.finfo(float).eps * self.C * float(sizes[self.beta != 0.0].sum())
        return replace(inner, primal=inner.primal + rounding)

    def refresh(self) -> None:
        """Continue from outputs computed from β."""
        self._write_outputs(self._outputs)

    def _write_outputs(self, outputs: FloatArray) -> None:
        free.write_outputs(*self._data, self.beta, outputs)

    def curvature(self, s: FloatArray) -> FloatArray:
        """Return V''(s), shape (T, T), at the last solution."""
        out = np.empty((s.size, s.size))
        free.write_curvature(
            *self._data,
            self._lo,
            self._hi,
            s,
            self.beta,
            self._outputs,
            *self._factor,
            out,
        )
        return out
