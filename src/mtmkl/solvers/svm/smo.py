"""Compiled sequential minimal optimisation on a dense kernel matrix.

The problem of every function here, for a symmetric positive semi-definite ``K``::

    minimise    ½ β'Kβ − c'β + ε ‖β‖₁
    subject to  lo ≤ β ≤ hi,   and, with `equality`, 1'β constant,

is the dual of the support vector machines in *signed* variables β_i = y_i α_i, so
that neither labels nor a matrix ``y_i y_j K_ij`` occur: the support vector classifier
has c = y and the box [0, C] or [−C, 0] by label; ε-insensitive regression has c = y,
the box [−C, C] and the kink ε, which stands for its doubled variables α − α* without
a second copy of anything.

Throughout, ``v = c − Kβ`` is the negative gradient of the smooth part. Raising β_i
gains ``v_i + up_i`` a unit and lowering it costs ``v_i + low_i``, where the two
penalty vectors are ±ε by the side of the kink, and ∓infinity at a bound. The point
is optimal when max(v + up) ≤ min(v + low) (with the equality), or when no
``v + up`` is positive and no ``v + low`` negative (without).

Two things make it fast, each of which is worth a factor on problems of 20 to 500
variables:

* *Scans that vectorise.* An arg-max is a maximum of integers: the bits of a
  non-negative float sort as an integer does, and the lowest bits carry the index
  (`_TAG`). In the choice of a pair, 1/x is the difference `_RECIPROCAL` − bits of x
  read as a float, which negates the exponent and is right to 12 %: enough to compare
  gains by. No value that is stored is rounded so, and convergence is confirmed without
  rounding. The update of ``v`` and the search for its maximum are one pass.
* *Face steps.* Pair steps find the active set soon and then converge slowly. Each
  time they have cost twice as much as a Cholesky factorisation of the free part of
  ``K`` would, the objective is minimised over the free variables exactly, dropping
  those that meet a bound on the way (`_face_step`).

No tolerance can be met that is far below the rounding errors of ``v``. A solve that
takes long compares the two (`rounding_error`) and raises its tolerance, at first to a
small share of the errors and then to twice as much each time; the callers are told.
Compiled code does not see an interrupt, so that long work is done in slices of
`SLICE` multiplications, with a return to Python between them.
"""

from typing import NamedTuple

import numpy as np

from mtmkl.compiled import add_scaled, compiled, dot_at, routine
from mtmkl.typing import FloatArray, IntArray

MAX_VARIABLES = 1 << 16
"""Largest number of variables: an index has to fit the tag."""

_TAG = np.int64(MAX_VARIABLES - 1)
_KEEP = np.int64(~(MAX_VARIABLES - 1))
_MAGNITUDE = np.int64(0x7FFFFFFFFFFFFFFF)
_RECIPROCAL = np.int64(0x7FDE623822FC16E6)
FAR = 1e300  # the penalty at a bound; finite, so that its sums are, too

_TINY = 1e-12  # least curvature of a step, relative to the mean diagonal
_RIDGE = 1e-11  # least pivot of a face's Cholesky factor, relative to the diagonal
_FACE_EVERY = 16  # pair steps between two looks at the budget of a face step
_FACE_RATIO = 2.0  # pair steps done for each unit of a face step's cost
_REFRESH = 4  # steps per variable after which v is recomputed before stopping
_PATIENCE = 16  # steps per variable between two looks at the rounding errors
FIRST_SHARE, LAST_SHARE = 2.0**-6, 16.0  # of the rounding errors, as a tolerance
_NEAR_BOUND = 1e-12  # distance from a bound that is rounding, relative to max |β|
_NO_FACES = -1e300  # credit with which no face step is taken

SLICE = 2e8
"""Multiplications of compiled work between two looks for an interrupt."""

# Rows of the work space. Callers of `pair_steps` fill the diagonal of K.
_UP, _LOW, DIAGONAL, _INVERSE, _POINT = range(5)
_NEWTON, _ONES, _SMALLEST, _LARGEST, _TARGET = range(5, 10)
_N_ROWS = 10


