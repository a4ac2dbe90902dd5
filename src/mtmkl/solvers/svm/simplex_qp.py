r"""Quadratic programs on the simplex: active sets; with cuts, an interior-point method.

    min  g'δ + ½ δ'Hδ + max(0, max_j a_j + B_j'δ),   δ = x − c,   x ≥ 0, 1'x = 1,

with H positive semi-definite. Without cuts the variables that are free solve the
equations of the optimum; where that makes one negative, the step ends at the first
zero, which is no longer free; at the optimum of the free ones that of the least partial
derivative is freed. Where most free ones would have to go, the search begins anew at a
vertex. Optima of few positive entries take a few dozen small systems, whatever the
number of variables.
"""

import numpy as np

from mtmkl.compiled import compiled, routine
from mtmkl.typing import FloatArray

_RIDGE = 1e-12
_CENTRING, _TO_BOUNDARY = 0.1, 0.99
_ROUNDING = 1e-14
_ZERO = 1e-7  # what an interior point leaves of a weight that is zero


@compiled
def minimise_on_simplex(
    g: FloatArray,
    H: FloatArray,
    center: FloatArray,
    tol: float,
    max_iter: int,
    x: FloatArray,
) -> tuple[float, float, int]:
    """Minimise from x, in place, until the gap is at most tol.

    The gap is g(x)'x − min g(x), g(x) the gradient at x; ``max_iter`` limits the
    systems.

    Returns the objective, the gap and the number of systems.
    """
    n = x.size
    ridge = 1e-300
    for m in range(n):
        ridge = max(ridge, _RIDGE * H[m, m])
    linear = g - np.dot(H, center)
    is_free = x > 0.0
    n_iter = 0
    while True:
        gradient = linear + np.dot(H, x)
        least = np.argmin(gradient)
        gap = np.dot(gradient, x) - gradient[least]
        if gap <= tol or n_iter >= max_iter:
            break
        is_free[least] = True
        # To the optimum of the free variables, past those that become zero.
        while n_iter < max_iter:
            n_iter += 1
            free = np.flatnonzero(is_free)
            k = free.size
            A = np.zeros((k + 1, k + 1))
            right = np.zeros(k + 1)
            for a in range(k):
                for b in range(k):
                    A[a, b] = H[free[a], free[b]]
                A[a, a] += ridge
                A[a, k] = 1.0
                A[k, a] = 1.0
                right[a] = ridge * x[free[a]] - linear[free[a]]
            right[k] = 1.0
            target = np.linalg.solve(A, right)
            if n_iter == 1 and 2 * np.sum(target[:k] < 0.0) > k:
                # Most would leave one by one: few come one by one from a vertex.
                x[:] = 0.0
                x[least] = 1.0
                is_free[:] = x > 0.0
                break
            step, first = 1.0, -1
            for a in range(k):
                old = x[free[a]]
                if target[a] < 0.0 and old < step * (old - target[a]):
                    step, first = old / (old - target[a]), a
            for a in range(k):
                i = free[a]
                x[i] = max(x[i] + step * (target[a] - x[i]), 0.0)
            if first < 0:
                break
            x[free[first]] = 0.0
            is_free[free[first]] = False
        x /= x.sum()
        gradient = linear + np.dot(H, x)
        if np.dot(gradient, x) - gradient.min() >= gap and n_iter > 2 * n:
            # Rounding is all that is left.
            break
    change = x - center
    gradient = linear + np.dot(H, x)
    objective = np.dot(g, change) + 0.5 * np.dot(change, np.dot(H, change))
    return objective, np.dot(gradient, x) - gradient.min(), n_iter


