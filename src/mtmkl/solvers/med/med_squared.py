r"""Kernel selection by maximum entropy discrimination with a squared loss.

With residual cost (C/2)·Σ r² in place of the ε-tube, the dual over tasks that share
switches is

    max_β  Σ_t c_t'β_t − ‖β‖²/(2C) − Σ_d log((α + exp q_d) / (1 + α)),
    s.t.   1'β_t = 0 for each task t,

q_d = ½ Σ_{t,f: σ(t,f)=d} β_t'K_tf β_t, and for fixed switches each task is a kernel
ridge regression with an unpenalised intercept: β_t = (K_s + I/C)⁻¹(c_t − b_t).

Appendix C of Jebara (2011) bounds the sum of squares by Υ where this form weighs it by
C: the solution for C is the one for Υ equal to its own sum of squares. In the paper's
program that constraint is stated for predictions without switches, its prediction rule
(4) has them; here both have them.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, qr, solve_triangular

from mtmkl.solvers.descent import Inner
from mtmkl.solvers.med.switches import SwitchedPath, minimise_over_switches
from mtmkl.solvers.solution import LEAST_SHARE, Solution
from mtmkl.solvers.svm.task_duals import DualProblem
from mtmkl.typing import FloatArray


class SquaredPath(SwitchedPath):
    """Solutions for many (C, α), each started from the switches of the last.

    The tube and the box of the tasks are not used here.
    """

    def __init__(
        self, tasks: DualProblem, *, tol: float = 1e-6, max_iter: int = 100
    ) -> None:
        super().__init__(tol, max_iter)
        self.tasks = tasks

    def solve(self, C: float, log_alpha: float) -> Solution:
        """Solve for one (C, α)."""
        state = _Ridges(self.tasks, C)
        result = minimise_over_switches(
            state,
            log_alpha,
            n_switches=self.tasks.n_weights,
            start=self._log_odds,
            tol=self.tol,
            max_iter=self.max_iter,
            floor=LEAST_SHARE * 0.5 * C * float(np.sum(self.tasks.c**2)),
        )
        return self._certified(result, state.beta, state.intercept)


class _Ridges:
    """The ridge regressions of all tasks, an ``InnerProblem``."""

    def __init__(self, tasks: DualProblem, C: float) -> None:
        self.tasks = tasks
        self.C = C
        self.beta = np.zeros(tasks.c.size)
        self.intercept = np.zeros(tasks.n_tasks)
        self._curvature = np.zeros((tasks.n_weights, tasks.n_weights))

    def solve(self, s: FloatArray, tolerance: float) -> Inner:
        """Solve for switches s; the solution is exact whatever the accuracy."""
        tasks = self.tasks
        q = np.zeros(tasks.n_weights)
        curvature = np.zeros_like(self._curvature)
        linear, quadratic, loss = 0.0, 0.0, 0.0
        for t in range(tasks.n_tasks):
            first, last = tasks.offsets[t], tasks.offsets[t + 1]
            n = last - first
            x, c = tasks.blocks.features[first:last], tasks.c[first:last]
            gram = tasks.blocks.grams[tasks.blocks.pairs(t)]
            switch = tasks.weight[t]
            s_features, s_grams = np.split(s[switch], [x.shape[1]])
            K = (x * s_features) @ x.T + (gram @ s_grams).reshape(n, n)
            factor = _factor(K, 1.0 / self.C)
            solved = cho_solve((factor, True), np.column_stack([c, np.ones(n)]))
            intercept = solved[:, 0].sum() / solved[:, 1].sum()
            beta = solved[:, 0] - intercept * solved[:, 1]
            outputs = np.hstack(
                [
                    x * (x.T @ beta),
                    np.tensordot(beta, gram.reshape(n, n, -1), axes=(0, 0)),
                ]
            )
            np.add.at(q, switch, 0.5 * beta @ outputs)
            # V'' = B'PB as in the module med, with every multiplier free.
            B = solve_triangular(
                factor, np.column_stack([np.ones(n), outputs]), lower=True
            )
            ones, B = B[:, :1], B[:, 1:]
            B = B - ones @ (ones.T @ B) / float(np.sum(ones**2))
            np.add.at(curvature, np.ix_(switch, switch), B.T @ B)
            residual = c - K @ beta - intercept
            # What rounding leaves of 1'β is worth the intercept: without it a bound.
            linear += float((c - intercept) @ beta - beta @ beta / (2.0 * self.C))
            quadratic += float(beta @ K @ beta)
            loss += 0.5 * self.C * float(residual @ residual)
            self.beta[first:last] = beta
            self.intercept[t] = intercept
        self._curvature = curvature
        self._inner = Inner(
            q=q,
            linear=linear,
            primal=0.5 * quadratic + loss,
            dual=linear - 0.5 * quadratic,
        )
        return self._inner

    def evaluate(self, s: FloatArray) -> Inner:
        """Return the values of the last solution, none of which is a running sum."""
        return self._inner

    def refresh(self) -> None:
        """Do nothing: every solution is computed from scratch."""

    def curvature(self, s: FloatArray) -> FloatArray:
        """Return V''(s), shape (S, S), at the last solution."""
        return self._curvature


def _factor(K: FloatArray, ridge: float) -> FloatArray:
    """Return a lower triangular L, LL' = K + ridge·I; above its diagonal is junk."""
    M = K.copy()
    M.flat[:: K.shape[0] + 1] += ridge
    try:
        return np.asarray(cho_factor(M, lower=True)[0])
    except LinAlgError:
        # The ridge is lost in the rounding of K, which has made eigenvalues negative.
        values, vectors = eigh(K)
        root = vectors * np.sqrt(np.maximum(values, 0.0) + ridge)
        return np.asarray(qr(root.T, mode="r")[0]).T
