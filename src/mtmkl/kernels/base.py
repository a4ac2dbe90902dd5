"""Base kernels: small frozen specifications that compute Gram matrices.

They take dense features and canonical CSR arrays; Gram matrices are dense.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.utils.extmath import row_norms

from mtmkl.checks import (
    check_not_negative,
    check_positive,
    is_count,
    is_number,
    one_of,
    require,
)
from mtmkl.kernels.precomputed import (
    ExponentialDistance,
    Precomputed,
    TrainingGram,
    _Clipped,
    _Shifted,
)
from mtmkl.sparse import Inputs, canonical_csr, is_sparse, row_digests
from mtmkl.specs import read_spec
from mtmkl.typing import FloatArray, Spec

# 8 million pairs; beyond, a subset of the rows stands for all.
_MEDIAN_ROWS = 4000

# The squares of larger values overflow, or nearly; those of its inverse vanish.
_LARGEST = 1e150

INPUTS_TOO_LARGE = (
    "bring the features to a smaller scale, for instance by standardize=True"
)

# Rounding of a squared distance, as a share of one that counts, that is let pass.
_CANCELLED = 1e-6

# Entries of a product of sparse matrices at a time, each of 12 bytes: 50 MB.
_PRODUCT_ENTRIES = 1 << 22


@runtime_checkable
class Kernel(Protocol):
    """A kernel: ``fit`` resolves parameters on data, a call computes the matrix."""

    def fit(self, X: Inputs) -> "Kernel":
        """Return the concrete kernel for the training samples X."""
        return self

    def __call__(self, X: Inputs, Z: Inputs) -> FloatArray:
        """Return the matrix k(x_i, z_j) of shape (n, m), with parameters resolved."""
        raise ValueError("call fit on training samples first")

    def diagonal(self, X: Inputs) -> FloatArray:
        """Return k(x_i, x_i), shape (n,), with parameters resolved."""
        raise ValueError("call fit on training samples first")


class _OfProducts(Kernel):
    """A function of x'z."""

    def __call__(self, X: Inputs, Z: Inputs) -> FloatArray:
        return self._of(_products(X, Z))

    def diagonal(self, X: Inputs) -> FloatArray:
        return self._of(_squared_norms(X))

    def _of(self, products: FloatArray) -> FloatArray:
        raise NotImplementedError


@dataclass(frozen=True)
class Linear(_OfProducts):
    """k(x, z) = x'z + constant.

    Parameters
    ----------
    constant : float
        At least 0.
    """

    constant: float = 0.0

    def __post_init__(self) -> None:
        check_not_negative("constant", self.constant)

    def _of(self, products: FloatArray) -> FloatArray:
        return products + self.constant


@dataclass(frozen=True)
class Polynomial(_OfProducts):
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
        degree, demand = self.degree, "a whole number of at least 1"
        is_whole = is_number(degree) and degree >= 1 and degree % 1 == 0
        require(is_whole, "degree", degree, demand)
        check_not_negative("constant", self.constant)

    def _of(self, products: FloatArray) -> FloatArray:
        values: FloatArray = (products + self.constant) ** self.degree
        return values


@dataclass(frozen=True)
class Gaussian(Kernel):
    """k(x, z) = exp(−||x − z||² / (2·width²)).

    Parameters
    ----------
    width : float, optional
        The width, from 1e-150 to 1e150.
    median_factor : float, optional
        Instead of the width: a positive multiple of the median Euclidean distance of
        pairs of distinct training samples, which ``fit`` resolves. With more than 4,000
        distinct samples, 4,000 of them stand for all: evenly spaced in lexicographic
        order, or of sparse features in the order of hashes of their rows.
    """

    width: float | None = None
    median_factor: float | None = None

    def __post_init__(self) -> None:
        if (self.width is None) == (self.median_factor is None):
            raise ValueError(
                "Gaussian needs either width or median_factor, for instance "
                '{"name": "gaussian", "width": 1.0}; got '
                f"width={self.width!r}, median_factor={self.median_factor!r}"
            )
        for name in ("width", "median_factor"):
            if (value := getattr(self, name)) is not None:
                check_positive(name, value)
        if self.width is not None:
            has_square = 1.0 / _LARGEST <= self.width <= _LARGEST
            require(has_square, "width", self.width, "from 1e-150 to 1e150")

    def fit(self, X: Inputs) -> "Gaussian":
        """Return the kernel with its width resolved on the features X."""
        if self.median_factor is None:
            return self
        median = median_distance(X)
        # All features equal: the kernel is constant whatever its width.
        return Gaussian(width=self.median_factor * median if median > 0 else 1.0)

    def __call__(self, X: Inputs, Z: Inputs) -> FloatArray:
        """Return the matrix k(x_i, z_j)."""
        if self.width is None:
            raise ValueError("the width is not resolved yet: call fit(X) first")
        gram = squared_distances(X, Z, self.width**2)
        gram *= -0.5 / self.width**2
        return np.exp(gram, out=gram)

    def diagonal(self, X: Inputs) -> FloatArray:
        """Return k(x_i, x_i) = 1."""
        return np.ones(X.shape[:-1])


