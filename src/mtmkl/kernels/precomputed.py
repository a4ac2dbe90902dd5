"""Kernels of given matrices: kernel values or distances."""

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from mtmkl.checks import check_positive, one_of, optional
from mtmkl.kernels.definite import (
    check_definite,
    check_symmetric,
    least_eigenvalue,
    rounding,
)
from mtmkl.sparse import Inputs
from mtmkl.typing import FloatArray, IntArray

ALL = "all"
"""In a configuration file: a kernel for each matrix of the data set."""


@dataclass(frozen=True, eq=False, repr=False)
class _Given:
    """A kernel whose features, of one column, are row numbers of a matrix."""

    matrix: NDArray[Any] | str = ALL
    label: str = ""
    _: KW_ONLY
    indefinite: Literal["error", "clip", "shift"] = "error"

    def __post_init__(self) -> None:
        one_of("error", "clip", "shift")("indefinite", self.indefinite)
        if isinstance(self.matrix, str):
            return
        values = np.asanyarray(self.matrix)
        if values.ndim != 2 or values.shape[0] != values.shape[1]:
            raise ValueError(
                f"matrix must be square, one row per sample, got shape {values.shape}"
            )
        if values.dtype.kind != "f":
            raise ValueError(
                f"matrix must have floating-point entries, got {values.dtype}"
            )
        object.__setattr__(self, "matrix", values)

    def __repr__(self) -> str:
        name = repr(self.matrix if isinstance(self.matrix, str) else self.label)
        if not isinstance(self.matrix, str) and not self.label:
            name = f"<{len(self.matrix)} × {len(self.matrix)} matrix>"
        given = {"indefinite": self.indefinite, "scale": getattr(self, "scale", None)}
        options = [
            f", {key}={value!r}"
            for key, value in given.items()
            if value not in ("error", None)
        ]
        return f"{type(self).__name__}({name}{''.join(options)})"

    # Copies of an estimator share the matrix, which nothing changes.
    def __deepcopy__(self, memo: dict[int, Any]) -> "_Given":
        return self

    def __call__(self, X: Inputs, Z: Inputs) -> FloatArray:
        """Return the matrix k(x_i, z_j)."""
        return self._of(self._values(X, Z))

    def diagonal(self, X: Inputs) -> FloatArray:
        """Return k(x_i, x_i), shape (n,)."""
        values, rows = self._rows(X)
        return self._of(np.asarray(values[rows, rows], dtype=np.float64))

    def _of(self, values: FloatArray) -> FloatArray:
        """Return the kernel for entries of the matrix, which may be overwritten."""
        return values

    def _values(self, X: Inputs, Z: Inputs) -> FloatArray:
        values, left = self._rows(X)
        right = left if X is Z else self._rows(Z)[1]
        return np.asarray(values[np.ix_(left, right)], dtype=np.float64)

    def _rows(self, X: Inputs) -> tuple[NDArray[Any], IntArray]:
        """Return the matrix and the row numbers."""
        if isinstance(self.matrix, str):
            which = "" if self.matrix == ALL else f" of the matrix {self.matrix!r}"
            raise ValueError(
                f"a kernel{which} lacks the matrix itself: give "
                f'{type(self).__name__}(matrix); kernels="precomputed", in '
                "methods that take it, is of a square X, as in SVC"
            )
        if X.shape[1] != 1:
            raise ValueError(
                "features of a precomputed kernel have one column, the row of each "
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

    def _distinct(self, X: Inputs) -> tuple[FloatArray, FloatArray]:
        """Return distinct training samples, (n, 1), and the values of all pairs.

        Raises ValueError unless these are finite and symmetric.
        """
        rows = np.unique(self._rows(X)[1])[:, None].astype(np.float64)
        values = self._values(rows, rows)
        if not np.isfinite(values).all():
            i, j = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(
                f"matrix[{rows[i, 0]:g}, {rows[j, 0]:g}] is {values[i, j]}, not finite"
            )
        check_symmetric(values, "matrix")
        return rows, values

    def _definite(
        self, rows: FloatArray, K: FloatArray
    ) -> "_Given | _Clipped | _Shifted":
        """Return the resolved kernel, or what ``indefinite`` makes of it.

        ``K`` has its values between distinct training samples.
        """
        dtype = np.asanyarray(self.matrix).dtype
        if self.indefinite == "error":
            check_definite(K, repr(self), dtype)
            return self
        least = least_eigenvalue(K, dtype)
        if least is None:
            return self
        made: _Clipped | _Shifted = _Shifted(self, -least)
        what = f"{-least:.3g} is added to its diagonal"
        if self.indefinite == "clip":
            values, vectors = eigh(K)
            kept = values > rounding(K, dtype)
            lost = np.linalg.norm(values[~kept]) / np.linalg.norm(values)
            what = (
                f"its {np.sum(values < 0)} negative eigenvalues are set to 0, "
                f"which takes {100 * lost:.2g} % of its norm"
            )
            made = _Clipped(self, rows, vectors[:, kept] / np.sqrt(values[kept]))
        warnings.warn(
            f"the kernel {self!r} on {len(K)} training samples is not positive "
            f"semi-definite, its least eigenvalue is {least:.3g}: {what}",
            stacklevel=2,
        )
        return made


@dataclass(frozen=True, eq=False, repr=False)
class _Made:
    """A kernel of a given matrix, made positive semi-definite where it was trained."""

    given: Any

    def __repr__(self) -> str:
        return repr(self.given)

    def fit(self, X: Inputs) -> "_Made":
        """Return the kernel itself."""
        return self


@dataclass(frozen=True, eq=False, repr=False)
class _Clipped(_Made):
    """k(x)'PP'k(z), of the values k(x) with the training samples."""

    #: Distinct training samples, (n, 1), and P = V₊Λ₊^(−1/2) of their matrix VΛV'.
    rows: FloatArray
    projection: FloatArray

    def _coordinates(self, X: Inputs) -> FloatArray:
        coordinates: FloatArray = self.given(X, self.rows) @ self.projection
        return coordinates

    def __call__(self, X: Inputs, Z: Inputs) -> FloatArray:
        left = self._coordinates(X)
        gram: FloatArray = left @ (left if X is Z else self._coordinates(Z)).T
        return gram

    def diagonal(self, X: Inputs) -> FloatArray:
        """Return k(x_i, x_i), shape (n,)."""
        return np.square(self._coordinates(X)).sum(axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class _Shifted(_Made):
    """k(x, z), and a constant more where x and z are one row of the matrix."""

    constant: float

    def __call__(self, X: Inputs, Z: Inputs) -> FloatArray:
        gram: FloatArray = self.given(X, Z) + self.constant * (Z[:, 0] == X)
        return gram

    def diagonal(self, X: Inputs) -> FloatArray:
        """Return k(x_i, x_i), shape (n,)."""
        values: FloatArray = self.given.diagonal(X) + self.constant
        return values


@dataclass(frozen=True, eq=False, repr=False)
class Precomputed(_Given):
    """k(x, z) = matrix[x, z] for features that are row numbers of the matrix.

    Features have one column: the row of each sample in the matrix, from 0.

    Parameters
    ----------
    matrix : ndarray of shape (m, m) or str
        Kernel values between all samples, symmetric, of any floating type; it may be a
        memory map, and is never copied. In a configuration file it is the name of one
        of the matrices of the data set, or "all" for a kernel for each of them.
    label : str, optional
        Name of the kernel.
    indefinite : {"error", "clip", "shift"}
        For a matrix that is not positive semi-definite on the training samples, by
        more than rounding in its floating type. Of such a kernel no solution can be
        certified: it is refused by "error", and changed, with a warning, by the others.
        With the training samples' matrix K = VΛV', "clip" sets negative eigenvalues
        to 0: k(x, z) becomes k(x)'K₊⁺k(z), where K₊⁺ is the pseudo-inverse of VΛ₊V'
        and k(x) are the values of x with the training samples. On these it is VΛ₊V',
        the nearest positive semi-definite matrix; a new sample's values with them are
        projected likewise, k(x)'V₊V₊'. "shift" adds −min Λ to the value of each
        example with itself and leaves all others as they are.

    Examples
    --------
    >>> import numpy as np
    >>> kernel = Precomputed(np.array([[2.0, 1.0], [1.0, 3.0]]))
    >>> kernel(np.array([[1.0]]), np.array([[0.0], [1.0]]))
    array([[1., 3.]])
    """

    def fit(self, X: Inputs) -> "_Given | _Clipped | _Shifted":
        """Return the kernel itself, or what ``indefinite`` makes of it.

        Raises
        ------
        ValueError
            If X does not hold rows of the matrix, or the matrix is not finite,
            symmetric and positive semi-definite there.
        """
        return self._definite(*self._distinct(X))


class TrainingGram(Precomputed):
    """Kernel values of a fit, (n, n), and of other samples with those of the fit.

    Features of the fit are row numbers, (n, 1); others are rows of values, (m, n).
    """

    def __repr__(self) -> str:
        return "precomputed"

    def __call__(self, X: Inputs, Z: Inputs) -> FloatArray:
        """Return the matrix k(x_i, z_j), of samples z_j of the fit."""
        if X.shape[1] == 1:
            return self._values(X, Z)
        return np.asarray(X[:, Z[:, 0].astype(np.intp)], dtype=np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class ExponentialDistance(_Given):
    """k(x, z) = exp(−matrix[x, z] / scale) for features that are row numbers.

    Features have one column: the row of each sample in the matrix, from 0.

    Parameters
    ----------
    matrix : ndarray of shape (m, m) or str
        Distances between all samples, such as χ² distances of histograms; otherwise as
        for `Precomputed`.
    label : str, optional
        Name of the kernel.
    scale : float, optional
        Positive; by default the mean distance of pairs of distinct training samples,
        which ``fit`` resolves.
    indefinite : {"error", "clip", "shift"}
        As for `Precomputed`, of the kernel's values: of arbitrary distances
        exp(−distance / scale) need not be positive semi-definite.
    """

    scale: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        optional(check_positive)("scale", self.scale)

    def fit(self, X: Inputs) -> "_Given | _Clipped | _Shifted":
        """Return the kernel with its scale resolved on the training samples X.

        Raises
        ------
        ValueError
            As `Precomputed.fit`, or if a distance is negative.
        """
        rows, values = self._distinct(X)
        if values.min(initial=0.0) < 0:
            raise ValueError(
                f"matrix must hold distances, at least 0, got {values.min():.3g}"
            )
        kernel = self
        if self.scale is None:
            n = len(values)
            mean = float(values.sum() / (n * (n - 1))) if n > 1 else 0.0
            # All samples equal: the kernel is constant whatever its scale.
            kernel = replace(self, scale=mean if mean > 0 else 1.0)
        return kernel._definite(rows, kernel(rows, rows))

    def _of(self, distances: FloatArray) -> FloatArray:
        if self.scale is None:
            raise ValueError("the scale is not resolved yet: call fit(X) first")
        distances *= -1.0 / self.scale
        return np.exp(distances, out=distances)
