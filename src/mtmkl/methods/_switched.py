"""What the methods of maximum entropy discrimination on many kernels share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from mtmkl.methods._kernel_terms import (
    KernelList,
    KernelTerms,
    Normalization,
    TrainingSet,
    check_kernels,
)
from mtmkl.methods.base import PathEstimator, check_positive

if TYPE_CHECKING:
    from typing import Self

    from mtmkl.solvers.med import BlockTasks
    from mtmkl.solvers.solution import Solution

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class Path(Protocol):
    """A solver that goes from one (C, α) to the next."""

    def solve(self, C: float, log_alpha: float) -> "Solution":
        """Solve for one (C, α)."""
        ...

    def largest_q(self, C: float) -> float:
        """Return max_d q_d at α = 0."""
        ...


class SwitchedMachine(PathEstimator):
    """Base of estimators that weigh kernels by expected switches.

    Points of a grid that differ in ``C``, ``alpha`` or ``relative_alpha`` alone share
    the kernels and are solved one from the other. A subclass has the parameters
    ``C``, ``kernels``, ``normalize``, ``standardize`` and ``tol``, and implements
    ``_path``.
    """

    C: float
    kernels: KernelList
    normalize: Normalization
    standardize: bool
    tol: float

    along: ClassVar[tuple[str, ...]] = ("C", "alpha", "relative_alpha")

    def _path(self, tasks: "BlockTasks") -> Path:
        raise NotImplementedError

    def _tube(self) -> float | None:
        """Return the ε of regression, None for classification."""
        return None

    def _log_alpha(self, path: Path) -> float:
        """Return log α."""
        return log_alpha_of(self, path)

    def _block_of_task(self) -> IntArray:
        """Return which support vector machine each task has, shape (T,)."""
        return np.arange(self.tasks_.size)

    def _check_params(self) -> None:
        check_positive("C", self.C)
        check_kernels(self.kernels)
        check_choice("normalize", self.normalize, ("trace", None))
        check_positive("tol", self.tol)
        check_alpha(self)

    def _group_key(self) -> str:
        params = self.get_params(deep=False)
        return repr([(name, params[name]) for name in params if name not in self.along])

    def _fit_group(
        self, group: "Sequence[Self]", X: FloatArray, y: FloatArray, task: IntArray
    ) -> None:
        from mtmkl.solvers.med import block_tasks

        first = group[0]
        block = first._block_of_task()
        n_blocks = int(block.max()) + 1
        terms = KernelTerms.of(
            X, first.kernels, normalize=first.normalize, standardize=first.standardize
        )
        training = TrainingSet(
            terms, X, block[task], n_blocks, keep_last=len(group) > 1
        )
        tasks = block_tasks(
            y[training.order],
            training.sizes,
            features=training.features(),
            grams=training.grams(),
            switch=np.tile(terms.order, (n_blocks, 1)),
            epsilon=first._tube(),
        )
        path = first._path(tasks)
        for estimator in sorted(group, key=position_on_path):
            log_alpha = estimator._log_alpha(path)
            solution = path.solve(estimator.C, log_alpha)
            estimator._keep(training, log_alpha, solution)

    def _keep(
        self, training: TrainingSet, log_alpha: float, solution: "Solution"
    ) -> None:
        """Set the fitted attributes."""
        terms, block = training.terms, self._block_of_task()
        beta, intercept = solution.dual, solution.intercept
        assert beta is not None
        assert intercept is not None
        self.switches_ = solution.coef
        self.kernel_names_ = terms.names
        self.log_alpha_ = log_alpha
        with np.errstate(over="ignore"):
            self.alpha_ = float(np.exp(log_alpha))
        self.dual_coef_ = np.empty(beta.size)
        self.dual_coef_[training.order] = beta
        self.intercept_ = intercept[block]
        keep_certificate(self, solution)
        self.n_svm_solves_ = solution.extra.get("n_svm_solves", 0)
        self._training = training
        self._beta = beta
        self._weights = np.broadcast_to(
            self.switches_, (training.sizes.size, terms.n_terms)
        )
        if terms.is_feature.all():
            self._fold_into_weights(training)

    def _fold_into_weights(self, training: TrainingSet) -> None:
        """Write the models as weights of the raw inputs."""
        terms, block = training.terms, self._block_of_task()
        features, scale = training.features(), np.sqrt(terms.scale)
        coef = np.zeros((self.n_features_in_, training.sizes.size))
        for t in range(training.sizes.size):
            rows = training.rows(t)
            weights = (features[rows].T @ self._beta[rows]) * self._weights[t] * scale
            np.add.at(coef[:, t], terms.column, weights)
        self.coef_ = coef[:, block]
        if terms.standardization is not None:
            self.coef_ /= terms.standardization.scale[:, None]
            self.intercept_ = self.intercept_ - terms.standardization.mean @ self.coef_

    def _scores(self, X: FloatArray, task: IntArray) -> FloatArray:
        if hasattr(self, "coef_"):
            values: FloatArray = np.einsum("ij,ji->i", X, self.coef_[:, task])
        else:
            block = self._block_of_task()[task]
            values = self._training.outputs(X, block, self._beta, self._weights)
        return values + self.intercept_[task]


def keep_certificate(estimator: Any, solution: "Solution") -> None:
    """Set the fitted attributes that say how good a solution is."""
    certificate = solution.certificate
    estimator.objective_ = certificate.objective
    estimator.dual_objective_ = certificate.dual_objective
    estimator.duality_gap_ = certificate.duality_gap
    estimator.n_iter_ = certificate.n_iter
    estimator.history_ = certificate.history


def log_alpha_of(estimator: Any, path: Path) -> float:
    """Return log α of an estimator with ``alpha`` and ``relative_alpha``."""
    if estimator.relative_alpha is None:
        return float(np.log(estimator.alpha)) if estimator.alpha > 0 else -np.inf
    growth = estimator.relative_alpha * path.largest_q(estimator.C)
    # log(exp(growth) − 1)
    return float(growth + np.log(-np.expm1(-growth))) if growth > 0 else -np.inf


def check_alpha(estimator: Any) -> None:
    """Raise ValueError unless ``alpha`` and ``relative_alpha`` are in range."""
    for name in ("alpha", "relative_alpha"):
        value = getattr(estimator, name, None)
        if name == "relative_alpha" and value is None:
            continue
        if name == "alpha" and not hasattr(estimator, name):
            continue
        number = np.asarray(value, dtype=float)
        if number.ndim != 0 or not (number >= 0 and np.isfinite(number)):
            raise ValueError(f"{name} must be at least 0 and finite, got {value!r}")


def check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Raise ValueError unless the value is one of the choices."""
    if not any(value is choice or value == choice for choice in choices):
        shown = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {shown}, got {value!r}")


def position_on_path(estimator: Any) -> tuple[float, bool, float]:
    """Return where an estimator stands on a path: C first, then α."""
    relative = getattr(estimator, "relative_alpha", None)
    absolute = getattr(estimator, "alpha", 0.0)
    return (
        float(estimator.C),
        relative is not None,
        float(absolute if relative is None else relative),
    )
