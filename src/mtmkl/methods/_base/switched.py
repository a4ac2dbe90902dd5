"""What the methods of maximum entropy discrimination on many kernels share."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mtmkl.kernels.gram import TrainingSet
from mtmkl.kernels.terms import check_kernels
from mtmkl.methods._base.estimator import (
    check_choice,
    check_flag,
    check_not_negative,
    check_positive,
)
from mtmkl.methods._base.kernel_machine import KernelMachine
from mtmkl.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from mtmkl.solvers.med.switches import SwitchedPath
    from mtmkl.solvers.solution import Solution
    from mtmkl.solvers.svm.task_duals import DualProblem


class SwitchedMachine(KernelMachine):
    """Base of estimators that weigh kernels by expected switches.

    Points of a grid that differ in ``C``, ``alpha`` or ``relative_alpha`` alone share
    the kernels and are solved one from the other. A subclass implements ``_path``.
    """

    along: ClassVar[tuple[str, ...]] = ("C", "alpha", "relative_alpha")

    def _path(self, problem: "DualProblem") -> "SwitchedPath":
        raise NotImplementedError

    def _tube(self) -> float | None:
        """Return the ε of regression, None for classification."""
        return None

    def _check_params(self) -> None:
        check_positive("C", self.C)
        check_kernels(self.kernels)
        check_choice("normalize", self.normalize, ("trace", None))
        check_flag("standardize", self.standardize)
        check_positive("tol", self.tol)
        check_alpha(self)

    def _position(self) -> tuple[float, bool, float]:
        return position_on_path(self)

    def _prepare(
        self, X: FloatArray, y: FloatArray, task: IntArray, *, n_points: int
    ) -> "tuple[TrainingSet, SwitchedPath]":
        from mtmkl.solvers.svm.task_duals import DualProblem

        training = self._training_set(X, task, n_points=n_points)
        problem = DualProblem.of(
            y[training.order],
            training.blocks(),
            weight=np.tile(training.terms.order, (training.sizes.size, 1)),
            epsilon=self._tube(),
        )
        return training, self._path(problem)

    def _follow(
        self, prepared: "tuple[TrainingSet, SwitchedPath]", previous: None
    ) -> None:
        training, path = prepared
        log_alpha = log_alpha_of(self, path)
        self._keep_switches(training, log_alpha, path.solve(self.C, log_alpha))

    def _keep_switches(
        self, training: TrainingSet, log_alpha: float, solution: "Solution"
    ) -> None:
        """Set the fitted attributes."""
        self.switches_ = solution.coef
        keep_alpha(self, log_alpha)
        self._keep_machine(training, solution.coef, solution)


def log_alpha_of(estimator: Any, path: "SwitchedPath") -> float:
    """Return log α of an estimator with ``alpha`` and ``relative_alpha``."""
    if estimator.relative_alpha is None:
        return float(np.log(estimator.alpha)) if estimator.alpha > 0 else -np.inf
    growth = estimator.relative_alpha * path.largest_q(estimator.C)
    # log(exp(growth) − 1)
    return float(growth + np.log(-np.expm1(-growth))) if growth > 0 else -np.inf


def keep_alpha(estimator: Any, log_alpha: float) -> None:
    """Set ``log_alpha_`` and ``alpha_``."""
    estimator.log_alpha_ = log_alpha
    with np.errstate(over="ignore"):
        estimator.alpha_ = float(np.exp(log_alpha))


def check_alpha(estimator: Any) -> None:
    """Raise ValueError unless ``alpha`` and ``relative_alpha`` are in range."""
    if hasattr(estimator, "alpha"):
        check_not_negative("alpha", estimator.alpha)
    if getattr(estimator, "relative_alpha", None) is not None:
        check_not_negative("relative_alpha", estimator.relative_alpha)


def position_on_path(estimator: Any) -> tuple[float, bool, float]:
    """Return where an estimator stands on a path: C first, then α."""
    relative = getattr(estimator, "relative_alpha", None)
    absolute = getattr(estimator, "alpha", 0.0)
    return (
        float(estimator.C),
        relative is not None,
        float(absolute if relative is None else relative),
    )
