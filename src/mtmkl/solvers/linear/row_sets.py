r"""The squared (2,1)-norm of the rows, on working sets of inputs.

The problem of :mod:`mtmkl.solvers.linear.squared_norm` with Ω the sum of the row norms.
Most rows are zero: it is solved for a few inputs at a time, and the certificate is that
of all. For residuals r_t, a_t = s·2r_t with the best scalar s gives the bound

    max over s of  2s Σ_t y_t'r_t − s² (Σ_t ||r_t||² + max_i ||(X_t'r_t)_i||²/γ),

and inputs whose ||2(X_t'r_t)_i|| exceeds that of the rows in use join them. The inner
problems are warm-started, and as accurate as the bound needs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from mtmkl.solvers.linear.penalties import ROWS
from mtmkl.solvers.linear.squared_norm import STEP_OVER_GAMMA, minimise
from mtmkl.solvers.linear.task_admm import WarmStart
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition, thin_svd
from mtmkl.solvers.solution import Certificate, Solution, warn_if_stopped
from mtmkl.typing import FloatArray, IntArray

_FIRST_ROWS = 16
_FIRST_SHARE = 0.5  # of the tolerance, for inner problems


@dataclass(frozen=True)
class RowProblem:
    """Inputs and targets of some tasks.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    task : ndarray of shape (n,)
        Task of each example, 0 … n_tasks − 1.
    n_tasks : int
        T.
    order : slice or ndarray of shape (n,)
        The examples task by task: a slice, which copies nothing, where they are so.
    examples : tuple of ndarray of shape (n_t,)
        Those of each task.
    groups : list of (ndarray of shape (n_g, d), slice, slice)
        Inputs that tasks after one another share, these tasks' examples in ``order``,
        and the tasks.
    """

    X: FloatArray
    y: FloatArray
    task: IntArray
    n_tasks: int
    order: slice | IntArray
    examples: tuple[IntArray, ...]
    groups: list[tuple[FloatArray, slice, slice]]
    _last: list[tuple[IntArray, TaskDecomposition]] = field(default_factory=list)

    @classmethod
    def of(
        cls, X: FloatArray, y: FloatArray, task: IntArray, *, n_tasks: int
    ) -> "RowProblem":
        """Return the problem; arguments are as the attributes."""
        is_sorted = bool(np.all(task[:-1] <= task[1:]))
        order = slice(None) if is_sorted else np.argsort(task, kind="stable")
        bounds = np.searchsorted(task[order], np.arange(n_tasks + 1)).tolist()
        everyone = np.arange(task.size)[order]
        examples = tuple(everyone[lo:hi] for lo, hi in pairwise(bounds))
        groups: list[tuple[FloatArray, slice, slice]] = []
        for t, (lo, hi) in enumerate(pairwise(bounds)):
            inputs = np.ascontiguousarray(X[lo:hi] if is_sorted else X[examples[t]])
            if groups and np.array_equal(inputs, groups[-1][0]):
                inputs, own, tasks = groups.pop()
                groups.append((inputs, slice(own.start, hi), slice(tasks.start, t + 1)))
            else:
                groups.append((inputs, slice(lo, hi), slice(t, t + 1)))
        return cls(X, y, task, n_tasks, order, examples, groups)

    def _parts(
        self, values: FloatArray
    ) -> Iterator[tuple[FloatArray, slice, FloatArray]]:
        """Yield each group's inputs, tasks, and view (T_g, n_g) of values in order."""
        for X, own, tasks in self.groups:
            yield X, tasks, values[own].reshape(tasks.stop - tasks.start, -1)

    def _back(self, values: FloatArray) -> FloatArray:
        """Return values that are in ``order`` in that of the examples."""
        out = np.empty_like(values)
        out[self.order] = values
        return out

    def residual(self, Z: FloatArray, rows: IntArray) -> FloatArray:
        """Return y_t − X_t w_t for W that is Z (T, n_rows) in some of its columns."""
        rest = self.y[self.order].copy()
        for X, tasks, part in self._parts(rest):
            part -= Z[tasks] @ X[:, rows].T
        return self._back(rest)

    def on(self, rows: IntArray) -> TaskDecomposition:
        """Return the tasks on some of the inputs; those asked for last are kept."""
        if not (self._last and np.array_equal(self._last[0][0], rows)):
            self._last[:] = [(rows, self._decomposed(rows))]
        return self._last[0][1]

    def _decomposed(self, rows: IntArray) -> TaskDecomposition:
        """Return what ``decompose`` does, group by group."""
        right, singular, target, left, starts = [], [], [], [], []
        n_rows, rest = 0, self.y[self.order].copy()
        for X, _, part in self._parts(rest):
            U, s, Vt = thin_svd(X[:, rows])
            c = part @ U
            part -= c @ U.T
            right.append(Vt)
            starts += [n_rows] * len(part)
            n_rows += s.size
            singular += [s] * len(part)
            target.append(c.ravel())
            left += [U] * len(part)
        orthogonal = self._back(rest)
        return TaskDecomposition(
            right=np.vstack(right),
            singular=np.concatenate(singular),
            target=np.concatenate(target),
            offsets=np.cumsum([0, *map(len, singular)], dtype=np.intp),
            constant=float(orthogonal @ orthogonal),
            orthogonal=orthogonal,
            left=tuple(left),
            rows=self.examples,
            starts=np.array(starts, dtype=np.intp),
        )

    def pull(self, residual: FloatArray) -> FloatArray:
        """Return X_t'r_t, shape (T, d)."""
        out = np.empty((self.n_tasks, self.X.shape[1]))
        for X, tasks, part in self._parts(residual[self.order]):
            out[tasks] = part @ X
        return out


