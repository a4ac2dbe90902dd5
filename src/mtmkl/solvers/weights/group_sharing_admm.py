"""Iterations of the alternating direction method of multipliers for kernel weights.

For the problem of :mod:`mtmkl.solvers.weights.group_sharing_weights`, with one copy of
each difference θ_t − θ_s, one of each θ_t and one of each cut. The matrix of the
quadratic step is blockdiag(A_t) − ρ 11' ⊗ I with A_t = H_t + (σ + ρT) I + σ B̂_t'B̂_t
(the rows of B̂ scaled by the largest norm), solved by blocks and an M × M system.

References
----------
S. Boyd, N. Parikh, E. Chu, B. Peleato, J. Eckstein, Distributed optimization and
statistical learning via the alternating direction method of multipliers, Foundations
and Trends in Machine Learning 3(1), 2011.
"""

import numpy as np

from mtmkl.compiled import compiled, routine
from mtmkl.solvers.weights.group_sharing_algebra import (
    factorise_blocks,
    merge_fused,
    project_on_simplex,
)
from mtmkl.typing import FloatArray

_RELAXATION = 1.7
_CHECK_EVERY = 10
_BALANCE_EVERY = 20
_UNBALANCED = 3.0
_LARGEST_CHANGE = 10.0

# Entries of the report.
RHO, GAP, ITERATIONS, VALUE = range(4)


@compiled
def pair_penalty(theta: FloatArray) -> float:
    """Return Σ_{t<s} ‖θ_t − θ_s‖₂ of the rows of θ, shape (T, M)."""
    total = 0.0
    for t in range(theta.shape[0]):
        for s in range(t + 1, theta.shape[0]):
            square = 0.0
            for m in range(theta.shape[1]):
                d = theta[t, m] - theta[s, m]
                square += d * d
            total += np.sqrt(square)
    return total


@routine
def _add_edges(edge_duals: FloatArray, out: FloatArray) -> None:
    """Add Σ_s π_ts of each task t to out, shape (T, M)."""
    n_tasks, n = out.shape
    k = 0
    for t in range(n_tasks):
        for s in range(t + 1, n_tasks):
            for m in range(n):
                out[t, m] += edge_duals[k, m]
                out[s, m] -= edge_duals[k, m]
            k += 1


@compiled
def _gap(
    g: FloatArray,
    H: FloatArray,
    center: FloatArray,
    lam: float,
    a: FloatArray,
    B: FloatArray,
    scale: FloatArray,
    theta: FloatArray,
    r: FloatArray,
    shares: FloatArray,
) -> tuple[float, float]:
    """Return the objective of θ, and its gap with edge duals of the sums r."""
    n_tasks, n = theta.shape
    n_cuts = a.shape[1]
    gap, value = 0.0, 0.0
    if lam > 0.0:
        penalty = lam * pair_penalty(theta)
        gap, value = penalty, penalty
    for t in range(n_tasks):
        least, inner = np.inf, 0.0
        highest = 0.0
        for j in range(n_cuts):
            height = a[t, j]
            for m in range(n):
                height += B[t, j, m] * (theta[t, m] - center[t, m])
            highest = max(highest, height)
            if shares[t, j] > 0.0:
                gap -= scale[t] * shares[t, j] * height
        gap += scale[t] * highest
        value += scale[t] * highest
        for m in range(n):
            bend = 0.0
            for k in range(n):
                bend += H[t, m, k] * (theta[t, k] - center[t, k])
            h = g[t, m] + bend
            for j in range(n_cuts):
                h += scale[t] * shares[t, j] * B[t, j, m]
            value += (g[t, m] + 0.5 * bend) * (theta[t, m] - center[t, m])
            # Σ_{t<s} π_ts'(θ_t − θ_s) is Σ_t r_t'θ_t: the edges cancel.
            inner += h * theta[t, m]
            least = min(least, h + r[t, m])
        gap += inner - least
    return value, gap


