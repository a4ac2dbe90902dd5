"""What the methods of maximum entropy discrimination on many kernels share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from mtmkl.methods._kernel_machine import KernelMachine
from mtmkl.methods._kernel_terms import TrainingSet, check_kernels
from mtmkl.methods.base import (
    check_choice,
    check_flag,
    check_not_negative,
    check_positive,
)

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


class SwitchedMachine(KernelMachine):
    """Base of estimators that weigh kernels by expected switches.

    Points of a grid that differ in ``C``, ``alpha`` or ``relative_alpha`` alone share
    the kernels and are solved one from the other. A subclass has the parameters
    ``C``, ``kernels``, ``normalize``, ``standardize`` and ``tol``, and implements
    ``_path``.
    """

    C: float
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

    def _check_params(self) -> None:
        check_positive("C", self.C)
        check_kernels(self.kernels)
        check_choice("normalize", self.normalize, ("trace", None))
        check_flag("standardize", self.standardize)
        check_positive("tol", self.tol)
        check_alpha(self)

    def _fit_group(
        self, group: "Sequence[Self]", X: FloatArray, y: FloatArray, task: IntArray
    ) -> None:
        from mtmkl.solvers.med import block_tasks

        first = group[0]
        training = first._training_set(X, task, keep_last=len(group) > 1)
        n_blocks = training.sizes.size
        tasks = block_tasks(
            y[training.order],
            training.sizes,
            features=training.features(),
            grams=training.grams(),
            switch=np.tile(training.terms.order, (n_blocks, 1)),
            epsilon=first._tube(),
        )
        path = first._path(tasks)
        for estimator in sorted(group, key=position_on_path):
            log_alpha = estimator._log_alpha(path)
            solution = path.solve(estimator.C, log_alpha)
            estimator._keep_switches(training, log_alpha, solution)

    def _keep_switches(
        self, training: TrainingSet, log_alpha: float, solution: "Solution"
    ) -> None:
        """Set the fitted attributes."""
        self.switches_ = solution.coef
        self.log_alpha_ = log_alpha
        with np.errstate(over="ignore"):
            self.alpha_ = float(np.exp(log_alpha))
        self.n_svm_solves_ = solution.extra.get("n_svm_solves", 0)
        self._keep_machine(training, solution.coef, solution)


def log_alpha_of(estimator: Any, path: Path) -> float:
    """Return log α of an estimator with ``alpha`` and ``relative_alpha``."""
    if estimator.relative_alpha is None:
        return float(np.log(estimator.alpha)) if estimator.alpha > 0 else -np.inf
    growth = estimator.relative_alpha * path.largest_q(estimator.C)
    # log(exp(growth) − 1)
    return float(growth + np.log(-np.expm1(-growth))) if growth > 0 else -np.inf


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
