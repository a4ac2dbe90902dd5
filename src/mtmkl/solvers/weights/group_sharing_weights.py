r"""Kernel weights of many tasks, coupled in pairs.

For weights θ_t in the simplex Δ = {θ ≥ 0, 1'θ = 1} of R^M, one vector per task,

    min  Σ_t [g_t'δ_t + max(0, max_j a_tj + B_tj'δ_t) + ½ δ_t'H_tδ_t]
             + λ Σ_{t<s} ‖θ_t − θ_s‖₂,      δ_t = θ_t − c_t,

with H_t positive semi-definite and any number of cuts j (none as a rule). With H = 0,
c = 0 and no cuts this is the θ step of Yousefi et al. (2015), their problem (3); with
second derivatives it is the model of a Newton step. A dual is, for any θ̂ (the quadratic
is replaced by its tangent there), weights μ_tj ≥ 0 of the cuts with Σ_j μ_tj ≤ 1 and
edge duals π_ts = −π_st with ‖π_ts‖₂ ≤ λ, so that with the gradients
h_t = g_t + Σ_j μ_tj B_tj + H_tδ̂_t and r_t = Σ_s π_ts the gap of θ̂ is a sum of
nonnegative terms,

    Σ_t [(h_t + r_t)'θ̂_t − min_m (h_t + r_t)_m]
        + Σ_t [max(0, max_j a_tj + B_tj'δ̂_t) − Σ_j μ_tj (a_tj + B_tj'δ̂_t)]
        + Σ_{t<s} [λ ‖θ̂_t − θ̂_s‖ − π_ts'(θ̂_t − θ̂_s)].

:mod:`mtmkl.solvers.weights.group_sharing_admm` has the iterations.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mtmkl.compiled import compiled
from mtmkl.solvers.svm.simplex_qp import minimise_on_simplex, minimise_with_cuts
from mtmkl.solvers.weights.group_sharing_admm import (
    GAP,
    ITERATIONS,
    RHO,
    VALUE,
    minimise,
)
from mtmkl.typing import FloatArray, IntArray

# Beyond so many weights the iterations of the method of multipliers, which grow with
# their number, take longer than active sets.
_MANY = 32
_SPARE, _ROUNDS = 12, 10  # columns added, and how often


@dataclass(frozen=True)
class Cuts:
    """Affine functions that the sum of the first order is to be at least.

    Attributes
    ----------
    offsets : ndarray of shape (T, J)
        a_tj; −inf for no cut.
    slopes : ndarray of shape (T, J, M)
        B_tj.
    """

    offsets: FloatArray
    slopes: FloatArray


@dataclass(frozen=True)
class Weights:
    """A solution, and how good it is.

    Attributes
    ----------
    theta : ndarray of shape (T, M)
        In the simplex; rows of tasks that are fused are equal.
    edge_duals : ndarray of shape (T (T − 1) / 2, M)
        π_ts for t < s in the order of ``numpy.triu_indices(T, 1)``, of norm at most λ
        and sum 0.
    shares : ndarray of shape (T, J)
        μ_tj of the cuts.
    rho : float
        Penalty of the method at the end, a good one to start with next time.
    objective : float
    gap : float
        Objective minus dual objective.
    n_iter : int
    """

    theta: FloatArray
    edge_duals: FloatArray
    shares: FloatArray
    rho: float
    objective: float
    gap: float
    n_iter: int


def minimise_weights(
    g: FloatArray,
    H: FloatArray,
    center: FloatArray,
    lam: float,
    *,
    start: FloatArray,
    cuts: Cuts | None = None,
    edge_duals: FloatArray | None = None,
    rho: float | None = None,
    tol: float = 1e-8,
    max_iter: int = 20_000,
) -> Weights:
    """Minimise over the weights of all tasks.

    Parameters
    ----------
    g : ndarray of shape (T, M)
        Gradients at ``center``.
    H : ndarray of shape (T, M, M)
        Second derivatives, positive semi-definite.
    center : ndarray of shape (T, M)
    lam : float
        λ, at least 0.
    start : ndarray of shape (T, M)
        Weights to start from, in the simplex.
    cuts : Cuts, optional
    edge_duals : ndarray of shape (T (T − 1) / 2, M), optional
        Edge duals to start from.
    rho : float, optional
        Penalty of the method to start with.
    tol : float
        Gap to reach, absolute.
    max_iter : int
        Limit on iterations.

    Returns
    -------
    Weights
        Of the smallest gap seen.
    """
    n_tasks, n_kernels = g.shape
    n_pairs = n_tasks * (n_tasks - 1) // 2 if lam > 0.0 else 0
    if not n_pairs and n_kernels > _MANY:
        if cuts is None:
            return _minimise_apart(g, H, center, start, rho, tol, max_iter)
        return _minimise_by_columns(g, H, center, start, cuts, rho, tol, max_iter)
    return _minimise_together(
        g, H, center, lam, start, cuts, edge_duals, rho, tol, max_iter
    )


def _minimise_together(
    g: FloatArray,
    H: FloatArray,
    center: FloatArray,
    lam: float,
    start: FloatArray,
    cuts: Cuts | None,
    edge_duals: FloatArray | None,
    rho: float | None,
    tol: float,
    max_iter: int,
) -> Weights:
    """Minimise over all weights by the method of multipliers."""
    n_tasks, n_kernels = g.shape
    n_pairs = n_tasks * (n_tasks - 1) // 2 if lam > 0.0 else 0
    out = start.copy()
    pi = np.zeros((n_pairs, n_kernels))
    if edge_duals is not None and n_pairs:
        pi[:] = edge_duals
        norms = np.sqrt(np.einsum("ij,ij->i", pi, pi))
        pi *= np.minimum(1.0, lam / np.maximum(norms, 1e-300))[:, None]
    if cuts is None:
        cuts = Cuts(np.empty((n_tasks, 0)), np.empty((n_tasks, 0, n_kernels)))
    shares = np.zeros(cuts.offsets.shape)
    # Rows of a task are scaled together, so that one projection serves them.
    norms = np.sqrt(np.einsum("tjm,tjm->tj", cuts.slopes, cuts.slopes))
    largest = norms.max(axis=1, initial=0.0)
    scale = np.where(largest > 0.0, largest, 1.0)
    exists = np.isfinite(cuts.offsets)
    a = np.where(exists, cuts.offsets, -1.0) / scale[:, None]
    B = np.where(exists[..., None], cuts.slopes, 0.0) / scale[:, None, None]
    report = np.zeros(4)
    report[RHO] = _first_rho(g, H) if rho is None else rho
    minimise(g, H, center, lam, a, B, scale, tol, max_iter, out, pi, shares, report)
    # On the simplex a dual along 1 does nothing; without it none is longer.
    pi -= pi.mean(axis=1, keepdims=True)
    all_duals = pi if n_pairs else np.zeros((n_tasks * (n_tasks - 1) // 2, n_kernels))
    return Weights(
        theta=out,
        edge_duals=all_duals,
        shares=shares,
        rho=float(report[RHO]),
        objective=float(report[VALUE]),
        gap=float(report[GAP]),
        n_iter=int(report[ITERATIONS]),
    )


def _minimise_apart(
    g: FloatArray,
    H: FloatArray,
    center: FloatArray,
    start: FloatArray,
    rho: float | None,
    tol: float,
    max_iter: int,
) -> Weights:
    """Minimise over the weights of each task, none of them coupled or cut."""
    n_tasks, n_kernels = g.shape
    theta = start.copy()
    objective = gap = 0.0
    n_iter = 0
    for t in range(n_tasks):
        value, left, steps = minimise_on_simplex(
            g[t], H[t], center[t], tol / n_tasks, max_iter, theta[t]
        )
        objective, gap, n_iter = objective + value, gap + left, n_iter + steps
    return Weights(
        theta=theta,
        edge_duals=np.zeros((n_tasks * (n_tasks - 1) // 2, n_kernels)),
        shares=np.zeros((n_tasks, 0)),
        rho=_first_rho(g, H) if rho is None else rho,
        objective=objective,
        gap=gap,
        n_iter=n_iter,
    )


def _minimise_by_columns(
    g: FloatArray,
    H: FloatArray,
    center: FloatArray,
    start: FloatArray,
    cuts: Cuts,
    rho: float | None,
    tol: float,
    max_iter: int,
) -> Weights:
    """Minimise over the weights of each task, cut but not coupled.

    A program has those weights of a task that are positive and the ones of the least
    partial derivatives, until no other belongs to them.
    """
    n_tasks, n_kernels = g.shape
    theta, shares = start.copy(), np.zeros(cuts.offsets.shape)
    objective = gap = 0.0
    n_iter = 0
    for t in range(n_tasks):
        exists = np.flatnonzero(np.isfinite(cuts.offsets[t]))
        a = np.ascontiguousarray(cuts.offsets[t, exists])
        B = np.ascontiguousarray(cuts.slopes[t, exists])
        mu = np.zeros(exists.size)
        slope = g[t] + H[t] @ (theta[t] - center[t])
        value = left = np.inf
        for _ in range(_ROUNDS):
            is_positive = (theta[t] > 0.0) | (center[t] > 0.0)
            size = min(int(is_positive.sum()) + _SPARE, n_kernels)
            columns = np.argsort(np.where(is_positive, -np.inf, slope))[:size]
            x = theta[t, columns]
            value, left, steps = minimise_with_cuts(
                g[t, columns],
                np.ascontiguousarray(H[t][np.ix_(columns, columns)]),
                center[t, columns],
                a,
                np.ascontiguousarray(B[:, columns]),
                0.5 * tol / n_tasks,
                max_iter,
                x,
                mu,
            )
            n_iter += steps
            theta[t] = 0.0
            theta[t, columns] = x
            slope = g[t] + H[t] @ (theta[t] - center[t]) + mu @ B
            missed = float(slope[columns].min() - slope.min())
            left += missed
            if missed <= 0.5 * tol / n_tasks:
                break
        shares[t, exists] = mu
        objective, gap = objective + value, gap + left
    return Weights(
        theta=theta,
        edge_duals=np.zeros((n_tasks * (n_tasks - 1) // 2, n_kernels)),
        shares=shares,
        rho=_first_rho(g, H) if rho is None else rho,
        objective=objective,
        gap=gap,
        n_iter=n_iter,
    )


def _first_rho(g: FloatArray, H: FloatArray) -> float:
    """Return a penalty σ = ρT on the scale of the second derivatives, or of g."""
    curvature = float(np.einsum("tmm->", H)) / g.size
    spread = float(np.mean(np.ptp(g, axis=1)))
    return max(curvature, 0.3 * spread, 1e-12)


@compiled
def edge_sums(edge_duals: FloatArray, n_tasks: int) -> FloatArray:
    """Return r_t = Σ_s π_ts, shape (T, M), for π of shape (T(T − 1)/2, M)."""
    out = np.zeros((n_tasks, edge_duals.shape[1]))
    for sign in (1.0, -1.0):
        e = 0
        for t in range(n_tasks):
            for s in range(t + 1, n_tasks):
                receiver = t if sign > 0.0 else s
                for m in range(out.shape[1]):
                    out[receiver, m] += sign * edge_duals[e, m]
                e += 1
    return out


def group_labels(theta: FloatArray) -> IntArray:
    """Return labels 0, 1, … of the tasks with equal rows, in order of appearance."""
    labels = np.empty(len(theta), dtype=np.intp)
    seen: dict[Any, int] = {}
    for t, row in enumerate(theta):
        labels[t] = seen.setdefault(row.tobytes(), len(seen))
    return labels
