r"""Groups of equal tasks on several levels: squared loss with pairwise norms.

With W = W_1 + … + W_H (d × T), λ_h = λ/φ^{h−1}, φ > 1, minimises, as Han and Zhang
(2015),

    Σ_t ||y_t − X_t w_t||² + Σ_h λ_h Σ_{i<j} ||w_{h,i} − w_{h,j}||₂
    + ε Σ_h T ||w̄_h||²,

w̄_h the mean of the tasks on level h, which the norms leave free, and ε = 1e-6.

The levels differ in their weights alone, and the sum of norms is a seminorm: whatever
deviates from the mean on level h < H costs less on level H. So at the optimum all
levels but the last are constant, the means are equal, w̄_h = w̄/H, and the problem is

    min_W Σ_t ||y_t − X_t w_t||² + μ Σ_{i<j} ||w_i − w_j||₂ + (ε/H)·T·||w̄||²

with μ = λ_H. That is solved by the alternating direction method with W = Z + m1',
Z1 = 0, and D_ij = z_i − z_j. The step in Z is in closed form as all pairs are coupled
alike; that in W is one in its deviations and m together, because a mean that only
followed the tasks step by step would be slow.

A dual point is a = (a_t) with flows s_ij = −s_ji, ||s_ij|| ≤ μ, such that
X_t'a_t = Σ_j s_tj + a part equal for all tasks. That of the residuals is made feasible
by the least change of a for which Σ_t X_t'a_t agrees with the current mean, by
spreading what the flows lack evenly over the pairs, and by a scalar.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mtmkl.compiled import compiled
from mtmkl.solvers.linear.row_products import pull_back_tasks
from mtmkl.solvers.linear.task_admm import (
    RELAXATION,
    BestPair,
    alternate,
    balance,
    loss,
    loss_step,
)
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition
from mtmkl.solvers.solution import Solution, warn_if_stopped
from mtmkl.typing import FloatArray

#: Weight ε of the levels' means.
RIDGE = 1e-6

# In each round, what is clipped off a flow is taken over by pairs that have room.
_ROUNDS = 3


@dataclass(frozen=True)
class WarmStart:
    """Where a solve left off, for the next weight.

    Attributes
    ----------
    primal, multiplier : ndarray of shape (T, d)
        Z and the multiplier of W = Z + m1', transposed.
    flows : ndarray of shape (T(T − 1)/2, d)
        Multipliers of D_ij = z_i − z_j, the pairs i < j in lexicographic order.
    step : float
        ρ at the end.
    weight : float
        μ, with which multipliers and ρ go.
    """

    primal: FloatArray
    multiplier: FloatArray
    flows: FloatArray
    step: float
    weight: float


def solve(
    tasks: TaskDecomposition,
    lam: float,
    phi: float,
    n_levels: int,
    *,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    start: WarmStart | None = None,
) -> Solution:
    """Minimise the problem of this module to a relative duality gap.

    Parameters
    ----------
    tasks : TaskDecomposition
        The data, shared between all weights.
    lam : float
        λ > 0.
    phi : float
        φ > 1.
    n_levels : int
        H, at least 1.
    tol, max_iter, start
        As for :func:`mtmkl.solvers.linear.task_admm.solve`.

    Returns
    -------
    Solution
        ``coef`` = Σ_h W_h of shape (d, T), of which W_h = w̄1'/H for h < H;
        ``dual`` of shape (n,); ``extra["warm_start"]``. The first iteration is the one
        regression for all tasks, which ends the search where it is the optimum, and
        leaves no warm start.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` is reached before ``tol``; the message states the gap.
    """
    mu = lam / phi ** (n_levels - 1)
    ridge = RIDGE / n_levels
    best = BestPair(tol)
    all_equal, flows = _one_regression(tasks, mu, ridge)
    best.offer(*all_equal)
    if start is None:
        start = _cold_start(tasks, all_equal[1], flows, mu)
    steps = _PairSteps(tasks, mu, ridge, start)
    n_iter = alternate(steps, best, max_iter=max_iter, n_iter=1)
    certificate = best.certificate(n_iter)
    warn_if_stopped(certificate, f"pairwise norms, weight {mu:g}", tol, stacklevel=4)
    return Solution(
        coef=best.point.T,
        certificate=certificate,
        dual=tasks.expand(best.dual),
        # One regression for all says little of where smaller weights lead.
        extra={"warm_start": steps.end() if n_iter > 1 else None},
    )


def _one_regression(
    tasks: TaskDecomposition, mu: float, ridge: float
) -> tuple[tuple[float, FloatArray, float, FloatArray], FloatArray]:
    """Return what a check finds where all tasks are equal, and flows of its bound."""
    n_tasks, d = tasks.n_tasks, tasks.n_features
    nothing = np.zeros((n_tasks, d))
    equal = nothing + _pooled_coefficients(tasks, ridge, nothing)
    residual = _residual(tasks, equal)
    objective = tasks.constant + float(residual @ residual)
    objective += ridge * n_tasks * float(equal[0] @ equal[0])
    no_flows = np.zeros((n_tasks * (n_tasks - 1) // 2, d))
    bound, dual, flows = _bound(tasks, residual, equal, no_flows, mu, ridge)
    return (objective, equal, bound, dual), flows


def _cold_start(
    tasks: TaskDecomposition, equal: FloatArray, flows: FloatArray, mu: float
) -> WarmStart:
    """Return a start from equal tasks."""
    pull = _adjoint(tasks, 2.0 * _residual(tasks, equal))
    step = float(2.0 * np.mean(tasks.singular**2))
    return WarmStart(np.zeros_like(equal), -pull, flows, step, mu)


class _PairSteps:
    """The splitting W = Z + m1' and D_ij = z_i − z_j."""

    check_every = 10

    def __init__(
        self, tasks: TaskDecomposition, mu: float, ridge: float, start: WarmStart
    ) -> None:
        self.tasks = tasks
        self.mu = mu
        self.ridge = ridge
        scale = mu / start.weight
        self.Z, self.L = start.primal, scale * start.multiplier
        self.flows, self.step = scale * start.flows, scale * start.step
        self.mean_step: _MeanStep | None = None

    def advance(self) -> None:
        Z, L, step = self.Z, self.L, self.step
        if self.mean_step is None:
            self.mean_step = _MeanStep(self.tasks, step, self.ridge)
        pair_step = step / self.tasks.n_tasks
        base = Z + L / step
        mean = self.mean_step(base)
        W, _, self.residual = loss_step(*self.tasks.arrays, base + mean, step)
        self.deviations, self.previous = W - mean, Z
        V = RELAXATION * self.deviations + (1.0 - RELAXATION) * Z - L / step
        V -= V.mean(axis=0)
        aims, divergence = _pair_step(Z, self.flows, pair_step, self.mu)
        weight = step + pair_step * self.tasks.n_tasks
        self.Z = (step * V + pair_step * divergence) / weight
        self.L = step * (self.Z - V)
        self.flows = _new_flows(self.Z, aims, pair_step)

    def check(self) -> tuple[float, FloatArray, float, FloatArray]:
        tasks, Z, mu, ridge = self.tasks, self.Z, self.mu, self.ridge
        mean = _pooled_coefficients(tasks, ridge, Z)
        point = Z + mean
        value = tasks.constant + loss(*tasks.arrays, point) + mu * pairwise_norms(Z)
        value += ridge * tasks.n_tasks * float(mean @ mean)
        lower, dual, _ = _bound(tasks, self.residual, point, self.flows, mu, ridge)
        return value, point, lower, dual

    def adapt(self) -> None:
        factor = balance(self.deviations, self.Z, self.previous, self.L, self.step)
        if factor != 1.0:
            self.step, self.mean_step = factor * self.step, None

    def end(self) -> WarmStart:
        """Return where the next solve may start."""
        return WarmStart(self.Z, self.L, self.flows, self.step, self.mu)


class _MeanStep:
    """The best m of the step in W for a ρ: a linear system, the same at every point."""

    def __init__(self, tasks: TaskDecomposition, step: float, ridge: float) -> None:
        self.tasks = tasks
        squares = tasks.singular**2
        # Loss left once the deviations have taken their part.
        weights = step / (2.0 * squares + step)
        self.aims = weights * tasks.singular * tasks.target
        self.slopes = weights * squares
        rows = np.sqrt(self.slopes)[:, None] * tasks.right
        system = rows.T @ rows
        # Beside the ridge, enough for rounding: the bound makes good what m misses.
        least = np.finfo(float).eps * np.trace(system)
        system[np.diag_indices_from(system)] += ridge * tasks.n_tasks + least
        self.factor = cho_factor(system)

    def __call__(self, base: FloatArray) -> FloatArray:
        """Return m, shape (d,), for the step from ``base``, shape (T, d)."""
        tasks = self.tasks
        pull, _ = pull_back_tasks(
            tasks.right, tasks.offsets, base, self.aims, self.slopes
        )
        mean: FloatArray = cho_solve(self.factor, pull.sum(axis=0))
        return mean


def _pooled_coefficients(
    tasks: TaskDecomposition, ridge: float, Z: FloatArray
) -> FloatArray:
    """Return the best coefficients to add to those of all tasks, shape (d,)."""
    values, vectors = tasks.pooled_spectrum
    aims, slopes = tasks.singular * tasks.target, tasks.singular**2
    pull, _ = pull_back_tasks(tasks.right, tasks.offsets, Z, aims, slopes)
    along = vectors.T @ pull.sum(axis=0)
    point: FloatArray = vectors @ (along / (values + ridge * tasks.n_tasks))
    return point


def _residual(tasks: TaskDecomposition, W: FloatArray) -> FloatArray:
    """Return c − S V'w of all tasks, stacked, for W of shape (T, d)."""
    bounds = zip(tasks.offsets[:-1], tasks.offsets[1:], W, strict=True)
    fit = np.concatenate([tasks.right[lo:hi] @ w for lo, hi, w in bounds])
    residual: FloatArray = tasks.target - tasks.singular * fit
    return residual


def _adjoint(tasks: TaskDecomposition, a: FloatArray) -> FloatArray:
    """Return X_t'a_t of each task, shape (T, d)."""
    scaled = tasks.singular * a
    bounds = zip(tasks.offsets[:-1], tasks.offsets[1:], strict=True)
    return np.array([scaled[lo:hi] @ tasks.right[lo:hi] for lo, hi in bounds])


def _bound(
    tasks: TaskDecomposition,
    residual: FloatArray,
    Z: FloatArray,
    flows: FloatArray,
    mu: float,
    ridge: float,
) -> tuple[float, FloatArray, FloatArray]:
    """Return a lower bound, its dual point (reduced), and flows of at most μ for it.

    The dual point is made from twice the residual; the mean of Z (T, d) says what
    Σ_t X_t'a_t is to be.
    """
    a = 2.0 * residual
    values, vectors = tasks.pooled_spectrum
    missing = 2.0 * ridge * Z.sum(axis=0) - (tasks.singular * a) @ tasks.right
    change = vectors @ ((vectors.T @ missing) / values)
    a += tasks.singular * (tasks.right @ change)
    pull = _adjoint(tasks, a)
    total = pull.sum(axis=0)
    for _ in range(_ROUNDS):
        flows, largest = _feasible_flows(pull - total / len(Z), flows, mu)
    # max over s of s·linear − s²·quadratic, as far as the flows allow.
    linear = float(tasks.target @ a)
    quadratic = 0.25 * float(a @ a) + float(total @ total) / (4.0 * ridge * len(Z))
    scale = max(linear, 0.0) / (2.0 * quadratic) if quadratic > 0.0 else 0.0
    if largest > 0.0:
        scale = min(scale, mu / largest)
    lower = tasks.constant + scale * linear - scale * scale * quadratic
    return lower, scale * a, flows


@compiled
def _feasible_flows(
    pull: FloatArray, flows: FloatArray, mu: float
) -> tuple[FloatArray, float]:
    """Return flows that sum to ``pull`` (T, d), clipped at μ, and the largest before.

    The flows given are clipped, and what they miss is spread over the pairs.
    """
    n_tasks, d = pull.shape
    missing = pull.copy()
    result = np.empty_like(flows)
    e = 0
    for i in range(n_tasks):
        for j in range(i + 1, n_tasks):
            size = 0.0
            for k in range(d):
                size += flows[e, k] ** 2
            factor = min(1.0, mu / np.sqrt(size)) if size > 0.0 else 0.0
            for k in range(d):
                result[e, k] = factor * flows[e, k]
                missing[i, k] -= result[e, k]
                missing[j, k] += result[e, k]
            e += 1
    largest = 0.0
    e = 0
    for i in range(n_tasks):
        for j in range(i + 1, n_tasks):
            size = 0.0
            for k in range(d):
                result[e, k] += (missing[i, k] - missing[j, k]) / n_tasks
                size += result[e, k] ** 2
            size = np.sqrt(size)
            largest = max(largest, size)
            if size > mu:
                for k in range(d):
                    result[e, k] *= mu / size
            e += 1
    return result, largest


@compiled
def _pair_step(
    Z: FloatArray, flows: FloatArray, step: float, mu: float
) -> tuple[FloatArray, FloatArray]:
    """Take the step in D; return what z_i − z_j shall be near, and its sums by task."""
    n_tasks, d = Z.shape
    aims = np.empty_like(flows)
    sums = np.zeros_like(Z)
    difference = np.empty(d)
    e = 0
    for i in range(n_tasks):
        for j in range(i + 1, n_tasks):
            size = 0.0
            for k in range(d):
                difference[k] = Z[i, k] - Z[j, k]
                size += (difference[k] + flows[e, k] / step) ** 2
            size = np.sqrt(size)
            kept = 1.0 - mu / (step * size) if step * size > mu else 0.0
            for k in range(d):
                scaled = flows[e, k] / step
                D = kept * (difference[k] + scaled)
                D = RELAXATION * D + (1.0 - RELAXATION) * difference[k]
                aims[e, k] = D - scaled
                sums[i, k] += aims[e, k]
                sums[j, k] -= aims[e, k]
            e += 1
    return aims, sums


@compiled
def _new_flows(Z: FloatArray, aims: FloatArray, step: float) -> FloatArray:
    """Overwrite ``aims`` with ρ((z_i − z_j) − aims) and return it."""
    e = 0
    for i in range(Z.shape[0]):
        for j in range(i + 1, Z.shape[0]):
            for k in range(Z.shape[1]):
                aims[e, k] = step * (Z[i, k] - Z[j, k] - aims[e, k])
            e += 1
    return aims


@compiled
def pairwise_norms(Z: FloatArray) -> float:
    """Return Σ_{i<j} ||z_i − z_j||₂ for Z of shape (T, d)."""
    value = 0.0
    for i in range(Z.shape[0]):
        for j in range(i + 1, Z.shape[0]):
            size = 0.0
            for k in range(Z.shape[1]):
                size += (Z[i, k] - Z[j, k]) ** 2
            value += np.sqrt(size)
    return value
