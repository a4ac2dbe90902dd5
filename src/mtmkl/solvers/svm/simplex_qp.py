r"""Quadratic programs on the simplex: active sets; with cuts, an interior-point method.

    min  g'δ + ½ δ'Hδ + max(0, max_j a_j + B_j'δ),   δ = x − c,   x ≥ 0, 1'x = 1,

with H positive semi-definite. Without cuts the variables that are free solve the
equations of the optimum; where that makes one negative, the step ends at the first
zero, which is no longer free; at the optimum of the free ones that of the least partial
derivative is freed. Where most free ones would have to go, the search begins anew at a
vertex. Optima of few positive entries take a few dozen small systems, whatever the
number of variables.
"""

from typing import NamedTuple

import numpy as np

from mtmkl.compiled import add_scaled, compiled, dot, dot_at, routine, total
from mtmkl.solvers.svm.smo import drop, factorise
from mtmkl.typing import FloatArray, IntArray

_RIDGE = 1e-12
_CENTRING, _TO_BOUNDARY = 0.1, 0.99
_ROUNDING = 1e-14
_ZERO = 1e-7  # what an interior point leaves of a weight that is zero


class Program(NamedTuple):
    """A program, whose cuts may be none."""

    g: FloatArray
    H: FloatArray
    center: FloatArray
    offsets: FloatArray  # a (J,)
    slopes: FloatArray  # B (J, n)


class _Interior(NamedTuple):
    """A point w > 0 with the slacks of the cuts, and multipliers z of w, μ of these."""

    w: FloatArray
    z: FloatArray
    room: FloatArray
    mu: FloatArray


@compiled
def minimise_on_simplex(
    program: Program, tol: float, max_iter: int, x: FloatArray
) -> tuple[float, float, int]:
    """Minimise from x, in place, until the gap is at most tol; cuts are left out.

    The gap is g(x)'x − min g(x), g(x) the gradient at x; ``max_iter`` limits the
    systems.

    Returns the objective, the gap and the number of systems.
    """
    n, H = x.size, program.H
    largest = max(1e-300 / _RIDGE, np.max(np.diag(H)))
    linear, gradient = np.empty(n), np.empty(n)
    _add_product(program.g, -1.0, H, program.center, linear)
    positive = np.flatnonzero(x > 0.0)
    free, n_free = np.empty(n, np.int64), positive.size
    free[:n_free] = positive
    U, change, residual = np.empty((n, n)), np.empty(n), np.empty(n)
    n_iter = 0
    least, gap = _write_slopes(linear, H, x, gradient)
    while gap > tol and n_iter < max_iter:
        place = 0
        while place < n_free and free[place] != least:
            place += 1
        # Where it is free already, rounding is left, and the factor is computed afresh.
        is_new = n_iter > 0 and place == n_free
        free[place], n_free = least, max(n_free, place + 1)
        first = n_free - 1 if is_new else 0
        _factorise_free(H, largest, free[:n_free], first, U)
        residual[:n_free] = gradient[least] - gradient[free[:n_free]]
        # To the optimum of the free variables, past those that become zero.
        while n_iter < max_iter:
            n_iter += 1
            _write_direction(U, residual[:n_free], change)
            if n_iter == 1 and 2 * np.sum(x[free[:n_free]] < -change[:n_free]) > n_free:
                # Most would leave one by one: few come one by one from a vertex.
                x[:] = 0.0
                x[least] = 1.0
                free[0], n_free = least, 1
                _factorise_free(H, largest, free[:1], 0, U)
                break
            step, first = _step(free[:n_free], change, x)
            if first < 0:
                break
            x[free[first]] = 0.0
            drop(U, n_free, n_free, first)
            n_free -= 1
            for a in range(n_free):
                later = a + (a >= first)
                free[a], residual[a] = free[later], (1.0 - step) * residual[later]
        x /= total(x)
        before = gap
        least, gap = _write_slopes(linear, H, x, gradient)
        if gap >= before and n_iter > 2 * n:
            # Rounding is all that is left.
            break
    return _value(program, x), gap, n_iter


@routine
def _add_product(
    a: FloatArray, factor: float, M: FloatArray, x: FloatArray, out: FloatArray
) -> None:
    """Write a + factor · M x."""
    for i in range(out.size):
        out[i] = a[i] + factor * dot_at(M, i * x.size, x, 0, x.size)


@routine
def _write_slopes(
    linear: FloatArray, H: FloatArray, x: FloatArray, gradient: FloatArray
) -> tuple[int, float]:
    """Write the gradient; return the number of the least partial derivative and gap."""
    _add_product(linear, 1.0, H, x, gradient)
    least = int(np.argmin(gradient))
    return least, dot(gradient, x) - gradient[least]


