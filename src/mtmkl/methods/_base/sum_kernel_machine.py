"""Support vector machines on sums of kernels."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from mtmkl.kernels.gram import TrainingSet
from mtmkl.methods._base.kernel_machine import KernelMachine
from mtmkl.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from mtmkl.solvers.svm.task_duals import DualProblem


@dataclass(eq=False, repr=False)
class SumKernelMachine(KernelMachine):
    """Mixin of support vector machines on a sum of kernels."""

    _: KW_ONLY
    fit_intercept: bool = True

    def _weight_of_terms(self, training: TrainingSet) -> None:
        return None

    def _path(self, problem: "DualProblem") -> "DualProblem":
        return problem

    def _fit_group(
        self, group: Sequence[Self], X: FloatArray, y: FloatArray, task: IntArray
    ) -> None:
        from mtmkl.solvers.svm.sum_kernel import solve_sum_kernel

        training, problem = self._prepare(X, y, task)
        training.keep_last = len(group) > 1
        ordered = sorted(group, key=lambda each: each.C)
        costs = [each._cost() for each in ordered]
        solutions = solve_sum_kernel(problem, costs, tol=self.tol)
        for each, solution in zip(ordered, solutions, strict=True):
            each._keep(training, solution, np.ones(training.terms.n_terms))