def solve(
    problem: RowProblem,
    gamma: float,
    *,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    start: WarmStart | None = None,
) -> Solution:
    """Minimise Σ_t ||y_t − X_t w_t||² + γ·(Σ_i ||w^i||)² to a relative duality gap.

    Parameters and result are those of :func:`mtmkl.solvers.linear.squared_norm.solve`;
    ``max_iter`` bounds the iterations of all inner problems together.
    """
    d = problem.X.shape[1]
    shape = (problem.n_tasks, d)
    state = start or WarmStart(np.zeros(shape), np.zeros(shape), STEP_OVER_GAMMA)
    W, multiplier = state.primal.copy(), state.multiplier.copy()
    step = state.step
    rows = np.flatnonzero(W.any(axis=0))
    Z = W.take(rows, axis=1)
    objective, bound, best_W, dual = np.inf, -np.inf, W, np.zeros(problem.y.size)
    norm, n_iter, share = 0.0, 0, _FIRST_SHARE
    history: list[float] = []
    while True:
        residual = problem.residual(Z, rows)
        lengths = np.linalg.norm(W, axis=0)
        loss = float(residual @ residual)
        value = loss + gamma * float(lengths.sum()) ** 2
        if value < objective:
            objective, best_W, norm = value, W, float(lengths.sum())
        pulls = np.linalg.norm(problem.pull(residual), axis=0)
        linear = 2.0 * float(problem.y @ residual)
        quadratic = loss + float(pulls.max(initial=0.0)) ** 2 / gamma
        scale = 0.5 * linear / quadratic if quadratic > 0.0 else 0.0
        if 0.5 * scale * linear > bound:
            bound, dual = 0.5 * scale * linear, 2.0 * scale * residual
        history.append(objective)
        if objective - bound <= tol * objective or n_iter >= max_iter:
            break
        in_use = lengths != 0.0
        n_in_use = int(np.count_nonzero(in_use))
        is_outside = pulls > gamma * lengths.sum()
        is_outside[rows] = False
        outside = np.flatnonzero(is_outside)
        needed = max(_FIRST_ROWS, 2 * n_in_use)
        if rows.size and outside.size > n_in_use:
            needed = max(needed, outside.size)
        if outside.size or rows.size == 0:
            largest = outside[np.argsort(-pulls[outside], kind="stable")]
            in_use[largest[: max(needed - n_in_use, 1)]] = True
            rows = np.flatnonzero(in_use)
            if 2 * rows.size > d:
                rows = np.arange(d)
        else:
            share *= 0.1
        inner = WarmStart(W.take(rows, axis=1), multiplier.take(rows, axis=1), step)
        tasks = problem.on(rows)
        best, end, n_more = minimise(
            tasks.arrays,
            tasks.constant,
            gamma,
            ROWS,
            share * tol,
            max_iter - n_iter,
            inner,
        )
        Z, _ = best.point
        n_iter += n_more
        if rows.size == d and best.bound > bound:
            bound, dual = best.bound, tasks.expand(best.dual)
        step = end.step
        W, multiplier = np.zeros(shape), np.zeros(shape)
        W[:, rows], multiplier[:, rows] = Z, end.multiplier
    certificate = Certificate(
        objective=objective,
        dual_objective=bound,
        n_iter=n_iter,
        status="converged" if objective - bound <= tol * objective else "stopped",
        history=np.array(history),
    )
    warn_if_stopped(certificate, f"squared rows norm, gamma={gamma:g}", tol)
    return Solution(
        coef=best_W.T,
        certificate=certificate,
        dual=dual,
        extra={
            "warm_start": WarmStart(best_W, multiplier, step),
            "norm": norm,
        },
    )
