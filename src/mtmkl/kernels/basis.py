"""An orthonormal basis of the span of the training samples' feature vectors.

Algorithm 2 of Argyriou, Evgeniou and Pontil (2008) works in coordinates z = R'k(x),
where k(x) are the kernel values with some training samples, the landmarks, and the
columns of R give an orthonormal basis of span{φ(x_ti)}. Repeated samples add nothing to
the span, so only distinct rows matter, and the basis is that of the leading
eigenvectors of their Gram matrix K, cut at a tolerance relative to the largest
eigenvalue.

A Cholesky factorisation with pivoting, K ≈ LL', stops as soon as the trace of what is
left is 1 % of the cut; the pivots are the landmarks, and the eigenvectors come from the
smaller matrix L'L. Where L keeps nearly all of many rows, eigenvectors would cost ten
times the factor: L is the coordinates. Of many rows K is not built as long as
few pivots do.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, solve_triangular
from scipy.linalg.lapack import dpstrf

from mtmkl.kernels.base import (
    INPUTS_TOO_LARGE,
    Kernel,
    is_known_definite,
    refuse_overflow,
)
from mtmkl.kernels.definite import check_definite, check_symmetric
from mtmkl.sparse import Inputs
from mtmkl.typing import FloatArray, IntArray

# So many rows have their Gram matrix built at once, and others beyond that share of
# pivots.
_WHOLE = 4096
_PIVOT_SHARE = 0.25
# From so many pivots and this share of the rows on L is the coordinates.
_MANY, _NEARLY_ALL = 1000, 0.85
_POWER_STEPS = 8
# The factorisation leaves at most this share of the cut, so that it cannot move an
# eigenvalue across the cut by more.
_REMAINDER = 0.01


@dataclass(frozen=True)
class KernelBasis:
    """The map x ↦ z = R'k(x) onto orthonormal coordinates of the training span."""

    #: With everything that depends on data resolved.
    kernel: Kernel
    #: Training samples with which k(x) is computed, (m, d).
    landmarks: FloatArray
    #: L of the landmarks' Gram matrix LL', (m, m), and V in R = L'⁻¹V, (m, dimension),
    #: or None for the identity. R itself would cost as much as L, and models are few.
    triangle: FloatArray
    rotation: FloatArray | None
    #: Share of the trace of the distinct samples' Gram matrix beyond the cut.
    discarded_trace: float
    #: Bound on the largest eigenvalue of K − ZZ', Z the distinct samples' coordinates.
    discarded_norm: float
    #: Number of each training input among the distinct ones, (n,).
    distinct: IntArray

    @property
    def dimension(self) -> int:
        """Number δ of coordinates."""
        rotation = self.triangle if self.rotation is None else self.rotation
        return rotation.shape[1]

    def models(self, W: FloatArray) -> FloatArray:
        """Return RW, which multiplies the kernel values k(x), shape (m, T)."""
        turned = W if self.rotation is None else self.rotation @ W
        models: FloatArray = solve_triangular(
            self.triangle, turned, lower=True, trans="T"
        )
        return models

    def predict(self, X: FloatArray, W: FloatArray) -> FloatArray:
        """Return z'W for the features X, shape (n, T), by way of k(x)'(RW)."""
        return self.kernel(X, self.landmarks) @ self.models(W)


