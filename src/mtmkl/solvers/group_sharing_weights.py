r"""Kernel weights of many tasks that are drawn together in pairs.

For weights θ_t in the simplex Δ = {θ ≥ 0, 1'θ = 1} of R^M, one vector a task,

    min  Σ_t [g_t'δ_t + max(0, max_j a_tj + B_tj'δ_t) + ½ δ_t'H_tδ_t]
             + λ Σ_{t<s} ‖θ_t − θ_s‖₂,      δ_t = θ_t − c_t,

with H_t positive semi-definite and any number of cuts j (none as a rule). With H = 0,
c = 0 and no cuts this is the θ step of Yousefi et al. (2015), their problem (3); with
second derivatives it is the model of a Newton step. A dual is, for any θ̂ (the quadratic
is replaced by its tangent there), weights μ_tj ≥ 0 of the cuts with Σ_j μ_tj ≤ 1 and
pair forces π_ts = −π_st with ‖π_ts‖₂ ≤ λ, so that with the gradients
h_t = g_t + Σ_j μ_tj B_tj + H_tδ̂_t and r_t = Σ_s π_ts the gap of θ̂ is a sum of
nonnegative terms,

    Σ_t [(h_t + r_t)'θ̂_t − min_m (h_t + r_t)_m]
        + Σ_t [max(0, max_j a_tj + B_tj'δ̂_t) − Σ_j μ_tj (a_tj + B_tj'δ̂_t)]
        + Σ_{t<s} [λ ‖θ̂_t − θ̂_s‖ − π_ts'(θ̂_t − θ̂_s)].

:func:`minimise_weights` is the alternating direction method of multipliers with one
copy of each difference θ_t − θ_s, one of each θ_t and one of each cut. The matrix of
the quadratic step is blockdiag(A_t) − ρ 11' ⊗ I with A_t = H_t + (σ + ρT) I + σ B̂_t'B̂_t
(the rows of B̂ scaled by the largest norm), solved by blocks and an M × M system.

References
----------
N. Yousefi, M. Georgiopoulos, G. C. Anagnostopoulos, Multi-task learning with
group-specific feature space sharing, ECML PKDD 2015.
S. Boyd, N. Parikh, E. Chu, B. Peleato, J. Eckstein, Distributed optimization and
statistical learning via the alternating direction method of multipliers, Foundations
and Trends in Machine Learning 3(1), 2011.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

_RELAXATION = 1.7
_CHECK_EVERY = 10
_BALANCE_EVERY = 20
_UNBALANCED = 3.0
_LARGEST_CHANGE = 10.0

# Entries of the report.
_RHO, _GAP, _ITERATIONS, _VALUE = range(4)


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
        In the simplex; rows of tasks that are drawn together entirely are equal.
    forces : ndarray of shape (T (T − 1) / 2, M)
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
    forces: FloatArray
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
    forces: FloatArray | None = None,
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
    forces : ndarray of shape (T (T − 1) / 2, M), optional
        Pair forces to start from.
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
    out = start.copy()
    pi = np.zeros((n_pairs, n_kernels))
    if forces is not None and n_pairs:
        pi[:] = forces
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
    report[_RHO] = _first_rho(g, H) if rho is None else rho
    _iterate(g, H, center, lam, a, B, scale, tol, max_iter, out, pi, shares, report)
    # On the simplex a force along 1 does nothing; without it no force is longer.
    pi -= pi.mean(axis=1, keepdims=True)
    all_forces = pi if n_pairs else np.zeros((n_tasks * (n_tasks - 1) // 2, n_kernels))
    return Weights(
        theta=out,
        forces=all_forces,
        shares=shares,
        rho=float(report[_RHO]),
        objective=float(report[_VALUE]),
        gap=float(report[_GAP]),
        n_iter=int(report[_ITERATIONS]),
    )


def _first_rho(g: FloatArray, H: FloatArray) -> float:
    """Return a penalty σ = ρT on the scale of the second derivatives, or of g."""
    curvature = float(np.einsum("tmm->", H)) / g.size
    spread = float(np.mean(np.ptp(g, axis=1)))
    return max(curvature, 0.3 * spread, 1e-12)


def total_forces(forces: FloatArray, n_tasks: int) -> FloatArray:
    """Return r_t = Σ_s π_ts, shape (T, M)."""
    out = np.zeros((n_tasks, forces.shape[1]))
    rows, columns = np.triu_indices(n_tasks, 1)
    np.add.at(out, rows, forces)
    np.subtract.at(out, columns, forces)
    return out


@njit(cache=True, nogil=True)
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


def group_labels(theta: FloatArray) -> IntArray:
    """Return labels 0, 1, … of the tasks with equal rows, in order of appearance."""
    labels = np.empty(len(theta), dtype=np.intp)
    seen: dict[Any, int] = {}
    for t, row in enumerate(theta):
        labels[t] = seen.setdefault(row.tobytes(), len(seen))
    return labels


@njit(cache=True, nogil=True)
def _project_on_simplex(v: FloatArray, out: FloatArray) -> None:
    """Write the point of the simplex nearest to v."""
    n = v.size
    count, total = n, 0.0
    for m in range(n):
        total += v[m]
    threshold = (total - 1.0) / count
    while True:
        remaining, total = 0, 0.0
        for m in range(n):
            if v[m] > threshold:
                remaining += 1
                total += v[m]
        if remaining >= count or remaining == 0:
            break
        count = remaining
        threshold = (total - 1.0) / count
    for m in range(n):
        out[m] = max(v[m] - threshold, 0.0)


@njit(cache=True, nogil=True)
def _invert(A: FloatArray, L: FloatArray, out: FloatArray) -> None:
    """Write the inverse of a positive definite matrix, by its Cholesky factor."""
    n = A.shape[0]
    for i in range(n):
        for j in range(i + 1):
            value = A[i, j]
            for k in range(j):
                value -= L[i, k] * L[j, k]
            if i == j:
                L[i, i] = np.sqrt(max(value, 1e-300))
            else:
                L[i, j] = value / L[j, j]
    for c in range(n):
        for i in range(n):
            value = 1.0 if i == c else 0.0
            for k in range(i):
                value -= L[i, k] * out[k, c]
            out[i, c] = value / L[i, i]
        for i in range(n - 1, -1, -1):
            value = out[i, c]
            for k in range(i + 1, n):
                value -= L[k, i] * out[k, c]
            out[i, c] = value / L[i, i]


@njit(cache=True, nogil=True)
def _factorise_blocks(
    H: FloatArray,
    B: FloatArray,
    sigma: float,
    rho: float,
    inverses: FloatArray,
    coupling: FloatArray,
) -> None:
    """Write A_t⁻¹ of every task, and (I − ρ Σ_t A_t⁻¹)⁻¹."""
    n_tasks, n = H.shape[0], H.shape[1]
    A, L, rest = np.empty((n, n)), np.zeros((n, n)), np.empty((n, n))
    for a in range(n):
        for b in range(n):
            rest[a, b] = 1.0 if a == b else 0.0
    for t in range(n_tasks):
        for a in range(n):
            for b in range(n):
                value = H[t, a, b]
                for j in range(B.shape[1]):
                    value += sigma * B[t, j, a] * B[t, j, b]
                A[a, b] = value
            A[a, a] += sigma + rho * n_tasks
        _invert(A, L, inverses[t])
        for a in range(n):
            for b in range(n):
                rest[a, b] -= rho * inverses[t, a, b]
    _invert(rest, L, coupling)


@njit(cache=True, nogil=True)
def _merge_fused(
    z: FloatArray, shrink: FloatArray, out: FloatArray, label: IntArray
) -> None:
    """Write the means of z over tasks that pairs of difference zero connect."""
    n_tasks, n = z.shape
    for t in range(n_tasks):
        label[t] = t
    k = 0
    for t in range(n_tasks):
        for s in range(t + 1, n_tasks):
            if shrink[k] == 0.0 and label[s] != label[t]:
                kept, lost = min(label[t], label[s]), max(label[t], label[s])
                for i in range(n_tasks):
                    if label[i] == lost:
                        label[i] = kept
            k += 1
    for t in range(n_tasks):
        if label[t] != t:
            continue
        size = 0
        for m in range(n):
            out[t, m] = 0.0
        for s in range(t, n_tasks):
            if label[s] == t:
                size += 1
                for m in range(n):
                    out[t, m] += z[s, m]
        for m in range(n):
            out[t, m] /= size
        for s in range(t + 1, n_tasks):
            if label[s] == t:
                for m in range(n):
                    out[s, m] = out[t, m]


@njit(cache=True, nogil=True)
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
    """Return the objective of θ, and its gap with forces of the sums r."""
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
            # Σ_{t<s} π_ts'(θ_t − θ_s) is Σ_t r_t'θ_t: the forces cancel.
            inner += h * theta[t, m]
            least = min(least, h + r[t, m])
        gap += inner - least
    return value, gap


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
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


@njit(cache=True, nogil=True)
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
            _project_on_simplex(v, point)
            for j in range(n_cuts):
                v[j] *= unit
        for j in range(n_cuts):
            mu[t, j] = point[j]
            p[t, j] = unit * point[j]
            y[t, j] = v[j] - p[t, j]


@njit(cache=True, nogil=True)
def _iterate(
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
    """Improve weights and multipliers in place; ``report`` holds the penalty σ."""
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
    k = 0
    if n_pairs:
        for t in range(n_tasks):
            for s in range(t + 1, n_tasks):
                for m in range(n):
                    r[t, m] += pi[k, m]
                    r[s, m] -= pi[k, m]
                k += 1
    value, best = _gap(g, H, center, lam, a, B, scale, out, r, shares)
    report[_VALUE], report[_GAP], report[_ITERATIONS] = value, best, 0
    if best <= tol:
        return

    # With σ = ρT the copies of θ_t and of its differences weigh the same.
    sigma = report[_RHO]
    rho = sigma / n_tasks if n_pairs else 0.0
    inverses, coupling = np.empty((n_tasks, n, n)), np.empty((n, n))
    _factorise_blocks(H, B, sigma, rho, inverses, coupling)

    x, z, u = np.empty((n_tasks, n)), out.copy(), np.empty((n_tasks, n))
    for t in range(n_tasks):
        mean = 0.0
        for m in range(n):
            bend = 0.0
            for b in range(n):
                bend += H[t, m, b] * out[t, b]
            u[t, m] = (linear[t, m] - bend - r[t, m]) / sigma
            mean += u[t, m] * out[t, m]
        for m in range(n):
            # At the optimum equal where a weight is positive, not larger elsewhere.
            u[t, m] = min(u[t, m], mean) if out[t, m] == 0.0 else mean
    v, shrink = np.empty((n_pairs, n)), np.empty(n_pairs)
    differences, multipliers = np.zeros((n_tasks, n)), np.zeros((n_tasks, n))
    k = 0
    if n_pairs:
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

    # Cuts: heights y of B̂δ + â, scaled multipliers p = scale·μ/σ.
    y, p = np.zeros((n_tasks, n_cuts)), np.zeros((n_tasks, n_cuts))
    mu = np.zeros((n_tasks, n_cuts))
    at_center = np.zeros((n_tasks, n_cuts))
    for t in range(n_tasks):
        for j in range(n_cuts):
            at_center[t, j] = a[t, j]
            y[t, j] = a[t, j]
            for m in range(n):
                at_center[t, j] -= B[t, j, m] * center[t, m]
                y[t, j] += B[t, j, m] * (out[t, m] - center[t, m])

    merged, label = np.empty((n_tasks, n)), np.empty(n_tasks, np.intp)
    old_z, old_differences = np.empty((n_tasks, n)), np.empty((n_tasks, n))
    total, shared, w = np.empty(n), np.empty(n), np.empty(n)
    for iteration in range(1, max_iter + 1):
        is_checked = iteration % _CHECK_EVERY == 0 or iteration == max_iter
        if is_checked:
            old_z[:] = z
            old_differences[:] = differences
        for m in range(n):
            total[m] = 0.0
        for t in range(n_tasks):
            for m in range(n):
                w[m] = (
                    linear[t, m]
                    + sigma * (z[t, m] - u[t, m])
                    + rho * (differences[t, m] - multipliers[t, m])
                )
                for j in range(n_cuts):
                    w[m] += sigma * B[t, j, m] * (y[t, j] - p[t, j] - at_center[t, j])
            for m in range(n):
                value = 0.0
                for b in range(n):
                    value += inverses[t, m, b] * w[b]
                x[t, m] = value
                total[m] += value
        if n_pairs:
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
            _pair_step(x, v, shrink, lam / rho, differences, multipliers)
        for t in range(n_tasks):
            for m in range(n):
                w[m] = _RELAXATION * x[t, m] + (1.0 - _RELAXATION) * z[t, m] + u[t, m]
            _project_on_simplex(w, z[t])
            for m in range(n):
                u[t, m] = w[m] - z[t, m]
        if n_cuts:
            _cut_step(x, B, at_center, scale, sigma, y, p, mu)
        if not is_checked:
            continue

        for t in range(n_tasks):
            for m in range(n):
                r[t, m] = rho * multipliers[t, m]
        value, gap = _gap(g, H, center, lam, a, B, scale, z, r, mu)
        is_better = gap < best
        if is_better:
            best = gap
            out[:] = z
            report[_VALUE] = value
        if n_pairs:
            _merge_fused(z, shrink, merged, label)
            value, gap = _gap(g, H, center, lam, a, B, scale, merged, r, mu)
            if gap < best or gap <= tol:
                is_better = True
                best = gap
                out[:] = merged
                report[_VALUE] = value
        if is_better:
            report[_GAP] = best
            shares[:] = mu
            for k in range(n_pairs):
                for m in range(n):
                    pi[k, m] = rho * (1.0 - shrink[k]) * v[k, m]
        report[_ITERATIONS] = iteration
        if best <= tol:
            break

        if iteration % _BALANCE_EVERY == 0:
            primal, dual, size, force = 0.0, 0.0, 0.0, 0.0
            for t in range(n_tasks):
                for m in range(n):
                    e = x[t, m] - z[t, m]
                    primal += e * e
                    e = sigma * (z[t, m] - old_z[t, m]) + rho * (
                        differences[t, m] - old_differences[t, m]
                    )
                    dual += e * e
                    size += z[t, m] * z[t, m]
                    e = sigma * u[t, m]
                    force += e * e + r[t, m] * r[t, m]
            ratio = np.sqrt(
                primal / max(size, 1e-300) * max(force, 1e-300) / max(dual, 1e-300)
            )
            if ratio > _UNBALANCED or ratio < 1.0 / _UNBALANCED:
                change = min(
                    max(np.sqrt(ratio), 1.0 / _LARGEST_CHANGE), _LARGEST_CHANGE
                )
                sigma *= change
                for t in range(n_tasks):
                    for m in range(n):
                        u[t, m] /= change
                        multipliers[t, m] /= change
                    for j in range(n_cuts):
                        p[t, j] /= change
                rho *= change
                for k in range(n_pairs):
                    norm = 0.0
                    for m in range(n):
                        d = shrink[k] * v[k, m]
                        v[k, m] = d + (v[k, m] - d) / change
                        norm += v[k, m] * v[k, m]
                    # d and p are parallel, so that v keeps its direction.
                    bound = lam / rho
                    if shrink[k] > 0.0:
                        shrink[k] = max(1.0 - bound / np.sqrt(norm), 0.0)
                _factorise_blocks(H, B, sigma, rho, inverses, coupling)
    report[_RHO] = sigma
