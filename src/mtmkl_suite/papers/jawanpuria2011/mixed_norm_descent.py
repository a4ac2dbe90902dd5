r"""Mirror descent over kernel weights: MK-MTFL of Jawanpuria and Nath (2011), sec. 3.

Minimises the f(γ) of :mod:`mtmkl.solvers.weights.mixed_norm` in the entropy geometry of
the simplex: γ⁺ ∝ γ·exp(s·Q), −Q the gradient of f. The paper allows "any divergent
series" of steps s. Here they double, and are halved where f is above its model of the
first order with the divergence KL(γ⁺ ‖ γ)/s. Lower bounds are those of each β and,
where f has kinks, of their means by step.
"""

from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy.special import logsumexp

from mtmkl.methods.mkmtfl import MKMTFLRegressor
from mtmkl.solvers.descent import (
    FINEST_TOLERANCE,
    Inner,
    first_tolerance,
    next_tolerance,
)
from mtmkl.solvers.solution import Solution, Status, certified, warn_if_stopped
from mtmkl.solvers.svm.task_duals import DualProblem, TaskDuals, remedy_of
from mtmkl.solvers.weights.mixed_norm import duals_of, with_own_weights
from mtmkl.typing import FloatArray

GROWTH, CUT = 2.0, 0.5
"""Factors of adaptive steps."""
ROUNDING = 1e-13
"""Of an objective, relative."""


class MirrorDescentMKMTFL(MKMTFLRegressor):
    """MK-MTFL for regression by mirror descent."""

    def _path(self, problem: DualProblem) -> "MixedNormDescent":
        return MixedNormDescent(
            problem, float(self.p), tol=self.tol, max_iter=self.max_iter
        )


@dataclass(eq=False)
class MixedNormDescent:
    """Solutions for many C by mirror descent, each started from the last γ.

    ``step`` is the s of all iterations; by default steps adapt. The history of the
    certificate has the objective at each iteration.
    """

    problem: DualProblem
    p: float
    _: KW_ONLY
    step: float | None = None
    tol: float = 1e-4
    max_iter: int = 500

    def __post_init__(self) -> None:
        n_weights = self.problem.n_weights
        self._state: TaskDuals | None = None
        self._logs = np.full(n_weights, -np.log(n_weights))

    def solve(self, C: float) -> Solution:
        """Solve for one C."""
        state = self._state = self._state or duals_of(self.problem, self.p, C)
        if C != state.C:
            state.rescale(C)
        state.renew()
        floor, accuracy = self.problem.floor(C), first_tolerance(self.tol)
        # γ itself may underflow, and would never come back.
        logs, length, history = self._logs, self.step, list[float]()
        inner = state.solve(np.exp(logs), accuracy)
        mean = _Mean(state.beta)
        bound, best = -np.inf, state.beta
        status: Status | None = None
        while True:
            lower = inner.linear - float(inner.q.max())
            for value, beta in ((lower, state.beta), (mean.bound, mean.beta)):
                if value > bound:
                    bound, best = value, beta.copy()
            gap, inner_gap = inner.primal - bound, inner.primal - inner.dual
            allowed = self.tol * max(abs(inner.primal), floor)
            is_finest = bool(inner.limit) or accuracy < FINEST_TOLERANCE
            if gap <= allowed:
                status = "converged"
            elif is_finest and inner_gap >= 0.5 * gap:
                status = "stalled"
            elif len(history) >= self.max_iter:
                status = "stopped"
            elif inner_gap > max(0.1 * gap, 0.3 * allowed) and not is_finest:
                wanted = max(0.05 * gap, 0.15 * allowed)
                accuracy = next_tolerance(accuracy, inner, wanted)
                inner = state.solve(np.exp(logs), accuracy)
                continue
            history.append(inner.primal)
            if status:
                break
            length = length or 1.0 / max(float(inner.q.max()), 1e-300)
            while True:
                moved = logs + length * inner.q
                moved -= logsumexp(moved)
                there = state.solve(np.exp(moved), accuracy)
                slope = float(inner.q @ (np.exp(logs) - np.exp(moved)))
                divergence = float(np.exp(moved) @ (moved - logs))
                model = inner.dual + slope + divergence / length
                ceiling = model + ROUNDING * abs(model) + inner_gap
                if self.step is not None or there.dual <= ceiling:
                    break
                length *= CUT
            if self.step is None:
                length *= GROWTH
            logs, inner = moved, there
            if len(history) & (len(history) - 1) == 0:
                mean = _Mean(state.beta)  # the first iterations are far from the others
            mean.add(inner, state.beta, length)
        self._logs = logs
        # The bound of the mean itself is above the mean bound.
        at_best = state.at(best).solve(np.exp(logs), np.inf)
        bound = at_best.linear - float(at_best.q.max())
        certificate = certified(history, bound, len(history) - 1, status, floor)
        warn_if_stopped(
            certificate,
            f"mirror descent, C={C:g}, p={self.p:g}",
            self.tol,
            remedy=remedy_of(self.problem),
            limit=inner.limit,
            stacklevel=4,
        )
        gamma = np.exp(logs)
        beta = state.beta.copy()
        solution = Solution(gamma, certificate, dual=beta, intercept=state.intercept)
        return with_own_weights(solution, gamma, state)


class _Mean:
    """The mean of duals, weighted, with a lower bound."""

    def __init__(self, beta: FloatArray) -> None:
        self.beta = np.zeros_like(beta)
        self.q: FloatArray | float = 0.0
        self.linear = self.total = 0.0
        self.bound = -np.inf

    def add(self, inner: Inner, beta: FloatArray, weight: float) -> None:
        """Add duals; ℓ of the mean is at least the mean ℓ, and Q at most its mean."""
        self.total += weight
        share = weight / self.total
        self.beta += share * (beta - self.beta)
        self.linear += share * (inner.linear - self.linear)
        self.q = self.q + share * (inner.q - self.q)
        self.bound = self.linear - float(np.max(self.q))
