"""Descent over weights of kernels, on values from machines that are solved inexactly.

For weights w ≥ 0 of terms with kernels K_d, the machines, the problem within, have the
value

    V(w) = max over feasible β of  ℓ(β) − Σ_d w_d q_d(β),      q_d = ½ β'K_dβ,

a convex function of w with the gradient −q at its maximiser.

At weights w the machines give an upper bound of the objective and a lower bound of its
minimum. Their difference, the gap, has a part that more accurate machines take away;
where that is most of it they are solved again, else the weights are moved.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

from mtmkl.solvers.solution import Certificate, Status, certified
from mtmkl.typing import FloatArray

_SHARE_OF_GAP, _SHARE_OF_ALLOWED = 0.1, 0.3  # what the machines may have of the gap
_AIMED = 0.5  # of that, when they are solved again


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
"""Accuracies of inner solutions, in units of the targets."""


def first_tolerance(tol: float) -> float:
    """Return with which accuracy to begin, for a relative duality gap of ``tol``."""
    return min(max(0.1 * tol, 1e-2 * COARSEST_ACCURACY), COARSEST_ACCURACY)


def next_tolerance(tolerance: float, inner: Inner, wanted: float) -> float:
    """Return an accuracy that should bring an inner gap to ``wanted``."""
    gap = max(inner.primal - inner.dual, 1e-300)
    return tolerance * min(max(wanted / gap, 0.01), 0.3)


class Descent(ABC):
    """Base of descents from weights to weights until a relative duality gap is closed.

    Parameters
    ----------
    state : InnerProblem
        The machines.
    tol : float
        Relative duality gap.
    max_iter : int
        Limit on steps.
    floor : float
        As for :func:`~mtmkl.solvers.solution.relative_gap`.

    Attributes
    ----------
    inner : Inner
        What the machines gave at the present weights.
    tolerance : float
        With which they are solved.
    limit : str
        Why they cannot be solved more accurately; empty if they can.
    is_limited : bool
        Whether that ended the descent.
    """

    inner: Inner

    def __init__(
        self, state: InnerProblem, tol: float, max_iter: int, floor: float = 0.0
    ) -> None:
        self.state, self.tol, self.max_iter, self.floor = state, tol, max_iter, floor
        self.tolerance, self.limit = first_tolerance(tol), ""
        self.n_iter, self.is_limited = 1, False
        self.history: list[float] = []

    @property
    @abstractmethod
    def weights(self) -> FloatArray:
        """The present weights of the machines."""

    @abstractmethod
    def values(self) -> tuple[float, float]:
        """Return the objective, as bounded from above, and a bound of the minimum."""

    @abstractmethod
    def step(self) -> None:
        """Move the weights, `take` what the machines give there, and count it."""

    def solve(self) -> None:
        """Solve the machines at the present weights."""
        self.take(self.state.solve(self.weights, self.tolerance))
        self.limit = self.inner.limit

    def take(self, inner: Inner) -> None:
        """Go on from what the machines gave at the present weights."""
        self.inner = inner

    def evaluate(self) -> None:
        """Compute all values from scratch, for what would be returned."""
        self.take(self.state.evaluate(self.weights))

    def refine(self) -> None:
        """Solve the machines at the present weights more accurately."""
        wanted = _AIMED * self.left_to_machines
        self.tolerance = next_tolerance(self.tolerance, self.inner, wanted)
        self.solve()

    @property
    def left_to_machines(self) -> float:
        """Part of the gap that their inaccuracy may have."""
        return max(_SHARE_OF_GAP * self.gap, _SHARE_OF_ALLOWED * self.allowed)

    def status(self) -> Status | None:
        """Return how the descent ended, None if it has not."""
        if self.gap <= self.allowed:
            return "converged"
        if self.is_limited:
            return "stalled"
        return "stopped" if self.n_iter > self.max_iter else None

    def run(self) -> Certificate:
        """Descend, and return what is certified.

        The last values are those of the duals themselves: no sum that was updated step
        by step, and has gathered rounding on the way, has a part in them.
        """
        is_evaluated = False
        while True:
            self.objective, self.bound = self.values()
            self.history.append(self.objective)
            self.gap = self.objective - self.bound
            self.allowed = self.tol * max(abs(self.objective), self.floor)
            status = self.status()
            if status is not None and is_evaluated:
                break
            if status is not None:
                self.evaluate()
                self.history.pop()
                is_evaluated = True
                continue
            if is_evaluated:
                self.state.refresh()
                is_evaluated = False
            # Steps are counted: one that is not a number ends there.
            if not self.inner.primal - self.inner.dual > self.left_to_machines:
                self.step()
            elif self.limit or self.tolerance < FINEST_TOLERANCE:
                self.is_limited = True
            else:
                self.refine()
        return certified(self.history, self.bound, self.n_iter, status, self.floor)
