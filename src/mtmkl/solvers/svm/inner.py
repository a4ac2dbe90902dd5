"""The inner problem of solvers of kernel weights: duals at fixed weights.

For weights w ≥ 0 of terms with kernels K_d, the problem within has the value

    V(w) = max over feasible β of  ℓ(β) − Σ_d w_d q_d(β),      q_d = ½ β'K_dβ,

a convex function of w with the gradient −q at its maximiser.
"""

from dataclasses import dataclass
from typing import Protocol

from mtmkl.typing import FloatArray


@dataclass(frozen=True)
class Inner:
    """A nearly optimal β for fixed weights."""

    #: ½ β'K_dβ, (S,), and ℓ(β).
    q: FloatArray
    linear: float
    #: An upper bound of V(w), the objective of the support vector machines, and a lower
    #: one, ℓ(β) − Σ_d w_d q_d.
    primal: float
    dual: float
    #: Why the accuracy asked for is out of reach, and the remedy; empty if it is not.
    limit: str = ""


class InnerProblem(Protocol):
    """The duals for fixed weights, started from their last solution."""

    def solve(self, weights: FloatArray, tolerance: float) -> Inner:
        """Solve until no optimality condition is violated by more."""
        ...

    def curvature(self, weights: FloatArray) -> FloatArray:
        """Return V''(w), shape (S, S), at the last solution."""
        ...

    def evaluate(self, weights: FloatArray) -> Inner:
        """Return what the last β is worth, with all sums computed from scratch."""
        ...

    def refresh(self) -> None:
        """Continue from sums computed from scratch instead of updated ones."""
        ...


COARSEST_ACCURACY, FINEST_TOLERANCE = 1e-4, 1e-14
"""Of inner solutions, in units of the targets."""


def first_tolerance(tol: float) -> float:
    """Return with which accuracy to begin, for a relative duality gap of ``tol``."""
    return min(max(0.1 * tol, 1e-2 * COARSEST_ACCURACY), COARSEST_ACCURACY)


def next_tolerance(tolerance: float, inner: Inner, wanted: float) -> float:
    """Return an accuracy that should bring an inner gap to ``wanted``."""
    gap = max(inner.primal - inner.dual, 1e-300)
    return tolerance * min(max(wanted / gap, 0.01), 0.3)