Gamma = float | Literal["scale", "auto"]


@dataclass(frozen=True)
class RBF(Kernel):
    """k(x, z) = exp(−γ ||x − z||²), as ``SVC(kernel="rbf")`` has it.

    Parameters
    ----------
    gamma : float, "scale" or "auto"
        γ > 0; "scale" is 1 / (d·v) of d features and the variance v of all entries of
        the training samples, of all tasks together; "auto" is 1/d.
    """

    gamma: Gamma = "scale"

    def __post_init__(self) -> None:
        _check_gamma(self.gamma)

    def fit(self, X: Inputs) -> Gaussian:
        """Return the Gaussian kernel of width 1/√(2γ)."""
        return Gaussian(width=(2.0 * _gamma(self.gamma, X)) ** -0.5)


@dataclass(frozen=True)
class Poly(_OfProducts):
    """k(x, z) = (γ x'z + coef0)^degree, as ``SVC(kernel="poly")`` has it.

    Parameters
    ----------
    degree : int
        At least 1.
    gamma : float, "scale" or "auto"
        As for `RBF`.
    coef0 : float
        At least 0, where the kernel is positive semi-definite.
    """

    degree: int = 3
    gamma: Gamma = "scale"
    coef0: float = 0.0

    def __post_init__(self) -> None:
        Polynomial(self.degree)
        _check_gamma(self.gamma)
        check_not_negative("coef0", self.coef0)

    def fit(self, X: Inputs) -> "Poly":
        """Return the kernel with its γ resolved on the features X."""
        return replace(self, gamma=_gamma(self.gamma, X))

    def _of(self, products: FloatArray) -> FloatArray:
        if isinstance(self.gamma, str):
            raise ValueError("gamma is not resolved yet: call fit(X) first")
        values: FloatArray = (self.gamma * products + self.coef0) ** self.degree
        return values


@dataclass(frozen=True)
class Function(Kernel):
    """A kernel of one's own, as a function of two arrays of samples.

    Parameters
    ----------
    function : callable
        Takes X (n, d) and Z (m, d) and returns the matrix k(x_i, z_j), (n, m), such as
        those of :mod:`sklearn.metrics.pairwise`. That it is positive semi-definite is
        checked on the training samples.
    """

    function: Callable[[Any, Any], Any]

    def __str__(self) -> str:
        return str(getattr(self.function, "__name__", repr(self.function)))

    def __call__(self, X: Inputs, Z: Inputs) -> FloatArray:
        """Return the matrix k(x_i, z_j)."""
        gram = np.asarray(self.function(X, Z), dtype=np.float64)
        shape = X.shape[0], Z.shape[0]
        if gram.shape != shape:
            raise ValueError(
                f"the kernel {self} must return an array of shape {shape}, got "
                f"{gram.shape}"
            )
        return gram

    def diagonal(self, X: Inputs) -> FloatArray:
        """Return k(x_i, x_i), of a few samples at a time."""
        blocks = [X[first : first + 64] for first in range(0, X.shape[0], 64)]
        return np.concatenate([np.diagonal(self(block, block)) for block in blocks])


