"""Kernels as inner products of explicit features, for solvers that build no matrix."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from mtmkl.kernels.base import CosineNormalized, Kernel, Linear
from mtmkl.sparse import Inputs, is_sparse


def has_feature_map(kernel: Kernel | None) -> bool:
    """Tell whether `feature_map` has the features of a kernel: if it is linear."""
    if isinstance(kernel, CosineNormalized):
        kernel = kernel.kernel
    return isinstance(kernel, Linear)


def feature_map(kernel: Kernel, X: Inputs, scale: float = 1.0) -> Inputs:
    """Return features φ(x_i) of a linear kernel, or its cosine: φ(x)'φ(z) = scale·k.

    They are the features, not copied; with a constant in the kernel, also a column of
    its root.
    """
    is_cosine = isinstance(kernel, CosineNormalized)
    linear = kernel.kernel if isinstance(kernel, CosineNormalized) else kernel
    assert isinstance(linear, Linear)
    factors = np.full(X.shape[0], np.sqrt(scale))
    if is_cosine:
        norms = np.sqrt(linear.diagonal(X))
        factors /= np.where(norms > 0.0, norms, 1.0)
    column = np.full((X.shape[0], 1), np.sqrt(linear.constant))
    if is_sparse(X):
        if linear.constant:
            X = csr_array(hstack([X, column], format="csr"))
        if (factors == 1.0).all():
            return X
        scaled: Any = X.copy()
        scaled.data *= np.repeat(factors, np.diff(X.indptr))
        return scaled
    if linear.constant:
        X = np.hstack([X, column])
    return X if (factors == 1.0).all() else X * factors[:, None]
