r"""Squared loss with a convex penalty on all tasks, by alternating directions.

Solves, for T tasks with coefficients W = [w_1 … w_T] (d × T),

    min_W  Σ_t ||y_t − X_t w_t||² + Ω(W)

for any Ω that can give its exact proximal point and its conjugate. The splitting W = Z
alternates a step in W, which is diagonal in the singular vectors of each X_t for every
step size ρ, and the proximal point in Z; what takes long mixes its last points
(Anderson's acceleration). With residuals r_t of the W step, a_t = 2r_t
is a dual point, and

    Σ_t (y_t'a_t − ¼||a_t||²) − Ω*([X_1'a_1 … X_T'a_T])

a lower bound on the minimum; where Ω is 2-homogeneous, at the best multiple of a.

References
----------
S. Boyd et al., Distributed optimization and statistical learning via the alternating
direction method of multipliers, 2011, sections 3.3 and 3.4.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mtmkl.compiled import add_scaled, compiled, dot, dot_at
from mtmkl.solvers.anderson import AndersonExtrapolation
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition, TaskRows
from mtmkl.solvers.solution import (
    Certificate,
    Solution,
    Status,
    certified,
    warn_if_stopped,
)
from mtmkl.typing import FloatArray

#: Over-relaxation of the W step.
RELAXATION = 1.6
#: Iterations before points are mixed: most problems are solved by then.
MIX_AFTER = 40
_ADAPT_EVERY = 10
# Iterations after which a relative gap that is small is stuck if more than this is left
# of it, and what ρ is multiplied by then, to what share of the balanced one; share of
# the gap by which an objective moves that lags.
_LOWER_EVERY, _NEAR, _SLOW = 20, 3e-3, 0.6
_LOWER, _LEAST, _MOVES = 0.3, 0.01, 0.01
# Points that are mixed.
_MEMORY = 10


class TaskPenalty(Protocol):
    """A penalty, as the method needs it; matrices are transposed, (T, d)."""

    #: Whether Ω(sW) = s²Ω(W).
    is_square: bool

    @property
    def first_step(self) -> float:
        """First ρ > 0 where there is no warm start; it adapts."""
        ...

    def prox(self, V: FloatArray, step: float) -> tuple[FloatArray, float]:
        """Return the Z that minimises Ω(Z) + (ρ/2)||Z − V||_F², and Ω(Z)."""
        ...

    def conjugate(self, M: FloatArray) -> float:
        """Return Ω*(M)."""
        ...


@dataclass(frozen=True)
class WarmStart:
    """Where a solve left off, for the next penalty."""

    #: Z and the multipliers of the splitting, tasks before features.
    primal: FloatArray
    multiplier: FloatArray
    #: ρ at the end, in the unit that the solver states.
    step: float


def solve(
    tasks: TaskDecomposition,
    penalty: TaskPenalty,
    *,
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
        Ω; its ``first_step`` is ρ where there is no ``start``; it adapts.
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
        of the samples; ``extra["warm_start"]``. The history holds the best objective
        so far at each check.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` is reached before ``tol``; the message states the gap.
    """
    steps = PenaltySteps(tasks, penalty, start)
    best = BestPair(tol)
    n_iter = alternate(steps, best, max_iter=max_iter)
    return Solution(
        coef=best.point[0].T,
        certificate=best.certificate(n_iter, type(penalty).__name__),
        dual=tasks.expand(best.dual),
        extra={"warm_start": steps.end()},
    )


