r"""Squared loss with a convex penalty on all tasks, by alternating directions.

Solves, for T tasks with coefficients W = [w_1 … w_T] (d × T),

    min_W  Σ_t ||y_t − X_t w_t||² + Ω(W)

for any Ω that can give its exact proximal point and its conjugate. The splitting W = Z
alternates a step in W, which is diagonal in the singular vectors of each X_t for every
step size ρ, and the proximal point in Z. With residuals r_t of the W step, a_t = 2r_t
is a dual point, and

    Σ_t (y_t'a_t − ¼||a_t||²) − Ω*([X_1'a_1 … X_T'a_T])

a lower bound on the minimum.

References
----------
S. Boyd et al., Distributed optimization and statistical learning via the alternating
direction method of multipliers, 2011, sections 3.3 and 3.4.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mtmkl.compiled import compiled
from mtmkl.solvers.linear.row_products import pull_back_tasks
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition
from mtmkl.solvers.solution import Certificate, Solution, warn_if_stopped
from mtmkl.typing import FloatArray, IntArray

#: Over-relaxation of the W step.
RELAXATION = 1.6
_ADAPT_EVERY = 10


class TaskPenalty(Protocol):
    """What the method needs of a penalty; matrices are transposed, (T, d)."""

    def prox(self, V: FloatArray, step: float) -> tuple[FloatArray, float]:
        """Return the Z that minimises Ω(Z) + (ρ/2)||Z − V||_F², and Ω(Z)."""
        ...

    def conjugate(self, M: FloatArray, Z: FloatArray) -> float:
        """Return Ω*(M), or for a Ω that is not convex that of its majoriser at Z."""
        ...


@dataclass(frozen=True)
class WarmStart:
    """Where a solve left off, for the next penalty.

    Attributes
    ----------
    primal, multiplier : ndarray of shape (T, d)
        Z and the multiplier of W = Z, transposed.
    step : float
        ρ at the end.
    """

    primal: FloatArray
    multiplier: FloatArray
    step: float


def solve(
    tasks: TaskDecomposition,
    penalty: TaskPenalty,
    *,
    step: float,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    start: WarmStart | None = None,
) -> Solution:
    """Minimise Σ_t ||y_t − X_t w_t||² + Ω(W) to a relative duality gap.

    Parameters
    ----------
    tasks : TaskDecomposition
        The data, shared between all penalties.
    penalty : TaskPenalty
        Ω.
    step : float
        First ρ > 0 where there is no ``start``; it adapts.
    tol : float
        Relative duality gap at which to stop.
    max_iter : int
        Maximum number of iterations.
    start : WarmStart, optional
        ``extra["warm_start"]`` of a solution for the same tasks.

    Returns
    -------
    Solution
        ``coef`` of shape (d, T), a proximal point; ``dual`` of shape (n,) in the order
        of the examples; ``extra["warm_start"]``. The history holds the best objective
        so far at each check.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` is reached before ``tol``; the message states the gap.
    """
    steps = _PenaltySteps(tasks, penalty, step, start)
    best = BestPair(tol)
    n_iter = alternate(steps, best, max_iter=max_iter)
    certificate = best.certificate(n_iter)
    warn_if_stopped(certificate, type(penalty).__name__, tol, stacklevel=4)
    return Solution(
        coef=best.point.T,
        certificate=certificate,
        dual=tasks.expand(best.dual),
        extra={"warm_start": steps.end},
    )


class _PenaltySteps:
    """The splitting W = Z of the loss and a penalty."""

    check_every = 5

    def __init__(
        self,
        tasks: TaskDecomposition,
        penalty: TaskPenalty,
        step: float,
        start: WarmStart | None,
    ) -> None:
        self.tasks = tasks
        self.penalty = penalty
        if start is None:
            nothing = np.zeros((tasks.n_tasks, tasks.n_features))
            start = WarmStart(nothing, nothing, step)
        self.Z, self.L, self.step = start.primal, start.multiplier, start.step

    def advance(self) -> None:
        Z, L, step = self.Z, self.L, self.step
        W, self.pull, self.residual = loss_step(*self.tasks.arrays, Z + L / step, step)
        V = RELAXATION * W + (1.0 - RELAXATION) * Z - L / step
        self.W, self.previous = W, Z
        self.Z, self.size = self.penalty.prox(V, step)
        self.L = step * (self.Z - V)

    def check(self) -> tuple[float, FloatArray, float, FloatArray]:
        tasks, residual = self.tasks, self.residual
        value = tasks.constant + loss(*tasks.arrays, self.Z) + self.size
        # a = 2r: y'a − ¼||a||².
        lower = tasks.constant + 2.0 * tasks.target @ residual - residual @ residual
        lower -= self.penalty.conjugate(self.pull, self.Z)
        # The step that has led here, before it adapts.
        self.end = WarmStart(self.Z, self.L, self.step)
        return value, self.Z, lower, 2.0 * residual

    def adapt(self) -> None:
        self.step *= balance(self.W, self.Z, self.previous, self.L, self.step)


class Splitting(Protocol):
    """The steps of one problem by the alternating direction method."""

    #: Iterations from one check of the certificate to the next.
    check_every: int

    def advance(self) -> None:
        """Take one iteration: the step in each variable, and in the multipliers."""
        ...

    def check(self) -> tuple[float, FloatArray, float, FloatArray]:
        """Return the objective at a point, the point, a lower bound, its dual point."""
        ...

    def adapt(self) -> None:
        """Balance the relative primal and dual residuals by another step size."""
        ...


class BestPair:
    """The best point and the best lower bound so far.

    Parameters
    ----------
    tol : float
        Relative duality gap that is close enough.

    Attributes
    ----------
    objective, bound : float
    point, dual : ndarray
        Where they are attained; ``dual`` of shape (n_rows,).
    history : list of float
        Best objective at each check.
    """

    point: FloatArray
    dual: FloatArray

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self.objective, self.bound = np.inf, -np.inf
        self.history: list[float] = []

    def offer(
        self, objective: float, point: FloatArray, bound: float, dual: FloatArray
    ) -> None:
        """Keep what is better than before."""
        if objective < self.objective:
            self.objective, self.point = float(objective), point
        if bound > self.bound:
            self.bound, self.dual = float(bound), dual
        self.history.append(self.objective)

    @property
    def is_close(self) -> bool:
        """Whether the gap is within the tolerance."""
        gap = self.objective - self.bound
        return self.objective < np.inf and gap <= self.tol * self.objective

    def certificate(self, n_iter: int) -> Certificate:
        """Return the certificate after so many iterations."""
        return Certificate(
            objective=self.objective,
            dual_objective=self.bound,
            n_iter=n_iter,
            status="converged" if self.is_close else "stopped",
            history=np.array(self.history),
        )


def alternate(
    steps: Splitting, best: BestPair, *, max_iter: int, n_iter: int = 0
) -> int:
    """Iterate until the best pair is close; return the number of iterations.

    ``best`` is offered what each check finds; ``n_iter`` counts as done.
    """
    next_adapt = n_iter + _ADAPT_EVERY
    while not best.is_close and n_iter < max_iter:
        n_iter += 1
        steps.advance()
        if n_iter % steps.check_every == 0 or n_iter == max_iter:
            best.offer(*steps.check())
        if n_iter == next_adapt:
            # Ever more seldom, so that the step settles and the method's convergence
            # proof applies.
            next_adapt += max(_ADAPT_EVERY, n_iter // 3)
            steps.adapt()
    return n_iter


def balance(
    W: FloatArray, Z: FloatArray, previous: FloatArray, L: FloatArray, step: float
) -> float:
    """Return the factor for ρ that brings the relative residuals nearer together."""
    sizes = np.linalg.norm(W), np.linalg.norm(L)
    if min(sizes) == 0.0:
        return 1.0
    primal = np.linalg.norm(W - Z) / sizes[0]
    dual = step * np.linalg.norm(Z - previous) / sizes[1]
    if primal == 0.0 or dual == 0.0:
        return 1.0
    ratio = float(np.sqrt(primal / dual))
    return min(max(ratio, 0.1), 10.0) if ratio > 2.0 or ratio < 0.5 else 1.0


@compiled
def loss_step(
    right: FloatArray,
    singular: FloatArray,
    target: FloatArray,
    offsets: IntArray,
    base: FloatArray,
    step: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the proximal point of the loss, min Σ_t ||y_t − X_t w_t||² + (ρ/2)||·||².

    It is taken from ``base``, shape (T, d). Also returns 2X_t'(y_t − X_t w_t), which is
    ρ(w_t − b_t), and the residuals c − S V'w, stacked.
    """
    # Along v: w = b + v (q − p), q minimising (c − sq)² + (ρ/2)(q − p)², p = v'b.
    totals = 2.0 * singular * singular + step
    aims = 2.0 * singular * target / totals
    slopes = 2.0 * singular * singular / totals
    shift, fit = pull_back_tasks(right, offsets, base, aims, slopes)
    residual = target - singular * (fit + (aims - slopes * fit))
    return base + shift, step * shift, residual


@compiled
def loss(
    right: FloatArray,
    singular: FloatArray,
    target: FloatArray,
    offsets: IntArray,
    Z: FloatArray,
) -> float:
    """Return Σ ||c − S V'z_t||², the loss less its constant, at Z of shape (T, d)."""
    value = 0.0
    for t in range(Z.shape[0]):
        lo, hi = offsets[t], offsets[t + 1]
        p = np.dot(right[lo:hi], Z[t])
        for j in range(lo, hi):
            value += (target[j] - singular[j] * p[j - lo]) ** 2
    return value
