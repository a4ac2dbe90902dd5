"""Multi-task product kernels: K((x, s), (z, t)) = Q_st k(x, z)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtmkl.kernels.base import FloatArray
from mtmkl.kernels.normalize import GramFunction, fit_kernel, kernel_diagonal

IndexArray = NDArray[np.intp]

# Q may fall short of positive semi-definite by so much of its largest eigenvalue.
_ROUNDING = 1e-8


def task_product(
    K: FloatArray, similarity: ArrayLike, s: ArrayLike, t: ArrayLike
) -> FloatArray:
    """Return ``similarity[s_i, t_j] · K_ij``.

    Positive semi-definite if both are and s = t (Schur). A similarity of ones pools the
    tasks, the identity separates them.

    Parameters
    ----------
    K : ndarray of shape (n, m)
    similarity : array-like of shape (n_tasks, n_tasks)
        Q, symmetric, positive semi-definite.
    s : array-like of int of shape (n,)
        Task of each row, in 0..n_tasks-1.
    t : array-like of int of shape (m,)
        Task of each column.

    Returns
    -------
    ndarray of shape (n, m)

    Raises
    ------
    ValueError
        If Q is not a similarity, or a task is not one of its rows.
    """
    Q = _similarity(similarity)
    rows = _tasks(s, Q.shape[0], K.shape[0])
    columns = _tasks(t, Q.shape[0], K.shape[1])
    return K * Q[rows[:, None], columns]


@dataclass(frozen=True, eq=False)
class MultiTaskKernel:
    """K((x, s), (z, t)) = Q_st k(x, z).

    Parameters
    ----------
    kernel : callable
        k, ``(X, Z) -> (n, m)``.
    similarity : array-like of shape (n_tasks, n_tasks)
        Q, symmetric, positive semi-definite.
    """

    kernel: GramFunction
    similarity: ArrayLike

    def __post_init__(self) -> None:
        object.__setattr__(self, "similarity", _similarity(self.similarity))

    @property
    def n_tasks(self) -> int:
        """Number of tasks."""
        return int(np.shape(self.similarity)[0])

    def fit(self, X: FloatArray) -> "MultiTaskKernel":
        """Return the product with k fitted on the inputs of all tasks."""
        return MultiTaskKernel(fit_kernel(self.kernel, X), self.similarity)

    def __call__(
        self, X: FloatArray, Z: FloatArray, s: ArrayLike, t: ArrayLike
    ) -> FloatArray:
        """Return the matrix of (x_i, s_i) and (z_j, t_j), shape (n, m)."""
        rows = _tasks(s, self.n_tasks, X.shape[0])
        columns = _tasks(t, self.n_tasks, Z.shape[0])
        Q = np.asarray(self.similarity)
        return self.kernel(X, Z) * Q[rows[:, None], columns]

    def diagonal(self, X: FloatArray, s: ArrayLike) -> FloatArray:
        """Return Q_ss k(x_i, x_i) for the task s of each input, shape (n,)."""
        tasks = _tasks(s, self.n_tasks, X.shape[0])
        Q = np.asarray(self.similarity)
        product: FloatArray = kernel_diagonal(self.kernel, X) * Q[tasks, tasks]
        return product


def _similarity(similarity: ArrayLike) -> FloatArray:
    Q = np.array(similarity, dtype=np.float64)
    if Q.ndim != 2 or Q.shape[0] != Q.shape[1] or not Q.size:
        raise ValueError(f"the task similarity must be square, got shape {Q.shape}")
    if not np.isfinite(Q).all():
        raise ValueError("the task similarity has entries that are not finite")
    if not np.allclose(Q, Q.T, rtol=1e-10, atol=1e-12 * np.abs(Q).max()):
        raise ValueError("the task similarity must be symmetric")
    spectrum = np.linalg.eigvalsh(Q)
    if spectrum[0] < -_ROUNDING * max(spectrum[-1], 0.0):
        raise ValueError(
            "the task similarity must be positive semi-definite, its least eigenvalue "
            f"is {spectrum[0]:.3g}"
        )
    return Q


def _tasks(tasks: ArrayLike, n_tasks: int, size: int) -> IndexArray:
    index = np.asarray(tasks)
    if index.shape != (size,):
        raise ValueError(f"{size} inputs have tasks of shape {index.shape}")
    if not np.issubdtype(index.dtype, np.integer) and size:
        raise ValueError(f"tasks must be integers, got {index.dtype}")
    outside = (index < 0) | (index >= n_tasks)
    if outside.any():
        raise ValueError(f"task {index[outside][0]} is not in 0..{n_tasks - 1}")
    return index.astype(np.intp)