class Dual(NamedTuple):
    """A problem, but for its matrix, and a point of it."""

    c: FloatArray
    lo: FloatArray
    hi: FloatArray
    epsilon: float
    beta: FloatArray
    v: FloatArray


@routine
def _bits(value: float) -> np.int64:
    """Return the bits of a float64 as an int64."""
    return np.float64(value).view(np.int64)


@routine
def _float(bits: np.int64) -> np.float64:
    """Return the float64 of the bits of an int64."""
    return np.int64(bits).view(np.float64)


@routine
def _ordered(value: float) -> np.int64:
    """Return an integer that sorts as the float does, negative ones included."""
    bits = _bits(value)
    return bits ^ ((bits >> 63) & _MAGNITUDE)


@routine
def _up_penalty(value: float, hi: float, epsilon: float) -> float:
    """Return what raising a variable at `value` adds to ``v``."""
    if value >= hi:
        return -FAR
    return -epsilon if value >= 0.0 else epsilon


@routine
def _low_penalty(value: float, lo: float, epsilon: float) -> float:
    """Return what lowering a variable at `value` adds to ``v``."""
    if value <= lo:
        return FAR
    return -epsilon if value > 0.0 else epsilon


@routine
def _is_free(value: float, lo: float, hi: float, epsilon: float) -> bool:
    """Tell whether the objective is smooth around `value`."""
    return lo < value < hi and (epsilon == 0.0 or value != 0.0)


@routine
def _stop_up(value: float, hi: float, epsilon: float) -> float:
    """Return where a rising variable meets its bound or the kink."""
    return min(hi, 0.0) if epsilon > 0.0 and value < 0.0 else hi


@routine
def _stop_down(value: float, lo: float, epsilon: float) -> float:
    """Return where a sinking variable meets its bound or the kink."""
    return max(lo, 0.0) if epsilon > 0.0 and value > 0.0 else lo


@routine
def _place(dual: Dual, k: int | np.int64, value: float, work: FloatArray) -> bool:
    """Give a variable a value and its penalties, and tell whether it is free."""
    lo, hi, epsilon = dual.lo[k], dual.hi[k], dual.epsilon
    dual.beta[k] = value
    work[_UP, k] = _up_penalty(value, hi, epsilon)
    work[_LOW, k] = _low_penalty(value, lo, epsilon)
    return _is_free(value, lo, hi, epsilon)


@routine
def _enter(dual: Dual, work: FloatArray) -> int:
    """Fill the penalties and return the number of free variables."""
    n_free = 0
    for k in range(dual.beta.size):
        n_free += _place(dual, k, dual.beta[k], work)
    return n_free


@routine
def _steepest(v: FloatArray, up: FloatArray) -> np.int64:
    """Return the index of the largest ``v + up``, exactly."""
    best = np.int64(0)
    for k in range(1, v.size):
        if v[k] + up[k] > v[best] + up[best]:
            best = np.int64(k)
    return best


@compiled
def negative_gradient(
    K: FloatArray, c: FloatArray, beta: FloatArray, v: FloatArray
) -> None:
    """Write ``c − Kβ`` to `v`, skipping the zeros of β."""
    v[:] = c
    for i in range(beta.size):
        if beta[i] != 0.0:
            add_scaled(v, -beta[i], K[i])


@routine
def factorise(U: FloatArray, m: int, width: int, ridge: float) -> None:
    """Turn ``[A | B]`` into ``[U | U'⁻¹B]`` in place, where ``U'U = A + ridge·I``.

    Row by row, so that the row in work stays in the nearest cache while four earlier
    ones at a time are taken from it. Only the upper half of ``A`` is read. A pivot
    below the ridge, as of a singular ``A``, counts as the ridge.
    """
    for a in range(m):
        row = U[a]
        row[a] += ridge
        k = 0
        while k + 4 <= a:
            r0, r1, r2, r3 = U[k], U[k + 1], U[k + 2], U[k + 3]
            f0, f1, f2, f3 = r0[a], r1[a], r2[a], r3[a]
            for b in range(a, width):
                row[b] -= f0 * r0[b] + f1 * r1[b] + f2 * r2[b] + f3 * r3[b]
            k += 4
        while k < a:
            r0 = U[k]
            f0 = r0[a]
            for b in range(a, width):
                row[b] -= f0 * r0[b]
            k += 1
        pivot = max(row[a], ridge)
        scale = 1.0 / np.sqrt(pivot)
        for b in range(a, width):
            row[b] *= scale
        row[a] = pivot * scale