@dataclass(frozen=True)
class OnFeature(Kernel):
    """k(x_f, z_f): a kernel of one feature f alone.

    Parameters
    ----------
    kernel : Kernel
    feature : int
        Column of the features, from 0.
    """

    kernel: Kernel
    feature: int

    def __str__(self) -> str:
        return f"{self.kernel} of feature {self.feature}"

    def fit(self, X: Inputs) -> "OnFeature":
        """Return the kernel resolved on its feature of the features X."""
        if self.feature >= X.shape[1]:
            raise ValueError(
                f"kernels: feature must be below {X.shape[1]}, the number of features, "
                f"got {self.feature}"
            )
        return OnFeature(self.kernel.fit(self._of(X)), self.feature)

    def __call__(self, X: Inputs, Z: Inputs) -> FloatArray:
        """Return the matrix k(x_i, z_j)."""
        left = self._of(X)
        return self.kernel(left, left if X is Z else self._of(Z))

    def diagonal(self, X: Inputs) -> FloatArray:
        """Return k(x_i, x_i)."""
        return self.kernel.diagonal(self._of(X))

    def _of(self, X: Inputs) -> Inputs:
        return X[..., self.feature : self.feature + 1]


@dataclass(frozen=True)
class Average(Kernel):
    """The mean of several kernels.

    Parameters
    ----------
    kernels : sequence of Kernel, mapping or str
        At least one; a mapping with ``feature: each`` stands for a kernel of each
        feature.
    normalize : {"trace", None}
        "trace" first divides each kernel by the mean of its k(x, x) over the training
        samples.
    """

    kernels: Sequence[Kernel | Spec]
    normalize: str | None = None

    def __post_init__(self) -> None:
        is_list = isinstance(self.kernels, Sequence) and not isinstance(
            self.kernels, str
        )
        demand = "a list of at least one kernel"
        require(is_list and len(self.kernels) > 0, "kernels", self.kernels, demand)
        one_of("trace", None)("normalize", self.normalize)
        for each in spread_features(self.kernels, 1):
            from_spec(each)
        object.__setattr__(self, "kernels", tuple(self.kernels))

    def fit(self, X: Inputs) -> "WeightedSum":
        """Return the weighted sum for the training samples X."""
        entries = spread_features(self.kernels, X.shape[1])
        fitted = tuple(from_spec(each).fit(X) for each in entries)
        means = [float(np.mean(each.diagonal(X))) for each in fitted]
        sizes = [m if self.normalize == "trace" and m > 0.0 else 1.0 for m in means]
        weights = tuple(1.0 / (len(fitted) * size) for size in sizes)
        return WeightedSum(fitted, weights)


@dataclass(frozen=True)
class WeightedSum(Kernel):
    """Σ_j w_j k_j(x, z) of kernels that are resolved.

    Parameters
    ----------
    kernels : tuple of Kernel
    weights : tuple of float
        At least 0.
    """

    kernels: tuple[Kernel, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        least = min(self.weights, default=0.0)
        require(least >= 0, "weights", self.weights, "at least 0")

    def __str__(self) -> str:
        return f"the mean of {len(self.kernels)} kernels"

    def fit(self, X: Inputs) -> "WeightedSum":
        """Return the sum of the kernels fitted to the features X."""
        fitted = tuple(kernel.fit(X) for kernel in self.kernels)
        return WeightedSum(fitted, self.weights)

    def __call__(self, X: Inputs, Z: Inputs) -> FloatArray:
        """Return the matrix k(x_i, z_j)."""
        out = np.zeros((*X.shape[:-1], Z.shape[-2]))
        for kernel, weight in zip(self.kernels, self.weights, strict=True):
            out += weight * kernel(X, Z)
        return out

    def diagonal(self, X: Inputs) -> FloatArray:
        """Return k(x_i, x_i)."""
        out = np.zeros(X.shape[:-1])
        for kernel, weight in zip(self.kernels, self.weights, strict=True):
            out += weight * kernel.diagonal(X)
        return out


@dataclass(frozen=True)
class CosineNormalized(Kernel):
    """k(x, z) / sqrt(k(x, x) k(z, z)), zero where a sample has the norm zero.

    Parameters
    ----------
    kernel : Kernel
    """

    kernel: Kernel

    def fit(self, X: Inputs) -> "CosineNormalized":
        """Return the normalised version of the fitted kernel."""
        return CosineNormalized(self.kernel.fit(X))

    def __call__(self, X: Inputs, Z: Inputs) -> FloatArray:
        """Return the matrix k(x_i, z_j)."""
        left = self.kernel.diagonal(X)
        right = left if X is Z else self.kernel.diagonal(Z)
        gram = self.kernel(X, Z) * _inverse_root(left)[..., :, None]
        return gram * _inverse_root(right)[..., None, :]

    def diagonal(self, X: Inputs) -> FloatArray:
        """Return k(x_i, x_i): 1, or 0 for a sample of norm zero."""
        return (self.kernel.diagonal(X) > 0.0).astype(np.float64)


KERNELS: dict[str, type] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "gaussian": Gaussian,
    "rbf": RBF,
    "poly": Poly,
    "precomputed": Precomputed,
    "exponential_distance": ExponentialDistance,
    "average": Average,
}


