"""From raw inputs to the coordinates that a fit works in, shared along its path."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtmkl.kernels.base import Kernel, from_spec
from mtmkl.kernels.basis import KernelBasis, kernel_basis
from mtmkl.sparse import is_sparse

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

STANDARDIZED_IS_DENSE = (
    "standardize=True subtracts the means of the features, so that no zero stays zero"
)


@dataclass(frozen=True)
class Standardization:
    """Inputs minus their mean, over their standard deviation (1 where it is 0)."""

    mean: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, X: FloatArray) -> "Standardization":
        """Return the standardisation of the training inputs of all tasks together.

        Raises
        ------
        TypeError
            If the inputs are sparse.
        """
        if is_sparse(X):
            raise TypeError(f"X is sparse, and {STANDARDIZED_IS_DENSE}")
        scale = X.std(axis=0)
        # A constant column's computed deviation is rounding, not a scale.
        scale[scale <= 1e-12 * np.abs(X).max(axis=0, initial=0.0)] = 1.0
        return cls(X.mean(axis=0), scale)

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return the standardised inputs."""
        return (X - self.mean) / self.scale


@dataclass(frozen=True)
class Coordinates:
    """The map from inputs to the coordinates of the coefficients.

    Attributes
    ----------
    standardization : Standardization or None
    basis : KernelBasis or None
        Without it the coordinates are the (standardised) inputs.
    """

    standardization: Standardization | None
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
        standardization = Standardization.of(X) if standardize else None
        if standardization is not None:
            X = standardization(X)
        basis = None
        if kernel is not None:
            basis, X = kernel_basis(from_spec(kernel), X, tol=basis_tol)
        return cls(standardization, basis), X

    def predict(self, X: FloatArray, W: FloatArray, task: IntArray) -> FloatArray:
        """Return w_t'z(x) for each input, t its task."""
        if self.standardization is not None:
            X = self.standardization(X)
        if self.basis is not None:
            return self.basis.predict(X, W)[np.arange(X.shape[0]), task]
        values: FloatArray = np.einsum("ij,ji->i", X, W[:, task])
        return values
