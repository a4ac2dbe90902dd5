"""Kernels of given matrices: kernel values or distances."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtmkl.sparse import Inputs
from mtmkl.typing import FloatArray, IntArray

# Share of its largest entry by which a matrix may be asymmetric.
_ROUNDING = 1e-6

ALL = "all"
"""In a configuration file: a kernel for each matrix of the data set."""


@dataclass(frozen=True, eq=False, repr=False)
class _Given:
    """A kernel whose inputs, of one column, are row numbers of a matrix."""

    matrix: NDArray[Any] | str = ALL
    label: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.matrix, str):
            return
        values = np.asanyarray(self.matrix)
        if values.ndim != 2 or values.shape[0] != values.shape[1]:
            raise ValueError(
                f"matrix must be square, one row per example, got shape {values.shape}"
            )
        if values.dtype.kind != "f":
            raise ValueError(
                f"matrix must have floating-point entries, got {values.dtype}"
            )
        object.__setattr__(self, "matrix", values)

    def __repr__(self) -> str:
        name = self.matrix if isinstance(self.matrix, str) else self.label
        return f"{type(self).__name__}({name!r})"

    # Copies of an estimator share the matrix, which nothing changes.
    def __deepcopy__(self, memo: dict[int, Any]) -> "_Given":
        return self

    def _values(self, X: Inputs, Z: Inputs) -> FloatArray:
        values, left = self._rows(X)
        right = left if X is Z else self._rows(Z)[1]
        return np.asarray(values[np.ix_(left, right)], dtype=np.float64)

    def _rows(self, X: Inputs) -> tuple[NDArray[Any], IntArray]:
        """Return the matrix and the row numbers."""
        if isinstance(self.matrix, str):
            raise ValueError(
                f"matrix {self.matrix!r} is a name, which only a data set with such a "
                "matrix can resolve: give the matrix itself"
            )
        if X.shape[1] != 1:
            raise ValueError(
                "inputs of a precomputed kernel have one column, the row of each "
                f"example in its matrix, got {X.shape[1]} columns"
            )
        given = np.asarray(X[:, 0])
        rows = given.astype(np.intp)
        wrong = np.flatnonzero(
            (rows != given) | (rows < 0) | (rows >= self.matrix.shape[0])
        )
        if wrong.size:
            raise ValueError(
                f"X[{wrong[0]}, 0] is {given[wrong[0]]:g}, not a row of a matrix of "
                f"{self.matrix.shape[0]} rows"
            )
        return self.matrix, rows

    def _check(self, X: Inputs) -> FloatArray:
        """Return the values between distinct training inputs, finite and symmetric."""
        rows = np.unique(self._rows(X)[1])[:, None].astype(np.float64)
        values = self._values(rows, rows)
        if not np.isfinite(values).all():
            i, j = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(
                f"matrix[{rows[i, 0]:g}, {rows[j, 0]:g}] is {values[i, j]}, not finite"
            )
        difference = float(np.abs(values - values.T).max(initial=0.0))
        if difference > _ROUNDING * float(np.abs(values).max(initial=0.0)):
            raise ValueError(
                f"matrix must be symmetric, entries differ by up to {difference:.3g}"
            )
        return values


@dataclass(frozen=True, eq=False, repr=False)
class Precomputed(_Given):
    """k(x, z) = matrix[x, z] for inputs that are row numbers of the matrix.

    Inputs have one column: the row of each example in the matrix, from 0.

    Parameters
    ----------
    matrix : ndarray of shape (m, m) or str
        Kernel values between all examples, symmetric, of any floating type; it may be a
        memory map, and is never copied. In a configuration file it is the name of one
        of the matrices of the data set, or "all" for a kernel for each of them.
    label : str, optional
        Name of the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> kernel = Precomputed(np.array([[2.0, 1.0], [1.0, 3.0]]))
    >>> kernel(np.array([[1.0]]), np.array([[0.0], [1.0]]))
    array([[1., 3.]])
    """

    def fit(self, X: Inputs) -> "Precomputed":
        """Return the kernel itself.

        Raises
        ------
        ValueError
            If X does not hold rows of the matrix, or the matrix is not finite and
            symmetric there.
        """
        self._check(X)
        return self

    def __call__(self, X: Inputs, Z: Inputs) -> FloatArray:
        """Return the matrix k(x_i, z_j)."""
        return self._values(X, Z)

    def diagonal(self, X: Inputs) -> FloatArray:
        """Return k(x_i, x_i), shape (n,)."""
        values, rows = self._rows(X)
        return np.asarray(values[rows, rows], dtype=np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class ExponentialDistance(_Given):
    """k(x, z) = exp(−matrix[x, z] / scale) for inputs that are row numbers.

    Inputs have one column: the row of each example in the matrix, from 0.

    Parameters
    ----------
    matrix : ndarray of shape (m, m) or str
        Distances between all examples, such as χ² distances of histograms; otherwise as
        for `Precomputed`.
    label : str, optional
        Name of the kernel.
    scale : float, optional
        Positive; by default the mean distance of pairs of distinct training inputs,
        which ``fit`` resolves.
    """

    scale: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scale is not None and not (self.scale > 0 and np.isfinite(self.scale)):
            raise ValueError(f"scale must be positive and finite, got {self.scale!r}")

    def fit(self, X: Inputs) -> "ExponentialDistance":
        """Return the kernel with its scale resolved on the training inputs X.

        Raises
        ------
        ValueError
            As `Precomputed.fit`, or if a distance is negative.
        """
        values = self._check(X)
        if values.min(initial=0.0) < 0:
            raise ValueError(
                f"matrix must hold distances, at least 0, got {values.min():.3g}"
            )
        if self.scale is not None:
            return self
        n = len(values)
        mean = float(values.sum() / (n * (n - 1))) if n > 1 else 0.0
        # All examples equal: the kernel is constant whatever its scale.
        return replace(self, scale=mean if mean > 0 else 1.0)

    def __call__(self, X: Inputs, Z: Inputs) -> FloatArray:
        """Return the matrix k(x_i, z_j)."""
        if self.scale is None:
            raise ValueError("the scale is not resolved yet: call fit(X) first")
        distances = self._values(X, Z)
        distances *= -1.0 / self.scale
        return np.exp(distances, out=distances)

    def diagonal(self, X: Inputs) -> FloatArray:
        """Return k(x_i, x_i) = 1 for distances that are 0 on the diagonal."""
        if self.scale is None:
            raise ValueError("the scale is not resolved yet: call fit(X) first")
        values, rows = self._rows(X)
        return np.exp(-np.asarray(values[rows, rows], dtype=np.float64) / self.scale)
