"""What the methods share whose tasks have weights of kernels in a simplex."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mtmkl.kernels.gram import TrainingSet
from mtmkl.kernels.terms import check_kernels
from mtmkl.methods._base.estimator import (
    check_choice,
    check_count,
    check_flag,
    check_positive,
)
from mtmkl.methods._base.kernel_machine import KernelMachine
from mtmkl.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from mtmkl.solvers.solution import Solution
    from mtmkl.solvers.svm.task_duals import DualProblem


#: The ten kernels of Yousefi et al. (2015).
TEN_KERNELS: tuple[Mapping[str, Any], ...] = (
    {"name": "linear"},
    {"name": "polynomial", "degree": 2},
    *({"name": "gaussian", "width": 2.0**power} for power in range(8)),
)


class WeightedKernelMachine(KernelMachine):
    """Base of support vector machines whose kernel weights θ_t are learned.

    A subclass has the parameter ``max_iter``, too, and says in ``_lam`` and
    ``_weight_block`` how weights are coupled, in ``_tube`` whether it is a regression.
    """

    max_iter: int

    def _lam(self) -> float:
        """Return the λ of the pairs of tasks."""
        return 0.0

    def _weight_block(self, n_tasks: int) -> IntArray:
        """Return which weights each task has, shape (T,)."""
        return np.arange(n_tasks)

    def _tube(self) -> float | None:
        """Return the ε of regression, None for classification."""
        return None

    def _check_params(self) -> None:
        check_positive("C", self.C)
        check_kernels(self.kernels)
        check_choice("normalize", self.normalize, ("cosine", "trace", None))
        check_flag("standardize", self.standardize)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)

    def _position(self) -> tuple[float, float]:
        return self.C, self._lam()

    def _problem(self, training: TrainingSet, y: FloatArray) -> "DualProblem":
        """Return the duals of the tasks."""
        from mtmkl.solvers.svm.task_duals import DualProblem

        block = self._weight_block(training.sizes.size)
        n_terms = training.terms.n_terms
        return DualProblem.of(
            y[training.order],
            training.blocks(),
            weight=block[:, None] * n_terms + training.terms.order,
            epsilon=self._tube(),
        )

    def _prepare(
        self, X: FloatArray, y: FloatArray, task: IntArray, *, n_points: int
    ) -> tuple[TrainingSet, Any]:
        training = self._training_set(X, task, n_points=n_points)
        return training, self._path(self._problem(training, y))

    def _path(self, problem: "DualProblem") -> Any:
        """Return the solver for one point after the other."""
        from mtmkl.solvers.weights.group_sharing import GroupSharingPath

        return GroupSharingPath(problem, tol=self.tol, max_iter=self.max_iter)

    def _follow(self, prepared: Any, previous: None) -> None:
        training, path = prepared
        self._keep(training, path.solve(self._cost(), self._lam()))

    def _keep(self, training: TrainingSet, solution: "Solution") -> None:
        """Set the fitted attributes."""
        self._keep_machine(training, solution.coef, solution)
        self.weights_ = self._weights

    def _predict(self, X: FloatArray, task: IntArray) -> FloatArray:
        return self._scores(X, task)
