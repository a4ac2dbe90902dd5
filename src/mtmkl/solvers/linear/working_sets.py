r"""The squared (2,1)-norm of the rows, on working sets of features.

The problem of :mod:`mtmkl.solvers.linear.squared_norm` with Ω the sum of the row norms.
Most rows are zero: it is solved for a few features at a time, and the certificate is
that of all. For residuals r_t, a_t = s·2r_t with the best scalar s gives the bound

    max over s of  2s Σ_t y_t'r_t − s² (Σ_t ||r_t||² + max_i ||(X_t'r_t)_i||²/γ),

and features whose ||2(X_t'r_t)_i|| exceeds that of the rows in use join them. The inner
problems are warm-started, and as accurate as the bound needs.

Where all tasks share the features, and few of these are in use, rows are minimised over
in turn: with a = ||x_i||², g = x_i'R of the residuals R without row i, and S the sum of
the other rows' norms, the best row is max(||g|| − γS, 0) / (a + γ) · g/||g||. After
some sweeps the affine combination of their ends whose moves cancel best is the next
start if it is better. Gram matrices that are ill-conditioned, where sweeps are slow,
and tasks with features of their own are left to the alternating direction method.

References
----------
Q. Bertrand and M. Massias, Anderson acceleration of coordinate descent, AISTATS 2021.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

import numpy as np
from threadpoolctl import ThreadpoolController

from mtmkl.compiled import compiled, dot
from mtmkl.solvers.linear.penalties import ROWS, STEP_OVER_GAMMA
from mtmkl.solvers.linear.squared_norm import SquaredSteps
from mtmkl.solvers.linear.task_admm import BestPair, WarmStart, alternate
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition, thin_svd
from mtmkl.solvers.solution import Solution
from mtmkl.typing import FloatArray, IntArray

_FIRST_ROWS = 16
_FIRST_SHARE = 0.5  # of the tolerance, for inner problems
# Sweeps between two looks at the gap, and those after which another method is faster.
_SWEEPS, _MOST_SWEEPS = 5, 60
_SMALL = 1e8  # multiplications of a product
_RIDGE = 1e-10  # of the least squares of the combination, by the trace


@dataclass(frozen=True)
class RowProblem:
    """Features and targets of some tasks."""

    #: Features of each sample (n, d), or of the samples that all tasks share (n_s, d).
    X: FloatArray
    #: Targets, (n,).
    y: FloatArray
    n_tasks: int
    #: The samples task by task: a slice, which copies nothing, where they are so.
    order: slice | IntArray
    #: Samples of each task, (n_t,).
    samples: tuple[IntArray, ...]
    #: Features (n_g, d) that tasks after one another share, these tasks' samples in
    #: ``order``, and the tasks.
    groups: list[tuple[FloatArray, slice, slice]]
    _last: list[tuple[IntArray, TaskDecomposition]] = field(default_factory=list)

    @classmethod
    def of(
        cls, X: FloatArray, y: FloatArray, task: IntArray, *, n_tasks: int
    ) -> "RowProblem":
        """Return the problem of samples whose tasks are 0 … n_tasks − 1."""
        is_sorted = bool(np.all(task[:-1] <= task[1:]))
        order = slice(None) if is_sorted else np.argsort(task, kind="stable")
        bounds = np.searchsorted(task[order], np.arange(n_tasks + 1)).tolist()
        everyone = np.arange(task.size)[order]
        samples = tuple(everyone[lo:hi] for lo, hi in pairwise(bounds))
        groups: list[tuple[FloatArray, slice, slice]] = []
        if len(X) < task.size:
            groups = [(X, slice(0, task.size), slice(0, n_tasks))]
            return cls(X, y, n_tasks, order, samples, groups)
        for t, (lo, hi) in enumerate(pairwise(bounds)):
            shared = np.ascontiguousarray(X[lo:hi] if is_sorted else X[samples[t]])
            if groups and np.array_equal(shared, groups[-1][0]):
                shared, own, tasks = groups.pop()
                groups.append((shared, slice(own.start, hi), slice(tasks.start, t + 1)))
            else:
                groups.append((shared, slice(lo, hi), slice(t, t + 1)))
        return cls(X, y, n_tasks, order, samples, groups)

    def _parts(
        self, values: FloatArray
    ) -> Iterator[tuple[FloatArray, slice, FloatArray]]:
        """Yield each group's features, tasks, and view (T_g, n_g) of the values."""
        for X, own, tasks in self.groups:
            yield X, tasks, values[own].reshape(tasks.stop - tasks.start, -1)

    def _back(self, values: FloatArray) -> FloatArray:
        """Return values that are in ``order`` in that of the samples."""
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
        """Return the tasks on some of the features; those asked for last are kept."""
        if not (self._last and np.array_equal(self._last[0][0], rows)):
            self._last[:] = [(rows, self._decomposed(rows))]
        return self._last[0][1]

    def has_few(self, rows: IntArray) -> bool:
        """Tell whether all tasks share the samples, and rows are no more than these."""
        return len(self.groups) == 1 and rows.size <= len(self.groups[0][0])

    def gram(self, rows: IntArray) -> tuple[FloatArray, FloatArray, float]:
        """Return X'X and X'Y of some of the shared samples, and ||Y||²."""
        X, _, _ = self.groups[0]
        some, y = X[:, rows], self.y[self.order]
        pull = some.T @ y.reshape(self.n_tasks, -1).T
        return some.T @ some, pull, float(y @ y)

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
            rows=self.samples,
            starts=np.array(starts, dtype=np.intp),
        )

    def pull(self, residual: FloatArray) -> FloatArray:
        """Return X_t'r_t, shape (T, d)."""
        out = np.empty((self.n_tasks, self.X.shape[1]))
        for X, tasks, part in self._parts(residual[self.order]):
            out[tasks] = part @ X
        return out


