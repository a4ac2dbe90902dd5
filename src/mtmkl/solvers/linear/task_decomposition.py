"""The regression data of all tasks, reduced once by thin singular value decompositions.

With X_t = U_t S_t V_t' the squared loss of task t is

    ||y_t − X_t w||² = ||y_t − U_t U_t' y_t||² + ||c_t − S_t V_t' w||²,  c_t = U_t' y_t,

so that every solver works with at most min(n_t, d) rows per task, and the step
min_w ||y_t − X_t w||² + (ρ/2)||w − b||² is diagonal for every ρ.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mtmkl.typing import FloatArray, IntArray

# V' of all tasks, where the rows of each begin, and offsets of S and c, with these.
TaskRows = tuple[FloatArray, IntArray, IntArray, FloatArray, FloatArray]

_PRECISION = float(np.finfo(float).eps)


@dataclass(frozen=True)
class TaskDecomposition:
    """Thin decompositions of all tasks, stacked."""

    #: Right singular vectors V_t', stacked, (n_rows, d).
    right: FloatArray
    #: Singular values above machine precision, and c_t = U_t' y_t, stacked, (n_rows,).
    singular: FloatArray
    target: FloatArray
    #: Task t owns the rows ``offsets[t]:offsets[t + 1]``, (T + 1,).
    offsets: IntArray
    #: Σ_t ||y_t − U_t U_t' y_t||², the loss that no coefficients can remove.
    constant: float
    #: y_t − U_t U_t' y_t in the order of the samples, (n,).
    orthogonal: FloatArray
    #: The U_t (n_t, n_rows_t), and the samples of each task (n_t,).
    left: tuple[FloatArray, ...]
    rows: tuple[IntArray, ...]
    #: Where V_t' begins in ``right``, (T,), if not at the task's offset: tasks of the
    #: same features may have the same rows, for the compiled steps alone.
    starts: IntArray | None = None

    @property
    def n_tasks(self) -> int:
        """Number of tasks T."""
        return self.offsets.size - 1

    @property
    def n_features(self) -> int:
        """Dimension d of the features."""
        return self.right.shape[1]

    @cached_property
    def arrays(self) -> TaskRows:
        """Arguments of compiled steps."""
        starts = self.offsets[:-1] if self.starts is None else self.starts
        return self.right, starts, self.offsets, self.singular, self.target

    @cached_property
    def padded(self) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
        """S_t V_t' of all tasks, shape (T, r, d), c_t, and which of the r are rows.

        Zeros are added to all tasks but the one with most rows.
        """
        _, starts, offsets, singular, target = self.arrays
        lengths = np.diff(offsets)
        is_row = np.arange(lengths.max(initial=0)) < lengths[:, None]
        X, c = np.zeros((*is_row.shape, self.n_features)), np.zeros(is_row.shape)
        places = starts[:, None] + np.arange(is_row.shape[1])
        X[is_row] = singular[:, None] * self.right[places[is_row]]
        c[is_row] = target
        return X, c, is_row

    @cached_property
    def pooled_spectrum(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues (r,) that are not 0, and eigenvectors (d, r), of Σ_t X_t'X_t."""
        rows = self.singular[:, None] * self.right
        values, vectors = np.linalg.eigh(rows.T @ rows)
        kept = values > 1e-13 * max(values[-1], 1e-300)
        return values[kept], vectors[:, kept]

    @cached_property
    def constants(self) -> FloatArray:
        """The part of ``constant`` of each task, shape (T,)."""
        parts = (self.orthogonal[rows] for rows in self.rows)
        return np.array([float(part @ part) for part in parts])

    @cached_property
    def owner(self) -> IntArray:
        """Task of each row, shape (n_rows,)."""
        return np.repeat(np.arange(self.n_tasks), np.diff(self.offsets))

    def part(self, members: IntArray) -> "TaskDecomposition":
        """Return some of the tasks for compiled steps; ``right`` stays where it is."""
        bounds = zip(self.offsets[members], self.offsets[members + 1], strict=True)
        parts = [np.arange(first, end) for first, end in bounds]
        rows = np.concatenate(parts)
        return replace(
            self,
            singular=self.singular[rows],
            target=self.target[rows],
            offsets=np.cumsum([0, *map(len, parts)]),
            constant=float(self.constants[members].sum()),
            starts=self.arrays[1][members],
        )

    def back(self, values: FloatArray) -> FloatArray:
        """Return V_t a_t of each task, shape (T, d), for a_t, stacked."""
        bounds = pairwise(self.offsets)
        return np.array([values[lo:hi] @ self.right[lo:hi] for lo, hi in bounds])

    def expand(self, reduced: FloatArray) -> FloatArray:
        """Return the dual point over the samples whose part in the ranges is given.

        Parameters
        ----------
        reduced : ndarray of shape (n_rows,)
            U_t' a_t, stacked.

        Returns
        -------
        ndarray of shape (n,)
            Σ U_t (U_t' a_t) + 2 (y_t − U_t U_t' y_t): a dual point of the squared loss.
        """
        a = 2.0 * self.orthogonal
        for t, (rows, left) in enumerate(zip(self.rows, self.left, strict=True)):
            a[rows] += left @ reduced[self.offsets[t] : self.offsets[t + 1]]
        return a


def decompose(
    X: FloatArray, y: FloatArray, task: IntArray, *, n_tasks: int
) -> TaskDecomposition:
    """Decompose the features of each task.

    Parameters
    ----------
    X : ndarray of shape (n, d), or (n_s, d)
        Features of all tasks, or the samples that all of them share.
    y : ndarray of shape (n,)
        Targets.
    task : ndarray of shape (n,)
        Task of each sample, 0 … n_tasks − 1.
    n_tasks : int
        Number of tasks T; a task without samples contributes nothing.

    Returns
    -------
    TaskDecomposition
    """
    order = np.argsort(task, kind="stable")
    rows = np.split(order, np.searchsorted(task[order], np.arange(1, n_tasks)))
    right, singular, target, left = [], [], [], []
    orthogonal = np.zeros(y.size)
    # Tasks after one another may have the same samples, as targets of the same samples.
    last = np.empty((0, 0))
    for members in rows:
        X_t, y_t = X if len(X) < task.size else X[members], y[members]
        if not np.array_equal(X_t, last):
            (U, s, Vt), last = thin_svd(X_t), X_t
        c = U.T @ y_t
        orthogonal[members] = y_t - U @ c
        right.append(Vt)
        singular.append(s)
        target.append(c)
        left.append(U)
    return TaskDecomposition(
        right=np.vstack(right),
        singular=np.concatenate(singular),
        target=np.concatenate(target),
        offsets=np.cumsum([0, *map(len, singular)], dtype=np.intp),
        constant=float(orthogonal @ orthogonal),
        orthogonal=orthogonal,
        left=tuple(left),
        rows=tuple(rows),
    )


def thin_svd(X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return U, the singular values above rounding, and V'."""
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    rank = np.count_nonzero(s > max(X.shape) * _PRECISION * s[:1])
    return U[:, :rank], s[:rank], Vt[:rank]
