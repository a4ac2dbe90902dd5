"""Lists of kernels, resolved on training samples."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from mtmkl.kernels.base import (
    INPUTS_TOO_LARGE,
    CosineNormalized,
    Gaussian,
    Kernel,
    from_spec,
    is_known_definite,
    median_distance,
    refuse_overflow,
    spread_features,
    takes_stacks,
)
from mtmkl.sparse import Inputs, is_sparse
from mtmkl.typing import FloatArray, IntArray, Spec

#: Kernels or specifications; one with ``feature: each`` stands for a kernel of each
#: feature, and "features" for one kernel k(x, z) = x_d z_d per feature.
KernelSpec = Kernel | Spec | Callable[[Any, Any], Any]
KernelList = KernelSpec | Sequence[KernelSpec]
Normalization = Literal["trace", "cosine"] | None

FEATURES = "features"


def check_kernels(kernels: KernelList) -> None:
    """Raise ValueError unless the kernels are specified correctly."""
    entries = _entries(kernels)
    if not entries:
        raise ValueError('kernels is empty: give at least one, such as "linear"')
    for entry in entries:
        if not isinstance(entry, str) or entry != FEATURES:
            check_kernel("kernels", spread_features([entry], 1)[0])


def check_kernel(name: str, spec: Any) -> None:
    """Raise ValueError, with the name of the parameter, unless it is a kernel."""
    try:
        from_spec(spec)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _entries(kernels: KernelList) -> list[Any]:
    if isinstance(kernels, str | Mapping) or callable(kernels):
        return [kernels]
    if not isinstance(kernels, Sequence):
        raise ValueError(
            "kernels must be a list of kernels, their names, mappings or functions, "
            f"got {kernels!r}"
        )
    return list(kernels)


def has_features(kernels: Any) -> bool:
    """Tell whether a list of kernels, not checked yet, holds "features"."""
    is_list = isinstance(kernels, Sequence) and not isinstance(kernels, str)
    entries = kernels if is_list else [kernels]
    return any(isinstance(entry, str) and entry == FEATURES for entry in entries)


@dataclass(frozen=True)
class KernelTerms:
    """D kernels resolved on training samples."""

    scaler: StandardScaler | None
    #: The columns of the terms that are single features, (D,), else −1.
    column: IntArray
    #: The kernels of the other terms, else None.
    kernels: tuple[Kernel | None, ...]
    #: Factor of each kernel, (D,).
    scale: FloatArray
    names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        X: Inputs,
        kernels: KernelList,
        *,
        normalize: Normalization = None,
        standardize: bool = False,
    ) -> "KernelTerms":
        """Resolve kernels on the training samples of all tasks together.

        "trace" divides each kernel by the mean of k(x, x) over these, so that its Gram
        matrix has trace n; a kernel that is 0 on all stays 0. "cosine" is that of
        :class:`~mtmkl.kernels.base.CosineNormalized`; single features have none.
        """
        scaler = StandardScaler().fit(X) if standardize else None
        if scaler is not None:
            X = scaler.transform(X)
        found: list[tuple[int, Kernel | None, str, FloatArray]] = []
        unit_width = cache(lambda: median_distance(X) or 1.0)
        for entry in spread_features(_entries(kernels), X.shape[1]):
            if entry == FEATURES:
                if normalize == "cosine":
                    raise ValueError(
                        'normalize="cosine" leaves nothing of a single feature but its '
                        'sign: take the kernel "linear" instead of "features", or '
                        'normalize="trace"'
                    )
                for j in range(X.shape[1]):
                    found.append((j, None, f"feature {j}", X[:, j] ** 2))
            else:
                kernel = from_spec(entry)
                if isinstance(kernel, Gaussian) and kernel.median_factor is not None:
                    # One median distance serves all.
                    kernel = Gaussian(width=kernel.median_factor * unit_width())
                kernel = kernel.fit(X)
                name = str(kernel)
                if normalize == "cosine" and not isinstance(kernel, Gaussian):
                    # A Gaussian kernel has k(x, x) = 1.
                    kernel = CosineNormalized(kernel)
                found.append((-1, kernel, name, kernel.diagonal(X)))
        columns, kept, names, diagonals = zip(*found, strict=True)
        for name, diagonal in zip(names, diagonals, strict=True):
            refuse_overflow(diagonal, f"the Gram matrix of {name}", INPUTS_TOO_LARGE)
        scale = np.ones(len(columns))
        if normalize == "trace":
            means = np.array([np.mean(diagonal) for diagonal in diagonals])
            scale = 1.0 / np.where(means > 0.0, means, 1.0)
        return cls(scaler, np.array(columns, dtype=np.intp), kept, scale, names)

    @property
    def is_feature(self) -> NDArray[np.bool_]:
        """The terms that are single features, shape (D,)."""
        return self.column >= 0

    def take(self, numbers: IntArray) -> "KernelTerms":
        """Return some of the terms, each as often as its number."""
        return KernelTerms(
            self.scaler,
            self.column[numbers],
            tuple(self.kernels[d] for d in numbers),
            self.scale[numbers],
            tuple(self.names[d] for d in numbers),
        )

    @property
    def n_terms(self) -> int:
        """Number of kernels D."""
        return self.column.size

    @property
    def order(self) -> IntArray:
        """The terms with the features first, as solvers have them, shape (D,)."""
        return np.concatenate(
            [np.flatnonzero(self.is_feature), np.flatnonzero(~self.is_feature)]
        )

    def inputs(self, X: Inputs) -> Inputs:
        """Return features as the kernels see them: standardised, or as they are."""
        return X if self.scaler is None else self.scaler.transform(X)

    def features(self, X: Inputs) -> FloatArray:
        """Return the single features, scaled, of (standardised) features, (n, F)."""
        chosen = self.is_feature
        if not chosen.any():
            return np.empty((X.shape[0], 0))
        return X[:, self.column[chosen]] * np.sqrt(self.scale[chosen])

    def grams(self, X: Inputs, Z: Inputs) -> FloatArray:
        """Return the other kernels between (standardised) features, (n, G, m)."""
        out = np.empty((X.shape[0], int(np.sum(~self.is_feature)), Z.shape[0]))
        self.write_grams(X, Z, out.transpose(1, 0, 2))
        self.refuse_overflow(out.transpose(1, 0, 2))
        return out

    def take_stacks(self, X: Inputs) -> bool:
        """Tell whether `write_grams` takes stacks of features such as X, (B, n, d)."""
        others = (each for each in self.kernels if each is not None)
        return not is_sparse(X) and all(takes_stacks(each) for each in others)

    def write_grams(self, X: Inputs, Z: Inputs, out: NDArray[Any]) -> None:
        """Write the other kernels between (standardised) features to out, (G, …, n, m).

        Of stacks of features, where it takes them, in pairs.
        """
        for g, number in enumerate(np.flatnonzero(~self.is_feature)):
            kernel = self.kernels[number]
            assert kernel is not None
            np.multiply(kernel(X, Z), self.scale[number], out=out[g])

    def refuse_overflow(self, grams: NDArray[Any]) -> None:
        """Raise ValueError if a value of the other kernels, (G, …), is too large."""
        for values, number in zip(grams, np.flatnonzero(~self.is_feature), strict=True):
            refuse_overflow(
                values,
                f"the Gram matrix of the kernel {self.names[number]}",
                INPUTS_TOO_LARGE,
            )

    def unproven(self) -> list[tuple[int, str]]:
        """Return numbers, among the other kernels, and names of those to be checked."""
        pairs = zip(self.kernels, self.names, strict=True)
        others = [(kernel, name) for kernel, name in pairs if kernel is not None]
        return [(g, n) for g, (k, n) in enumerate(others) if not is_known_definite(k)]

    def squared_distances(
        self, X: FloatArray, Z: FloatArray, s: FloatArray
    ) -> FloatArray:
        """Return Σ_d s_d (k_d(x, x) − 2 k_d(x, z) + k_d(z, z)) of raw features."""
        X, Z = self.inputs(X), self.inputs(Z)
        chosen = self.is_feature
        left, right = (self.features(A) * np.sqrt(s[chosen]) for A in (X, Z))
        sizes: FloatArray = np.sum(left**2, axis=1)[:, None] + np.sum(right**2, axis=1)
        out = sizes - 2.0 * left @ right.T
        for number in np.flatnonzero(~chosen):
            kernel = self.kernels[number]
            assert kernel is not None
            weight = s[number] * self.scale[number]
            own = kernel.diagonal(X)[:, None] + kernel.diagonal(Z)
            sizes += weight * own
            out += weight * (own - 2.0 * kernel(X, Z))
        # A difference that is rounding alone is no distance.
        out[out <= 8.0 * np.finfo(float).eps * sizes] = 0.0
        return out