class Splitting(Protocol):
    """The steps of one problem by the alternating direction method."""

    #: Iterations from one check of the certificate to the next, a divisor of 20.
    check_every: int
    #: Whether the lower bound may lag far behind Z with the ρ that serves Z, and rises
    #: faster with a small one, which is taken back once Z lags.
    bound_lags: bool
    #: ρ, and the one of them that balanced the residuals.
    step: float
    balanced: float
    #: Z and the multipliers, what they were before the last iteration, and X_t'a_t of
    #: a = 2r at the W step, (T, d), which moves all copies alike.
    Z: FloatArray
    L: FloatArray
    previous: tuple[FloatArray, FloatArray]
    pull: FloatArray

    def advance(self) -> None:
        """Take one iteration: the step in each variable, and in the multipliers."""
        ...

    def iterate(self, n: int) -> None:
        """Take some iterations."""
        for _ in range(n):
            self.advance()

    def check(self) -> tuple[float, Any, float, FloatArray]:
        """Return the objective at a point, the point, a lower bound, its dual point."""
        ...

    def balance(self) -> float:
        """Return the factor for ρ that brings the relative residuals together."""
        Z, L = self.previous
        # By the optimality of its step ρ(W − Z − L/ρ) is the pull.
        W = Z + (L + self.pull) / self.step
        size, multiplier, primal, dual = _norms(
            W.ravel(), self.Z.ravel(), Z.ravel(), self.L.ravel()
        )
        if min(size, multiplier, primal, dual) == 0.0:
            return 1.0
        ratio = float(np.sqrt(primal / size * multiplier / (self.step * dual)))
        return min(max(ratio, 0.1), 10.0) if ratio > 2.0 or ratio < 0.5 else 1.0

    def scale_step(self, factor: float) -> None:
        """Multiply ρ."""
        self.step *= factor


class PenaltySteps(Splitting):
    """The splitting W = Z of the loss and a penalty."""

    check_every = 5
    bound_lags = True

    def __init__(
        self, tasks: TaskDecomposition, penalty: TaskPenalty, start: WarmStart | None
    ) -> None:
        self.data, self.constant, self.penalty = tasks.arrays, tasks.constant, penalty
        if start is None:
            nothing = np.zeros((tasks.n_tasks, tasks.n_features))
            start = WarmStart(nothing, nothing, penalty.first_step)
        self.Z, self.L = start.primal, start.multiplier
        self.step = self.balanced = start.step
        self.no_mean = np.zeros(tasks.n_features)
        self.n_taken = 0
        self.extrapolation = AndersonExtrapolation(self.Z.shape, _MEMORY)

    def advance(self) -> None:
        """Take the W step, the proximal point in Z, and that in the multipliers."""
        V, self.pull, self.residual = relaxed_step(
            self.data, self.Z, self.L, self.no_mean, self.step
        )
        if self.n_taken >= MIX_AFTER:
            old = self.Z - self.L / self.step
            V = self.extrapolation.following(old, V - old)
        self.n_taken += 1
        self.previous = self.Z, self.L
        self.Z, self.size = self.penalty.prox(V, self.step)
        self.L = self.step * (self.Z - V)

    def scale_step(self, factor: float) -> None:
        """Multiply ρ, after which the former points mean something else."""
        self.step *= factor
        self.extrapolation.clear()

    def check(self) -> tuple[float, tuple[FloatArray, float], float, FloatArray]:
        """Return what is at Z, which comes with Ω(Z), and the dual point's bound."""
        rest = residuals(self.data, self.Z)
        value = self.constant + float(rest @ rest) + self.size
        lower, dual = self.bound(2.0 * self.residual, self.pull)
        return value, (self.Z, self.size), lower, dual

    def bound(self, a: FloatArray, pull: FloatArray) -> tuple[float, FloatArray]:
        """Return the lower bound of a, or its best multiple, and this; ``pull`` X'a."""
        linear = float(self.data[-1] @ a)
        quadratic = 0.25 * float(a @ a) + self.penalty.conjugate(pull)
        scale = 1.0
        if self.penalty.is_square and quadratic > 0.0:
            scale = 0.5 * linear / quadratic
        return self.constant + scale * (linear - scale * quadratic), scale * a

    def end(self) -> WarmStart:
        """Return where the next solve may start."""
        return WarmStart(self.Z, self.L, self.balanced)


