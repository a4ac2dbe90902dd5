"""An orthonormal basis of the span of the training inputs' feature vectors.

Algorithm 2 of Argyriou, Evgeniou and Pontil (2008) works in coordinates z = R'k(x),
where k(x) are the kernel values with some training inputs, the landmarks, and the
columns of R give an orthonormal basis of span{φ(x_ti)}. Repeated inputs add nothing to
the span, so only distinct rows matter, and the basis is that of the leading
eigenvectors of their Gram matrix K, cut at a tolerance relative to the largest
eigenvalue.

Where K has low numerical rank, a Cholesky factorisation with pivoting, K ≈ LL', stops
as soon as the trace of what is left is 1 % of the cut, and the eigenvectors come from
the small matrix L'L; the pivots are the landmarks. Otherwise K is decomposed whole.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, solve_triangular

from mtmkl.kernels.base import INPUTS_TOO_LARGE, Kernel, refuse_overflow
from mtmkl.typing import FloatArray, IntArray

# Beyond this share of the rows a full decomposition costs less than pivoting.
_PIVOT_SHARE = 0.25
# The factorisation leaves at most this share of the cut, so that it cannot move an
# eigenvalue across the cut by more.
_REMAINDER = 0.01


@dataclass(frozen=True)
class KernelBasis:
    """The map x ↦ z = R'k(x) onto orthonormal coordinates of the training span."""

    #: With everything that depends on data resolved.
    kernel: Kernel
    #: Training inputs with which k(x) is computed, (m, d).
    landmarks: FloatArray
    #: R, (m, dimension), columns in the order of decreasing eigenvalues.
    coefficients: FloatArray
    #: Share of the trace of the distinct inputs' Gram matrix beyond the cut.
    discarded_trace: float
    #: Bound on the largest eigenvalue of K − ZZ', Z the distinct inputs' coordinates.
    discarded_norm: float
    #: Number of each training input among the distinct ones, (n,).
    distinct: IntArray

    @property
    def dimension(self) -> int:
        """Number δ of coordinates."""
        return self.coefficients.shape[1]

    def predict(self, X: FloatArray, W: FloatArray) -> FloatArray:
        """Return z'W for the inputs X, shape (n, T), by way of k(x)'(RW)."""
        return self.kernel(X, self.landmarks) @ (self.coefficients @ W)


def kernel_basis(
    kernel: Kernel, X: FloatArray, *, tol: float = 1e-6
) -> tuple[KernelBasis, FloatArray]:
    """Return the basis of the training inputs, and their coordinates (n, dimension).

    Eigenvalues of the Gram matrix of the *distinct* rows of X that are at most ``tol``
    times the largest are cut; up to this cut the Gram matrix of the coordinates is that
    of the fitted kernel.
    """
    kernel = kernel.fit(X)
    distinct, inverse = np.unique(X, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    diagonal = kernel.diagonal(distinct)
    refuse_overflow(diagonal, f"the Gram matrix of {kernel}", INPUTS_TOO_LARGE)
    trace = float(diagonal.sum())
    if not trace > 0:
        empty = np.zeros((1, 0))
        basis = KernelBasis(kernel, distinct[:1], empty, 0.0, 0.0, inverse)
        return basis, np.zeros((len(X), 0))
    pivots, L, remainder = _pivoted_cholesky(kernel, distinct, diagonal, tol)
    if pivots is None:
        gram = kernel(distinct, distinct)
        values, vectors = eigh(gram, overwrite_a=True, check_finite=False)
        values, vectors, next_value = _leading(values, vectors, tol)
        landmarks = distinct
        coefficients = vectors / np.sqrt(values)
        coordinates = vectors * np.sqrt(values)
    else:
        values, vectors = eigh(L.T @ L)
        values, vectors, next_value = _leading(values, vectors, tol)
        landmarks = distinct[pivots]
        coefficients = solve_triangular(L[pivots], vectors, lower=True, trans="T")
        coordinates = L @ vectors
    basis = KernelBasis(
        kernel=kernel,
        landmarks=landmarks,
        coefficients=coefficients,
        discarded_trace=max(1.0 - float(values.sum()) / trace, 0.0),
        discarded_norm=next_value + remainder + np.finfo(float).eps * trace,
        distinct=inverse,
    )
    return basis, coordinates[inverse]


def _leading(
    values: FloatArray, vectors: FloatArray, tol: float
) -> tuple[FloatArray, FloatArray, float]:
    """Return the eigenvalues above the cut, their vectors and the next eigenvalue."""
    keep = np.flatnonzero(values > tol * values[-1])[::-1]
    n_cut = values.size - keep.size
    next_value = max(float(values[n_cut - 1]), 0.0) if n_cut else 0.0
    return values[keep], vectors[:, keep], next_value


def _pivoted_cholesky(
    kernel: Kernel, X: FloatArray, diagonal: FloatArray, tol: float
) -> tuple[IntArray | None, FloatArray, float]:
    """Return pivots (None unless K has low numerical rank), L, and trace of K − LL'."""
    m = X.shape[0]
    limit = max(int(_PIVOT_SHARE * m), min(m, 64))
    left = diagonal.copy()
    L = np.empty((m, limit))
    pivots: list[int] = []
    # The largest eigenvalue is at least the mean and the maximum of the diagonal; the
    # factor so far gives better bounds as it grows.
    largest = max(float(diagonal.max()), float(diagonal.mean()))
    for k in range(limit + 1):
        if k in (1, 4, 16, 64, 256):
            largest = max(largest, float(np.linalg.norm(L[:, :k], 2)) ** 2)
        if left.sum() <= _REMAINDER * tol * largest:
            return np.array(pivots, dtype=np.intp), L[:, :k], float(left.sum())
        if k == limit:
            break
        pivot = int(np.argmax(left))
        column = kernel(X, X[pivot : pivot + 1])[:, 0] - L[:, :k] @ L[pivot, :k]
        if column[pivot] <= 0.0:  # what is left is rounding
            return np.array(pivots, dtype=np.intp), L[:, :k], float(left.sum())
        column /= np.sqrt(column[pivot])
        column[pivots] = 0.0
        L[:, k] = column
        pivots.append(pivot)
        left = np.maximum(left - column**2, 0.0)
        left[pivots] = 0.0
    return None, L, 0.0
