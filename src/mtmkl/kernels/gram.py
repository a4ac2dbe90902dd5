"""Gram matrices of many kernels: computed once, cut by index, summed by weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from mtmkl.kernels.base import FloatArray
from mtmkl.kernels.normalize import (
    NORMALIZATIONS,
    GramFunction,
    center,
    cosine_normalize,
    fit_kernel,
    trace_factor,
)
from mtmkl.sparse import Inputs, is_sparse

IndexArray = NDArray[np.intp]

MAX_BYTES = 2 * 2**30
"""Default bound on the memory of a stack: 2 GiB."""

LARGEST = 1e150
"""Values that are larger have squares that overflow, or nearly."""

INPUTS_TOO_LARGE = (
    "bring the inputs to a smaller scale, for instance by standardize=True"
)

# Columns of a single-precision stack that are widened at a time, to stay in cache.
_BLOCK = 1 << 14


class GramMemoryError(MemoryError):
    """A stack of Gram matrices would pass its bound; the message names remedies."""


def gram_bytes(
    n_kernels: int,
    n_rows: int,
    n_columns: int | None = None,
    *,
    dtype: DTypeLike = np.float64,
) -> int:
    """Return the memory of a stack of shape (n_kernels, n_rows, n_columns).

    Parameters
    ----------
    n_columns : int, optional
        As many as rows by default.
    """
    columns = n_rows if n_columns is None else n_columns
    return int(n_kernels) * int(n_rows) * int(columns) * np.dtype(dtype).itemsize


def refuse_overflow(values: Inputs, what: str, remedy: str) -> None:
    """Raise ValueError if a value is not finite, or so large that its square is not.

    Parameters
    ----------
    values : ndarray or CSR array
    what : str
        What has these values.
    remedy : str
        What to do about it.
    """
    stored = values.data if is_sparse(values) else values
    largest = float(np.maximum(stored.max(initial=0.0), -stored.min(initial=0.0)))
    if not np.isfinite(largest):
        raise ValueError(f"{what} has values that are not finite: {remedy}")
    if largest > LARGEST:
        raise ValueError(
            f"{what} has values up to {largest:.0e}, whose squares overflow: {remedy}"
        )


@dataclass(frozen=True, eq=False)
class GramStack:
    """The matrices K_m(x_i, z_j) of M kernels.

    Parameters
    ----------
    values : ndarray of shape (n_kernels, n, m)
        C-contiguous, float64, or float32 for storage alone: whatever is computed from
        them is computed in float64.
    kernels : tuple
        The fitted kernels, to evaluate further inputs; may be empty for matrices from
        elsewhere.
    """

    values: NDArray[Any]
    kernels: tuple[GramFunction, ...] = ()

    def __post_init__(self) -> None:
        if self.values.ndim != 3:
            raise ValueError(
                f"a stack has shape (n_kernels, n, m), got {self.values.shape}"
            )
        if self.values.dtype not in (np.float64, np.float32):
            raise ValueError(
                f"matrices are stored in float64 or float32, got {self.values.dtype}"
            )
        if not self.values.flags.c_contiguous:
            raise ValueError("the stack must be C-contiguous")
        if self.kernels and len(self.kernels) != self.values.shape[0]:
            raise ValueError(
                f"{len(self.kernels)} kernels for {self.values.shape[0]} matrices"
            )

    @classmethod
    def compute(
        cls,
        kernels: Sequence[GramFunction],
        X: ArrayLike,
        Z: ArrayLike | None = None,
        *,
        fit_rows: ArrayLike | None = None,
        dtype: DTypeLike = np.float64,
        max_bytes: int = MAX_BYTES,
    ) -> "GramStack":
        """Evaluate kernels on all pairs of inputs.

        Parameters
        ----------
        kernels : sequence of callable
            ``(X, Z) -> (n, m)``; those with a ``fit`` are fitted first.
        X : array-like of shape (n, d)
        Z : array-like of shape (m, d), optional
            X by default.
        fit_rows : array-like of int, optional
            Rows of X to fit on, as the training rows of a split; all by default.
        dtype : {float64, float32}
        max_bytes : int
            Bound on the memory of the stack.

        Returns
        -------
        GramStack

        Raises
        ------
        GramMemoryError
            Before anything is computed, if the stack would pass the bound.
        ValueError
            If a kernel gives a matrix of another shape, or values not finite.
        """
        left = np.ascontiguousarray(X, dtype=np.float64)
        right = left if Z is None else np.ascontiguousarray(Z, dtype=np.float64)
        shape = (len(kernels), left.shape[0], right.shape[0])
        needed = gram_bytes(*shape, dtype=dtype)
        if needed > max_bytes:
            raise GramMemoryError(
                f"{shape[0]} Gram matrices of {shape[1]} × {shape[2]} in "
                f"{np.dtype(dtype)} need {_readable(needed)}, the bound is "
                f"{_readable(max_bytes)}. "
                + (
                    "Store them in float32 (half of it), take"
                    if np.dtype(dtype) == np.float64
                    else "Take"
                )
                + " fewer rows or fewer kernels, compute one task's rows at a time, or "
                "raise max_bytes"
            )
        training = left if fit_rows is None else left[np.asarray(fit_rows)]
        values = np.empty(shape, dtype=dtype)
        fitted = []
        for m, kernel in enumerate(kernels):
            concrete = fit_kernel(kernel, training)
            matrix = concrete(left, right)
            if matrix.shape != shape[1:]:
                raise ValueError(
                    f"kernel {m} ({concrete!r}) gave shape {matrix.shape}, "
                    f"expected {shape[1:]}"
                )
            if not np.isfinite(matrix).all():
                raise ValueError(f"kernel {m} ({concrete!r}) gave values not finite")
            values[m] = matrix
            fitted.append(concrete)
        return cls(values, tuple(fitted))

    @property
    def n_kernels(self) -> int:
        """Number of kernels M."""
        return int(self.values.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (n, m) of each matrix."""
        return int(self.values.shape[1]), int(self.values.shape[2])

    @property
    def flat(self) -> NDArray[Any]:
        """The stack as (n_kernels, n·m), a view."""
        return self.values.reshape(self.n_kernels, -1)

    @property
    def nbytes(self) -> int:
        """Memory of the matrices in bytes."""
        return int(self.values.nbytes)

    def __str__(self) -> str:
        """Say what the stack holds and how much memory that takes."""
        n, m = self.shape
        return (
            f"{self.n_kernels} Gram matrices of {n} × {m} in {self.values.dtype}: "
            f"{_readable(self.nbytes)}"
        )

    def __repr__(self) -> str:
        return f"<GramStack: {self}>"

    def sub(self, rows: ArrayLike, columns: ArrayLike | None = None) -> "GramStack":
        """Return the matrices of some rows and columns, copied.

        Parameters
        ----------
        rows : array-like of int or bool
        columns : array-like of int or bool, optional
            The same as `rows` by default.

        Returns
        -------
        GramStack
        """
        row_index = _index(rows, self.shape[0])
        column_index = row_index if columns is None else _index(columns, self.shape[1])
        cut = np.empty(
            (self.n_kernels, row_index.size, column_index.size), self.values.dtype
        )
        for m in range(self.n_kernels):
            cut[m] = self.values[m][row_index[:, None], column_index]
        return GramStack(cut, self.kernels)

    def weighted_sum(self, weights: ArrayLike) -> FloatArray:
        """Return Σ_m weights_m K_m in float64, by one product of BLAS.

        Parameters
        ----------
        weights : array-like of shape (n_kernels,) or (n_sums, n_kernels)

        Returns
        -------
        ndarray of shape (n, m) or (n_sums, n, m)
        """
        theta = np.asarray(weights, dtype=np.float64)
        total = _weighted_rows(theta, self.flat)
        return total.reshape(*theta.shape[:-1], *self.shape)

    def diagonal(self) -> FloatArray:
        """Return K_m(x_i, x_i) of a square stack, shape (n_kernels, n)."""
        self._require_square("diagonal")
        diagonals: FloatArray = np.einsum("mii->mi", self.values).astype(np.float64)
        return diagonals

    def normalized(
        self,
        how: Literal["cosine", "trace", "center"],
        rows: ArrayLike | None = None,
    ) -> "GramStack":
        """Return a square stack normalised by statistics of some of its rows.

        Training and test inputs together, the training rows given, are normalised as
        the kernels of `mtmkl.kernels.normalize` fitted on the training inputs would be.

        Parameters
        ----------
        how : {"cosine", "trace", "center"}
        rows : array-like of int or bool, optional
            The training rows; all by default. Without effect on "cosine".

        Returns
        -------
        GramStack
            Without its kernels.

        Raises
        ------
        ValueError
            If the stack is not square, or the normalisation is not known.
        """
        self._require_square("normalisation")
        if how not in NORMALIZATIONS:
            raise ValueError(
                f"unknown normalisation {how!r}; known: {', '.join(NORMALIZATIONS)}"
            )
        training = (
            np.arange(self.shape[0]) if rows is None else _index(rows, self.shape[0])
        )
        result = np.empty_like(self.values)
        for m in range(self.n_kernels):
            K = self.values[m].astype(np.float64)
            diagonal = np.diagonal(K)
            if how == "cosine":
                result[m] = cosine_normalize(K, diagonal, diagonal)
            elif how == "trace":
                result[m] = trace_factor(diagonal[training]) * K
            else:
                means = K[:, training].mean(axis=1)
                result[m] = center(K, means, means, float(means[training].mean()))
        return GramStack(result)

    def by_task(self, task: ArrayLike) -> "TaskGrams":
        """Return the blocks of rows of the same task, for problems solved task by task.

        Parameters
        ----------
        task : array-like of int of shape (n,)
            Task of each row, from 0; a task in between may have no row.

        Returns
        -------
        TaskGrams
        """
        self._require_square("a cut by task")
        labels = np.asarray(task)
        if labels.shape != (self.shape[0],):
            raise ValueError(f"{self.shape[0]} rows have tasks of shape {labels.shape}")
        n_tasks = int(labels.max()) + 1 if labels.size else 0
        rows = [np.flatnonzero(labels == t) for t in range(n_tasks)]
        sizes = np.array([index.size for index in rows], dtype=np.int64)
        values = np.empty((self.n_kernels, int((sizes**2).sum())), self.values.dtype)
        first = 0
        for index in rows:
            last = first + index.size**2
            for m in range(self.n_kernels):
                values[m, first:last] = self.values[m][index[:, None], index].reshape(
                    -1
                )
            first = last
        order = np.concatenate(rows) if rows else np.empty(0, dtype=np.intp)
        return TaskGrams(values, sizes, order)

    def _require_square(self, purpose: str) -> None:
        if self.shape[0] != self.shape[1]:
            raise ValueError(f"{purpose} needs square matrices, got {self.shape}")