class BestPair:
    """The best point and the best lower bound so far.

    Parameters
    ----------
    tol : float
        Relative duality gap that is close enough.
    cutoff : float
        Lower bound that is enough, too.

    Attributes
    ----------
    objective, bound : float
    point, dual : Any, ndarray of shape (n_rows,)
        Where they are attained.
    history : list of float
        Best objective at each check.
    floor : float
        As for :func:`~mtmkl.solvers.solution.relative_gap`.
    """

    point: Any
    dual: FloatArray
    floor = 0.0

    def __init__(self, tol: float, cutoff: float = np.inf) -> None:
        self.tol, self.cutoff = tol, cutoff
        self.objective, self.bound = np.inf, -np.inf
        self.history: list[float] = []

    def offer(
        self, objective: float, point: Any, bound: float, dual: FloatArray
    ) -> None:
        """Keep what is better than before."""
        if objective < self.objective:
            self.objective, self.point = float(objective), point
        if bound > self.bound:
            self.bound, self.dual = float(bound), dual
        self.history.append(self.objective)

    @property
    def is_close(self) -> bool:
        """True if the gap is within the tolerance."""
        gap = self.objective - self.bound
        size = max(self.objective, self.floor)
        return self.objective < np.inf and gap <= self.tol * size

    def certificate(self, n_iter: int, problem: str) -> Certificate:
        """Return the certificate after so many iterations; warn if that is no end."""
        status: Status = "converged" if self.is_close else "stopped"
        found = certified(self.history, self.bound, n_iter, status, self.floor)
        if not self.is_close and self.bound < self.cutoff:
            warn_if_stopped(found, problem, self.tol, stacklevel=4)
        return found


