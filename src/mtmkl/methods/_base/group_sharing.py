"""Support vector machines that learn the weights of kernels, task by task."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from mtmkl.kernels.gram import TrainingSet
from mtmkl.kernels.terms import KernelList, Normalization
from mtmkl.methods._base.checks import checks, one_of
from mtmkl.methods._base.kernel_machine import KernelMachine
from mtmkl.solvers.solution import Solution
from mtmkl.typing import FloatArray

#: The ten kernels of Yousefi et al. (2015).
TEN_KERNELS: tuple[Mapping[str, Any], ...] = (
    {"name": "linear"},
    {"name": "polynomial", "degree": 2},
    *({"name": "gaussian", "width": 2.0**power} for power in range(8)),
)


@dataclass(eq=False, repr=False)
class WeightedKernelMachine(KernelMachine):
    """Mixin of support vector machines that learn kernel weights θ_t in a simplex."""

    _checks = checks(normalize=one_of("cosine", "trace", None))
    _own_weights = True
    #: λ, the weight of the pairs of tasks.
    lam = 0.0

    _: KW_ONLY
    kernels: KernelList = TEN_KERNELS
    normalize: Normalization = "cosine"
    tol: float = 1e-4
    max_iter: int = 500

    def _position(self) -> Any:
        return self.C, self.lam

    def _path(self, problem: Any) -> Any:
        from mtmkl.solvers.weights.pairwise_sharing import PairwiseSharingPath

        return PairwiseSharingPath(problem, tol=self.tol, max_iter=self.max_iter)

    def _solve(self, path: Any) -> Solution:
        solution: Solution = path.solve(self._cost(), float(self.lam))
        return solution

    def _keep(
        self, training: TrainingSet, solution: Solution, weights: FloatArray
    ) -> None:
        super()._keep(training, solution, weights)
        self.weights_ = self._weights
