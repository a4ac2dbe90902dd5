"""Normalisation of kernels, the same on training and other inputs."""

from dataclasses import dataclass

import numpy as np

from mtmkl.kernels.base import Kernel
from mtmkl.sparse import Inputs
from mtmkl.typing import FloatArray


def trace_factor(diagonal: FloatArray) -> float:
    """Return the factor that makes the mean of this diagonal one.

    The trace of the training matrix is then the number of its rows. A kernel that is
    zero on the training inputs keeps the factor one.
    """
    mean = float(np.mean(diagonal)) if diagonal.size else 0.0
    return 1.0 / mean if mean > 0.0 else 1.0


@dataclass(frozen=True)
class CosineNormalized:
    """k(x, z) / sqrt(k(x, x) k(z, z)), zero where an input has the norm zero.

    Parameters
    ----------
    kernel : Kernel
    """

    kernel: Kernel

    def fit(self, X: Inputs) -> "CosineNormalized":
        """Return the normalised version of the fitted kernel."""
        return CosineNormalized(self.kernel.fit(X))

    def __call__(self, X: Inputs, Z: Inputs) -> FloatArray:
        """Return the matrix of the normalised kernel, shape (n, m)."""
        left = self.kernel.diagonal(X)
        right = left if X is Z else self.kernel.diagonal(Z)
        roots = _inverse_root(left)[:, None], _inverse_root(right)[None, :]
        return self.kernel(X, Z) * roots[0] * roots[1]

    def diagonal(self, X: Inputs) -> FloatArray:
        """Return one, or zero for an input of norm zero."""
        return (self.kernel.diagonal(X) > 0.0).astype(np.float64)


def _inverse_root(norms: FloatArray) -> FloatArray:
    positive = norms > 0.0
    return np.where(positive, 1.0 / np.sqrt(np.where(positive, norms, 1.0)), 0.0)