# To look for the libraries takes longer than a small problem.
_thread_pools = cache(ThreadpoolController)


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
    # On busy cores the threads of small products wait for one another.
    is_small = problem.X.size * problem.n_tasks < _SMALL
    limits = {"limits": 1 if is_small else None, "user_api": "blas"}
    with _thread_pools().limit(**limits):
        return _solve(problem, gamma, tol, max_iter, start)


def _solve(
    problem: RowProblem,
    gamma: float,
    tol: float,
    max_iter: int,
    start: WarmStart | None,
) -> Solution:
    d = problem.X.shape[1]
    shape = (problem.n_tasks, d)
    state = start or WarmStart(np.zeros(shape), np.zeros(shape), STEP_OVER_GAMMA)
    W, multiplier = state.primal.copy(), state.multiplier.copy()
    step = state.step
    rows = np.flatnonzero(W.any(axis=0))
    Z = W.take(rows, axis=1)
    best, n_iter, share = BestPair(tol), 0, _FIRST_SHARE
    while True:
        residual = problem.residual(Z, rows)
        lengths = np.linalg.norm(W, axis=0)
        loss = float(residual @ residual)
        norm = float(lengths.sum())
        pulls = np.linalg.norm(problem.pull(residual), axis=0)
        linear = 2.0 * float(problem.y @ residual)
        quadratic = loss + float(pulls.max(initial=0.0)) ** 2 / gamma
        scale = 0.5 * linear / quadratic if quadratic > 0.0 else 0.0
        value, bound = loss + gamma * norm**2, 0.5 * scale * linear
        best.offer(value, (W, norm), bound, 2.0 * scale * residual)
        if best.is_close or n_iter >= max_iter:
            break
        in_use = lengths != 0.0
        n_in_use = int(np.count_nonzero(in_use))
        is_outside = pulls > gamma * norm
        is_outside[rows] = False
        outside = np.flatnonzero(is_outside)
        needed = max(_FIRST_ROWS, 2 * n_in_use)
        if not problem.has_few(rows) and rows.size and outside.size > n_in_use:
            needed = max(needed, outside.size)
        if outside.size or rows.size == 0:
            largest = outside[np.argsort(-pulls[outside], kind="stable")]
            in_use[largest[: max(needed - n_in_use, 1)]] = True
            rows = np.flatnonzero(in_use)
            if 2 * rows.size > d and not problem.has_few(rows):
                rows = np.arange(d)
        else:
            share *= 0.1
        inner = WarmStart(W.take(rows, axis=1), multiplier.take(rows, axis=1), step)
        is_close = False
        if problem.has_few(rows):
            inner, n_more, is_close = _sweep_rows(
                *problem.gram(rows), gamma, inner, share * tol, max_iter - n_iter
            )
            n_iter += n_more
            Z = inner.primal
        if not is_close and n_iter < max_iter:
            tasks, found = problem.on(rows), BestPair(share * tol)
            steps = SquaredSteps(tasks, gamma, ROWS, inner)
            n_iter += alternate(steps, found, max_iter=max_iter - n_iter)
            inner, (Z, _) = steps.end(), found.point
            if rows.size == d and found.bound > best.bound:
                best.bound, best.dual = found.bound, tasks.expand(found.dual)
        step = inner.step
        W, multiplier = np.zeros(shape), np.zeros(shape)
        W[:, rows], multiplier[:, rows] = Z, inner.multiplier
    certificate = best.certificate(n_iter, f"squared rows norm, gamma={gamma:g}")
    W, norm = best.point
    extra = {"warm_start": WarmStart(W, multiplier, step), "norm": norm}
    return Solution(W.T, certificate, dual=best.dual, extra=extra)


