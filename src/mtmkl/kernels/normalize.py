"""Normalisation of kernels and of Gram matrices, the same on training and test inputs.

Each comes twice: as a kernel around another one, whose ``fit`` keeps what depends on
the training inputs, and as a function on matrices that are there already.

A kernel here is a callable ``(X, Z) -> (n, m)``, as of `mtmkl.kernels.base`; ``fit``
and ``diagonal`` are used where it has them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mtmkl.kernels.base import FloatArray

GramFunction = Callable[[FloatArray, FloatArray], FloatArray]

_DIAGONAL_ROWS = 64  # rows of a block when a kernel has no diagonal of its own


def fit_kernel(kernel: GramFunction, X: FloatArray) -> GramFunction:
    """Return ``kernel.fit(X)``, or the kernel itself if it has no ``fit``."""
    fit = getattr(kernel, "fit", None)
    fitted: GramFunction = kernel if fit is None else fit(X)
    return fitted


def kernel_diagonal(kernel: GramFunction, X: FloatArray) -> FloatArray:
    """Return k(x_i, x_i), shape (n,), by small blocks if there is no quicker way."""
    diagonal = getattr(kernel, "diagonal", None)
    if diagonal is not None:
        known: FloatArray = diagonal(X)
        return known
    values = np.empty(X.shape[0])
    for first in range(0, X.shape[0], _DIAGONAL_ROWS):
        block = X[first : first + _DIAGONAL_ROWS]
        values[first : first + _DIAGONAL_ROWS] = np.diagonal(kernel(block, block))
    return values


def cosine_normalize(K: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """Return ``K_ij / sqrt(left_i · right_j)``.

    Parameters
    ----------
    K : ndarray of shape (n, m)
    left : ndarray of shape (n,)
        k(x_i, x_i), at least 0.
    right : ndarray of shape (m,)
        k(z_j, z_j), at least 0.

    Returns
    -------
    ndarray of shape (n, m)
        Zero where an input has the norm zero.
    """
    return K * _inverse_root(left)[:, None] * _inverse_root(right)[None, :]


def trace_factor(diagonal: FloatArray) -> float:
    """Return the factor that makes the mean of this diagonal one.

    The trace of the training matrix is then the number of its rows. A kernel that is
    zero on the training inputs keeps the factor one.
    """
    mean = float(np.mean(diagonal)) if diagonal.size else 0.0
    return 1.0 / mean if mean > 0.0 else 1.0


def center(
    K: FloatArray, left: FloatArray, right: FloatArray, total: float
) -> FloatArray:
    """Return the matrix of ``⟨φ(x_i) − φ̄, φ(z_j) − φ̄⟩``.

    Parameters
    ----------
    K : ndarray of shape (n, m)
        k(x_i, z_j).
    left : ndarray of shape (n,)
        Mean over the training inputs r of k(x_i, r).
    right : ndarray of shape (m,)
        Mean over r of k(z_j, r).
    total : float
        Mean over r and r' of k(r, r').

    Returns
    -------
    ndarray of shape (n, m)
    """
    return K - left[:, None] - right[None, :] + total


@dataclass(frozen=True)
class CosineNormalized:
    """k(x, z) / sqrt(k(x, x) k(z, z)), zero where an input has the norm zero.

    Parameters
    ----------
    kernel : callable
    """

    kernel: GramFunction

    def fit(self, X: FloatArray) -> "CosineNormalized":
        """Return the normalised version of the fitted kernel."""
        return CosineNormalized(fit_kernel(self.kernel, X))

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Return the matrix of the normalised kernel, shape (n, m)."""
        left = kernel_diagonal(self.kernel, X)
        right = left if X is Z else kernel_diagonal(self.kernel, Z)
        return cosine_normalize(self.kernel(X, Z), left, right)

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Return one, or zero for an input of norm zero."""
        return (kernel_diagonal(self.kernel, X) > 0.0).astype(np.float64)


@dataclass(frozen=True)
class TraceNormalized:
    """c · k(x, z), the mean of c · k(x, x) over the training inputs being one.

    Parameters
    ----------
    kernel : callable
    factor : float, optional
        c; ``fit`` finds it.
    """

    kernel: GramFunction
    factor: float | None = None

    def fit(self, X: FloatArray) -> "TraceNormalized":
        """Return the kernel with c resolved on the inputs X."""
        kernel = fit_kernel(self.kernel, X)
        return TraceNormalized(kernel, trace_factor(kernel_diagonal(kernel, X)))

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Return the matrix of the normalised kernel, shape (n, m)."""
        return self._factor() * self.kernel(X, Z)

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Return c · k(x_i, x_i)."""
        return self._factor() * kernel_diagonal(self.kernel, X)

    def _factor(self) -> float:
        if self.factor is None:
            raise ValueError("the trace is not known yet: call fit(X) first")
        return self.factor


@dataclass(frozen=True, eq=False)
class Centered:
    """⟨φ(x) − φ̄, φ(z) − φ̄⟩, with φ̄ the mean of the training inputs' features.

    Parameters
    ----------
    kernel : callable
    reference : ndarray of shape (n, d), optional
        The training inputs; ``fit`` keeps them, for each evaluation needs them.
    total : float, optional
        Mean of the training matrix; ``fit`` finds it.
    """

    kernel: GramFunction
    reference: FloatArray | None = None
    total: float = 0.0

    def fit(self, X: FloatArray) -> "Centered":
        """Return the kernel centred on the inputs X."""
        kernel = fit_kernel(self.kernel, X)
        return Centered(kernel, X, float(np.mean(kernel(X, X))))

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Return the matrix of the centred kernel, shape (n, m)."""
        left = self._means(X)
        right = left if X is Z else self._means(Z)
        return center(self.kernel(X, Z), left, right, self.total)

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Return ||φ(x_i) − φ̄||²."""
        return kernel_diagonal(self.kernel, X) - 2.0 * self._means(X) + self.total

    def _means(self, X: FloatArray) -> FloatArray:
        if self.reference is None:
            raise ValueError("the mean is not known yet: call fit(X) first")
        means: FloatArray = self.kernel(X, self.reference).mean(axis=1)
        return means


NORMALIZATIONS: dict[str, type[Any]] = {
    "cosine": CosineNormalized,
    "trace": TraceNormalized,
    "center": Centered,
}


def normalized(kernel: GramFunction, how: str) -> GramFunction:
    """Return a kernel normalised by the name of a normalisation.

    Parameters
    ----------
    kernel : callable
    how : {"cosine", "trace", "center"}

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        If the name is not known.
    """
    if how not in NORMALIZATIONS:
        raise ValueError(
            f"unknown normalisation {how!r}; known: {', '.join(NORMALIZATIONS)}"
        )
    wrapped: GramFunction = NORMALIZATIONS[how](kernel)
    return wrapped


def _inverse_root(norms: FloatArray) -> FloatArray:
    positive = norms > 0.0
    return np.where(positive, 1.0 / np.sqrt(np.where(positive, norms, 1.0)), 0.0)