@routine
def _factorise_free(
    H: FloatArray, largest: float, free: IntArray, first: int, U: FloatArray
) -> None:
    """Write columns of the Cholesky factor of the free variables, from the first on.

    Sums being kept, 11' is added, which changes nothing but the conditioning.
    """
    ridge = _RIDGE * largest
    for b in range(first, free.size):
        for a in range(b + 1):
            U[a, b] = H[free[a], free[b]] + largest
    if first == 0:
        factorise(U, free.size, free.size, ridge)
        return
    last = free.size - 1
    square = U[last, last] + ridge
    column = U[:last, last].copy()
    for a in range(last):
        column[a] /= U[a, a]
        add_scaled(column[a + 1 :], -column[a], U[a, a + 1 : last])
    U[:last, last] = column
    U[last, last] = np.sqrt(max(square - dot(column, column), ridge))


@routine
def _write_direction(U: FloatArray, residual: FloatArray, out: FloatArray) -> None:
    """Write the change to the optimum over the free variables, of the sum 0."""
    n, m = U.shape[0], residual.size
    ones, sum_out, sum_ones = np.ones(m), 0.0, 0.0
    out[:m] = residual
    for a in range(m):
        row = U[a, a + 1 : m]
        out[a] /= U[a, a]
        ones[a] /= U[a, a]
        add_scaled(out[a + 1 : m], -out[a], row)
        add_scaled(ones[a + 1 :], -ones[a], row)
    for a in range(m - 1, -1, -1):
        first, left = a * n + a + 1, m - 1 - a
        out[a] = (out[a] - dot_at(U, first, out, a + 1, left)) / U[a, a]
        ones[a] = (ones[a] - dot_at(U, first, ones, a + 1, left)) / U[a, a]
        sum_out += out[a]
        sum_ones += ones[a]
    add_scaled(out[:m], -(sum_out / sum_ones), ones)


@routine
def _solve_system(A: FloatArray, x: FloatArray) -> bool:
    """Solve the equations [A | b], which are overwritten; tell whether they allow it.

    By elimination, with the largest pivot of each column.
    """
    n = x.size
    for k in range(n):
        p = k + np.argmax(np.abs(A[k:, k]))
        if not abs(A[p, k]) > 0.0:
            return False
        if p != k:
            for j in range(k, n + 1):
                A[p, j], A[k, j] = A[k, j], A[p, j]
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            if factor != 0.0:
                add_scaled(A[i, k + 1 :], -factor, A[k, k + 1 :])
    for k in range(n - 1, -1, -1):
        known = dot_at(A, k * (n + 1) + k + 1, x, k + 1, n - 1 - k)
        x[k] = (A[k, n] - known) / A[k, k]
        if not abs(x[k]) < np.inf:
            return False
    return True


@routine
def _step(free: IntArray, change: FloatArray, x: FloatArray) -> tuple[float, int]:
    """Go along the change to the first zero; return how far, and its place or −1."""
    step, first = 1.0, -1
    for a in range(free.size):
        old = x[free[a]]
        if old + change[a] < 0.0 and old < -step * change[a]:
            step, first = -old / change[a], a
    for a in range(free.size):
        x[free[a]] = max(x[free[a]] + step * change[a], 0.0)
    return step, first


@routine
def _value(program: Program, x: FloatArray) -> float:
    """Return g'δ + ½ δ'Hδ."""
    change, value = x - program.center, 0.0
    for m in range(x.size):
        bend = dot_at(program.H, m * x.size, change, 0, x.size)
        value += (program.g[m] + 0.5 * bend) * change[m]
    return value


