"""An orthonormal basis of the span of the training inputs' feature vectors.

Algorithm 2 of Argyriou, Evgeniou and Pontil (2008) works in coordinates z = R'k(x),
where k(x) are the kernel values with some training inputs and the columns of R give an
orthonormal basis of span{φ(x_ti)}. Here those inputs are the distinct training rows
(repeated rows add nothing to the span) and R = QΛ^{-1/2} comes from the
eigendecomposition QΛQ' of their Gram matrix, cut at a relative tolerance.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mtmkl.kernels.base import Kernel

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class KernelBasis:
    """The map x ↦ z = R'k(x) onto orthonormal coordinates of the training span.

    Attributes
    ----------
    kernel : Kernel
        The kernel, with everything that depends on data resolved.
    landmarks : ndarray of shape (m, d)
        The distinct training inputs.
    coefficients : ndarray of shape (m, dimension)
        R, columns in the order of decreasing eigenvalues.
    discarded_trace : float
        Share of the trace of the landmarks' Gram matrix beyond the cut, 0 … 1.
    """

    kernel: Kernel
    landmarks: FloatArray
    coefficients: FloatArray
    discarded_trace: float

    @property
    def dimension(self) -> int:
        """Number δ of coordinates."""
        return self.coefficients.shape[1]

    def transform(self, X: FloatArray) -> FloatArray:
        """Return the coordinates z of the inputs X, shape (n, dimension)."""
        return self.kernel(X, self.landmarks) @ self.coefficients

    def predict(self, X: FloatArray, W: FloatArray) -> FloatArray:
        """Return z'W for the inputs X, shape (n, T), by way of k(x)'(RW)."""
        return self.kernel(X, self.landmarks) @ (self.coefficients @ W)


def kernel_basis(
    kernel: Kernel, X: FloatArray, *, tol: float = 1e-6
) -> tuple[KernelBasis, FloatArray]:
    """Return the basis of the training inputs and their coordinates.

    Parameters
    ----------
    kernel : Kernel
        A specification; ``kernel.fit(X)`` is what is used.
    X : ndarray of shape (n, d)
        Training inputs of all tasks.
    tol : float
        Eigenvalues of the Gram matrix of the *distinct* rows of X that are at most
        ``tol`` times the largest are cut.

    Returns
    -------
    basis : KernelBasis
    coordinates : ndarray of shape (n, dimension)
        z of each training input. Their Gram matrix is that of the kernel up to the
        cut.
    """
    from scipy.linalg import eigh

    kernel = kernel.fit(X)
    landmarks, inverse = np.unique(X, axis=0, return_inverse=True)
    gram = kernel(landmarks, landmarks)
    trace = float(np.trace(gram))
    values, vectors = eigh(gram, overwrite_a=True, check_finite=False)
    keep = np.flatnonzero(values > tol * max(values[-1], 0.0))[::-1]
    values, vectors = values[keep], vectors[:, keep]
    basis = KernelBasis(
        kernel=kernel,
        landmarks=landmarks,
        coefficients=vectors / np.sqrt(values),
        discarded_trace=max(1.0 - float(values.sum()) / trace, 0.0) if trace else 0.0,
    )
    return basis, (vectors * np.sqrt(values))[inverse.ravel()]