def takes_stacks(kernel: Kernel) -> bool:
    """Tell whether a kernel takes stacks of dense features, (B, n, d) and (B, m, d).

    Its value is then the stack of matrices (B, n, m), each of a pair of features.
    """
    return _is_made_of(kernel, (Linear, Polynomial, Poly, Gaussian))


def is_known_definite(kernel: Kernel) -> bool:
    """Tell whether a fitted kernel needs no check of its Gram matrices.

    It is positive semi-definite by its form, or those of a given matrix by their fit;
    of any other kernel, as users write them, nothing is known.
    """
    return _is_made_of(kernel, _DEFINITE)


_DEFINITE = (
    Linear, Polynomial, Poly, Gaussian, Precomputed, TrainingGram, ExponentialDistance,
    _Clipped, _Shifted,
)  # fmt: skip


def _is_made_of(kernel: Kernel, types: tuple[type, ...]) -> bool:
    if isinstance(kernel, OnFeature | CosineNormalized):
        return _is_made_of(kernel.kernel, types)
    if isinstance(kernel, WeightedSum):
        return all(_is_made_of(each, types) for each in kernel.kernels)
    return type(kernel) in types


def from_spec(spec: Kernel | Spec) -> Kernel:
    """Return a kernel from a kernel, a function, a name or a mapping.

    Parameters
    ----------
    spec : Kernel, callable, mapping or str
        A kernel is returned as it is; a callable is that of `Function`. A mapping
        holds ``name`` and the parameters, for instance
        ``{"name": "gaussian", "median_factor": 0.5}``, and may hold ``feature``,
        the column that the kernel is of.

    Raises
    ------
    ValueError
        If the name or a parameter is not known.
    """
    if isinstance(spec, Kernel):
        return spec
    if callable(spec):
        return Function(spec)
    if hasattr(spec, "__array__"):
        raise ValueError(
            "a matrix is no kernel: take Precomputed(matrix), with row numbers as X, "
            'or in methods that take it kernels="precomputed", with the matrix as X'
        )
    if spec == "sigmoid" or (
        isinstance(spec, Mapping) and spec.get("name") == "sigmoid"
    ):
        raise ValueError(
            "the kernel 'sigmoid' is not positive semi-definite in general, and no "
            "solution of its problem could be certified: take 'rbf' or 'poly'"
        )
    name, parameters = read_spec("kernel", spec, KERNELS, more=["feature"])
    feature = parameters.pop("feature", None)
    kernel: Kernel = KERNELS[name](**parameters)
    if feature is None:
        return kernel
    demand = 'a column from 0, or "each" in a list of kernels'
    require(is_count(feature, 0), f"{name} feature", feature, demand)
    return OnFeature(kernel, feature)


def spread_features(entries: Sequence[Any], n_features: int) -> list[Any]:
    """Return entries of a list of kernels, ``feature: each`` as one per feature."""
    out: list[Any] = []
    for entry in entries:
        if isinstance(entry, Mapping) and entry.get("feature") == "each":
            out += [{**entry, "feature": column} for column in range(n_features)]
        else:
            out.append(entry)
    return out


def refuse_overflow(values: Inputs, what: str, remedy: str) -> None:
    """Raise ValueError if a value is not finite, or so large that its square is not.

    The message names what has these values, and the remedy.
    """
    entries = values.data if is_sparse(values) else values
    largest = float(np.maximum(entries.max(initial=0.0), -entries.min(initial=0.0)))
    if not np.isfinite(largest):
        raise ValueError(f"{what} has values that are not finite: {remedy}")
    if largest > _LARGEST:
        raise ValueError(
            f"{what} has values up to {largest:.0e}, whose squares overflow: {remedy}"
        )


