"""Estimators that are linear in some coordinates of the features."""

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from mtmkl.checks import check_positive, checks, optional
from mtmkl.kernels.base import Kernel, from_spec
from mtmkl.kernels.basis import KernelBasis, kernel_basis
from mtmkl.kernels.terms import check_kernel
from mtmkl.methods._base.bases import (
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from mtmkl.methods._base.checks import check_inputs
from mtmkl.methods._base.estimator import Mixin
from mtmkl.solvers.linear.task_decomposition import decompose
from mtmkl.solvers.solution import Solution
from mtmkl.typing import FloatArray, IntArray, Spec

if TYPE_CHECKING:
    from mtmkl.solvers.linear.squared_norm import PenaltyName
    from mtmkl.solvers.linear.sum_of_norms import ModelName


#: Singular values and row norms at most this share of the largest count as zero.
RANK_TOLERANCE = 1e-6


@dataclass(frozen=True)
class PreparedRegression:
    """Training data in the coordinates of the coefficients, shared along a path."""

    scaler: StandardScaler | None
    #: Without it the coordinates are the (standardised) features,
    basis: KernelBasis | None
    #: or with an orthonormal basis of their span those in it.
    span: FloatArray | None
    #: The coordinates, as the solver takes them; centred by task if with an intercept.
    tasks: Any
    #: Task of each sample, (n,).
    task: IntArray
    #: With an intercept, the means of coordinates (T, d) and targets (T,) by task.
    means: tuple[FloatArray, FloatArray] | None

    def expand(self, W: FloatArray) -> FloatArray:
        """Return coefficients of features, or of the basis, from the problem's."""
        return W if self.span is None else self.span @ W


class LinearPathEstimator(Mixin):
    """Mixin of the methods that predict w_t'z(x) + b_t in coordinates z(x) of x.

    A subclass implements ``_solve``. It may have the parameters ``kernel``,
    ``standardize`` and ``basis_tol``.
    """

    along: ClassVar[tuple[str, ...]] = ("gamma",)
    _takes_shared = True
    _checks = checks(kernel=optional(check_kernel))
    #: Whether the penalty is the same in all orthonormal coordinates.
    _rotation_invariant: ClassVar[bool] = False

    kernel: Kernel | Spec | None = None
    standardize: bool = False
    basis_tol: float = 1e-6
    gamma: Any
    fit_intercept: bool

    def _position(self) -> Any:
        return -float(np.max(self.gamma))

    def _prepare(
        self, X: FloatArray, y: FloatArray, task: IntArray
    ) -> PreparedRegression:
        n_tasks = int(task.max()) + 1
        X = samples_once(X, task, n_tasks)
        scaler = StandardScaler().fit(X) if self.standardize else None
        Z = X if scaler is None else scaler.transform(X)
        basis = span = None
        if self.kernel is not None:
            basis, Z = kernel_basis(from_spec(self.kernel), Z, tol=self.basis_tol)
        elif self._rotation_invariant:
            span = span_of(Z)
            Z = Z if span is None else Z @ span
        means: tuple[FloatArray, FloatArray] | None = None
        if self.fit_intercept:
            # Centring removes exactly what an unpenalised intercept per task explains.
            targets = task_means(y[:, None], task, n_tasks)[:, 0]
            y = y - targets[task]
            if len(Z) < task.size:
                means = np.tile(Z.mean(axis=0), (n_tasks, 1)), targets
                Z = Z - means[0][0]
            else:
                means = task_means(Z, task, n_tasks), targets
                Z = Z - means[0][task]
        tasks = self._reduced(Z, y, task, n_tasks=n_tasks)
        return PreparedRegression(scaler, basis, span, tasks, task, means)

    def _reduced(
        self, X: FloatArray, y: FloatArray, task: IntArray, *, n_tasks: int
    ) -> Any:
        """Return the data as the solver takes them."""
        return decompose(X, y, task, n_tasks=n_tasks)

    def _follow(self, prepared: PreparedRegression, previous: Any) -> Any:
        solution = self._solve(prepared, previous)
        self._keep(prepared, solution)
        return solution.extra.get("warm_start")

    def _solve(self, prepared: PreparedRegression, start: Any) -> Solution:
        """Solve at this point, starting from the previous one on the path."""
        raise NotImplementedError

    def _keep(self, prepared: PreparedRegression, solution: Solution) -> None:
        """Set the fitted attributes."""
        self._keep_certificate(solution)
        self._scaler, self._basis = prepared.scaler, prepared.basis
        self.coef_ = prepared.expand(solution.coef)
        self.intercept_ = np.zeros(self.coef_.shape[1])
        if prepared.means is not None:
            inputs, targets = prepared.means
            self.intercept_ = targets - np.einsum("td,dt->t", inputs, solution.coef)
        for name in ("basis_dimension_", "discarded_trace_", "untruncated_gap_"):
            vars(self).pop(name, None)  # of an earlier fit with a kernel
        if prepared.basis is not None:
            self.basis_dimension_ = prepared.basis.dimension
            self.discarded_trace_ = prepared.basis.discarded_trace

    def _standardised(self, X: FloatArray) -> FloatArray:
        return X if self._scaler is None else self._scaler.transform(X)

    def _outputs(self, X: FloatArray, task: IntArray) -> FloatArray:
        if self._basis is not None:
            return self._outputs_of_all(X)[np.arange(X.shape[0]), task]
        outputs = task_outputs(self._standardised(X), self.coef_, task)
        return outputs + self.intercept_[task]

    def _outputs_of_all(self, X: FloatArray) -> FloatArray:
        X = self._standardised(X)
        times = np.matmul if self._basis is None else self._basis.predict
        values: FloatArray = times(X, self.coef_) + self.intercept_
        return values


@dataclass(eq=False, repr=False)
class SquaredNormEstimator(LinearPathEstimator):
    """Mixin of the methods that minimise Σ_t ||y_t − X_t w_t||² + γ·Ω(W)²."""

    _penalty: ClassVar["PenaltyName"] = "trace"
    _checks = checks(gamma=check_positive, kernel=optional(check_kernel))

    gamma: float = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    tol: float = 1e-6
    max_iter: int = 10_000

    def _solve(self, prepared: PreparedRegression, start: Any) -> Solution:
        from mtmkl.solvers.linear.squared_norm import solve

        tasks, penalty = prepared.tasks, self._penalty
        return solve(tasks, self.gamma, penalty=penalty, start=start, **self._limits)

    def _keep(self, prepared: PreparedRegression, solution: Solution) -> None:
        super()._keep(prepared, solution)
        self.norm_ = float(solution.extra["norm"])


@dataclass(eq=False, repr=False)
class SumOfNormsEstimator(LinearPathEstimator):
    """Mixin of the methods whose W = P + Q has a norm for each of its parts."""

    along = ("lam_1", "lam_2")
    _model: ClassVar["ModelName"]

    lam_1: float = 1.0
    lam_2: float = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    tol: float = 1e-4
    max_iter: int = 10_000

    def _position(self) -> Any:
        both = self.lam_1, self.lam_2
        return self.lam_1 > self.lam_2, -min(both), -max(both)

    def _solve(self, prepared: PreparedRegression, start: Any) -> Solution:
        from mtmkl.solvers.linear.sum_of_norms import solve

        weights = self.lam_1, self.lam_2
        return solve(
            prepared.tasks, *weights, model=self._model, start=start, **self._limits
        )

    def _keep(self, prepared: PreparedRegression, solution: Solution) -> None:
        super()._keep(prepared, solution)
        self.shared_coef_, self.own_coef_ = solution.extra["parts"]


if TYPE_CHECKING:
    _Squared = SquaredNormEstimator
else:
    _Squared = object


class FeatureLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Squared):
    """Mixin of the methods whose Ω is the trace norm of a matrix V, by default W.

    V = U·A with orthonormal columns of U, the features, and rows of A in the order of
    their norms, the singular values of V.
    """

    _rotation_invariant = True

    @property
    def _learned(self) -> FloatArray:
        """V, of shape (d, T)."""
        return self.coef_

    @property
    def D_(self) -> FloatArray:  # noqa: N802
        """(VV')^{1/2} / tr (VV')^{1/2}, equation (13) at ε = 0; I/d where V = 0."""
        U, singular, _ = self._svd
        total, d = singular.sum(), U.shape[0]
        D: FloatArray = (U * singular) @ U.T / total if total > 0 else np.eye(d) / d
        return D

    @property
    def features_(self) -> FloatArray:
        """U, columns by decreasing importance, shape (d, min(d, T)).

        The sign of a feature is chosen so that the tasks' coefficients on it do not sum
        to less than zero.
        """
        U, _, Vt = self._svd
        signed: FloatArray = U * np.where(Vt.sum(axis=1) < 0, -1.0, 1.0)
        return signed

    @property
    def A_(self) -> FloatArray:  # noqa: N802
        """U'V, the tasks' coefficients on the features, shape (min(d, T), T)."""
        return self.features_.T @ self._learned

    @property
    def n_features_(self) -> int:
        """Rank of V: singular values above 1e-6 of the largest."""
        return rank_of(self._svd[1])

    @property
    def _n_features_out(self) -> int:
        return min(self.coef_.shape)

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return the learned features U'z(x) of samples, (n, min(d, T)).

        They are the same for all tasks, and in the order of :attr:`features_`.
        """
        check_is_fitted(self)
        Z = self._standardised(check_inputs(self, X, reset=False))
        if self._basis is not None:
            return self._basis.predict(Z, self.features_)
        return Z @ self.features_

    @property
    def _svd(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        U, singular, Vt = np.linalg.svd(self._learned, full_matrices=False)
        return U, singular, Vt


def rank_of(magnitudes: NDArray[np.floating[Any]]) -> int:
    """Return the number of magnitudes above ``RANK_TOLERANCE`` times the largest."""
    return int(np.sum(magnitudes > RANK_TOLERANCE * magnitudes.max(initial=0.0)))


def task_outputs(X: FloatArray, W: FloatArray, task: IntArray) -> FloatArray:
    """Return x_i'w_t of each sample and its task, for W of shape (d, T)."""
    out = np.empty(task.size)
    for t in np.unique(task):
        rows = np.flatnonzero(task == t)
        out[rows] = X[rows] @ W[:, t]
    return out


def task_means(values: FloatArray, task: IntArray, n_tasks: int) -> FloatArray:
    """Return the mean rows of each task, shape (T, d)."""
    means = np.zeros((n_tasks, values.shape[1]))
    for t in range(n_tasks):
        means[t] = values[task == t].mean(axis=0)
    return means


def samples_once(X: FloatArray, task: IntArray, n_tasks: int) -> FloatArray:
    """Return the samples that tasks, one after the other, have all in common, or X."""
    n = task.size // n_tasks
    if n_tasks == 1 or not np.array_equal(task, np.repeat(np.arange(n_tasks), n)):
        return X
    first = X[:n]
    parts = np.array_split(X[n:], n_tasks - 1) if len(X) > n else ()
    return first if all(np.array_equal(part, first) for part in parts) else X


def span_of(X: FloatArray) -> FloatArray | None:
    """Return an orthonormal basis of the span of the rows, None if it is everything.

    Tasks share samples, so that the distinct rows may be far fewer than all.
    """
    if X.shape[1] == 1:
        return None
    distinct = np.unique(X, axis=0)
    if distinct.shape[0] >= X.shape[1]:
        return None
    basis: FloatArray = np.linalg.qr(distinct.T)[0]
    return basis
