"""Maximum entropy discrimination: switches, and the α of their prior."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from mtmkl.kernels.gram import TrainingSet
from mtmkl.methods._base.estimator import Mixin
from mtmkl.methods._base.kernel_machine import KernelMachine
from mtmkl.solvers.solution import Solution


@dataclass(eq=False, repr=False)
class SwitchedEstimator(Mixin):
    """Mixin of estimators whose points of a path are solved one from the other."""

    C: float = 1.0
    alpha: float = 1.0
    _: KW_ONLY
    relative_alpha: float | None = None
    tol: float = 1e-6
    max_iter: int = 100

    along: ClassVar[tuple[str, ...]] = ("C", "alpha", "relative_alpha")

    def _position(self) -> tuple[float, bool, float]:
        relative = self.relative_alpha
        value = self.alpha if relative is None else relative
        return float(self.C), relative is not None, float(value)

    def _solve(self, path: Any) -> Solution:
        """Solve at this C and α, and set ``log_alpha_`` and ``alpha_``."""
        if self.relative_alpha is None:
            log_alpha = np.log(self.alpha) if self.alpha > 0 else -np.inf
        else:
            growth = self.relative_alpha * path.largest_q(self.C)
            # log(exp(growth) − 1)
            log_alpha = growth + np.log(-np.expm1(-growth)) if growth > 0 else -np.inf
        self.log_alpha_ = float(log_alpha)
        with np.errstate(over="ignore"):
            self.alpha_ = float(np.exp(self.log_alpha_))
        solution: Solution = path.solve(self.C, self.log_alpha_)
        return solution


@dataclass(eq=False, repr=False)
class SwitchedMachine(SwitchedEstimator, KernelMachine):
    """Mixin of support vector machines that weigh kernels by expected switches."""

    def _keep(self, training: TrainingSet, solution: Solution) -> None:
        super()._keep(training, solution)
        self.switches_ = solution.coef