@compiled
def _pair_step(
    x: FloatArray,
    v: FloatArray,
    shrink: FloatArray,
    bound: float,
    differences: FloatArray,
    multipliers: FloatArray,
) -> None:
    """Renew v = d + p of every pair, d = shrink·v, and sum d and p over the pairs."""
    n_tasks, n = x.shape
    for t in range(n_tasks):
        for m in range(n):
            differences[t, m] = 0.0
            multipliers[t, m] = 0.0
    k = 0
    for t in range(n_tasks):
        for s in range(t + 1, n_tasks):
            keep = 1.0 - _RELAXATION * shrink[k]
            row = v[k]
            square = 0.0
            for m in range(n):
                value = _RELAXATION * (x[t, m] - x[s, m]) + keep * row[m]
                row[m] = value
                square += value * value
            factor = 0.0
            if square > bound * bound:
                factor = 1.0 - bound / np.sqrt(square)
            shrink[k] = factor
            for m in range(n):
                d = factor * row[m]
                p = row[m] - d
                differences[t, m] += d
                differences[s, m] -= d
                multipliers[t, m] += p
                multipliers[s, m] -= p
            k += 1


@routine
def _cut_step(
    x: FloatArray,
    B: FloatArray,
    at_center: FloatArray,
    scale: FloatArray,
    sigma: float,
    y: FloatArray,
    p: FloatArray,
    mu: FloatArray,
) -> None:
    """Renew heights, multipliers and shares of the cuts."""
    n_tasks, n_cuts = y.shape
    v, point = np.empty(n_cuts), np.empty(n_cuts)
    for t in range(n_tasks):
        unit = scale[t] / sigma
        total = 0.0
        for j in range(n_cuts):
            height = at_center[t, j]
            for m in range(x.shape[1]):
                height += B[t, j, m] * x[t, m]
            v[j] = _RELAXATION * height + (1.0 - _RELAXATION) * y[t, j] + p[t, j]
            point[j] = max(v[j] / unit, 0.0)
            total += point[j]
        if total > 1.0:
            for j in range(n_cuts):
                v[j] /= unit
            project_on_simplex(v, point)
            for j in range(n_cuts):
                v[j] *= unit
        for j in range(n_cuts):
            mu[t, j] = point[j]
            p[t, j] = unit * point[j]
            y[t, j] = v[j] - p[t, j]


@routine
def _start_simplex(
    linear: FloatArray,
    H: FloatArray,
    theta: FloatArray,
    r: FloatArray,
    sigma: float,
    u: FloatArray,
) -> None:
    """Write the scaled multipliers of the simplex that belong to weights and edges."""
    n_tasks, n = theta.shape
    for t in range(n_tasks):
        mean = 0.0
        for m in range(n):
            bend = 0.0
            for b in range(n):
                bend += H[t, m, b] * theta[t, b]
            u[t, m] = (linear[t, m] - bend - r[t, m]) / sigma
            mean += u[t, m] * theta[t, m]
        for m in range(n):
            # At the optimum equal where a weight is positive, not larger elsewhere.
            u[t, m] = min(u[t, m], mean) if theta[t, m] == 0.0 else mean


@routine
def _start_edges(
    z: FloatArray,
    pi: FloatArray,
    lam: float,
    rho: float,
    v: FloatArray,
    shrink: FloatArray,
    differences: FloatArray,
    multipliers: FloatArray,
) -> None:
    """Write v = d + p of every pair at weights z, and the sums of d and p."""
    n_tasks, n = z.shape
    k = 0
    for t in range(n_tasks):
        for s in range(t + 1, n_tasks):
            square = 0.0
            for m in range(n):
                v[k, m] = z[t, m] - z[s, m] + pi[k, m] / rho
                square += v[k, m] * v[k, m]
            bound = lam / rho
            shrink[k] = 0.0
            if square > bound * bound:
                shrink[k] = 1.0 - bound / np.sqrt(square)
            for m in range(n):
                d = shrink[k] * v[k, m]
                differences[t, m] += d
                differences[s, m] -= d
                multipliers[t, m] += v[k, m] - d
                multipliers[s, m] -= v[k, m] - d
            k += 1


@routine
def _start_cuts(
    a: FloatArray,
    B: FloatArray,
    center: FloatArray,
    theta: FloatArray,
    at_center: FloatArray,
    y: FloatArray,
) -> None:
    """Write the cuts' offsets around θ = 0, and their heights at θ."""
    n_tasks, n_cuts = a.shape
    for t in range(n_tasks):
        for j in range(n_cuts):
            at_center[t, j] = a[t, j]
            y[t, j] = a[t, j]
            for m in range(center.shape[1]):
                at_center[t, j] -= B[t, j, m] * center[t, m]
                y[t, j] += B[t, j, m] * (theta[t, m] - center[t, m])