@compiled
def minimise_with_cuts(
    program: Program, tol: float, max_iter: int, x: FloatArray, shares: FloatArray
) -> tuple[float, float, int]:
    """Minimise from x, in place, until the gap is at most tol or rounding is left.

    The multipliers μ ≥ 0 of the cuts, of sum at most 1, are written to ``shares``. With
    h = g + Hδ + B'μ the gap is h'x − min h, and what μ misses of the maximum.

    Returns the objective, the gap and the number of Newton systems.
    """
    g, H, center, offsets, slopes = program
    n, n_cuts = x.size, offsets.size
    n_all = n_cuts + 1
    linear, gradient = np.empty(n), np.empty(n)
    _add_product(g, -1.0, H, center, linear)
    # The last cut is 0 ≤ 0.
    level, heights = np.zeros(n_all), np.empty(n_all)
    B = np.zeros((n_all, n))
    B[:n_cuts] = slopes
    for j in range(n_cuts):
        level[j] = offsets[j] - dot(B[j], center)
    w = x + 0.1 / n
    w /= total(w)
    _add_product(linear, 1.0, H, w, gradient)
    _add_product(level, 1.0, B, w, heights)
    unit = max(tol, np.max(gradient) - np.min(gradient))
    unit = max(unit, np.max(heights) - np.min(heights))
    top = np.max(heights) + unit
    room, mu, z = top - heights, np.full(n_all, 1.0 / n_all), np.full(n, unit)
    nu = unit - total(gradient) / n
    n_iter = 0
    A, step = np.empty((n + 2, n + 3)), np.empty(n + 2)
    d_room, d_mu = np.empty(n_all), np.empty(n_all)
    enough = 0.1 * max(tol, _ROUNDING * unit)
    residual = np.inf
    while n_iter < max_iter:
        complement = dot(w, z) + dot(room, mu)
        _add_product(linear, 1.0, H, w, gradient)
        for j in range(n_all):
            add_scaled(gradient, mu[j], B[j])
        gradient += nu - z
        before, residual = residual, np.max(np.abs(gradient))
        # Steps make a residual smaller; where it grows, rounding is all that is left.
        if complement <= enough and (residual <= enough or residual >= before):
            break
        n_iter += 1
        target = _CENTRING * complement / (n + n_all)
        _add_product(level, 1.0, B, w, heights)
        missing = room - (top - heights)
        h = target / room - mu + mu / room * missing
        point = _Interior(w, z, room, mu)
        _write_system(H, B, gradient, point, h, target, A)
        if not _solve_system(A, step):
            break
        length, d_z = 1.0, target / w - z - z * step[:n] / w
        for m in range(n):
            length = min(length, _up_to_zero(w[m], step[m]))
            length = min(length, _up_to_zero(z[m], d_z[m]))
        for j in range(n_all):
            rise = step[n] - dot_at(B, j * n, step, 0, n)
            d_room[j] = rise - missing[j]
            d_mu[j] = h[j] - mu[j] / room[j] * rise
            length = min(length, _up_to_zero(room[j], d_room[j]))
            length = min(length, _up_to_zero(mu[j], d_mu[j]))
        add_scaled(w, length, step)
        add_scaled(z, length, d_z)
        add_scaled(room, length, d_room)
        add_scaled(mu, length, d_mu)
        top += length * step[n]
        nu += length * step[n + 1]
        if length < 1e-8:
            break
    sum_of_shares = max(total(mu), 1e-300)
    shares[:] = mu[:n_cuts] / sum_of_shares
    # One that is not zero has a slack that is.
    for m in range(n):
        is_zero = w[m] < _ZERO and z[m] * _ZERO > w[m] * w[m] * tol
        x[m] = 0.0 if is_zero else w[m]
    x /= total(x)
    objective, gap = _value_with_cuts(program, shares, x)
    if gap > tol:
        # H may be so large that zeros cost more than they are worth.
        w /= total(w)
        other, left = _value_with_cuts(program, shares, w)
        if left < gap:
            x[:] = w
            objective, gap = other, left
    return objective, gap, n_iter


@routine
def _up_to_zero(value: float, change: float) -> float:
    """Return how much of a change leaves a positive value positive."""
    return -_TO_BOUNDARY * value / change if change < 0.0 else np.inf


@routine
def _write_system(
    H: FloatArray,
    B: FloatArray,
    residual: FloatArray,
    point: _Interior,
    h: FloatArray,
    target: float,
    A: FloatArray,
) -> None:
    """Write the equations of a Newton step of w, of the highest cut and of ν."""
    w, z, room, mu = point
    n = w.size
    A[:n, :n] = H
    for a in range(n):
        A[a, a] += z[a] / w[a]
    A[:n, n], A[:n, n + 1], A[:n, n + 2] = 0.0, 1.0, target / w - z - residual
    A[n, :n], A[n + 1, :n] = 0.0, 1.0
    A[n, n], A[n, n + 1], A[n, n + 2] = 0.0, 0.0, total(mu) - 1.0 + total(h)
    A[n + 1, n], A[n + 1, n + 1], A[n + 1, n + 2] = 0.0, 0.0, 1.0 - total(w)
    for j in range(mu.size):
        D = mu[j] / room[j]
        for a in range(n):
            add_scaled(A[a, :n], D * B[j, a], B[j])
            A[a, n] -= D * B[j, a]
            A[a, n + 2] -= h[j] * B[j, a]
        add_scaled(A[n, :n], -D, B[j])
        A[n, n] += D


@routine
def _value_with_cuts(
    program: Program, shares: FloatArray, x: FloatArray
) -> tuple[float, float]:
    """Return the objective at x, and its gap with the multipliers of the cuts."""
    change, h = x - program.center, np.empty(x.size)
    _add_product(program.g, 1.0, program.H, change, h)
    highest, gap = 0.0, 0.0
    for j in range(shares.size):
        height = program.offsets[j] + dot(program.slopes[j], change)
        highest = max(highest, height)
        gap -= shares[j] * height
        add_scaled(h, shares[j], program.slopes[j])
    gap += dot(h, x) - np.min(h) + highest
    return _value(program, x) + highest, gap
