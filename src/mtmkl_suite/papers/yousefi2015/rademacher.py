"""Rademacher complexity of multiple-kernel classes whose tasks have similar weights.

The class of Yousefi et al. (2015), eqs. (24)–(25): task t has a function of norm at
most √R in the space of the kernel Σ_m θ_tm k_m, with the weights in

    Ω'' = {θ_t ≥ 0, Σ_m θ_tm ≤ 1 for all t, Σ_{t<s} ||θ_t − θ_s||² ≤ γ²}.

For signs σ the supremum over the functions is known, and with u_tm = σ_t'K_tm σ_t what
is left is a concave problem in the weights,

    √R / (nT) · max_{θ ∈ Ω''} Σ_t √(θ_t'u_t),

whose mean over σ is the empirical complexity (eq. 35).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mtmkl.solvers.solution import Certificate, Solution
from mtmkl.typing import FloatArray

_SHRINKAGE = 10.0  # of the products of multipliers and slacks, a step
_INSIDE = 0.99  # of the way to where a multiplier or a slack vanishes
_SUFFICIENT = 0.01
_MAX_HALVINGS = 40
_TINY = 1e-12
_ACCURACY = 0.2  # of a penalised problem, relative to the whole


def largest_sum_of_roots(
    u: FloatArray, gamma: float, *, tol: float = 1e-6, max_iter: int = 100
) -> Solution:
    """Minimise −Σ_t √(θ_t'u_t) over weights of similar tasks, Ω'' of the module.

    A search for the multiplier ν of the last constraint, each penalised problem by an
    interior-point method. The bound of the certificate is the Lagrangian's: with r the
    gradient of Σ_t √(θ_t'u_t) + ν (γ² − Σ_{t<s} ||θ_t − θ_s||²), no feasible sum of
    roots is above
    this function plus Σ_t (max(0, max_m r_tm) − r_t'θ_t). γ = 0 and a γ that
    binds nothing are solved without that constraint.
    """
    u = np.asarray(u, dtype=float)
    n_tasks = len(u)
    scale = float(u.max())
    vertices = np.zeros_like(u)
    vertices[np.arange(n_tasks), u.argmax(axis=1)] = 1.0
    if scale == 0 or _spread(vertices) <= gamma**2:
        value = -float(np.sqrt(u.max(axis=1)).sum())
        return Solution(
            vertices, Certificate(value, value, 0, "converged", np.array([value]))
        )
    # With γ = 0 one vector of weights serves all tasks.
    terms = (u[None] if gamma == 0 else u[:, None]) / scale
    history = []
    for theta, upper in _search(terms, gamma, tol, max_iter):
        value = _sum_of_roots(terms, theta)
        gap = upper - value
        history.append(-math.sqrt(scale) * value)
        if gap <= tol * value:
            break
    certificate = Certificate(
        objective=history[-1],
        dual_objective=history[-1] - math.sqrt(scale) * gap,
        n_iter=len(history),
        status="converged" if gap <= tol * value else "stopped",
        history=np.array(history),
    )
    return Solution(np.broadcast_to(theta, u.shape).copy(), certificate)


def complexity_draws(
    grams: FloatArray,
    gamma: float,
    *,
    n_draws: int,
    rng: np.random.Generator,
    radius: float = 1.0,
    tol: float = 1e-4,
) -> tuple[FloatArray, FloatArray]:
    """Draw signs, and return the supremum that each gives and a bound on it.

    The means over draws are Monte Carlo estimates of the class's empirical Rademacher
    complexity and of the bound that the proof of Theorem 1 reaches when it keeps the
    constraint Σ_m θ_tm ≤ 1,

        √(R/T) / n · √(T max_m ū_m + γ √((a − b/T) / T)),

    with ū the mean of u over tasks, a − b/T the squared deviations from it. The printed
    proof has the second term alone.
    """
    n_tasks, _, n, _ = grams.shape
    suprema, bounds = np.empty(n_draws), np.empty(n_draws)
    for draw in range(n_draws):
        signs = rng.choice([-1.0, 1.0], size=(n_tasks, n))
        u = np.einsum("ti,tmij,tj->tm", signs, grams, signs, optimize=True).clip(0.0)
        largest = -largest_sum_of_roots(u, gamma, tol=tol).certificate.objective
        suprema[draw] = math.sqrt(radius) * largest / (n * n_tasks)
        mean = u.mean(axis=0)
        deviation = math.sqrt(float(np.square(u - mean).sum()) / n_tasks)
        total = n_tasks * float(mean.max()) + gamma * deviation
        bounds[draw] = math.sqrt(radius / n_tasks * total) / n
    return suprema, bounds


def theorem_1_bound(
    *, n_tasks: int, n_kernels: int, n: int, gamma: float, radius: float = 1.0
) -> float:
    """Return the printed bound on the complexity, √(√3 γ R M / (nT)) (eq. 27).

    It is no bound: its proof leaves out that the weights of a task sum to at most one,
    keeps only how they deviate from their mean over tasks, and so tends to 0 where the
    complexity does not (γ → 0, T → ∞).
    """
    return math.sqrt(math.sqrt(3) * gamma * radius * n_kernels / (n * n_tasks))


def _search(
    terms: FloatArray, gamma: float, tol: float, max_iter: int
) -> Iterator[tuple[FloatArray, float]]:
    """Yield feasible weights and upper bounds, for multipliers ν that come nearer.

    The spread of the penalised solution falls with ν; where it is γ² the two agree.
    Weights that are spread too far are shrunk towards their mean.
    """
    together = _Penalised(terms.reshape(1, -1, terms.shape[2]), 0.0)
    common = together.solve(tol, max_iter)
    if len(terms) == 1:
        yield common, together.upper_bound(common)
        return
    slope = _Penalised(terms, 0.0).gradient(np.repeat(common, len(terms), axis=0))
    # Where moves from the common weights along the slope are of the size allowed.
    multiplier = math.sqrt(_spread(slope)) / (2.0 * len(terms) * gamma)
    low, high = 0.0, math.inf
    steepness, last = -2.0, None  # of log spread against log ν, by the last two
    for _ in range(max_iter):
        problem = _Penalised(terms, multiplier)
        theta = problem.solve(_ACCURACY * tol, max_iter)
        spread = _spread(theta)
        shrink = min(1.0, gamma / math.sqrt(spread)) if spread else 1.0
        mean = theta.mean(axis=0)
        bound = problem.upper_bound(theta) + multiplier * gamma**2
        yield mean + shrink * (theta - mean), bound
        if spread > gamma**2:
            low = multiplier
        else:
            high = multiplier
        here = (math.log(multiplier), math.log(max(spread, _TINY) / gamma**2))
        if last is not None and here[0] != last[0]:
            steepness = min((here[1] - last[1]) / (here[0] - last[0]), -_TINY)
        last = here
        guess = math.exp(here[0] - max(min(here[1] / steepness, 3.0), -3.0))
        if not low < guess < high:
            guess = math.sqrt(low * high) if low and high < math.inf else 0.5 * high
        multiplier = guess


def _spread(theta: FloatArray) -> float:
    """Return Σ_{t<s} ||θ_t − θ_s||² = T Σ_t ||θ_t − θ̄||²."""
    return len(theta) * float(np.square(theta - theta.mean(axis=0)).sum())


@dataclass(frozen=True)
class _Point:
    """Weights (B, M), and the multipliers of θ ≥ 0 and of 1'θ_b ≤ 1."""

    theta: FloatArray
    positive: FloatArray
    capped: FloatArray

    @property
    def rest(self) -> FloatArray:
        left: FloatArray = 1.0 - self.theta.sum(axis=1)
        return left

    def moved(self, step: "_Point", length: float) -> "_Point":
        return _Point(
            self.theta + length * step.theta,
            self.positive + length * step.positive,
            self.capped + length * step.capped,
        )


class _Penalised:
    """max Σ_bj √(θ_b'u_bj) − ν Σ_{b<c} ||θ_b − θ_c||² over weights of sum at most 1.

    Solved by a primal-dual interior-point method.
    """

    def __init__(self, terms: FloatArray, multiplier: float) -> None:
        self.terms = terms
        self.multiplier = multiplier

    def upper_bound(self, theta: FloatArray) -> float:
        """Return a bound on the maximum, from a tangent."""
        slope = self.gradient(theta)
        most = slope.max(axis=1).clip(0.0).sum() - (slope * theta).sum()
        value = _sum_of_roots(self.terms, theta) - self.multiplier * _spread(theta)
        return value + float(most)

    def solve(self, tol: float, max_iter: int) -> FloatArray:
        """Return weights whose bound is within ``tol`` of their sum of roots."""
        n_blocks, _, n_kernels = self.terms.shape
        theta = np.full((n_blocks, n_kernels), 1.0 / (n_kernels + 1))
        rest = 1.0 - theta.sum(axis=1)
        level = _sum_of_roots(self.terms, theta) / theta.size
        point = _Point(theta, level / theta, level / rest)
        for _ in range(max_iter):
            products = (point.positive * point.theta).sum() + point.capped @ point.rest
            centre = float(products) / (_SHRINKAGE * (theta.size + n_blocks))
            point = self._searched(point, self._step(point, centre), centre)
            roots = _sum_of_roots(self.terms, point.theta)
            value = roots - self.multiplier * _spread(point.theta)
            if self.upper_bound(point.theta) - value <= tol * roots:
                break
        return point.theta

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Return the slope of the penalised sum of roots."""
        roots = np.sqrt(np.einsum("bjm,bm->bj", self.terms, theta))
        half_inverse = np.divide(0.5, roots, out=np.zeros_like(roots), where=roots > 0)
        slope = np.einsum("bj,bjm->bm", half_inverse, self.terms)
        pull = 2.0 * self.multiplier * len(theta) * (theta - theta.mean(axis=0))
        difference: FloatArray = slope - pull
        return difference

    def _residual(self, point: _Point, centre: float) -> float:
        """Return the norm of the perturbed optimality conditions."""
        slope = self.gradient(point.theta)
        parts = (
            (point.capped[:, None] - point.positive - slope).ravel(),
            (point.positive * point.theta - centre).ravel(),
            point.capped * point.rest - centre,
        )
        return float(np.linalg.norm(np.concatenate(parts)))

    def _step(self, point: _Point, centre: float) -> _Point:
        theta, rest = point.theta, point.rest
        inner = np.einsum("bjm,bm->bj", self.terms, theta)
        curvature = np.divide(
            0.25, inner**1.5, out=np.zeros_like(inner), where=inner > 0
        )
        blocks = np.einsum(
            "bj,bjm,bjk->bmk", curvature, self.terms, self.terms, optimize=True
        )
        blocks += (point.capped / rest)[:, None, None]
        diagonal = np.arange(theta.shape[1])
        blocks[:, diagonal, diagonal] += point.positive / theta
        slope = self.gradient(theta) + centre / theta - centre / rest[:, None]
        # The penalty adds 2ν (B I − 11') ⊗ I: blocks that share the sum of their moves.
        weight = 2.0 * self.multiplier
        full = blocks + weight * len(theta) * np.eye(theta.shape[1])
        inverses = np.linalg.inv(full)
        own = np.einsum("bmk,bk->bm", inverses, slope)
        shared = np.linalg.solve((inverses @ blocks).mean(axis=0), own.sum(axis=0))
        move = own + weight * np.einsum("bmk,k->bm", inverses, shared)
        return _Point(
            move,
            (centre - point.positive * move) / theta - point.positive,
            (centre + point.capped * move.sum(axis=1)) / rest - point.capped,
        )

    def _searched(self, point: _Point, step: _Point, centre: float) -> _Point:
        """Return the point after a step that stays inside and reduces the residual."""
        inside = np.concatenate(
            [point.positive.ravel(), point.capped, point.theta.ravel(), point.rest]
        )
        fall = -np.concatenate(
            [step.positive.ravel(), step.capped, step.theta.ravel(),
             -step.theta.sum(axis=1)]
        )  # fmt: skip
        falling = fall > 0
        ways = inside[falling] / fall[falling]
        length = min(1.0, _INSIDE * float(ways.min(initial=math.inf)))
        here = self._residual(point, centre)
        for _ in range(_MAX_HALVINGS):
            there = point.moved(step, length)
            if self._residual(there, centre) <= (1.0 - _SUFFICIENT * length) * here:
                return there
            length *= 0.5
        return point


def _sum_of_roots(terms: FloatArray, theta: FloatArray) -> float:
    return float(np.sqrt(np.einsum("bjm,bm->bj", terms, theta)).sum())
