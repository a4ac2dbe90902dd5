"""What the estimators share that are linear in some coordinates of the inputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mtmkl.kernels.base import Kernel
from mtmkl.kernels.terms import check_kernel
from mtmkl.methods._base.estimator import (
    PathEstimator,
    check_count,
    check_flag,
    check_positive,
)
from mtmkl.methods._base.inputs import Coordinates
from mtmkl.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from mtmkl.solvers.linear.squared_norm import PenaltyName, WarmStart
    from mtmkl.solvers.linear.task_decomposition import TaskDecomposition
    from mtmkl.solvers.solution import Solution


#: Singular values and row norms at most this share of the largest count as zero.
RANK_TOLERANCE = 1e-6


@dataclass(frozen=True)
class PreparedRegression:
    """Training data in the coordinates of the coefficients, shared along a path.

    Attributes
    ----------
    coordinates : Coordinates
    tasks : TaskDecomposition
        Of the coordinates; with an offset, centred within each task.
    task : ndarray of shape (n,)
        The task of each example.
    means : (ndarray of shape (T, d), ndarray of shape (T,)) or None
        With an offset: what was subtracted from coordinates and targets.
    """

    coordinates: Coordinates
    tasks: "TaskDecomposition"
    task: IntArray
    means: tuple[FloatArray, FloatArray] | None


class LinearPathEstimator(PathEstimator):
    """Base of the methods that predict w_t'z(x) + b_t, z(x) some coordinates of x.

    A subclass implements ``_solve``. Parameters ``kernel``, ``standardize`` and
    ``basis_tol`` are its choice to have.
    """

    kernel: Kernel | Mapping[str, Any] | str | None = None
    standardize: bool = False
    basis_tol: float = 1e-6
    gamma: Any
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
    ) -> PreparedRegression:
        from mtmkl.solvers.linear.task_decomposition import decompose

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
            # Centring removes exactly what an unpenalised offset per task explains.
            Z, y = Z - means[0][task], y - means[1][task]
        tasks = decompose(Z, y, task, n_tasks=n_tasks)
        return PreparedRegression(coordinates, tasks, task, means)

    def _follow(self, prepared: PreparedRegression, previous: Any) -> Any:
        solution = self._solve(prepared, previous)
        self._keep(prepared, solution)
        return solution.extra.get("warm_start")

    def _solve(self, prepared: PreparedRegression, start: Any) -> "Solution":
        """Solve at this point, from where the one before on the path left off."""
        raise NotImplementedError

    def _keep(self, prepared: PreparedRegression, solution: "Solution") -> None:
        certificate = solution.certificate
        self._coordinates = prepared.coordinates
        self.coef_ = solution.coef
        self.intercept_ = np.zeros(self.coef_.shape[1])
        if prepared.means is not None:
            inputs, targets = prepared.means
            self.intercept_ = targets - np.einsum("td,dt->t", inputs, self.coef_)
        self.objective_ = certificate.objective
        self.duality_gap_ = certificate.duality_gap
        self.n_iter_ = certificate.n_iter
        if prepared.coordinates.basis is not None:
            self.basis_dimension_ = prepared.coordinates.basis.dimension
            self.discarded_trace_ = prepared.coordinates.basis.discarded_trace

    def _predict(self, X: FloatArray, task: IntArray) -> FloatArray:
        return self._coordinates.predict(X, self.coef_, task) + self.intercept_[task]


class SquaredNormEstimator(LinearPathEstimator):
    """Base of the methods that minimise Σ_t ||y_t − X_t w_t||² + γ·Ω(W)²."""

    _penalty: ClassVar["PenaltyName"]

    gamma: float

    def __init__(
        self,
        gamma: float = 1.0,
        *,
        fit_intercept: bool = False,
        tol: float = 1e-6,
        max_iter: int = 10_000,
    ) -> None:
        self.gamma = gamma
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def _check_params(self) -> None:
        super()._check_params()
        check_positive("gamma", self.gamma)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)

    def _solve(
        self, prepared: PreparedRegression, start: "WarmStart | None"
    ) -> "Solution":
        from mtmkl.solvers.linear.squared_norm import solve

        return solve(
            prepared.tasks,
            self.gamma,
            penalty=self._penalty,
            tol=self.tol,
            max_iter=self.max_iter,
            start=start,
        )

    def _keep(self, prepared: PreparedRegression, solution: "Solution") -> None:
        super()._keep(prepared, solution)
        self.norm_ = float(solution.extra["norm"])
        self.history_ = solution.certificate.history


class FeatureLearner(SquaredNormEstimator):
    """Base of those whose Ω is the trace norm of a matrix V, which is W unless said.

    V = U·A with orthonormal columns of U, the features, and rows of A in the order of
    their norms, the singular values of V.
    """

    @property
    def _learned(self) -> FloatArray:
        """V, of shape (d, T)."""
        return self.coef_

    @property
    def D_(self) -> FloatArray:  # noqa: N802
        """(VV')^{1/2} / tr (VV')^{1/2}, equation (13) at ε = 0; I/d where V = 0."""
        U, singular, _ = np.linalg.svd(self._learned, full_matrices=False)
        total, d = singular.sum(), U.shape[0]
        D: FloatArray = (U * singular) @ U.T / total if total > 0 else np.eye(d) / d
        return D

    @property
    def features_(self) -> FloatArray:
        """U, columns by decreasing importance, shape (d, min(d, T)).

        The sign of a feature is chosen so that the tasks' coefficients on it do not sum
        to less than zero.
        """
        U, _, Vt = np.linalg.svd(self._learned, full_matrices=False)
        signed: FloatArray = U * np.where(Vt.sum(axis=1) < 0, -1.0, 1.0)
        return signed

    @property
    def A_(self) -> FloatArray:  # noqa: N802
        """U'V, the tasks' coefficients on the features, shape (min(d, T), T)."""
        return self.features_.T @ self._learned

    @property
    def n_features_(self) -> int:
        """Rank of V: singular values above 1e-6 of the largest."""
        return rank_of(np.linalg.svd(self._learned, compute_uv=False))


def rank_of(magnitudes: NDArray[np.floating[Any]]) -> int:
    """Return how many magnitudes exceed ``RANK_TOLERANCE`` times the largest."""
    return int(np.sum(magnitudes > RANK_TOLERANCE * magnitudes.max(initial=0.0)))


def task_means(values: FloatArray, task: IntArray, n_tasks: int) -> FloatArray:
    """Return the mean rows of each task, shape (T, d)."""
    means = np.zeros((n_tasks, values.shape[1]))
    for t in range(n_tasks):
        means[t] = values[task == t].mean(axis=0)
    return means
