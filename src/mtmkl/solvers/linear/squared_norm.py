r"""Squared loss with a squared-norm penalty.

Solves, for T tasks with coefficients W = [w_1 … w_T] (d × T),

    min_W  Σ_t ||y_t − X_t w_t||² + γ·Ω(W)²,

Ω the trace norm (problem (14) of Argyriou, Evgeniou and Pontil 2008), the trace norm of
the deviations from the tasks' mean, or the (2,1)-norm of the rows (their problem (5)),
as :mod:`mtmkl.solvers.linear.working_sets` has it.

The method is that of :mod:`mtmkl.solvers.linear.task_admm`; the proximal point of γΩ²
has zero singular values or rows that are exact, and the conjugate of γΩ² is Ω°²/(4γ).
For the deviations W = Z + w_0 1' with Z1 = 0, and the W step is a joint step in the
deviations and w_0: its residuals fulfil Σ_t X_t'a_t = 0, without which the bound would
be −∞, exactly.

References
----------
A. Argyriou, T. Evgeniou and M. Pontil, Convex multi-task feature learning, Machine
Learning 73(3), 2008.
"""

from typing import Any, Literal

import numpy as np

from mtmkl.compiled import compiled
from mtmkl.solvers.linear.free_mean import NO_SYSTEM, FreeMean, System, joint_step
from mtmkl.solvers.linear.penalties import TRACE, SquaredNorm, prox_squared_norm
from mtmkl.solvers.linear.task_admm import (
    MIX_AFTER,
    BestPair,
    PenaltySteps,
    WarmStart,
    alternate,
    relaxed_step,
    residuals,
)
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition, TaskRows
from mtmkl.solvers.solution import LEAST_SHARE, Solution
from mtmkl.typing import FloatArray, IntArray

PenaltyName = Literal["trace", "deviations"]

# Share of X_t'a_t from which their sum is more than rounding.
_ROUNDING = 1e-6


def solve(
    tasks: TaskDecomposition,
    gamma: float,
    *,
    penalty: PenaltyName = "trace",
    tol: float = 1e-6,
    max_iter: int = 10_000,
    start: WarmStart | None = None,
) -> Solution:
    """Minimise Σ_t ||y_t − X_t w_t||² + γ·Ω(W)² to a relative duality gap.

    Parameters
    ----------
    tasks, max_iter, start
        As for :func:`mtmkl.solvers.linear.task_admm.solve`; a start may be of another
        γ.
    gamma : float
        γ > 0.
    penalty : {"trace", "deviations"}
        Ω: trace norm, or trace norm of the deviations from the tasks' mean.
    tol : float
        Relative duality gap at which to stop; with "deviations" relative to at least
        ``LEAST_SHARE`` of Σ_t ||y_t||², as the minimum may be zero.

    Returns
    -------
    Solution
        ``coef`` of shape (d, T), whose rank (that of the deviations) is exact; ``dual``
        of shape (n,), a dual feasible point in the order of the samples;
        ``extra["warm_start"]`` and ``extra["norm"]`` = Ω(W).

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` is reached before ``tol``; the message states the gap.
    """
    best, steps = BestPair(tol), SquaredSteps(tasks, gamma, TRACE, start)
    if penalty == "deviations":
        steps = _DeviationSteps(tasks, gamma, start)
        steps.offer_mean(best)
    n_iter = alternate(steps, best, max_iter=max_iter, n_iter=int(best.is_close))
    problem = f"squared {penalty} norm, gamma={gamma:g}"
    coef, size = best.point
    return Solution(
        coef=coef.T,
        certificate=best.certificate(n_iter, problem),
        dual=tasks.expand(best.dual),
        extra={"warm_start": steps.end(), "norm": float(np.sqrt(size / gamma))},
    )


