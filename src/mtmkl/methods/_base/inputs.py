"""From raw inputs to the coordinates that a fit works in, shared along its path."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from mtmkl.kernels.base import Kernel, from_spec
from mtmkl.kernels.basis import KernelBasis, kernel_basis
from mtmkl.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Coordinates:
    """The map from inputs to the coordinates of the coefficients.

    Attributes
    ----------
    scaler : StandardScaler or None
    basis : KernelBasis or None
        Without it the coordinates are the (standardised) inputs.
    """

    scaler: StandardScaler | None
    basis: KernelBasis | None

    @classmethod
    def of(
        cls,
        X: FloatArray,
        *,
        kernel: Kernel | Mapping[str, Any] | str | None,
        standardize: bool,
        basis_tol: float,
    ) -> tuple["Coordinates", FloatArray]:
        """Return the map learned on training inputs, and their coordinates."""
        scaler = StandardScaler().fit(X) if standardize else None
        if scaler is not None:
            X = scaler.transform(X)
        basis = None
        if kernel is not None:
            basis, X = kernel_basis(from_spec(kernel), X, tol=basis_tol)
        return cls(scaler, basis), X

    def predict(self, X: FloatArray, W: FloatArray, task: IntArray) -> FloatArray:
        """Return w_t'z(x) for each input, t its task."""
        if self.scaler is not None:
            X = self.scaler.transform(X)
        if self.basis is not None:
            return self.basis.predict(X, W)[np.arange(X.shape[0]), task]
        values: FloatArray = np.einsum("ij,ji->i", X, W[:, task])
        return values
