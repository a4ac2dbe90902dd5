r"""The squared (2,1)-norm of the rows, on working sets of inputs.

The problem of :mod:`mtmkl.solvers.linear.squared_norm` with Ω the sum of the row norms.
Most rows are zero: it is solved for a few inputs at a time, and the certificate is that
of all. For residuals r_t, a_t = s·2r_t with the best scalar s gives the bound

    max over s of  2s Σ_t y_t'r_t − s² (Σ_t ||r_t||² + max_i ||(X_t'r_t)_i||²/γ),

and inputs whose ||2(X_t'r_t)_i|| exceeds that of the rows in use join them. The inner
problems are warm-started, and as accurate as the bound needs.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from mtmkl.solvers.linear.penalties import ROWS
from mtmkl.solvers.linear.squared_norm import (
    STEP_OVER_GAMMA,
    WarmStart,
    solve_members,
)
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition, decompose
from mtmkl.solvers.solution import Certificate, Solution, warn_if_stopped
from mtmkl.sparse import same_inputs
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
    groups : list of (ndarray of shape (n_g, d), ndarray of shape (T_g, n_g), tasks)
        Inputs that tasks after one another share, these tasks' examples, and the tasks.
    """

    X: FloatArray
    y: FloatArray
    task: IntArray
    n_tasks: int
    groups: list[tuple[FloatArray, IntArray, IntArray]]
    _last: list[tuple[IntArray, TaskDecomposition]] = field(default_factory=list)

    @classmethod
    def of(
        cls, X: FloatArray, y: FloatArray, task: IntArray, *, n_tasks: int
    ) -> "RowProblem":
        """Return the problem; arguments are as the attributes."""
        order = np.argsort(task, kind="stable")
        bounds = np.searchsorted(task[order], np.arange(n_tasks + 1))
        examples = np.split(order, bounds[1:-1])
        runs: list[list[int]] = []
        for t, rows in enumerate(examples):
            if runs and same_inputs(X[rows], X[examples[t - 1]]):
                runs[-1].append(t)
            else:
                runs.append([t])
        groups = [
            (X[examples[run[0]]], np.stack([examples[t] for t in run]), np.array(run))
            for run in runs
        ]
        return cls(X, y, task, n_tasks, groups)

    def residual(self, W: FloatArray, rows: IntArray) -> FloatArray:
        """Return y_t − X_t w_t for W (T, d) that is zero but in some of its columns."""
        out = self.y.copy()
        for X, examples, tasks in self.groups:
            out[examples] -= W[np.ix_(tasks, rows)] @ X[:, rows].T
        return out

    def on(self, rows: IntArray) -> TaskDecomposition:
        """Return the tasks on some of the inputs; those asked for last are kept."""
        if not (self._last and np.array_equal(self._last[0][0], rows)):
            X = self.X if rows.size == self.X.shape[1] else self.X[:, rows]
            tasks = decompose(X, self.y, self.task, n_tasks=self.n_tasks)
            self._last[:] = [(rows, tasks)]
        return self._last[0][1]

    def pull(self, residual: FloatArray) -> FloatArray:
        """Return X_t'r_t, shape (T, d)."""
        out = np.empty((self.n_tasks, self.X.shape[1]))
        for X, examples, tasks in self.groups:
            out[tasks] = residual[examples] @ X
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
    everyone = np.arange(problem.n_tasks)
    shape = (problem.n_tasks, d)
    state = start or WarmStart(np.zeros(shape), np.zeros(shape), STEP_OVER_GAMMA)
    W, multiplier = state.primal.copy(), state.multiplier.copy()
    rows = np.flatnonzero(W.any(axis=0))
    objective, bound, best_W, dual = np.inf, -np.inf, W, np.zeros(problem.y.size)
    norm, n_iter, share = 0.0, 0, _FIRST_SHARE
    history: list[float] = []
    while True:
        residual = problem.residual(W, rows)
        lengths = np.linalg.norm(W, axis=0)
        loss = float(residual @ residual)
        value = loss + gamma * float(lengths.sum()) ** 2
        if value < objective:
            objective, best_W, norm = value, W.copy(), float(lengths.sum())
        pulls = np.linalg.norm(problem.pull(residual), axis=0)
        linear = 2.0 * float(problem.y @ residual)
        quadratic = loss + float(pulls.max(initial=0.0)) ** 2 / gamma
        scale = 0.5 * linear / quadratic if quadratic > 0.0 else 0.0
        if 0.5 * scale * linear > bound:
            bound, dual = 0.5 * scale * linear, 2.0 * scale * residual
        history.append(objective)
        if objective - bound <= tol * objective or n_iter >= max_iter:
            break
        in_use = np.flatnonzero(lengths)
        outside = np.flatnonzero(pulls > gamma * lengths.sum())
        outside = np.setdiff1d(outside, rows, assume_unique=True)
        needed = max(_FIRST_ROWS, 2 * in_use.size)
        if rows.size and outside.size > in_use.size:
            needed = max(needed, outside.size)
        if outside.size or rows.size == 0:
            largest = outside[np.argsort(-pulls[outside], kind="stable")]
            rows = np.union1d(in_use, largest[: max(needed - in_use.size, 1)])
            if 2 * rows.size > d:
                rows = np.arange(d)
        else:
            share *= 0.1
        inner = replace(
            state, primal=W[:, rows].copy(), multiplier=multiplier[:, rows].copy()
        )
        tasks = problem.on(rows)
        Z, _, _, certificate, reduced, end = solve_members(
            tasks,
            everyone,
            tasks.constant,
            gamma,
            ROWS,
            share * tol,
            max_iter - n_iter,
            inner,
        )
        n_iter += certificate.n_iter
        if rows.size == d and certificate.dual_objective > bound:
            bound, dual = certificate.dual_objective, tasks.expand(reduced)
        state = replace(state, step_over_gamma=end.step_over_gamma)
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
            "warm_start": WarmStart(best_W, multiplier, state.step_over_gamma),
            "norm": norm,
        },
    )
