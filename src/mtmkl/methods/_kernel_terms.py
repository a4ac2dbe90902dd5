"""Many kernels on the examples of many tasks, for methods that weigh them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from mtmkl.kernels.base import Gaussian, Kernel, from_spec
from mtmkl.kernels.gram import (
    INPUTS_TOO_LARGE,
    MAX_BYTES,
    GramMemoryError,
    refuse_overflow,
)
from mtmkl.kernels.normalize import CosineNormalized, trace_factor
from mtmkl.methods.base import check_kernel
from mtmkl.sparse import Inputs, same_inputs

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

#: What a list of kernels may hold: specifications, and "features" for one kernel
#: k(x, z) = x_d z_d a feature.
KernelList = str | Sequence[Kernel | Mapping[str, Any] | str]
Normalization = Literal["trace", "cosine"] | None

FEATURES = "features"


def check_kernels(kernels: KernelList) -> None:
    """Raise ValueError unless the kernels are specified correctly."""
    entries = _entries(kernels)
    if not entries:
        raise ValueError('kernels is empty: give at least one, such as "linear"')
    for entry in entries:
        if not isinstance(entry, str) or entry != FEATURES:
            check_kernel("kernels", entry)


def _entries(kernels: KernelList) -> list[Any]:
    if isinstance(kernels, str | Mapping):
        return [kernels]
    if not isinstance(kernels, Sequence):
        raise ValueError(
            "kernels must be a list of kernels, their names or mappings, "
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
    """Kernels resolved on training inputs.

    Attributes
    ----------
    scaler : StandardScaler or None
    is_feature : ndarray of bool of shape (D,)
        Which terms are single features.
    column : ndarray of shape (D,)
        The feature of such a term; −1 for other terms.
    kernels : tuple of Kernel or None of length D
        The kernel of the other terms.
    scale : ndarray of shape (D,)
        By what each kernel is multiplied.
    names : tuple of str of length D
    """

    scaler: StandardScaler | None
    is_feature: NDArray[np.bool_]
    column: IntArray
    kernels: tuple[Kernel | None, ...]
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
        """Resolve kernels on the training inputs of all tasks together.

        Parameters
        ----------
        X : ndarray or, for kernels other than "features", CSR array of shape (n, d)
        kernels : list of kernels, mappings or "features"
        normalize : {"trace", "cosine", None}
            "trace" divides each kernel by the mean of k(x, x) over the training inputs,
            so that its Gram matrix has trace n; a kernel that is 0 on all stays 0.
            "cosine" takes k(x, z) / sqrt(k(x, x) k(z, z)), 0 where an input has the
            norm zero.
        standardize : bool
            Whether the kernels see inputs of mean 0 and standard deviation 1.

        Raises
        ------
        ValueError
            If single features are to be normalised by their cosine.
        """
        scaler = StandardScaler().fit(X) if standardize else None
        if scaler is not None:
            X = scaler.transform(X)
        columns: list[int] = []
        resolved: list[Kernel | None] = []
        names: list[str] = []
        diagonals: list[FloatArray] = []
        resolve = _Resolver(X)
        for entry in _entries(kernels):
            if entry == FEATURES:
                if normalize == "cosine":
                    raise ValueError(
                        'normalize="cosine" leaves nothing of a single feature but its '
                        'sign: take the kernel "linear" instead of "features", or '
                        'normalize="trace"'
                    )
                for column in range(X.shape[1]):
                    columns.append(column)
                    resolved.append(None)
                    names.append(f"feature {column}")
                    diagonals.append(X[:, column] ** 2)
            else:
                kernel = resolve(from_spec(entry))
                columns.append(-1)
                names.append(str(kernel))
                if normalize == "cosine" and not isinstance(kernel, Gaussian):
                    # A Gaussian kernel has k(x, x) = 1.
                    kernel = CosineNormalized(kernel)
                resolved.append(kernel)
                diagonals.append(kernel.diagonal(X))
        for name, diagonal in zip(names, diagonals, strict=True):
            refuse_overflow(diagonal, f"the Gram matrix of {name}", INPUTS_TOO_LARGE)
        scale = np.ones(len(columns))
        if normalize == "trace":
            scale = np.array([trace_factor(diagonal) for diagonal in diagonals])
        column_array = np.array(columns, dtype=np.intp)
        return cls(
            scaler=scaler,
            is_feature=column_array >= 0,
            column=column_array,
            kernels=tuple(resolved),
            scale=scale,
            names=tuple(names),
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
        """Return what the kernels see of the inputs."""
        return X if self.scaler is None else self.scaler.transform(X)

    def features(self, X: Inputs) -> FloatArray:
        """Return the single features, scaled, of (standardised) inputs, (n, F)."""
        chosen = self.is_feature
        if not chosen.any():
            return np.empty((X.shape[0], 0))
        return X[:, self.column[chosen]] * np.sqrt(self.scale[chosen])

    def grams(self, X: Inputs, Z: Inputs) -> FloatArray:
        """Return the other kernels between (standardised) inputs, (n, G, m)."""
        numbers = np.flatnonzero(~self.is_feature)
        out = np.empty((X.shape[0], numbers.size, Z.shape[0]))
        for g, number in enumerate(numbers):
            kernel = self.kernels[number]
            assert kernel is not None
            values = kernel(X, Z)
            refuse_overflow(
                values,
                f"the Gram matrix of {self.names[number]}",
                INPUTS_TOO_LARGE,
            )
            np.multiply(values, self.scale[number], out=out[:, g])
        return out

    def squared_distances(
        self, X: FloatArray, Z: FloatArray, s: FloatArray
    ) -> FloatArray:
        """Return Σ_d s_d (k_d(x, x) − 2 k_d(x, z) + k_d(z, z)) of raw inputs."""
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
        # What cancels to rounding is no distance.
        out[out <= 8.0 * np.finfo(float).eps * sizes] = 0.0
        return out


class _Resolver:
    """Resolves kernels on training inputs, with one median distance for all."""

    def __init__(self, X: Inputs) -> None:
        self._X = X
        self._unit: Gaussian | None = None

    def __call__(self, kernel: Kernel) -> Kernel:
        if not isinstance(kernel, Gaussian) or kernel.median_factor is None:
            return kernel.fit(self._X)
        if self._unit is None:
            self._unit = Gaussian(median_factor=1.0).fit(self._X)
        assert self._unit.width is not None
        return Gaussian(width=kernel.median_factor * self._unit.width)


class TrainingSet:
    """The training inputs of all tasks under some kernels, and outputs on others.

    Parameters
    ----------
    terms : KernelTerms
    X : ndarray or CSR array of shape (n, d)
        Raw inputs.
    task : ndarray of shape (n,)
        Task numbers 0 … T − 1.
    n_tasks : int
    keep_last : bool
        Whether to keep the kernel values between the last other inputs and the training
        inputs: for the many models of a path, evaluated on the same inputs.

    Attributes
    ----------
    order : ndarray of shape (n,)
        Rows sorted by task; solvers see them in this order.
    offsets : ndarray of shape (T + 1,)
        Where the tasks begin in that order.
    """

    def __init__(
        self,
        terms: KernelTerms,
        X: Inputs,
        task: IntArray,
        n_tasks: int,
        *,
        keep_last: bool = False,
    ) -> None:
        self.terms = terms
        self.order = np.argsort(task, kind="stable")
        self.sizes = np.bincount(task, minlength=n_tasks)
        self.offsets = np.concatenate([[0], np.cumsum(self.sizes)])
        self.X = terms.inputs(X)[self.order]
        self._keep_last = keep_last
        self._last: tuple[Inputs, IntArray, _Others] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last": None}

    def rows(self, t: int) -> slice:
        """Return where task t stands."""
        return slice(self.offsets[t], self.offsets[t + 1])

    def features(self) -> FloatArray:
        """Return the terms that are features, (n, F)."""
        return np.ascontiguousarray(self.terms.features(self.X))

    def grams(self) -> FloatArray:
        """Return the other terms as solvers take them, (sum of n_t², G).

        Raises
        ------
        GramMemoryError
            Before anything is computed, if they would need more than ``MAX_BYTES``.
        """
        n_grams = int(np.sum(~self.terms.is_feature))
        n_entries = int(np.sum(self.sizes.astype(np.int64) ** 2))
        if n_grams == 0:
            return np.empty((n_entries, 0))
        if 8 * n_entries * n_grams > MAX_BYTES:
            raise GramMemoryError(
                f"{n_grams} Gram matrices of {self.sizes.size} blocks of up to "
                f"{self.sizes.max()} examples need "
                f"{8e-9 * n_entries * n_grams:.1f} GB, the bound is "
                f"{1e-9 * MAX_BYTES:.1f} GB. Take fewer examples or fewer kernels; "
                '"features" needs no matrix'
            )
        blocks = []
        for t in range(self.sizes.size):
            X = self.X[self.rows(t)]
            gram = self.terms.grams(X, X)
            blocks.append(gram.transpose(0, 2, 1).reshape(-1, n_grams))
        return np.concatenate(blocks)

    def outputs(
        self, X: Inputs, task: IntArray, beta: FloatArray, s: FloatArray
    ) -> FloatArray:
        """Return Σ_d s_d Σ_i β_i k_d(x_i, x) over the examples i of the task of x.

        Parameters
        ----------
        X : ndarray or CSR array of shape (m, d)
            Raw inputs.
        task : ndarray of shape (m,)
        beta : ndarray of shape (n,)
            In the order of the training set.
        s : ndarray of shape (T, D)
            Weights of the terms in each task.
        """
        out = np.empty(task.size)
        others = self._others(X, task)
        chosen = self.terms.is_feature
        weights = self.features()
        for t, group in enumerate(others.groups):
            if group.size == 0:
                continue
            rows = self.rows(t)
            w = (weights[rows].T @ beta[rows]) * s[t, chosen]
            values = others.features[group] @ w
            if others.cross is not None:
                n, n_grams, m = others.cross[t].shape
                by_term = others.cross[t].reshape(-1, m) @ beta[rows]
                by_term = by_term.reshape(n, n_grams)
                values = values + by_term @ s[t, ~chosen]
            out[group] = values
        return out

    def _others(self, X: Inputs, task: IntArray) -> "_Others":
        if self._last is not None:
            last_X, last_task, others = self._last
            if np.array_equal(last_task, task) and same_inputs(last_X, X):
                return others
        groups = [np.flatnonzero(task == t) for t in range(self.sizes.size)]
        Z = self.terms.inputs(X)
        cross = None
        if not self.terms.is_feature.all():
            cross = [
                self.terms.grams(Z[group], self.X[self.rows(t)])
                for t, group in enumerate(groups)
            ]
        others = _Others(groups, self.terms.features(Z), cross)
        if self._keep_last:
            self._last = X.copy(), task.copy(), others
        return others


@dataclass(frozen=True)
class _Others:
    """What other inputs are to a training set.

    Their rows by task, their single features, and the other kernels between them and
    the training inputs of their task (rows, terms, training rows), if there are any.
    """

    groups: list[IntArray]
    features: FloatArray
    cross: list[FloatArray] | None