def alternate(
    steps: Splitting, best: BestPair, *, max_iter: int, n_iter: int = 0
) -> int:
    """Iterate until the best pair is close; return the number of iterations.

    ``best`` is offered what each check finds; ``n_iter`` counts as done.
    """
    next_adapt = n_iter + _ADAPT_EVERY
    last = np.inf, -np.inf
    is_done = best.is_close
    while not is_done and n_iter < max_iter:
        # Until the next check, or the next look at ρ.
        stop = min(n_iter + steps.check_every - n_iter % steps.check_every, max_iter)
        if n_iter < next_adapt:
            stop = min(stop, next_adapt)
        steps.iterate(stop - n_iter)
        n_iter = stop
        if n_iter % steps.check_every == 0 or n_iter == max_iter:
            best.offer(*steps.check())
            is_done = best.is_close or best.bound >= best.cutoff
        factor = 1.0
        if n_iter == next_adapt and steps.step == steps.balanced:
            # Ever more seldom, so that the step settles and the method's convergence
            # proof applies.
            next_adapt += max(_ADAPT_EVERY, n_iter // 3)
            factor = steps.balance()
            steps.balanced *= factor
        if steps.bound_lags and n_iter % _LOWER_EVERY == 0:
            gap, last_gap = best.objective - best.bound, last[0] - last[1]
            if _SLOW * last_gap < gap <= _NEAR * best.objective:
                # The one that still moves is the one that lags.
                moved = last[0] - best.objective
                if moved > max(best.bound - last[1], _MOVES * gap):
                    factor *= min(1.0 / _LOWER, steps.balanced / (factor * steps.step))
                elif steps.step > _LEAST * steps.balanced:
                    factor *= _LOWER
            last = best.objective, best.bound
        if factor != 1.0:
            steps.scale_step(factor)
    return n_iter


@compiled
def _norms(
    W: FloatArray, Z: FloatArray, previous: FloatArray, L: FloatArray
) -> tuple[float, float, float, float]:
    """Return the norms of W, L, W − Z and Z − Z_previous."""
    primal, dual = W - Z, Z - previous
    return (
        np.sqrt(dot(W, W)),
        np.sqrt(dot(L, L)),
        np.sqrt(dot(primal, primal)),
        np.sqrt(dot(dual, dual)),
    )


@compiled
def relaxed_step(
    data: TaskRows, Z: FloatArray, L: FloatArray, mean: FloatArray, step: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Take the W step from Z + L/ρ, and a mean that is none of the penalty's.

    Returns V, of which Z is the proximal point, and what :func:`loss_step` does but W.
    """
    base, V = np.empty_like(Z), np.empty_like(Z)
    n_tasks, d = Z.shape
    for t in range(n_tasks):
        for i in range(d):
            base[t, i] = Z[t, i] + L[t, i] / step + mean[i]
    _, pull, residual = loss_step(data, base, step)
    for t in range(n_tasks):
        for i in range(d):
            moved = (RELAXATION - 1.0) * L[t, i] + RELAXATION * pull[t, i]
            V[t, i] = Z[t, i] + moved / step
    return V, pull, residual


@compiled
def loss_step(
    data: TaskRows, base: FloatArray, step: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the proximal point of the loss, min Σ_t ||y_t − X_t w_t||² + (ρ/2)||·||².

    It is taken from ``base``, shape (T, d). Also returns 2X_t'(y_t − X_t w_t), which is
    ρ(w_t − b_t), and the residuals c − S V'w, stacked.
    """
    # Along v: w = b + v (q − p), q minimising (c − sq)² + (ρ/2)(q − p)², p = v'b.
    _, _, _, singular, target = data
    n, (n_tasks, d) = singular.size, base.shape
    aims, slopes, W = np.empty((1, n)), np.empty(n), np.empty_like(base)
    for j in range(n):
        whole = 2.0 * singular[j] * singular[j] + step
        aims[0, j] = 2.0 * singular[j] * target[j] / whole
        slopes[j] = 2.0 * singular[j] * singular[j] / whole
    pulls, fits = pull_back(data, base.reshape((1, n_tasks, d)), aims, slopes)
    pull, residual = pulls[0], fits[0]
    for t in range(n_tasks):
        for i in range(d):
            W[t, i] = base[t, i] + pull[t, i]
            pull[t, i] *= step
    for j in range(n):
        moved = residual[j] + (aims[0, j] - slopes[j] * residual[j])
        residual[j] = target[j] - singular[j] * moved
    return W, pull, residual


@compiled
def pull_back(
    data: TaskRows, points: FloatArray, aims: FloatArray, slopes: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return V_t'(a_t − b_t∘V_t w_t) of each task for several points, and V_t w_t.

    The points have shape (S, T, d), a and the second result (S, n_rows). The rows of
    all tasks are far larger than a cache: each is read once for both results.
    """
    right, starts, offsets, _, _ = data
    n_points, n_tasks, d = points.shape
    pulls, fits = np.zeros_like(points), np.empty_like(aims)
    for t in range(n_tasks):
        own = slice(offsets[t], offsets[t + 1])
        b, V = slopes[own], right[starts[t] : starts[t] + offsets[t + 1] - offsets[t]]
        # A task's rows are read once for all points.
        for k in range(n_points):
            point, pull = points[k, t], pulls[k, t]
            a, fit = aims[k, own], fits[k, own]
            whole = fit.size - fit.size % 4
            for j in range(fit.size):
                fit[j] = dot_at(V, j * d, point, 0, d)
                if j >= whole:
                    add_scaled(pull, a[j] - b[j] * fit[j], V[j])
                elif j % 4 == 3:
                    # Four rows at a time: the sum is then read a quarter as often.
                    p = a[j - 3] - b[j - 3] * fit[j - 3]
                    q = a[j - 2] - b[j - 2] * fit[j - 2]
                    r = a[j - 1] - b[j - 1] * fit[j - 1]
                    s = a[j] - b[j] * fit[j]
                    v, w, x, y = V[j - 3], V[j - 2], V[j - 1], V[j]
                    for i in range(d):
                        pull[i] += p * v[i] + q * w[i] + r * x[i] + s * y[i]
    return pulls, fits


@compiled
def residuals(data: TaskRows, Z: FloatArray) -> FloatArray:
    """Return c − S V'z_t, stacked, whose square is the loss less its constant."""
    right, starts, offsets, singular, target = data
    found = np.empty_like(target)
    n_tasks, d = Z.shape
    for t in range(n_tasks):
        for j in range(offsets[t], offsets[t + 1]):
            row = starts[t] + j - offsets[t]
            found[j] = target[j] - singular[j] * dot_at(right, row * d, Z, t * d, d)
    return found