def kernel_basis(
    kernel: Kernel, X: FloatArray, *, tol: float = 1e-6
) -> tuple[KernelBasis, FloatArray]:
    """Return the basis of the training samples, and their coordinates (n, dimension).

    Eigenvalues of the Gram matrix of the *distinct* rows of X that are at most ``tol``
    times the largest are cut, unless nearly all rows are needed for the others; up to
    this cut the Gram matrix of the coordinates is that of the fitted kernel. Raises
    ValueError if it is not symmetric positive semi-definite.
    """
    kernel = kernel.fit(X)
    distinct, inverse = np.unique(X, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    diagonal = kernel.diagonal(distinct)
    refuse_overflow(diagonal, f"the Gram matrix of {kernel}", INPUTS_TOO_LARGE)
    gram = None
    if not is_known_definite(kernel):
        gram = kernel(distinct, distinct)
        refuse_overflow(gram, f"the Gram matrix of {kernel}", INPUTS_TOO_LARGE)
        check_symmetric(gram, f"the Gram matrix of {kernel}")
        check_definite(gram, str(kernel))
    trace = float(diagonal.sum())
    if not trace > 0:
        empty = np.zeros((1, 0))
        one = np.ones((1, 1))
        basis = KernelBasis(kernel, distinct[:1], one, empty, 0.0, 0.0, inverse)
        return basis, np.zeros((len(X), 0))
    m, is_complete = distinct.shape[0], False
    if m > _WHOLE and gram is None:
        most = max(int(_PIVOT_SHARE * m), min(m, 64))
        pivots, L, remainder, is_complete = pivoted_cholesky(
            kernel, distinct, diagonal, tol, most
        )
    if not is_complete:
        gram = kernel(distinct, distinct) if gram is None else gram
        pivots, L, remainder = _whole_cholesky(gram, tol)
    coordinates, rotation = L, None
    next_value, kept = 0.0, trace - remainder
    if pivots.size < max(_MANY, _NEARLY_ALL * distinct.shape[0]):
        values, rotation = eigh(L.T @ L)
        values, rotation, next_value = _leading(values, rotation, tol)
        coordinates, kept = L @ rotation, float(values.sum())
    basis = KernelBasis(
        kernel=kernel,
        landmarks=distinct[pivots],
        triangle=L[pivots],
        rotation=rotation,
        discarded_trace=max(1.0 - kept / trace, 0.0),
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


def _whole_cholesky(gram: FloatArray, tol: float) -> tuple[IntArray, FloatArray, float]:
    """Return pivots, L, and the trace of K − LL'."""
    m = gram.shape[0]
    direction = np.ones(m)
    for _ in range(_POWER_STEPS):
        direction = gram @ direction
        direction /= np.linalg.norm(direction)
    largest = float(direction @ gram @ direction)  # at most the largest eigenvalue
    trace = float(np.trace(gram))
    rounding = m * np.finfo(float).eps * float(np.max(np.diag(gram)))
    least = max(_REMAINDER * tol * largest / m, rounding)
    factor, order, rank, _ = dpstrf(gram.T, tol=least, lower=1, overwrite_a=1)
    L = np.empty((m, rank))
    for k in range(1, rank):
        factor[:k, k] = 0.0
    L[order - 1] = factor[:, :rank]
    remainder = max(trace - float(np.einsum("ij,ij->", L, L)), 0.0)
    return order[:rank].astype(np.intp) - 1, L, remainder


def pivoted_cholesky(
    kernel: Kernel, X: Inputs, diagonal: FloatArray, tol: float, limit: int
) -> tuple[IntArray, FloatArray, float, bool]:
    """Return pivots, L, the trace of K − LL', and whether that is within the tolerance.

    It is where so many pivots suffice as ``limit``; otherwise the factor ends there.
    """
    m = X.shape[0]
    left = diagonal.copy()
    L = np.empty((m, limit))
    pivots: list[int] = []
    # The largest eigenvalue is at least the mean and the maximum of the diagonal; the
    # factor so far gives better bounds as it grows.
    largest = max(float(diagonal.max()), float(diagonal.mean()))
    is_complete = False
    for k in range(limit + 1):
        if k in (1, 4, 16, 64, 256):
            largest = max(largest, float(np.linalg.norm(L[:, :k], 2)) ** 2)
        is_complete = bool(left.sum() <= _REMAINDER * tol * largest)
        if is_complete or k == limit:
            break
        pivot = int(np.argmax(left))
        column = kernel(X, X[pivot : pivot + 1])[:, 0] - L[:, :k] @ L[pivot, :k]
        is_complete = bool(column[pivot] <= 0.0)  # what is left is rounding
        if is_complete:
            break
        column /= np.sqrt(column[pivot])
        column[pivots] = 0.0
        L[:, k] = column
        pivots.append(pivot)
        left = np.maximum(left - column**2, 0.0)
        left[pivots] = 0.0
    factor = L[:, : len(pivots)]
    return np.array(pivots, dtype=np.intp), factor, float(left.sum()), is_complete