@compiled
def minimise_with_cuts(
    g: FloatArray,
    H: FloatArray,
    center: FloatArray,
    offsets: FloatArray,
    slopes: FloatArray,
    tol: float,
    max_iter: int,
    x: FloatArray,
    shares: FloatArray,
) -> tuple[float, float, int]:
    """Minimise from x, in place, until the gap is at most tol or rounding is left.

    ``offsets`` and ``slopes`` are a and B, finite. The multipliers μ ≥ 0 of the cuts,
    of sum at most 1, are written to ``shares``. With h = g + Hδ + B'μ the gap is
    h'x − min h, and what μ misses of the maximum.

    Returns the objective, the gap and the number of Newton systems.
    """
    n, n_cuts = x.size, offsets.size
    linear = g - np.dot(H, center)
    # The last cut is 0 ≤ 0.
    level = np.zeros(n_cuts + 1)
    B = np.zeros((n_cuts + 1, n))
    B[:n_cuts] = slopes
    level[:n_cuts] = offsets - np.dot(slopes, center)
    w = x + 0.1 / n
    w /= w.sum()
    gradient = linear + np.dot(H, w)
    unit = max(gradient.max() - gradient.min(), tol)
    heights = level + np.dot(B, w)
    unit = max(unit, heights.max() - heights.min())
    top = heights.max() + unit
    room = top - heights
    z = np.full(n, unit)
    mu = np.full(n_cuts + 1, 1.0 / (n_cuts + 1))
    nu = -np.mean(gradient) + unit
    n_iter = 0
    A = np.zeros((n + 2, n + 2))
    right = np.zeros(n + 2)
    enough = 0.1 * max(tol, _ROUNDING * unit)
    residual = np.inf
    while n_iter < max_iter:
        complement = np.dot(w, z) + np.dot(room, mu)
        r_dual = linear + np.dot(H, w) + np.dot(B.T, mu) - z + nu
        before, residual = residual, np.abs(r_dual).max()
        # Steps make a residual smaller; where it grows, rounding is all that is left.
        if complement <= enough and (residual <= enough or residual >= before):
            break
        n_iter += 1
        target = _CENTRING * complement / (n + n_cuts + 1)
        r_room = room - (top - np.dot(B, w) - level)
        D = mu / room
        h = target / room - mu + D * r_room
        A[:] = 0.0
        for i in range(n):
            for j in range(n):
                A[i, j] = H[i, j]
            A[i, i] += z[i] / w[i]
            A[i, n + 1] = 1.0
            A[n + 1, i] = 1.0
        scaled = B.copy()
        for j in range(n_cuts + 1):
            scaled[j] *= D[j]
        A[:n, :n] += np.dot(B.T, scaled)
        for i in range(n):
            A[i, n] = -scaled[:, i].sum()
            A[n, i] = A[i, n]
        A[n, n] = D.sum()
        right[:n] = -r_dual - np.dot(B.T, h) + target / w - z
        right[n] = mu.sum() - 1.0 + h.sum()
        right[n + 1] = 1.0 - w.sum()
        try:
            step = np.linalg.solve(A, right)
        except Exception:  # singular; numba knows no other class
            break
        d_w = step[:n]
        d_top = step[n]
        d_room = d_top - np.dot(B, d_w) - r_room
        d_mu = h - D * d_top + D * np.dot(B, d_w)
        d_z = target / w - z - z * d_w / w
        length = 1.0
        for i in range(n):
            if d_w[i] < 0.0:
                length = min(length, -_TO_BOUNDARY * w[i] / d_w[i])
            if d_z[i] < 0.0:
                length = min(length, -_TO_BOUNDARY * z[i] / d_z[i])
        for j in range(n_cuts + 1):
            if d_room[j] < 0.0:
                length = min(length, -_TO_BOUNDARY * room[j] / d_room[j])
            if d_mu[j] < 0.0:
                length = min(length, -_TO_BOUNDARY * mu[j] / d_mu[j])
        w += length * d_w
        z += length * d_z
        room += length * d_room
        mu += length * d_mu
        nu += length * step[n + 1]
        top += length * d_top
        if length < 1e-8:
            break
    total = mu.sum()
    shares[:] = mu[:n_cuts] / max(total, 1e-300)
    # One that is not zero has a slack that is.
    trimmed = w.copy()
    for i in range(n):
        if w[i] < _ZERO and z[i] * _ZERO > w[i] * w[i] * tol:
            trimmed[i] = 0.0
    x[:] = trimmed / trimmed.sum()
    objective, gap = _value_with_cuts(g, H, center, offsets, slopes, shares, x)
    if gap > tol:
        # H may be so large that zeros cost more than they are worth.
        w /= w.sum()
        other, left = _value_with_cuts(g, H, center, offsets, slopes, shares, w)
        if left < gap:
            x[:] = w
            objective, gap = other, left
    return objective, gap, n_iter


@routine
def _value_with_cuts(
    g: FloatArray,
    H: FloatArray,
    center: FloatArray,
    offsets: FloatArray,
    slopes: FloatArray,
    shares: FloatArray,
    x: FloatArray,
) -> tuple[float, float]:
    """Return the objective at x, and its gap with the multipliers of the cuts."""
    change = x - center
    bend = np.dot(H, change)
    heights = offsets + np.dot(slopes, change)
    highest = max(heights.max(), 0.0)
    h = g + bend + np.dot(slopes.T, shares)
    gap = np.dot(h, x) - h.min() + highest - np.dot(shares, heights)
    return np.dot(g, change) + 0.5 * np.dot(change, bend) + highest, gap
