"""What the estimators share that are linear in some coordinates of the inputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mtmkl.kernels.base import Kernel
from mtmkl.kernels.basis import KernelBasis
from mtmkl.kernels.terms import check_kernel
from mtmkl.methods._inputs import Coordinates
from mtmkl.methods.base import (
    PathEstimator,
    check_count,
    check_flag,
    check_positive,
)

if TYPE_CHECKING:
    from mtmkl.solvers.solution import Solution
    from mtmkl.solvers.squared_norm import PenaltyName, WarmStart
    from mtmkl.solvers.task_decomposition import TaskDecomposition

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

#: Singular values and row norms at most this share of the largest count as zero.
RANK_TOLERANCE = 1e-6


@dataclass(frozen=True)
class PreparedPath:
    """What the points of a path share: coordinates, tasks in them, and their means."""

    coordinates: Coordinates
    tasks: "TaskDecomposition"
    means: tuple[FloatArray, FloatArray] | None
    task: IntArray


class LinearPathEstimator(PathEstimator):
    """Base of the methods that predict w_t'z(x) + b_t, z(x) some coordinates of x.

    A subclass implements ``_solve`` on decomposed tasks. Parameters ``kernel``,
    ``standardize`` and ``basis_tol`` are its choice to have.
    """

    gamma: Any
    kernel: Kernel | Mapping[str, Any] | str | None = None
    standardize: bool = False
    basis_tol: float = 1e-6
    fit_intercept: bool

    def _check_params(self) -> None:
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("standardize", self.standardize)
        check_positive("basis_tol", self.basis_tol)
        if self.kernel is not None:
            check_kernel("kernel", self.kernel)

    def _position(self) -> float:
        return -float(np.max(self.gamma))

    def _prepare(
        self, X: FloatArray, y: FloatArray, task: IntArray, *, n_points: int
    ) -> PreparedPath:
        from mtmkl.solvers.task_decomposition import decompose

        coordinates, Z = Coordinates.of(
            X,
            kernel=self.kernel,
            standardize=self.standardize,
            basis_tol=self.basis_tol,
        )
        n_tasks = int(task.max()) + 1
        means: tuple[FloatArray, FloatArray] | None = None
        if self.fit_intercept:
            means = (
                task_means(Z, task, n_tasks),
                task_means(y[:, None], task, n_tasks)[:, 0],
            )
            # Centring leaves out exactly what an unpenalised offset per task explains.
            Z, y = Z - means[0][task], y - means[1][task]
        tasks = decompose(Z, y, task, n_tasks=n_tasks)
        return PreparedPath(coordinates, tasks, means, task)

    def _follow(
        self, prepared: PreparedPath, previous: "WarmStart | None"
    ) -> "WarmStart | None":
        coordinates = prepared.coordinates
        solution = self._solve(prepared.tasks, previous)
        self._keep(coordinates, solution, prepared.means)
        if coordinates.basis is not None:
            self._bound_truncation(coordinates.basis, solution, prepared.task)
        start: WarmStart | None = solution.extra.get("warm_start")
        return start

    def _bound_truncation(
        self, basis: KernelBasis, solution: "Solution", task: IntArray
    ) -> None:
        """Set what the cut of a kernel's basis may cost, if the method says so."""

    def _solve(
        self, tasks: "TaskDecomposition", start: "WarmStart | None"
    ) -> "Solution":
        raise NotImplementedError

    def _keep(
        self,
        coordinates: Coordinates,
        solution: "Solution",
        means: tuple[FloatArray, FloatArray] | None,
    ) -> None:
        certificate = solution.certificate
        self._coordinates = coordinates
        self.coef_ = solution.coef
        self.intercept_ = np.zeros(self.coef_.shape[1])
        if means is not None:
            self.intercept_ = means[1] - np.einsum("td,dt->t", means[0], self.coef_)
        self.objective_ = certificate.objective
        self.duality_gap_ = certificate.duality_gap
        self.n_iter_ = certificate.n_iter
        if coordinates.basis is not None:
            self.basis_dimension_ = coordinates.basis.dimension
            self.discarded_trace_ = coordinates.basis.discarded_trace

    def _predict(self, X: FloatArray, task: IntArray) -> FloatArray:
        return self._coordinates.predict(X, self.coef_, task) + self.intercept_[task]


class SquaredNormEstimator(LinearPathEstimator):
    """Base of the methods that minimise Σ_t ||y_t − X_t w_t||² + γ·Ω(W)²."""

    _penalty: ClassVar["PenaltyName"]

    gamma: float
    tol: float
    max_iter: int

    def _check_params(self) -> None:
        super()._check_params()
        check_positive("gamma", self.gamma)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)

    def _solve(
        self, tasks: "TaskDecomposition", start: "WarmStart | None"
    ) -> "Solution":
        from mtmkl.solvers.squared_norm import solve

        return solve(
            tasks,
            self.gamma,
            penalty=self._penalty,
            tol=self.tol,
            max_iter=self.max_iter,
            start=start,
        )

    def _keep(
        self,
        coordinates: Coordinates,
        solution: "Solution",
        means: tuple[FloatArray, FloatArray] | None,
    ) -> None:
        super()._keep(coordinates, solution, means)
        self.norm_ = float(solution.extra["norm"])
        self.history_ = solution.certificate.history


def learned_features(W: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the features U (d, k) and importances σ (k,) of coefficients W (d, T).

    W = U·A with orthonormal columns of U, rows of A in the order of their norms σ, the
    singular values of W, and k = min(d, T). The sign of a feature is chosen so that the
    tasks' coefficients on it do not sum to less than zero.
    """
    U, singular, Vt = np.linalg.svd(W, full_matrices=False)
    return U * np.where(Vt.sum(axis=1) < 0, -1.0, 1.0), singular


def covariance_of(W: FloatArray) -> FloatArray:
    """Return (WW')^{1/2} / tr (WW')^{1/2} (equation (13) at ε = 0), I/d where W = 0."""
    U, singular, _ = np.linalg.svd(W, full_matrices=False)
    total, d = singular.sum(), W.shape[0]
    D: FloatArray = (U * singular) @ U.T / total if total > 0 else np.eye(d) / d
    return D


def rank_of(magnitudes: NDArray[np.floating[Any]]) -> int:
    """Return how many magnitudes exceed ``RANK_TOLERANCE`` times the largest."""
    return int(np.sum(magnitudes > RANK_TOLERANCE * magnitudes.max(initial=0.0)))


def task_means(values: FloatArray, task: IntArray, n_tasks: int) -> FloatArray:
    """Return the mean rows of each task, shape (T, d)."""
    means = np.zeros((n_tasks, values.shape[1]))
    for t in range(n_tasks):
        means[t] = values[task == t].mean(axis=0)
    return means