@routine
def drop(U: FloatArray, m: int, width: int, p: int) -> None:
    """Remove variable `p` from ``[U | U'⁻¹B]`` by Givens rotations, in place."""
    for k in range(m):
        row = U[k]
        for b in range(max(p, k - 1), width - 1):
            row[b] = row[b + 1]
    for k in range(p, m - 1):
        upper, lower = U[k], U[k + 1]
        f, g = upper[k], lower[k]
        h = np.sqrt(f * f + g * g)
        f /= h
        g /= h
        for b in range(k, width - 1):
            s, t = upper[b], lower[b]
            upper[b] = f * s + g * t
            lower[b] = f * t - g * s


@routine
def _free_system(
    K: FloatArray, dual: Dual, n_sums: int, work: FloatArray, index: IntArray
) -> tuple[FloatArray, float]:
    """Return ``[K | 1 | v]`` of the free variables, and the largest K_ii of theirs.

    Their numbers are written to `index`, where they are and may go to `work`.
    """
    _, lo, hi, epsilon, beta, v = dual
    m = 0
    for k in range(beta.size):
        b = beta[k]
        work[_TARGET, k] = b
        if _is_free(b, lo[k], hi[k], epsilon):
            index[m] = k
            work[_POINT, m] = b
            work[_SMALLEST, m] = _stop_down(b, lo[k], epsilon)
            work[_LARGEST, m] = _stop_up(b, hi[k], epsilon)
            m += 1
    U = np.empty((m, m + 2))
    top = 0.0
    for a in range(m):
        i = index[a]
        row, source = U[a], K[i]
        for b in range(a, m):
            row[b] = source[index[b]]
        row[m] = 1.0
        row[m + 1] = v[i] + work[_UP, i]
        top = max(top, row[a])
    if n_sums > 0:
        # Where the sum is kept, adding 11' changes nothing but the conditioning: the
        # ones of the factor are then no further from the range than the matrix is.
        for a in range(m):
            for b in range(a, m):
                U[a, b] += top
    return U, top


@routine
def _newton_direction(
    U: FloatArray, m: int, n_sums: int, ones: FloatArray, newton: FloatArray
) -> None:
    """Write the direction to the minimum over m free variables to `newton`."""
    sum_ones, sum_newton = 0.0, 0.0
    for k in range(m - 1, -1, -1):
        first, left = k * U.shape[1] + k + 1, m - 1 - k
        ones[k] = (U[k, m] - dot_at(U, first, ones, k + 1, left)) / U[k, k]
        newton[k] = (U[k, m + 1] - dot_at(U, first, newton, k + 1, left)) / U[k, k]
        sum_ones += ones[k]
        sum_newton += newton[k]
    if n_sums == 0:
        return
    # Of a sum that is zero to rounding.
    drift = 0.0
    for k in range(m):
        newton[k] -= sum_newton / sum_ones * ones[k]
        drift += newton[k]
    for k in range(m):
        newton[k] -= drift / m


@routine
def _move(K: FloatArray, old: FloatArray, new: FloatArray, v: FloatArray) -> float:
    """Update ``v`` for a move of β, and return the change times the v before and after.

    Half of that is by what the smooth part has become less.
    """
    gain = 0.0
    for k in range(v.size):
        gain += (new[k] - old[k]) * v[k]
    for k in range(v.size):
        if new[k] != old[k]:
            add_scaled(v, old[k] - new[k], K[k])
    for k in range(v.size):
        gain += (new[k] - old[k]) * v[k]
    return gain