@routine
def _quadratic_step(
    right: FloatArray,
    inverses: FloatArray,
    coupling: FloatArray,
    rho: float,
    x: FloatArray,
) -> None:
    """Solve for x by blocks, and where ρ > 0 by the system that couples them."""
    n_tasks, n = x.shape
    total, shared = np.zeros(n), np.empty(n)
    for t in range(n_tasks):
        for m in range(n):
            value = 0.0
            for b in range(n):
                value += inverses[t, m, b] * right[t, b]
            x[t, m] = value
            total[m] += value
    if rho == 0.0:
        return
    for m in range(n):
        value = 0.0
        for b in range(n):
            value += coupling[m, b] * total[b]
        shared[m] = rho * value
    for t in range(n_tasks):
        for m in range(n):
            value = 0.0
            for b in range(n):
                value += inverses[t, m, b] * shared[b]
            x[t, m] += value


@routine
def _simplex_step(x: FloatArray, z: FloatArray, u: FloatArray) -> None:
    """Renew the copies z in the simplex and their scaled multipliers."""
    n_tasks, n = x.shape
    w = np.empty(n)
    for t in range(n_tasks):
        for m in range(n):
            w[m] = _RELAXATION * x[t, m] + (1.0 - _RELAXATION) * z[t, m] + u[t, m]
        project_on_simplex(w, z[t])
        for m in range(n):
            u[t, m] = w[m] - z[t, m]


@routine
def _change_of_penalty(
    x: FloatArray,
    z: FloatArray,
    old_z: FloatArray,
    u: FloatArray,
    r: FloatArray,
    differences: FloatArray,
    old_differences: FloatArray,
    sigma: float,
    rho: float,
) -> float:
    """Return by what to multiply the penalties, 1 where the residuals are balanced."""
    primal, dual, size, pull = 0.0, 0.0, 0.0, 0.0
    for t in range(x.shape[0]):
        for m in range(x.shape[1]):
            e = x[t, m] - z[t, m]
            primal += e * e
            e = sigma * (z[t, m] - old_z[t, m]) + rho * (
                differences[t, m] - old_differences[t, m]
            )
            dual += e * e
            size += z[t, m] * z[t, m]
            e = sigma * u[t, m]
            pull += e * e + r[t, m] * r[t, m]
    ratio = np.sqrt(primal / max(size, 1e-300) * max(pull, 1e-300) / max(dual, 1e-300))
    if ratio > _UNBALANCED or ratio < 1.0 / _UNBALANCED:
        return min(max(np.sqrt(ratio), 1.0 / _LARGEST_CHANGE), _LARGEST_CHANGE)
    return 1.0


@routine
def _rescale_edges(
    v: FloatArray, shrink: FloatArray, bound: float, change: float
) -> None:
    """Divide the multipliers p of v = d + p by the change of the penalty."""
    for k in range(v.shape[0]):
        norm = 0.0
        for m in range(v.shape[1]):
            d = shrink[k] * v[k, m]
            v[k, m] = d + (v[k, m] - d) / change
            norm += v[k, m] * v[k, m]
        # d and p are parallel, so that v keeps its direction.
        if shrink[k] > 0.0:
            shrink[k] = max(1.0 - bound / np.sqrt(norm), 0.0)


