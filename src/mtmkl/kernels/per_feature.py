"""Kernels on some of the features: one kernel a feature selects features."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mtmkl.kernels.base import FloatArray
from mtmkl.kernels.normalize import GramFunction, fit_kernel, kernel_diagonal


@dataclass(frozen=True)
class FeatureKernel:
    """k(x_F, z_F), where x_F holds the features F of x.

    Parameters
    ----------
    kernel : callable
        ``(X, Z) -> (n, m)``; what it fits, it fits on the features F alone.
    features : tuple of int
        F, at least one, each 0 or more.
    """

    kernel: GramFunction
    features: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.features or min(self.features) < 0:
            raise ValueError(
                f"features must be at least one index from 0, got {self.features!r}"
            )

    def fit(self, X: FloatArray) -> "FeatureKernel":
        """Return the kernel fitted on the features F of the inputs X."""
        return FeatureKernel(fit_kernel(self.kernel, self._select(X)), self.features)

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Return the matrix k(x_iF, z_jF), shape (n, m)."""
        return self.kernel(self._select(X), self._select(Z))

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Return k(x_iF, x_iF)."""
        return kernel_diagonal(self.kernel, self._select(X))

    def _select(self, X: FloatArray) -> FloatArray:
        if max(self.features) >= X.shape[1]:
            raise ValueError(
                f"feature {max(self.features)} of inputs with {X.shape[1]} features"
            )
        selected: FloatArray = np.ascontiguousarray(X[:, list(self.features)])
        return selected


def per_feature(
    kernels: GramFunction | Iterable[GramFunction], n_features: int
) -> list[FeatureKernel]:
    """Return each kernel on each feature alone.

    Parameters
    ----------
    kernels : callable or iterable of callable
    n_features : int

    Returns
    -------
    list of FeatureKernel
        All features of the first kernel, then of the second, and so on.
    """
    each = [kernels] if callable(kernels) else list(kernels)
    return [FeatureKernel(kernel, (j,)) for kernel in each for j in range(n_features)]
