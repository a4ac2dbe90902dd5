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

import numpy as np

from mtmkl.compiled import compiled, dot, routine
from mtmkl.solvers.linear.free_mean import FreeMean, joint_step
from mtmkl.solvers.linear.penalties import pairwise_norms
from mtmkl.solvers.linear.task_admm import (
    RELAXATION,
    BestPair,
    Splitting,
    WarmStart,
    alternate,
    residuals,
)
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition
from mtmkl.solvers.solution import Solution
from mtmkl.typing import FloatArray

#: Weight ε of the levels' means.
RIDGE = 1e-6

# In each round, what is clipped off a flow is taken over by pairs that have room.
_ROUNDS = 3


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
    tasks, tol, max_iter, start
        As for :func:`mtmkl.solvers.linear.task_admm.solve`.
    lam, phi : float
        λ > 0 and φ > 1.
    n_levels : int
        H, at least 1.

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
    steps, best = _PairSteps(tasks, mu, RIDGE / n_levels), BestPair(tol)
    best.offer(*steps.check())
    if start is not None:
        steps.resume(start)
    n_iter = alternate(steps, best, max_iter=max_iter, n_iter=1)
    return Solution(
        coef=best.point.T,
        certificate=best.certificate(n_iter, f"pairwise norms, weight {mu:g}"),
        dual=tasks.expand(best.dual),
        # One regression for all says little of where smaller weights lead.
        extra={"warm_start": steps.end() if n_iter > 1 else None},
    )


class _PairSteps(Splitting):
    """The splitting W = Z + m1' and D_ij = z_i − z_j, from equal tasks.

    The pairs i < j are in lexicographic order. A warm start has the flows after the
    multipliers of the tasks, and the unit of both, and of ρ, is μ.
    """

    check_every = 10
    bound_lags = False

    def __init__(self, tasks: TaskDecomposition, mu: float, ridge: float) -> None:
        self.tasks, self.mu, self.mean = tasks, mu, FreeMean(tasks, ridge)
        n_tasks, d = tasks.n_tasks, tasks.n_features
        self.Z = np.zeros((n_tasks, d))
        self.flows = np.zeros((n_tasks * (n_tasks - 1) // 2, d))
        equal = self.Z + self.mean.best(self.Z)
        self.residual = residuals(tasks.arrays, equal)
        self.L = -tasks.back(tasks.singular * (2.0 * self.residual))
        self.step = self.balanced = float(2.0 * np.mean(tasks.singular**2))

    def resume(self, start: WarmStart) -> None:
        """Go on from another solve."""
        n_tasks = self.tasks.n_tasks
        self.Z = start.primal
        self.L, self.flows = np.split(self.mu * start.multiplier, [n_tasks])
        self.step = self.balanced = self.mu * start.step

    def end(self) -> WarmStart:
        """Return where the next solve may start."""
        both = np.concatenate([self.L, self.flows]) / self.mu
        return WarmStart(self.Z, both, self.balanced / self.mu)

    def advance(self) -> None:
        Z, step = self.Z, self.step
        self.previous = Z, self.L
        V, self.pull, self.residual = joint_step(
            self.tasks.arrays, self.mean.system(step), Z, self.L, step
        )
        pair_step = step / self.tasks.n_tasks
        aims, divergence = _pair_step(Z, self.flows, pair_step, self.mu)
        self.Z = (step * V + pair_step * divergence) / (2.0 * step)
        self.L = step * (self.Z - V)
        self.flows = _new_flows(self.Z, aims, pair_step)

    def check(self) -> tuple[float, FloatArray, float, FloatArray]:
        tasks, Z = self.tasks, self.Z
        mean = self.mean.best(Z)
        rest = residuals(tasks.arrays, Z + mean)
        value = tasks.constant + float(rest @ rest) + self.mu * pairwise_norms(Z)
        value += self.mean.ridge * float(mean @ mean)
        return value, Z + mean, *self._bound(mean)

    def _bound(self, mean: FloatArray) -> tuple[float, FloatArray]:
        """Return a lower bound and its dual point, made from twice the residuals.

        If nothing has been done yet, the flows become those of the bound.
        """
        a, pull = self.mean.agreeing(2.0 * self.residual, mean)
        total = pull.sum(axis=0)
        flows = self.flows
        for _ in range(_ROUNDS):
            flows, largest = _feasible_flows(pull - total / len(pull), flows, self.mu)
        # max over s of s·linear − s²·quadratic, as far as the flows allow.
        linear = float(self.tasks.target @ a)
        quadratic = 0.25 * float(a @ a) + float(total @ total) / (4 * self.mean.ridge)
        scale = max(linear, 0.0) / (2.0 * quadratic) if quadratic > 0.0 else 0.0
        if largest > 0.0:
            scale = min(scale, self.mu / largest)
        if not self.flows.any():
            self.flows = flows
        lower = self.tasks.constant + scale * (linear - scale * quadratic)
        return lower, scale * a


@compiled
def _feasible_flows(
    pull: FloatArray, flows: FloatArray, mu: float
) -> tuple[FloatArray, float]:
    """Return flows that sum to ``pull`` (T, d), clipped at μ, and the largest before.

    The flows given are clipped, and what they miss is spread over the pairs.
    """
    n_tasks, d = pull.shape
    missing, result = pull.copy(), flows.copy()
    e = 0
    for i in range(n_tasks):
        for j in range(i + 1, n_tasks):
            _clip(result[e], mu)
            for k in range(d):
                missing[i, k] -= result[e, k]
                missing[j, k] += result[e, k]
            e += 1
    largest = 0.0
    e = 0
    for i in range(n_tasks):
        for j in range(i + 1, n_tasks):
            for k in range(d):
                result[e, k] += (missing[i, k] - missing[j, k]) / n_tasks
            largest = max(largest, _clip(result[e], mu))
            e += 1
    return result, largest


@routine
def _clip(flow: FloatArray, mu: float) -> float:
    """Shorten a flow to μ, and return what its length was."""
    size = np.sqrt(dot(flow, flow))
    if size > mu:
        for k in range(flow.size):
            flow[k] *= mu / size
    return size


@compiled
def _pair_step(
    Z: FloatArray, flows: FloatArray, step: float, mu: float
) -> tuple[FloatArray, FloatArray]:
    """Take the step in D; return what z_i − z_j shall be near, and its sums by task."""
    n_tasks, d = Z.shape
    aims = np.empty_like(flows)
    sums = np.zeros_like(Z)
    moved = np.empty(d)
    e = 0
    for i in range(n_tasks):
        for j in range(i + 1, n_tasks):
            for k in range(d):
                moved[k] = Z[i, k] - Z[j, k] + flows[e, k] / step
            size = np.sqrt(dot(moved, moved))
            kept = 1.0 - mu / (step * size) if step * size > mu else 0.0
            for k in range(d):
                scaled = flows[e, k] / step
                aim = RELAXATION * kept * moved[k] - scaled
                aim += (1.0 - RELAXATION) * (Z[i, k] - Z[j, k])
                aims[e, k] = aim
                sums[i, k] += aim
                sums[j, k] -= aim
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
