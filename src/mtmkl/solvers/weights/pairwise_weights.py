r"""Kernel weights of many tasks, coupled in pairs.

For weights θ_t in the simplex Δ = {θ ≥ 0, 1'θ = 1} of R^M, one vector per task,

    min  Σ_t [g_t'δ_t + max(0, max_j a_tj + B_tj'δ_t) + ½ δ_t'H_tδ_t]
             + λ Σ_{t<s} ‖θ_t − θ_s‖₂,      δ_t = θ_t − c_t,

with c_t in Δ, H_t positive semi-definite and any number of cuts j (none as a rule).
With H = 0 and no cuts this is the θ step of Yousefi et al. (2015), their problem (3);
with second derivatives it is the model of a Newton step. A dual is, for any θ̂ (the
quadratic is replaced by its tangent there), weights μ_tj ≥ 0 of the cuts with
Σ_j μ_tj ≤ 1 and edge duals π_ts = −π_st with ‖π_ts‖₂ ≤ λ, so that with the gradients
h_t = g_t + Σ_j μ_tj B_tj + H_tδ̂_t and r_t = Σ_s π_ts the gap of θ̂ is a sum of
nonnegative terms,

    Σ_t [(h_t + r_t)'θ̂_t − min_m (h_t + r_t)_m]
        + Σ_t [max(0, max_j a_tj + B_tj'δ̂_t) − Σ_j μ_tj (a_tj + B_tj'δ̂_t)]
        + Σ_{t<s} [λ ‖θ̂_t − θ̂_s‖ − π_ts'(θ̂_t − θ̂_s)].

For λ = 0 the tasks are programs of their own
(:mod:`mtmkl.solvers.svm.simplex_qp`). Otherwise the method is that of multipliers
(ADMM) [1]_, with one copy of each difference
θ_t − θ_s, one of each θ_t and one of each cut. The matrix of its quadratic step is
blockdiag(A_t) − ρ 11' ⊗ I with A_t = H_t + (σ + ρT) I + σ B̂_t'B̂_t (the rows of B̂ scaled
by the largest norm), solved by blocks and an M × M system.

References
----------
.. [1] S. Boyd, N. Parikh, E. Chu, B. Peleato, J. Eckstein, Distributed optimization and
   statistical learning via the alternating direction method of multipliers, Foundations
   and Trends in Machine Learning 3(1), 2011.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mtmkl.compiled import add_scaled, compiled, dot, dot_at, routine, total
from mtmkl.solvers.linear.penalties import pairwise_norms
from mtmkl.solvers.svm.simplex_qp import (
    Program,
    minimise_on_simplex,
    minimise_with_cuts,
)
from mtmkl.typing import FloatArray, IntArray

_SPARE, _ROUNDS = 12, 10  # columns added, and how often
_MAX_ITER = 20_000

_RELAXATION = 1.7
_CHECK_EVERY, _BALANCE_EVERY = 10, 20
_UNBALANCED, _LARGEST_CHANGE = 3.0, 10.0


@dataclass(frozen=True)
class Cuts:
    """Affine functions that the sum of the first order is to be at least."""

    #: a_tj (T, J) and B_tj (T, J, M).
    offsets: FloatArray
    slopes: FloatArray


@dataclass(frozen=True)
class Weights:
    """A solution, and how good it is."""

    #: In the simplex, (T, M); rows of tasks that are fused are equal.
    theta: FloatArray
    #: π_ts, (T (T − 1) / 2, M), for t < s in the order of ``numpy.triu_indices(T, 1)``,
    #: of norm at most λ and sum 0.
    edge_duals: FloatArray
    #: μ_tj of the cuts, (T, J).
    shares: FloatArray
    #: Penalty of the method at the end, a good one to start with next time.
    rho: float
    objective: float
    #: Objective minus dual objective.
    gap: float


class _Program(NamedTuple):
    """The problem; cuts of a task are divided by their scale."""

    g: FloatArray  # (T, M)
    H: FloatArray  # (T, M, M)
    center: FloatArray  # (T, M)
    at_zero: FloatArray  # (T, M), g − Hc
    lam: float
    a: FloatArray  # (T, J)
    a_at_zero: FloatArray  # (T, J), a − Bc
    B: FloatArray  # (T, J, M)
    scale: FloatArray  # (T,)
    tol: float


class _Iterates(NamedTuple):
    """Copies and scaled multipliers: d of v = d + p for pairs, z for θ, y for cuts."""

    x: FloatArray  # (T, M), the minimum of the quadratic step
    z: FloatArray  # (T, M)
    u: FloatArray  # (T, M), multipliers of z
    v: FloatArray  # (pairs, M)
    shrink: FloatArray  # (pairs,), d = shrink · v
    differences: FloatArray  # (T, M), sums of d
    multipliers: FloatArray  # (T, M), sums of p
    y: FloatArray  # (T, J)
    p: FloatArray  # (T, J), multipliers of y, scale · μ / σ
    mu: FloatArray  # (T, J)


class _Penalties(NamedTuple):
    """Penalties of the copies and of their differences, and what follows from them."""

    sigma: float
    rho: float
    inverses: FloatArray  # (T, M, M), of A_t
    coupling: FloatArray  # (M, M)


class _Best(NamedTuple):
    """The point of the smallest gap so far."""

    theta: FloatArray
    edge_duals: FloatArray
    shares: FloatArray
    value: FloatArray  # (2,), objective and gap


def minimise_weights(
    g: FloatArray,
    H: FloatArray,
    center: FloatArray,
    lam: float,
    *,
    cuts: Cuts | None = None,
    edge_duals: FloatArray | None = None,
    rho: float | None = None,
    tol: float = 1e-8,
) -> Weights:
    """Minimise over the weights of all tasks, from the centres.

    Parameters
    ----------
    g : ndarray of shape (T, M)
        Gradients at ``center``.
    H : ndarray of shape (T, M, M)
        Second derivatives, positive semi-definite.
    center : ndarray of shape (T, M)
        In the simplex.
    lam : float
        λ, at least 0.
    cuts : Cuts, optional
    edge_duals : ndarray of shape (T (T − 1) / 2, M), optional
        Edge duals to start from, of norm at most λ.
    rho : float, optional
        Penalty of the method to start with.
    tol : float
        Gap to reach, absolute.

    Returns
    -------
    Weights
        Of the smallest gap seen.
    """
    n_tasks, n_kernels = g.shape
    if rho is None:
        # On the scale of the second derivatives, or of g.
        curvature = float(np.einsum("tmm->", H)) / g.size
        rho = max(curvature, 0.3 * float(np.mean(np.ptp(g, axis=1))), 1e-12)
    n_pairs = n_tasks * (n_tasks - 1) // 2
    pi = np.zeros((n_pairs, n_kernels))
    if cuts is None:
        cuts = Cuts(np.empty((n_tasks, 0)), np.empty((n_tasks, 0, n_kernels)))
    shares = np.zeros(cuts.offsets.shape)
    if lam == 0.0 or n_pairs == 0:
        theta = center.copy()
        found = np.zeros(2)
        for t in range(n_tasks):
            own = Program(g[t], H[t], center[t], cuts.offsets[t], cuts.slopes[t])
            found += _minimise_alone(own, tol / n_tasks, theta[t], shares[t])
        return Weights(theta, pi, shares, rho, *found.tolist())

    if edge_duals is not None:
        pi[:] = edge_duals
    a, B, scale = cuts.offsets, cuts.slopes, np.ones(n_tasks)
    if a.size:
        # Rows of a task are scaled together, so that one projection serves them.
        largest = np.sqrt(np.einsum("tjm,tjm->tj", B, B)).max(axis=1)
        scale = np.where(largest > 0.0, largest, 1.0)
        a, B = a / scale[:, None], B / scale[:, None, None]
    program = _Program(
        g=g,
        H=H,
        center=center,
        at_zero=np.empty_like(g),
        lam=lam,
        a=a,
        a_at_zero=a - np.einsum("tjm,tm->tj", B, center) if a.size else a,
        B=B,
        scale=scale,
        tol=tol,
    )
    best = _Best(center.copy(), pi, shares, np.zeros(2))
    rho = _minimise_together(program, best, rho)
    return Weights(best.theta, pi, shares, rho, *best.value.tolist())


def _minimise_alone(
    program: Program, tol: float, theta: FloatArray, shares: FloatArray
) -> tuple[float, float]:
    """Improve the weights of one task and the shares of its cuts in place.

    With cuts, a program has those weights that are positive and the ones of the least
    partial derivatives, until no other belongs to them.

    Returns the objective and the gap.
    """
    g, H, center, offsets, slopes = program
    if offsets.size == 0:
        return minimise_on_simplex(program, tol, _MAX_ITER, theta)[:2]
    slope = g + H @ (theta - center)
    for _ in range(_ROUNDS):
        is_positive = (theta > 0.0) | (center > 0.0)
        size = int(is_positive.sum()) + _SPARE
        columns = np.argsort(np.where(is_positive, -np.inf, slope))[:size]
        x = theta[columns]
        part = Program(
            g[columns],
            np.ascontiguousarray(H[np.ix_(columns, columns)]),
            center[columns],
            offsets,
            np.ascontiguousarray(slopes[:, columns]),
        )
        value, left, _ = minimise_with_cuts(part, 0.5 * tol, _MAX_ITER, x, shares)
        theta[:] = 0.0
        theta[columns] = x
        slope = g + H @ (theta - center) + shares @ slopes
        missed = float(slope[columns].min() - slope.min())
        left += missed
        if missed <= 0.5 * tol:
            break
    return value, left


def _minimise_together(program: _Program, best: _Best, sigma: float) -> float:
    """Improve the best point in place; return the penalty σ at the end.

    With σ = ρT the copies of θ_t and of its differences weigh the same.
    """
    n_tasks, n = program.g.shape
    lam, B = program.lam, program.B
    it = _Iterates(
        x=np.empty((n_tasks, n)),
        z=program.center.copy(),
        u=np.empty((n_tasks, n)),
        v=np.empty_like(best.edge_duals),
        shrink=np.zeros(len(best.edge_duals)),
        differences=np.empty((n_tasks, n)),
        multipliers=np.empty((n_tasks, n)),
        y=program.a.copy(),
        p=np.zeros_like(program.a),
        mu=np.zeros_like(program.a),
    )
    rho = sigma / n_tasks
    n_iter, identity = 0, np.eye(n)
    while True:
        A = program.H + (sigma + rho * n_tasks) * identity
        if B.size:
            A += sigma * np.einsum("tja,tjb->tab", B, B)
        inverses = np.linalg.inv(A)
        coupling = rho * np.linalg.inv(identity - rho * inverses.sum(axis=0))
        penalties = _Penalties(sigma, rho, inverses, coupling)
        n_iter, change = _iterate(program, it, best, penalties, n_iter)
        if change == 1.0:
            return sigma
        sigma, rho = sigma * change, rho * change
        for multiplier in (it.u, it.multipliers, it.p):
            multiplier /= change
        # d and p are parallel, so that v keeps its direction.
        it.v[:] *= (it.shrink + (1.0 - it.shrink) / change)[:, None]
        norms = np.maximum(np.sqrt(np.einsum("km,km->k", it.v, it.v)), 1e-300)
        shrink = np.maximum(1.0 - lam / rho / norms, 0.0)
        it.shrink[:] = np.where(it.shrink > 0.0, shrink, 0.0)


@routine
def _start(
    program: _Program, it: _Iterates, best: _Best, sigma: float, rho: float
) -> None:
    """Write the gap at the centres, and the multipliers that belong to them."""
    g, center = program.g, program.center
    n_tasks, n = g.shape
    r = edge_sums(best.edge_duals, n_tasks)
    best.value[0], best.value[1] = _gap(program, center, r, best.shares)
    for t in range(n_tasks):
        mean = 0.0
        for m in range(n):
            bend = dot_at(program.H, (t * n + m) * n, center, t * n, n)
            program.at_zero[t, m] = g[t, m] - bend
            it.u[t, m] = (g[t, m] + r[t, m]) / -sigma
            mean += it.u[t, m] * center[t, m]
        for m in range(n):
            # At the optimum equal where a weight is positive, and not larger elsewhere.
            it.u[t, m] = min(it.u[t, m], mean) if center[t, m] == 0.0 else mean
    it.v[:] = best.edge_duals / rho
    _pair_step(center, it, program.lam / rho, 1.0)


@compiled
def _iterate(
    program: _Program, it: _Iterates, best: _Best, penalties: _Penalties, n_iter: int
) -> tuple[int, float]:
    """Iterate until the gap is closed or the penalty should change.

    Returns the iterations so far, and by what to multiply the penalty, or 1 at the end.
    """
    sigma, rho = penalties.sigma, penalties.rho
    merged = np.empty(it.z.shape)
    if n_iter == 0:
        _start(program, it, best, sigma, rho)
    while n_iter < _MAX_ITER and best.value[1] > program.tol:
        n_iter += 1
        is_checked = n_iter % _CHECK_EVERY == 0 or n_iter == _MAX_ITER
        if is_checked:
            old_z, old_differences = it.z.copy(), it.differences.copy()
        _quadratic_step(program, it, penalties)
        _pair_step(it.x, it, program.lam / rho, _RELAXATION)
        _simplex_step(it)
        if it.mu.size:
            _cut_step(program, it, sigma)
        if not is_checked:
            continue
        # The gap at z, and at the means of the tasks that are fused.
        r = rho * it.multipliers
        _keep_if_better(program, it.z, it, r, rho, best)
        _merge_fused(it.z, it.shrink, merged)
        _keep_if_better(program, merged, it, r, rho, best)
        if n_iter % _BALANCE_EVERY == 0 and best.value[1] > program.tol:
            move = sigma * (it.z - old_z) + rho * (it.differences - old_differences)
            change = _change_of_penalty(it, move, sigma, r)
            if change != 1.0:
                return n_iter, change
    return n_iter, 1.0


@routine
def _quadratic_step(program: _Program, it: _Iterates, penalties: _Penalties) -> None:
    """Solve for x by blocks, and by the system that couples them."""
    sigma, rho, inverses, coupling = penalties
    n_tasks, n = it.x.shape
    right, sums = np.empty(n), np.zeros(n)
    for t in range(n_tasks):
        for m in range(n):
            right[m] = (
                -program.at_zero[t, m]
                + sigma * (it.z[t, m] - it.u[t, m])
                + rho * (it.differences[t, m] - it.multipliers[t, m])
            )
        for j in range(it.y.shape[1]):
            height = it.y[t, j] - it.p[t, j] - program.a_at_zero[t, j]
            add_scaled(right, sigma * height, program.B[t, j])
        for m in range(n):
            it.x[t, m] = dot_at(inverses, (t * n + m) * n, right, 0, n)
        add_scaled(sums, 1.0, it.x[t])
    for m in range(n):
        right[m] = dot_at(coupling, m * n, sums, 0, n)
    for t in range(n_tasks):
        for m in range(n):
            it.x[t, m] += dot_at(inverses, (t * n + m) * n, right, 0, n)


@routine
def _pair_step(x: FloatArray, it: _Iterates, bound: float, relaxation: float) -> None:
    """Renew v = d + p of every pair, and the sums of d and p over the pairs."""
    n_tasks, n = x.shape
    it.differences[:], it.multipliers[:] = 0.0, 0.0
    k = 0
    for t in range(n_tasks):
        for s in range(t + 1, n_tasks):
            keep = 1.0 - relaxation * it.shrink[k]
            row = it.v[k]
            for m in range(n):
                row[m] = relaxation * (x[t, m] - x[s, m]) + keep * row[m]
            square = dot(row, row)
            factor = 0.0
            if square > bound * bound:
                factor = 1.0 - bound / np.sqrt(square)
            it.shrink[k] = factor
            for m in range(n):
                d = factor * row[m]
                p = row[m] - d
                it.differences[t, m] += d
                it.differences[s, m] -= d
                it.multipliers[t, m] += p
                it.multipliers[s, m] -= p
            k += 1


@routine
def _simplex_step(it: _Iterates) -> None:
    """Renew the copies z in the simplex and their scaled multipliers."""
    x, z, u = it.x, it.z, it.u
    w = np.empty(x.shape[1])
    for t in range(x.shape[0]):
        for m in range(w.size):
            w[m] = _RELAXATION * x[t, m] + (1.0 - _RELAXATION) * z[t, m] + u[t, m]
        project_on_simplex(w, z[t])
        for m in range(w.size):
            u[t, m] = w[m] - z[t, m]


@routine
def _cut_step(program: _Program, it: _Iterates, sigma: float) -> None:
    """Renew heights, multipliers and shares of the cuts."""
    (n_tasks, n), mu = it.x.shape, it.mu
    v = np.empty(mu.shape[1])
    for t in range(n_tasks):
        unit = program.scale[t] / sigma
        for j in range(v.size):
            height = program.a_at_zero[t, j]
            height += dot_at(program.B, (t * v.size + j) * n, it.x, t * n, n)
            height = _RELAXATION * height + (1.0 - _RELAXATION) * it.y[t, j]
            v[j] = (height + it.p[t, j]) / unit
            mu[t, j] = max(v[j], 0.0)
        if np.sum(mu[t]) > 1.0:
            project_on_simplex(v, mu[t])
        for j in range(v.size):
            it.p[t, j] = unit * mu[t, j]
            it.y[t, j] = unit * (v[j] - mu[t, j])


@compiled
def project_on_simplex(v: FloatArray, out: FloatArray) -> None:
    """Write the point of the simplex nearest to v."""
    count, threshold = v.size + 1, -np.inf
    while True:
        remaining, sum_of_largest = 0, 0.0
        for m in range(v.size):
            if v[m] > threshold:
                remaining += 1
                sum_of_largest += v[m]
        if remaining >= count or remaining == 0:
            break
        count = remaining
        threshold = (sum_of_largest - 1.0) / count
    for m in range(v.size):
        out[m] = max(v[m] - threshold, 0.0)


@routine
def _merge_fused(z: FloatArray, shrink: FloatArray, out: FloatArray) -> None:
    """Write the means of z over tasks that pairs of difference zero connect."""
    n_tasks = len(z)
    label, size = np.arange(n_tasks), np.zeros(n_tasks)
    k = 0
    for t in range(n_tasks):
        for s in range(t + 1, n_tasks):
            if shrink[k] == 0.0 and label[s] != label[t]:
                kept, lost = min(label[t], label[s]), max(label[t], label[s])
                label[label == lost] = kept
            k += 1
    # The label is the first task of a group.
    for t in range(n_tasks):
        first = label[t]
        size[first] += 1.0
        out[first] = z[t] + out[first] if first < t else z[t]
    for t in range(n_tasks - 1, -1, -1):
        out[t] = out[label[t]] / size[label[t]]


@routine
def _keep_if_better(
    program: _Program,
    theta: FloatArray,
    it: _Iterates,
    r: FloatArray,
    rho: float,
    best: _Best,
) -> None:
    """Keep weights and the present duals if their gap is the smallest, or reached."""
    value, gap = _gap(program, theta, r, it.mu)
    if gap >= best.value[1] and gap > program.tol:
        return
    best.value[0], best.value[1] = value, gap
    best.theta[:], best.shares[:] = theta, it.mu
    for k in range(it.shrink.size):
        # On the simplex a dual along 1 does nothing; without it none is longer.
        mean = total(it.v[k]) / theta.shape[1]
        best.edge_duals[k] = rho * (1.0 - it.shrink[k]) * (it.v[k] - mean)


@routine
def _gap(
    program: _Program, theta: FloatArray, r: FloatArray, shares: FloatArray
) -> tuple[float, float]:
    """Return the objective of θ, and its gap with edge duals of the sums r."""
    n_tasks, n = theta.shape
    value = program.lam * pairwise_norms(theta)
    gap, h = value, np.empty(n)
    for t in range(n_tasks):
        change = theta[t] - program.center[t]
        for m in range(n):
            bend = dot_at(program.H, (t * n + m) * n, change, 0, n)
            value += (program.g[t, m] + 0.5 * bend) * change[m]
            h[m] = program.g[t, m] + bend
        highest = 0.0
        for j in range(shares.shape[1]):
            row = program.B[t, j]
            height = program.scale[t] * (program.a[t, j] + dot(row, change))
            highest = max(highest, height)
            gap -= shares[t, j] * height
            add_scaled(h, program.scale[t] * shares[t, j], row)
        # Σ_{t<s} π_ts'(θ_t − θ_s) is Σ_t r_t'θ_t: the edges cancel.
        value += highest
        gap += highest + dot_at(h, 0, theta, t * n, n) - np.min(h + r[t])
    return value, gap


@routine
def _change_of_penalty(
    it: _Iterates, move: FloatArray, sigma: float, r: FloatArray
) -> float:
    """Return by what to multiply the penalties, 1 where the residuals are balanced."""
    apart, multipliers = it.x - it.z, sigma * it.u
    primal, size = np.sum(apart * apart), np.sum(it.z * it.z)
    dual, pull = np.sum(move * move), np.sum(multipliers * multipliers + r * r)
    ratio = np.sqrt(primal / max(size, 1e-300) * max(pull, 1e-300) / max(dual, 1e-300))
    if ratio > _UNBALANCED or ratio < 1.0 / _UNBALANCED:
        return min(max(np.sqrt(ratio), 1.0 / _LARGEST_CHANGE), _LARGEST_CHANGE)
    return 1.0


@compiled
def edge_sums(edge_duals: FloatArray, n_tasks: int) -> FloatArray:
    """Return r_t = Σ_s π_ts, shape (T, M), for π of shape (T(T − 1)/2, M)."""
    out = np.zeros((n_tasks, edge_duals.shape[1]))
    for sign in (1.0, -1.0):
        k = 0
        for t in range(n_tasks):
            for s in range(t + 1, n_tasks):
                add_scaled(out[t if sign > 0.0 else s], sign, edge_duals[k])
                k += 1
    return out


def within(edge_duals: FloatArray, lam: float) -> FloatArray:
    """Return edge duals shortened to norms of at most λ."""
    norms = np.sqrt(np.einsum("ij,ij->i", edge_duals, edge_duals))
    scale: FloatArray = np.minimum(1.0, lam / np.maximum(norms, 1e-300))
    return edge_duals * scale[:, None]


def group_labels(theta: FloatArray) -> IntArray:
    """Return labels 0, 1, … of the tasks with equal rows, in order of appearance."""
    labels = np.empty(len(theta), dtype=np.intp)
    seen: dict[Any, int] = {}
    for t, row in enumerate(theta):
        labels[t] = seen.setdefault(row.tobytes(), len(seen))
    return labels