def squared_distances(X: Inputs, Z: Inputs, unit: float = np.inf) -> FloatArray:
    """Return ||x_i − z_j||² for all pairs, at least 0, shape (n, m).

    The rounding error of dense features is relative to their squared distance from the
    mean of Z, that of sparse ones to their squared norm. Where this is not small beside
    ``unit``, dense features are subtracted pair by pair, and of sparse ones a warning
    names the column.
    """
    is_dense, raw = not (is_sparse(X) or is_sparse(Z)), (X, Z)
    if is_dense:
        # Around a common origin fewer digits cancel.
        origin = Z.mean(axis=-2, keepdims=True)
        is_own = X is Z
        X = X - origin
        Z = X if is_own else Z - origin
    norms = _squared_norms(Z)
    own = norms if X is Z else _squared_norms(X)
    largest = max(norms.max(initial=0.0), own.max(initial=0.0))
    if np.finfo(float).eps * largest > _CANCELLED * unit:
        if is_dense and X.ndim == 2:
            return cdist(*raw, "sqeuclidean")
        if is_dense:
            pairs = zip(*raw, strict=True)
            return np.array([cdist(*pair, "sqeuclidean") for pair in pairs])
        far = canonical_csr(X if own.max() >= norms.max() else Z)
        warnings.warn(
            f"sparse features have norms up to {largest**0.5:.0e}, beside which "
            f"distances of {unit**0.5:.0e}, the width of a Gaussian kernel, are lost "
            "to rounding: its values are wrong. Bring the column of the largest value, "
            f"{far.indices[np.abs(far.data).argmax()]}, to a smaller scale, leave it "
            "out, or give dense features",
            UserWarning,
            stacklevel=2,
        )
    distances = _products(X, Z)
    distances *= -2.0
    distances += own[..., :, None]
    distances += norms[..., None, :]
    return np.maximum(distances, 0.0, out=distances)


def median_distance(X: Inputs) -> float:
    """Return the median Euclidean distance of distinct rows, 0 if all are equal."""
    if is_sparse(X):
        row_of = {digest: row for row, digest in enumerate(row_digests(X))}
        distinct = X[_stand_ins(np.array([row_of[key] for key in sorted(row_of)]))]
        squares = squareform(squared_distances(distinct, distinct), checks=False)
        return float(np.median(np.sqrt(squares))) if squares.size else 0.0
    distinct = _stand_ins(np.unique(X, axis=0))
    return float(np.median(pdist(distinct))) if len(distinct) > 1 else 0.0


def _stand_ins(ordered: NDArray[Any]) -> NDArray[Any]:
    """Return all rows, or evenly spaced ones if there are too many for all pairs."""
    if ordered.shape[0] <= _MEDIAN_ROWS:
        return ordered
    chosen = np.linspace(0, ordered.shape[0] - 1, _MEDIAN_ROWS).round()
    return ordered[chosen.astype(np.intp)]


def _products(X: Inputs, Z: Inputs) -> FloatArray:
    """Return x_i'z_j for all pairs, shape (n, m)."""
    if not (is_sparse(X) and is_sparse(Z)):
        return X @ (Z.T if Z.ndim == 2 else Z.swapaxes(-1, -2))
    out = np.empty((X.shape[0], Z.shape[0]))
    right = Z.T.tocsr()
    n_rows = max(1, _PRODUCT_ENTRIES // Z.shape[0])
    for first in range(0, X.shape[0], n_rows):
        block = slice(first, first + n_rows)
        (X[block] @ right).toarray(out=out[block])
    return out


def _squared_norms(X: Inputs) -> FloatArray:
    if is_sparse(X):
        # Repeated entries would be squared one by one.
        return row_norms(canonical_csr(X), squared=True)
    return np.einsum("...j,...j->...", X, X)


def _check_gamma(value: Any) -> None:
    if not (isinstance(value, str) and value in ("scale", "auto")):
        check_positive("gamma", value)


def _gamma(value: Gamma, X: Inputs) -> float:
    """Return γ; "scale" and "auto" as for :class:`sklearn.svm.SVC`."""
    if not isinstance(value, str):
        return float(value)
    variance: Any = 1.0
    if value == "scale":
        squares = X.power(2) if is_sparse(X) else np.square(X - X.mean())
        variance = squares.mean() - (X.mean() ** 2 if is_sparse(X) else 0.0)
    return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0


def _inverse_root(norms: FloatArray) -> FloatArray:
    positive = norms > 0.0
    return np.where(positive, 1.0 / np.sqrt(np.where(positive, norms, 1.0)), 0.0)