@compiled
def minimise(
    g: FloatArray,
    H: FloatArray,
    center: FloatArray,
    lam: float,
    a: FloatArray,
    B: FloatArray,
    scale: FloatArray,
    tol: float,
    max_iter: int,
    out: FloatArray,
    pi: FloatArray,
    shares: FloatArray,
    report: FloatArray,
) -> None:
    """Improve weights, edge duals and shares in place; ``report`` holds the penalty σ.

    Stops where the gap is at most ``tol``, or after ``max_iter`` iterations.
    """
    n_tasks, n = g.shape
    n_pairs, n_cuts = pi.shape[0], a.shape[1]
    linear = np.empty((n_tasks, n))
    for t in range(n_tasks):
        for m in range(n):
            value = -g[t, m]
            for b in range(n):
                value += H[t, m, b] * center[t, b]
            linear[t, m] = value
    r = np.zeros((n_tasks, n))
    if n_pairs:
        _add_edges(pi, r)
    value, best = _gap(g, H, center, lam, a, B, scale, out, r, shares)
    report[VALUE], report[GAP], report[ITERATIONS] = value, best, 0
    if best <= tol:
        return

    # With σ = ρT the copies of θ_t and of its differences weigh the same.
    sigma = report[RHO]
    rho = sigma / n_tasks if n_pairs else 0.0
    inverses, coupling = np.empty((n_tasks, n, n)), np.empty((n, n))
    factorise_blocks(H, B, sigma, rho, inverses, coupling)
    x, z, u = np.empty((n_tasks, n)), out.copy(), np.empty((n_tasks, n))
    _start_simplex(linear, H, out, r, sigma, u)
    v, shrink = np.empty((n_pairs, n)), np.empty(n_pairs)
    differences, multipliers = np.zeros((n_tasks, n)), np.zeros((n_tasks, n))
    if n_pairs:
        _start_edges(z, pi, lam, rho, v, shrink, differences, multipliers)
    # Cuts: heights y of B̂δ + â, scaled multipliers p = scale·μ/σ.
    y, p = np.zeros((n_tasks, n_cuts)), np.zeros((n_tasks, n_cuts))
    mu, at_center = np.zeros((n_tasks, n_cuts)), np.zeros((n_tasks, n_cuts))
    _start_cuts(a, B, center, out, at_center, y)

    merged, label = np.empty((n_tasks, n)), np.empty(n_tasks, np.intp)
    old_z, old_differences = np.empty((n_tasks, n)), np.empty((n_tasks, n))
    right = np.empty((n_tasks, n))
    for iteration in range(1, max_iter + 1):
        is_checked = iteration % _CHECK_EVERY == 0 or iteration == max_iter
        if is_checked:
            old_z[:] = z
            old_differences[:] = differences
        for t in range(n_tasks):
            for m in range(n):
                right[t, m] = (
                    linear[t, m]
                    + sigma * (z[t, m] - u[t, m])
                    + rho * (differences[t, m] - multipliers[t, m])
                )
                for j in range(n_cuts):
                    height = y[t, j] - p[t, j] - at_center[t, j]
                    right[t, m] += sigma * B[t, j, m] * height
        _quadratic_step(right, inverses, coupling, rho, x)
        if n_pairs:
            _pair_step(x, v, shrink, lam / rho, differences, multipliers)
        _simplex_step(x, z, u)
        if n_cuts:
            _cut_step(x, B, at_center, scale, sigma, y, p, mu)
        if not is_checked:
            continue

        # The gap at z, and at the means of the tasks that are fused.
        for t in range(n_tasks):
            for m in range(n):
                r[t, m] = rho * multipliers[t, m]
        value, gap = _gap(g, H, center, lam, a, B, scale, z, r, mu)
        is_better = gap < best
        if is_better:
            best = gap
            out[:] = z
            report[VALUE] = value
        if n_pairs:
            merge_fused(z, shrink, merged, label)
            value, gap = _gap(g, H, center, lam, a, B, scale, merged, r, mu)
            if gap < best or gap <= tol:
                is_better = True
                best = gap
                out[:] = merged
                report[VALUE] = value
        if is_better:
            report[GAP] = best
            shares[:] = mu
            for k in range(n_pairs):
                for m in range(n):
                    pi[k, m] = rho * (1.0 - shrink[k]) * v[k, m]
        report[ITERATIONS] = iteration
        if best <= tol:
            break

        if iteration % _BALANCE_EVERY == 0:
            change = _change_of_penalty(
                x, z, old_z, u, r, differences, old_differences, sigma, rho
            )
            if change != 1.0:
                sigma *= change
                rho *= change
                u /= change
                multipliers /= change
                p /= change
                if n_pairs:
                    _rescale_edges(v, shrink, lam / rho, change)
                factorise_blocks(H, B, sigma, rho, inverses, coupling)
    report[RHO] = sigma