def _sweep_rows(
    gram: FloatArray,
    pull: FloatArray,
    constant: float,
    gamma: float,
    start: WarmStart,
    tol: float,
    max_iter: int,
) -> tuple[WarmStart, int, bool]:
    """Minimise over one row after the other, and return the end, sweeps, success.

    The problem is given by X'X, X'Y and ||Y||².
    """
    W = np.ascontiguousarray(start.primal.T)
    rest = pull - gram @ W  # X'R
    n_sweeps = 0
    value, gap = _state(W, rest, pull, constant, gamma)
    while gap > tol * value and n_sweeps < min(_MOST_SWEEPS, max_iter):
        n = min(_SWEEPS, max_iter - n_sweeps)
        ends, rests = np.empty((2, n + 1, *W.shape))
        ends[0], rests[0] = W, rest
        _sweep(gram, gamma, ends, rests)
        n_sweeps += n
        W, rest = ends[-1], rests[-1]
        value, gap = _state(W, rest, pull, constant, gamma)
        moves = np.diff(ends, axis=0).reshape(n, -1)
        products = moves @ moves.T
        size = np.trace(products)
        products[np.diag_indices(n)] += _RIDGE * size + 1e-300
        shares = np.linalg.solve(products, np.ones(n))
        shares /= shares.sum()
        mixed, rest_mixed = (np.tensordot(shares, x[1:], 1) for x in (ends, rests))
        state = _state(mixed, rest_mixed, pull, constant, gamma)
        if state[0] < value:
            W, rest, (value, gap) = mixed, rest_mixed, state
    W, multiplier = (np.ascontiguousarray(each.T) for each in (W, -2.0 * rest))
    end = WarmStart(W, multiplier, start.step)
    return end, n_sweeps, gap <= tol * value


def _state(
    W: FloatArray, rest: FloatArray, pull: FloatArray, constant: float, gamma: float
) -> tuple[float, float]:
    """Return the objective, and its distance from the bound of the residuals."""
    fit = float(np.vdot(W, pull))
    loss = constant - fit - float(np.vdot(W, rest))
    value = loss + gamma * float(np.linalg.norm(W, axis=1).sum()) ** 2
    largest = float(np.linalg.norm(rest, axis=1).max(initial=0.0))
    quadratic = loss + largest**2 / gamma
    bound = (constant - fit) ** 2 / quadratic if quadratic > 0.0 else 0.0
    return value, value - bound


@compiled
def _sweep(gram: FloatArray, gamma: float, ends: FloatArray, rests: FloatArray) -> None:
    """Write W and X'R after each of some sweeps over the rows behind the first ones."""
    size, n_tasks = ends.shape[1:]
    move = np.empty(n_tasks)
    lengths = np.zeros(size)
    for i in range(size):
        lengths[i] = np.sqrt(dot(ends[0, i], ends[0, i]))
    for n in range(1, ends.shape[0]):
        W, rest = ends[n], rests[n]
        W[:], rest[:] = ends[n - 1], rests[n - 1]
        norm = 0.0
        for i in range(size):
            norm += lengths[i]
        for i in range(size):
            own = gram[i, i]
            for t in range(n_tasks):
                move[t] = rest[i, t] + own * W[i, t]
            length, others = np.sqrt(dot(move, move)), norm - lengths[i]
            kept = max(length - gamma * max(others, 0.0), 0.0) / (own + gamma)
            if kept == 0.0 and lengths[i] == 0.0:
                continue
            factor = kept / length if kept > 0.0 else 0.0
            for t in range(n_tasks):
                moved = factor * move[t]
                move[t] = moved - W[i, t]
                W[i, t] = moved
            norm, lengths[i] = others + kept, kept
            for j in range(size):
                for t in range(n_tasks):
                    rest[j, t] -= gram[i, j] * move[t]
