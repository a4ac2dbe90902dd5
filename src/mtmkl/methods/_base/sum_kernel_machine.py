"""Support vector machines on sums of kernels."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

from mtmkl.kernels.gram import TrainingSet
from mtmkl.methods._base.kernel_machine import KernelMachine


@dataclass(eq=False, repr=False)
class SumKernelMachine(KernelMachine):
    """Mixin of support vector machines on a sum of kernels."""

    _: KW_ONLY
    fit_intercept: bool = True

    def _weight_of_terms(self, training: TrainingSet) -> None:
        return None

    def _path(self, problem: Any) -> Any:
        from mtmkl.solvers.svm.sum_kernel import SumKernelPath

        return SumKernelPath(problem, tol=self.tol)