class SquaredSteps(PenaltySteps):
    """The splitting W = Z for the square of a norm; the unit of ρ in a start is γ."""

    penalty: SquaredNorm
    mean: FreeMean | None = None

    def __init__(
        self, tasks: TaskDecomposition, gamma: float, norm: int, start: WarmStart | None
    ) -> None:
        if start is not None:
            start = WarmStart(start.primal, start.multiplier, gamma * start.step)
        super().__init__(tasks, SquaredNorm(float(gamma), norm), start)

    def iterate(self, n: int) -> None:
        """Take some iterations, in compiled code until it pays to mix them."""
        # Points mixed in the deviations' joint step leave the bound where it is.
        if self.n_taken >= MIX_AFTER and self.mean is None:
            super().iterate(n)
            return
        self.n_taken += n
        gamma, norm = self.penalty.gamma, self.penalty.norm
        system = NO_SYSTEM if self.mean is None else self.mean.system(self.step)
        self.Z, self.L, self.previous, self.pull, self.residual, self.size = _iterate(
            self.data, system, self.Z, self.L, self.step, gamma, norm, n
        )

    def end(self) -> WarmStart:
        """Return where the next solve may start, with ρ/γ."""
        return WarmStart(self.Z, self.L, self.balanced / self.penalty.gamma)


class _DeviationSteps(SquaredSteps):
    """The splitting W = Z + w_0 1'."""

    mean: FreeMean

    def __init__(
        self, tasks: TaskDecomposition, gamma: float, start: WarmStart | None
    ) -> None:
        super().__init__(tasks, gamma, TRACE, start)
        self.mean = FreeMean(tasks, 0.0)

    def offer_mean(self, best: BestPair) -> None:
        """Set the floor of the gap, and offer w_0 alone if it fits all targets.

        The optimum is then zero, which iterations reach only up to their rounding.
        """
        target, nothing = self.data[-1], np.zeros_like(self.Z)
        best.floor = LEAST_SHARE * (self.constant + float(target @ target))
        mean = nothing + self.mean.best(nothing)
        rest = residuals(self.data, mean)
        value = self.constant + float(rest @ rest)
        if value < best.tol * best.floor:
            best.offer(value, (mean, 0.0), self.constant, np.zeros_like(target))

    def check(self) -> tuple[float, tuple[FloatArray, float], float, FloatArray]:
        mean = self.mean.best(self.Z)
        rest = residuals(self.data, self.Z + mean)
        value = self.constant + float(rest @ rest) + self.size
        a, pull = self.mean.agreeing(2.0 * self.residual, mean)
        # Of one task 0 alone is dual feasible, and the best multiple of a rounding
        # error is not: a zero in its place.
        if np.linalg.norm(pull.sum(axis=0)) > _ROUNDING * np.linalg.norm(pull):
            a, pull = np.zeros_like(a), np.zeros_like(pull)
        lower, dual = self.bound(a, pull)
        return value, (self.Z + mean, self.size), lower, dual


def solve_group(
    tasks: TaskDecomposition,
    members: IntArray,
    gamma: float,
    *,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    start: WarmStart | None = None,
    cutoff: float = np.inf,
) -> Solution:
    """Minimise Σ_t ||y_t − X_t w_t||² + γ||W||_tr² over some of the tasks.

    It is what :func:`solve` does for these tasks alone, without a copy of the data.

    Parameters
    ----------
    tasks, gamma, tol, max_iter, start
        As for :func:`solve`, which also says when there is a warning; a start is of the
        members, in their order.
    members : ndarray of int of shape (T_g,)
        The tasks of the group.
    cutoff : float
        End, too, where the minimum is at least this.
    """
    best = BestPair(tol, cutoff)
    steps = SquaredSteps(tasks.part(members), gamma, TRACE, start)
    n_iter = alternate(steps, best, max_iter=max_iter)
    certificate = best.certificate(n_iter, f"squared trace norm, gamma={gamma:g}")
    coef, extra = best.point[0].T, {"warm_start": steps.end()}
    return Solution(coef, certificate, dual=best.dual, extra=extra)


@compiled
def _iterate(
    data: TaskRows,
    system: System,
    Z: FloatArray,
    L: FloatArray,
    step: float,
    gamma: float,
    norm: int,
    n: int,
) -> tuple[Any, ...]:
    """Return Z, L, what they were before the last iteration, pull, residual, γΩ²."""
    nothing = np.zeros(Z.shape[1])
    for _ in range(n):
        previous = Z, L
        if system[0].size > 0:
            V, pull, residual = joint_step(data, system, Z, L, step)
        else:
            V, pull, residual = relaxed_step(data, Z, L, nothing, step)
        Z, size = prox_squared_norm(V, 2.0 * gamma / step, norm)
        L = (Z - V) * step
    return Z, L, previous, pull, residual, gamma * size * size