@routine
def _face_step(
    K: FloatArray, dual: Dual, n_sums: int, work: FloatArray, index: IntArray
) -> bool:
    """Minimise over the free variables, `n_sums` (0 or 1) sums kept, in place.

    A primal active-set method that only drops variables: the Newton step on the free
    variables is cut at the first bound or kink it meets, the variable that met it is
    dropped from the factor, and so on. What remains of the residual is always
    ``1 − step`` of what it was, so its transformed right-hand side, kept as a column of
    the factor, needs no refresh.

    Returns True if the objective went down, as it does unless ``K`` is indefinite;
    the point is left as it was otherwise.
    """
    epsilon, beta, v = dual.epsilon, dual.beta, dual.v
    point, newton, target = work[_POINT], work[_NEWTON], work[_TARGET]
    smallest, largest = work[_SMALLEST], work[_LARGEST]
    U, top = _free_system(K, dual, n_sums, work, index)
    m = U.shape[0]
    factorise(U, m, m + 2, max(_RIDGE * top, 1e-300))
    remaining = 1.0
    for _ in range(2 + m // 2):
        if m < 1 + n_sums:
            break
        _newton_direction(U, m, n_sums, work[_ONES], newton)
        step = 1.0
        blocking = m
        for k in range(m):
            d = remaining * newton[k]
            room = largest[k] - point[k] if d > 0.0 else point[k] - smallest[k]
            if room < step * abs(d):
                step = room / abs(d)
                blocking = k
        for k in range(m):
            point[k] += step * remaining * newton[k]
        if blocking == m:
            break
        stop = largest if newton[blocking] > 0.0 else smallest
        target[index[blocking]] = stop[blocking]
        remaining *= 1.0 - step
        for k in range(blocking, m - 1):
            index[k] = index[k + 1]
            point[k] = point[k + 1]
            smallest[k] = smallest[k + 1]
            largest[k] = largest[k + 1]
        drop(U, m, m + 2, blocking)
        m -= 1
    for k in range(m):
        target[index[k]] = min(max(point[k], smallest[k]), largest[k])
    gain = _move(K, beta, target, v)
    if epsilon > 0.0:  # the kink is linear on the face
        for k in range(beta.size):
            if beta[k] != 0.0:
                slope = epsilon if beta[k] > 0.0 else -epsilon
                gain -= 2.0 * slope * (target[k] - beta[k])
    if gain < 0.0:
        _move(K, target, beta, v)
        return False
    beta[:] = target
    return True


@routine
def _face_cost(n: int, n_free: int) -> float:
    """Return the cost of a face step in multiplications, about."""
    return n_free * n_free * (n_free / 6.0 + 6.0) + n_free * n + 300.0


@routine
def _least_curvature(diagonal: FloatArray) -> float:
    total = 0.0
    for k in range(diagonal.size):
        total += abs(diagonal[k])
    return max(_TINY * total / diagonal.size, 1e-300)


@routine
def rounding_error(diagonal: FloatArray, c: FloatArray, beta: FloatArray) -> float:
    """Return the size of the rounding errors of ``c − Kβ``.

    The machine's precision times what is summed, which for a positive semi-definite
    ``K`` is at most max √K_ii · Σ √K_jj |β_j| and max |c|.
    """
    root, summed, largest = 0.0, 0.0, 0.0
    for k in range(beta.size):
        here = np.sqrt(max(diagonal[k], 0.0))
        root = max(root, here)
        summed += here * abs(beta[k])
        largest = max(largest, abs(c[k]))
    return 2.0**-52 * (root * summed + largest)


@compiled
def step_cost(n: int) -> float:
    """Return the cost of a pair step in multiplications, face steps included."""
    return 3.0 * n + 225.0


@compiled
def pair_steps(
    K: FloatArray,
    dual: Dual,
    work: FloatArray,
    index: IntArray,
    tol: float,
    max_iter: int,
    credit: float,
) -> tuple[int, float, float]:
    """Sequential minimal optimisation with the equality, from a feasible point.

    Working sets of two by second-order information: i has the largest v + up, and j
    has the largest decrease along β_i + t, β_j − t ignoring the box (Fan, Chen, Lin:
    Working set selection using second order information for training support vector
    machines, JMLR 6, 2005).

    `work` holds the diagonal of ``K``. `credit` is what has been saved for a face step:
    zero, or what the last call returned where this one continues it.

    Returns the number of pair steps, the tolerance, raised where it is below the
    rounding errors, and the credit.
    """
    c, lo, hi, epsilon, beta, v = dual
    n = beta.size
    n_sums = int(n > 0)  # no literal, which Numba would compile for once more
    up, low, diagonal = work[_UP], work[_LOW], work[DIAGONAL]
    tiny = _least_curvature(diagonal)
    n_free = _enter(dual, work)
    cost_of_pair = 2.0 * n + 150.0
    next_look = _PATIENCE * n
    share = FIRST_SHARE
    n_iter = 0
    n_stale = 0
    i = _steepest(v, up)
    while True:
        highest = v[i] + up[i]
        threshold = highest - tol
        row_i = K[i]
        curvature_i = diagonal[i]
        best = np.int64(0)
        for k in range(n):
            # Pairs that violate by less than tol do not count, lest one without
            # curvature be preferred for a violation that is rounding.
            excess = max(threshold - v[k] - low[k], 0.0)
            curvature = max(curvature_i + diagonal[k] - 2.0 * row_i[k], tiny)
            gain = excess * excess * _float(_RECIPROCAL - _bits(curvature))
            best = max(best, (_bits(gain) & _KEEP) | k)
        if best <= _TAG:  # no gain anywhere
            if n_stale > _REFRESH * n:
                negative_gradient(K, c, beta, v)
                n_stale = 0
            # i is the highest but for the digits that made room for its index
            i = _steepest(v, up)
            if v[i] + up[i] == highest:
                break
            continue
        if n_iter >= max_iter:
            break

        j = best & _TAG
        row_j = K[j]
        curvature = max(curvature_i + diagonal[j] - 2.0 * row_i[j], tiny)
        step = (highest - v[j] - low[j]) / curvature
        stop_i = _stop_up(beta[i], hi[i], epsilon)
        stop_j = _stop_down(beta[j], lo[j], epsilon)
        room_i = stop_i - beta[i]
        room_j = beta[j] - stop_j
        n_free -= _is_free(beta[i], lo[i], hi[i], epsilon)
        n_free -= _is_free(beta[j], lo[j], hi[j], epsilon)
        step = min(step, min(room_i, room_j))
        new_i = stop_i if step == room_i else beta[i] + step
        new_j = stop_j if step == room_j else beta[j] - step
        n_free += _place(dual, i, new_i, work)
        n_free += _place(dual, j, new_j, work)

        top = np.int64(-_MAGNITUDE)
        for k in range(n):
            new = v[k] - step * (row_i[k] - row_j[k])
            v[k] = new
            top = max(top, (_ordered(new + up[k]) & _KEEP) | k)
        i = top & _TAG

        n_iter += 1
        n_stale += 1
        credit += cost_of_pair
        if (
            n_iter % _FACE_EVERY == 0
            and n_free > 1
            and credit > _FACE_RATIO * _face_cost(n, n_free)
        ):
            pays = _face_step(K, dual, n_sums, work, index)
            credit = 0.0 if pays else _NO_FACES
            n_free = _enter(dual, work)
            i = _steepest(v, up)
        if n_iter == next_look:
            next_look += _PATIENCE * n
            error = share * rounding_error(diagonal, c, beta)
            share = min(2.0 * share, LAST_SHARE)
            if error > tol:
                tol = error
                negative_gradient(K, c, beta, v)
                n_stale = 0
                i = _steepest(v, up)
    return n_iter, tol, credit


@compiled
def single_steps(
    K: FloatArray,
    dual: Dual,
    work: FloatArray,
    index: IntArray,
    tol: float,
    max_iter: int,
    credit: float,
) -> tuple[int, float, float]:
    """Dual coordinate ascent without the equality, from a feasible point.

    Each step moves the variable with the largest decrease along its own axis,
    ignoring the box.

    `work`, `credit` and what is returned are as in `pair_steps`.
    """
    c, lo, hi, epsilon, beta, v = dual
    n = beta.size
    n_sums = int(n < 0)
    up, low, diagonal = work[_UP], work[_LOW], work[DIAGONAL]
    inverse = work[_INVERSE]
    tiny = _least_curvature(diagonal)
    for k in range(n):
        inverse[k] = 1.0 / max(diagonal[k], tiny)
    n_free = _enter(dual, work)
    cost_of_step = 1.0 * n + 100.0
    next_look = _PATIENCE * n
    share = FIRST_SHARE
    n_iter = 0
    n_stale = 0
    i = np.int64(0)
    step = 0.0
    while True:
        row = K[i]
        best = np.int64(0)
        for k in range(n):
            new = v[k] - step * row[k]
            v[k] = new
            excess = max(max(new + up[k], -new - low[k]) - tol, 0.0)
            gain = excess * excess * inverse[k]
            best = max(best, (_bits(gain) & _KEEP) | k)
        step = 0.0
        if best <= _TAG:  # no gain anywhere
            if n_stale <= _REFRESH * n:
                break
            negative_gradient(K, c, beta, v)
            n_stale = 0
            continue
        if n_iter >= max_iter:
            break

        i = best & _TAG
        old = beta[i]
        if v[i] + up[i] > 0.0:
            stop = _stop_up(old, hi[i], epsilon)
            step = min((v[i] + up[i]) * inverse[i], stop - old)
            new = stop if step == stop - old else old + step
        else:
            stop = _stop_down(old, lo[i], epsilon)
            step = min(-(v[i] + low[i]) * inverse[i], old - stop)
            new = stop if step == old - stop else old - step
            step = -step
        n_free -= _is_free(old, lo[i], hi[i], epsilon)
        n_free += _place(dual, i, new, work)

        n_iter += 1
        n_stale += 1
        credit += cost_of_step
        if (
            n_iter % _FACE_EVERY == 0
            and n_free > 0
            and credit > _FACE_RATIO * _face_cost(n, n_free)
        ):
            row = K[i]
            for k in range(n):
                v[k] -= step * row[k]
            step = 0.0
            pays = _face_step(K, dual, n_sums, work, index)
            credit = 0.0 if pays else _NO_FACES
            n_free = _enter(dual, work)
        if n_iter == next_look:
            next_look += _PATIENCE * n
            error = share * rounding_error(diagonal, c, beta)
            share = min(2.0 * share, LAST_SHARE)
            if error > tol:
                tol = error
                negative_gradient(K, c, beta, v)
                n_stale = 0
                step = 0.0
    return n_iter, tol, credit


@compiled
def workspace(n: int) -> tuple[FloatArray, IntArray]:
    """Return the two work arrays of a solve of `n` variables."""
    return np.empty((_N_ROWS, n)), np.empty(n, np.int64)


@compiled
def intercept_at(dual: Dual) -> float:
    """Return the multiplier of the equality at a solution.

    The mean of ``v ∓ ε`` over the free variables, or the middle of the interval
    [max(v + up), min(v + low)] if none is free, or the finite end of it. A variable
    that only rounding keeps from a bound or the kink is there, not free.
    """
    largest = 0.0
    for b in dual.beta:
        largest = max(largest, abs(b))
    return conditions(dual, _NEAR_BOUND * largest)[2]


@routine
def conditions(dual: Dual, slack: float) -> tuple[float, float, float]:
    """Return max(v + up), min(v + low), and the intercept that follows from a point.

    A variable is free by more than the slack.
    """
    _, lo, hi, epsilon, beta, v = dual
    n_free, mean = 0, 0.0
    highest, lowest = -FAR, FAR
    for k in range(v.size):
        b = beta[k]
        near = min(slack, 0.25 * (hi[k] - lo[k]))
        is_low, is_high = b <= lo[k] + near, b >= hi[k] - near
        if not is_high:
            rising = v[k] + (-epsilon if b >= -near else epsilon)
            highest = max(highest, rising)
            if not is_low and (epsilon == 0.0 or abs(b) > near):
                n_free += 1
                mean += rising
        if not is_low:
            lowest = min(lowest, v[k] + (-epsilon if b > near else epsilon))
    can_rise, can_sink = highest > -0.5 * FAR, lowest < 0.5 * FAR
    intercept = highest if can_rise else lowest if can_sink else 0.0
    if n_free > 0:
        intercept = mean / n_free
    elif can_rise and can_sink:
        intercept = 0.5 * (highest + lowest)
    return highest, lowest, intercept