@dataclass(frozen=True, eq=False)
class TaskGrams:
    """The Gram matrices of T tasks of any sizes under M kernels.

    Parameters
    ----------
    values : ndarray of shape (n_kernels, sum of sizes²)
        The tasks' matrices one after the other, row by row.
    sizes : ndarray of int of shape (n_tasks,)
    rows : ndarray of int of shape (sum of sizes,)
        The rows of the stack that they are cut from, task by task.
    """

    values: NDArray[Any]
    sizes: NDArray[np.int64]
    rows: IndexArray

    @property
    def nbytes(self) -> int:
        """Memory of the matrices in bytes."""
        return int(self.values.nbytes)

    def weighted_sum(self, weights: ArrayLike) -> FloatArray:
        """Return Σ_m weights_m K_m of all tasks in float64, as `svc_batch` reads them.

        Parameters
        ----------
        weights : array-like of shape (n_kernels,) or (n_tasks, n_kernels)
            The same for all tasks, or a row for each.

        Returns
        -------
        ndarray of shape (sum of sizes²,)
        """
        theta = np.asarray(weights, dtype=np.float64)
        if theta.ndim == 1:
            return _weighted_rows(theta, self.values)
        if theta.shape[0] != self.sizes.size:
            raise ValueError(
                f"{theta.shape[0]} rows of weights for {self.sizes.size} tasks"
            )
        total = np.empty(self.values.shape[1])
        first = 0
        for t, size in enumerate(self.sizes):
            last = first + int(size) ** 2
            total[first:last] = _weighted_rows(theta[t], self.values[:, first:last])
            first = last
        return total


def _weighted_rows(weights: FloatArray, rows: NDArray[Any]) -> FloatArray:
    """Return ``weights @ rows`` in float64."""
    if weights.ndim not in (1, 2) or weights.shape[-1] != rows.shape[0]:
        raise ValueError(
            f"weights of shape {weights.shape} for {rows.shape[0]} kernels"
        )
    if rows.dtype == np.float64:
        product: FloatArray = weights @ rows
        return product
    total = np.empty((*weights.shape[:-1], rows.shape[1]))
    for first in range(0, rows.shape[1], _BLOCK):
        part = slice(first, first + _BLOCK)
        total[..., part] = weights @ rows[:, part].astype(np.float64)
    return total


def _index(rows: ArrayLike, size: int) -> IndexArray:
    """Return row numbers from row numbers or a mask."""
    index = np.asarray(rows)
    if index.dtype == np.bool_:
        if index.shape != (size,):
            raise ValueError(f"a mask of shape {index.shape} for {size} rows")
        return np.flatnonzero(index)
    return index.astype(np.intp).reshape(-1)


def _readable(n_bytes: int) -> str:
    value = float(n_bytes)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} GB"
