"""Base kernels: small frozen specifications that compute Gram matrices."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

# 8 million pairs; beyond, a subset of the rows stands for all.
_MEDIAN_ROWS = 4000


@runtime_checkable
class Kernel(Protocol):
    """A kernel: ``fit`` resolves what depends on data, calling computes."""

    def fit(self, X: FloatArray) -> "Kernel":
        """Return the concrete kernel for the training inputs X."""
        ...

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Return the matrix k(x_i, z_j) of shape (n, m)."""
        ...

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Return k(x_i, x_i), shape (n,)."""
        ...


@dataclass(frozen=True)
class Linear:
    """k(x, z) = x'z + constant.

    Parameters
    ----------
    constant : float
        At least 0.
    """

    constant: float = 0.0

    def __post_init__(self) -> None:
        _require(self.constant >= 0, "constant", self.constant, "at least 0")

    def fit(self, X: FloatArray) -> "Linear":
        """Return the kernel itself."""
        return self

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Return the matrix k(x_i, z_j)."""
        return X @ Z.T + self.constant

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Return k(x_i, x_i)."""
        return np.einsum("ij,ij->i", X, X) + self.constant


@dataclass(frozen=True)
class Polynomial:
    """k(x, z) = (x'z + constant)^degree.

    Parameters
    ----------
    degree : int
        At least 1.
    constant : float
        At least 0; with 0 the kernel is homogeneous.
    """

    degree: int
    constant: float = 1.0

    def __post_init__(self) -> None:
        _require(
            self.degree >= 1 and self.degree == int(self.degree),
            "degree",
            self.degree,
            "a whole number of at least 1",
        )
        _require(self.constant >= 0, "constant", self.constant, "at least 0")

    def fit(self, X: FloatArray) -> "Polynomial":
        """Return the kernel itself."""
        return self

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Return the matrix k(x_i, z_j)."""
        gram: FloatArray = (X @ Z.T + self.constant) ** self.degree
        return gram

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Return k(x_i, x_i)."""
        values: FloatArray = (
            np.einsum("ij,ij->i", X, X) + self.constant
        ) ** self.degree
        return values


@dataclass(frozen=True)
class Gaussian:
    """k(x, z) = exp(−||x − z||² / (2·width²)).

    Parameters
    ----------
    width : float, optional
        The width, positive.
    median_factor : float, optional
        Instead of the width: a positive multiple of the median Euclidean distance of
        pairs of distinct training inputs, which ``fit`` resolves. With more than 4,000
        distinct inputs, 4,000 of them evenly spaced in lexicographic order stand for
        all.
    """

    width: float | None = None
    median_factor: float | None = None

    def __post_init__(self) -> None:
        if (self.width is None) == (self.median_factor is None):
            raise ValueError("Gaussian needs either width or median_factor")
        for name in ("width", "median_factor"):
            value = getattr(self, name)
            _require(
                value is None or (value > 0 and np.isfinite(value)),
                name,
                value,
                "positive and finite",
            )

    def fit(self, X: FloatArray) -> "Gaussian":
        """Return the kernel with its width resolved on the inputs X."""
        if self.median_factor is None:
            return self
        median = median_distance(X)
        # All inputs equal: the kernel is constant whatever its width.
        return Gaussian(width=self.median_factor * median if median > 0 else 1.0)

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Return the matrix k(x_i, z_j)."""
        if self.width is None:
            raise ValueError("the width is not resolved yet: call fit(X) first")
        gram = squared_distances(X, Z)
        gram *= -0.5 / self.width**2
        return np.exp(gram, out=gram)

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Return k(x_i, x_i) = 1."""
        return np.ones(X.shape[0])


KERNELS: dict[str, type] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "gaussian": Gaussian,
}


def from_spec(spec: Kernel | Mapping[str, Any] | str) -> Kernel:
    """Return a kernel from a kernel, a name or a mapping.

    Parameters
    ----------
    spec : Kernel or mapping or str
        A kernel is returned as it is. A mapping holds ``name`` and the parameters, for
        instance ``{"name": "gaussian", "median_factor": 0.5}``.

    Returns
    -------
    Kernel

    Raises
    ------
    ValueError
        If the name or a parameter is not known.
    """
    if isinstance(spec, str):
        spec = {"name": spec}
    if not isinstance(spec, Mapping):
        if isinstance(spec, Kernel):
            return spec
        raise ValueError(f"not a kernel specification: {spec!r}")
    parameters = dict(spec)
    name = parameters.pop("name", None)
    if name not in KERNELS:
        raise ValueError(
            f"unknown kernel {name!r}; known kernels: {', '.join(sorted(KERNELS))}"
        )
    known = [field.name for field in fields(KERNELS[name])]
    unknown = ", ".join(repr(key) for key in parameters if key not in known)
    if unknown:
        raise ValueError(
            f"kernel {name!r} has no {unknown}; its parameters: "
            f"{', '.join(known) or 'none'}"
        )
    for key, value in parameters.items():
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        _require(is_number or value is None, f"{name} {key}", value, "a number")
    kernel: Kernel = KERNELS[name](**parameters)
    return kernel


def squared_distances(X: FloatArray, Z: FloatArray) -> FloatArray:
    """Return ||x_i − z_j||² for all pairs, at least 0, shape (n, m)."""
    # Around a common origin fewer digits cancel.
    origin = Z.mean(axis=0)
    X, Z = X - origin, Z - origin
    distances: FloatArray = X @ Z.T
    distances *= -2.0
    distances += np.einsum("ij,ij->i", X, X)[:, None]
    distances += np.einsum("ij,ij->i", Z, Z)[None, :]
    return np.maximum(distances, 0.0, out=distances)


def median_distance(X: FloatArray) -> float:
    """Return the median Euclidean distance of distinct rows, 0 if all are equal."""
    from scipy.spatial.distance import pdist

    distinct = np.unique(X, axis=0)
    if distinct.shape[0] < 2:
        return 0.0
    if distinct.shape[0] > _MEDIAN_ROWS:
        chosen = np.linspace(0, distinct.shape[0] - 1, _MEDIAN_ROWS).round()
        distinct = distinct[chosen.astype(np.intp)]
    return float(np.median(pdist(distinct)))


def _require(condition: bool, name: str, value: object, demand: str) -> None:
    if not condition:
        raise ValueError(f"{name} must be {demand}, got {value!r}")
