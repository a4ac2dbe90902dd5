"""Compiled steps of the joint support vector dual of adaptive pooling.

For :mod:`mtmkl.solvers.med_pooling`, whose notation this is: v = c − K_sβ with the
kernel K_s = k + δ_tu s_t k_t, and one sum of β per task that is kept. The communal
outputs kβ and the tasks' own k_tβ_t are updated apart, so that other switches start
from a gradient that costs N additions.

Two kinds of steps alternate. A *sweep* solves the violated tasks one after the other by
the pair steps of :mod:`mtmkl.solvers.smo`, which is all there is to do where tasks are
hardly coupled. A *joint step* minimises over the free variables of all tasks by a
Cholesky factor of their kernel, whenever the sweeps have cost as much, and at once
after a change of the switches, which moves all of them and few bounds. The factor is
kept for the second derivatives.
"""

import numba
import numpy as np

from mtmkl.solvers.smo import (
    DIAGONAL,
    FAR,
    FIRST_SHARE,
    LAST_SHARE,
    SLICE,
    factorise,
    intercept_at,
    pair_steps,
    rounding_error,
    step_cost,
    workspace,
)
from mtmkl.solvers.task_steps import violation_at
from mtmkl.typing import FloatArray, IntArray

_RIDGE = 1e-11  # least pivot of a factor, relative to the largest diagonal entry
_FACE_RATIO = 1.0  # multiplications of sweeps for each of a joint step's
_SWEEP = 0.1  # violation that a sweep leaves in a task, relative to the one it finds
_SWEPT = 0.1  # violation of the tasks that are swept, relative to the largest
_PATIENCE = 16  # pair steps per variable between two looks at the rounding errors
_REFRESH = 4  # updates per variable after which outputs are computed afresh
_LEAST_STEPS = 16
_TURNS, _TRIALS = 4, 8  # of switches that move: of all, and of one within
_ROUGH = 0.005  # violation that is left where switches move
_SETTLED = 0.02  # change of log-odds that is
_DEGENERATE = 1e-8  # what is left of a sum's column, relative to it, to be kept

# What a slice of work hands to the next, and to Python.
TASK, CREDIT, JOINT_CREDIT, SHARE, LOOKED, UPDATES, WORK, ALLOWED, VIOLATION = range(9)
N_PROGRESS = 9
# Values at a point.
LINEAR, QUADRATIC, LOSS = range(3)
N_VALUES = 3
# Size of a factor: free variables, tasks among them, length of a row.
_FREE, _TASKS, _ROW = range(3)
N_SIZES = 3

_FAST = {"reassoc", "contract", "nnan", "nsz"}


def first_progress(tol: float, work: float) -> FloatArray:
    """Return the progress to begin with: a joint step is granted."""
    progress = np.zeros(N_PROGRESS)
    progress[JOINT_CREDIT], progress[SHARE] = FAR, FIRST_SHARE
    progress[WORK], progress[ALLOWED] = work, tol
    return progress


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _add(row: FloatArray, b: float, out: FloatArray) -> None:
    """Add a multiple of a row to `out`."""
    for k in range(out.size):
        out[k] += b * row[k]


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _dot(x: FloatArray, y: FloatArray) -> float:
    total = 0.0
    for k in range(x.size):
        total += x[k] * y[k]
    return total


@numba.njit(cache=True, nogil=True)
def write_outputs(
    communal: FloatArray,
    own: FloatArray,
    offsets: IntArray,
    entries: IntArray,
    beta: FloatArray,
    outputs: FloatArray,
) -> None:
    """Write the communal outputs kβ and each task's own k_tβ_t, shape (2, N)."""
    outputs[:] = 0.0
    for t in range(offsets.size - 1):
        first, last = offsets[t], offsets[t + 1]
        n = last - first
        for i in range(first, last):
            if beta[i] != 0.0:
                entry = entries[t] + (i - first) * n
                _add(communal[i], beta[i], outputs[0])
                _add(own[entry : entry + n], beta[i], outputs[1, first:last])


@numba.njit(cache=True, nogil=True)
def _write_gradient(
    offsets: IntArray,
    c: FloatArray,
    s: FloatArray,
    outputs: FloatArray,
    v: FloatArray,
) -> None:
    """Write ``c − K_sβ`` to v."""
    for t in range(s.size):
        for i in range(offsets[t], offsets[t + 1]):
            v[i] = c[i] - outputs[0, i] - s[t] * outputs[1, i]


@numba.njit(cache=True, nogil=True)
def write_values(
    offsets: IntArray,
    c: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    s: FloatArray,
    beta: FloatArray,
    outputs: FloatArray,
    q: FloatArray,
    intercept: FloatArray,
    values: FloatArray,
) -> None:
    """Write q_t, the intercepts, c'β, β'K_sβ and the loss of a point."""
    v = np.empty(beta.size)
    _write_gradient(offsets, c, s, outputs, v)
    linear, quadratic, loss = 0.0, 0.0, 0.0
    for t in range(s.size):
        first, last = offsets[t], offsets[t + 1]
        b = intercept_at(
            v[first:last], beta[first:last], lo[first:last], hi[first:last], 0.0
        )
        total = 0.0
        for i in range(first, last):
            total += beta[i] * outputs[1, i]
            linear += c[i] * beta[i]
            quadratic += (c[i] - v[i]) * beta[i]
            residual = v[i] - b
            loss += max(lo[i] * residual, hi[i] * residual)
        q[t] = 0.5 * total
        intercept[t] = b
    values[LINEAR], values[QUADRATIC], values[LOSS] = linear, quadratic, loss


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _orthonormalise(U: FloatArray, m: int, first: int, count: int) -> None:
    """Make columns of U orthonormal by the modified Gram-Schmidt process, in place."""
    along = np.empty(count)
    for j in range(count):
        along[j:] = 0.0
        for a in range(m):
            row = U[a, first : first + count]
            x = row[j]
            for k in range(j, count):
                along[k] += x * row[k]
        scale = 1.0 / np.sqrt(along[j])
        for k in range(j + 1, count):
            along[k] /= along[j]
        for a in range(m):
            row = U[a, first : first + count]
            x = row[j]
            for k in range(j + 1, count):
                row[k] -= x * along[k]
            row[j] = x * scale


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _factorise_free(
    communal: FloatArray,
    own: FloatArray,
    offsets: IntArray,
    entries: IntArray,
    s: FloatArray,
    v: FloatArray,
    U: FloatArray,
    index: IntArray,
    column: IntArray,
    m: int,
    n_tasks: int,
) -> None:
    """Write [U | Q | U'⁻¹v] of the free variables, where U'U is their kernel.

    Q is an orthonormal basis of U'⁻¹E, E the indicators of the tasks. On vectors whose
    sums within tasks vanish, adding 11' of a task changes the conditioning alone: the
    columns of E are then no further from the range of the matrix than it is.
    """
    width = m + n_tasks + 1
    top = 0.0
    start = 0
    while start < m:
        t = column[start]
        end = start
        while end < m and column[end] == t:
            end += 1
        task = np.searchsorted(offsets, index[start], side="right") - 1
        first = offsets[task]
        n = offsets[task + 1] - first
        largest = 0.0
        for a in range(start, end):
            i = index[a]
            row, source = U[a], communal[i]
            for b in range(a, m):
                row[b] = source[index[b]]
            entry = entries[task] + (i - first) * n - first
            for b in range(a, end):
                row[b] += s[task] * own[entry + index[b]]
            largest = max(largest, row[a])
            for b in range(m, width - 1):
                row[b] = 0.0
            row[m + t] = 1.0
            row[width - 1] = v[i]
        for a in range(start, end):
            for b in range(a, end):
                U[a, b] += largest
        top = max(top, largest)
        start = end
    factorise(U, m, width, max(_RIDGE * top, 1e-300))
    _orthonormalise(U, m, m, n_tasks)


@numba.njit(cache=True, nogil=True)
def _list_free(
    offsets: IntArray,
    lo: FloatArray,
    hi: FloatArray,
    beta: FloatArray,
    index: IntArray,
    column: IntArray,
) -> tuple[int, int]:
    """Write the free variables and which of the tasks with any; count both."""
    m, n_tasks = 0, 0
    for t in range(offsets.size - 1):
        before = m
        for i in range(offsets[t], offsets[t + 1]):
            if lo[i] < beta[i] < hi[i]:
                index[m], column[m] = i, n_tasks
                m += 1
        n_tasks += m > before
    return m, n_tasks


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _write_direction(
    U: FloatArray, m: int, n_tasks: int, column: IntArray, direction: FloatArray
) -> None:
    """Write the Newton step of the free variables that keeps the sums within tasks."""
    width = m + n_tasks + 1
    along = np.zeros(n_tasks)
    for a in range(m):
        _add(U[a, m : width - 1], U[a, width - 1], along)
    for a in range(m - 1, -1, -1):
        row = U[a]
        rest = row[width - 1] - _dot(row[m : width - 1], along)
        rest -= _dot(row[a + 1 : m], direction[a + 1 : m])
        direction[a] = rest / row[a]
    # Sums are then zero to rounding.
    drift, count = np.zeros(n_tasks), np.zeros(n_tasks)
    for a in range(m):
        drift[column[a]] += direction[a]
        count[column[a]] += 1.0
    for a in range(m):
        direction[a] -= drift[column[a]] / count[column[a]]


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _drop(U: FloatArray, m: int, n_tasks: int, p: int) -> None:
    """Remove free variable p from [U | Q | U'⁻¹v], in place."""
    width = m + n_tasks + 1
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
            x, y = upper[b], lower[b]
            upper[b] = f * x + g * y
            lower[b] = f * y - g * x
    # Without its last row w, Q'Q is I − ww': multiplied by the root of the inverse.
    w = U[m - 1, m - 1 : m - 1 + n_tasks]
    square = _dot(w, w)
    if 1.0 - square < _DEGENERATE:
        _orthonormalise(U, m - 1, m - 1, n_tasks)
        return
    share = 1.0 / (np.sqrt(1.0 - square) * (1.0 + np.sqrt(1.0 - square)))
    for a in range(m - 1):
        row = U[a, m - 1 : m - 1 + n_tasks]
        _add(w, share * _dot(row, w), row)


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _joint_cost(n: int, m: int, n_tasks: int) -> float:
    """Return the cost of a joint step in multiplications, about."""
    return m * m * (m / 6.0 + n_tasks + 6.0) + m * n + 1000.0


@numba.njit(cache=True, nogil=True)
def _joint_step(
    communal: FloatArray,
    own: FloatArray,
    offsets: IntArray,
    entries: IntArray,
    c: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    s: FloatArray,
    beta: FloatArray,
    outputs: FloatArray,
    v: FloatArray,
    factor: FloatArray,
    index: IntArray,
    column: IntArray,
    size: IntArray,
) -> bool:
    """Minimise over the free variables of all tasks, in place.

    The Newton step is cut at the first bound it meets, the variable that met it is
    dropped from the factor, and so on, as in :mod:`mtmkl.solvers.smo`.

    Returns whether the objective went down, as it does unless the kernel is
    indefinite; the point is left as it was otherwise.
    """
    m, n_tasks = size[_FREE], size[_TASKS]
    size[_ROW] = m + n_tasks + 1
    U = factor[: m * size[_ROW]].reshape(m, size[_ROW])
    _factorise_free(communal, own, offsets, entries, s, v, U, index, column, m, n_tasks)
    target, point, direction = beta.copy(), beta[index[:m]], np.empty(m)
    remaining = 1.0
    for _ in range(2 + m // 2):
        _write_direction(U, m, n_tasks, column, direction)
        step, blocking = 1.0, -1
        for k in range(m):
            d = remaining * direction[k]
            i = index[k]
            room = max(hi[i] - point[k] if d > 0.0 else point[k] - lo[i], 0.0)
            if room < step * abs(d):
                step, blocking = room / abs(d), k
        for k in range(m):
            point[k] += step * remaining * direction[k]
        if blocking < 0:
            break
        p = index[blocking]
        target[p] = hi[p] if direction[blocking] > 0.0 else lo[p]
        remaining *= 1.0 - step
        for k in range(blocking, m - 1):
            index[k], column[k], point[k] = index[k + 1], column[k + 1], point[k + 1]
        _drop(U, m, n_tasks, blocking)
        m -= 1
    for k in range(m):
        i = index[k]
        target[i] = min(max(point[k], lo[i]), hi[i])
    size[_FREE] = m

    # The decrease is the change times the mean of v before and v after.
    kept = outputs.copy()
    gain = 0.0
    for i in range(beta.size):
        gain += (target[i] - beta[i]) * v[i]
    write_outputs(communal, own, offsets, entries, target, outputs)
    _write_gradient(offsets, c, s, outputs, v)
    for i in range(beta.size):
        gain += (target[i] - beta[i]) * v[i]
    if gain < 0.0:
        outputs[:] = kept
        _write_gradient(offsets, c, s, outputs, v)
        return False
    beta[:] = target
    return True


@numba.njit(cache=True, nogil=True)
def _sweep_task(
    communal: FloatArray,
    own: FloatArray,
    first: int,
    last: int,
    entry: int,
    lo: FloatArray,
    hi: FloatArray,
    s: float,
    tol: float,
    most: int,
    beta: FloatArray,
    outputs: FloatArray,
    v: FloatArray,
    credit: float,
) -> tuple[int, float, int]:
    """Solve one task's dual for the present outputs of the others, in place.

    Returns the pair steps done, their credit (`pair_steps`), and how many β changed.
    """
    n = last - first
    K = np.empty((n, n))
    c = v[first:last].copy()
    start = beta[first:last].copy()
    for a in range(n):
        row, source = K[a], communal[first + a]
        part = own[entry + a * n : entry + (a + 1) * n]
        for b in range(n):
            row[b] = source[first + b] + s * part[b]
        if start[a] != 0.0:
            _add(row, start[a], c)
    work, index = workspace(n)
    for a in range(n):
        work[DIAGONAL, a] = K[a, a]
    done, _, credit = pair_steps(
        K,
        c,
        lo[first:last],
        hi[first:last],
        0.0,
        beta[first:last],
        v[first:last],
        work,
        index,
        tol,
        most,
        credit,
    )
    changed = 0
    for a in range(n):
        change = beta[first + a] - start[a]
        if change != 0.0:
            changed += 1
            _add(communal[first + a], change, outputs[0])
            part = own[entry + a * n : entry + (a + 1) * n]
            _add(part, change, outputs[1, first:last])
    return done, credit, changed


@numba.njit(cache=True, nogil=True)
def solve_joint(
    communal: FloatArray,
    own: FloatArray,
    offsets: IntArray,
    entries: IntArray,
    c: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    s: FloatArray,
    tol: float,
    diagonal: FloatArray,
    beta: FloatArray,
    outputs: FloatArray,
    factor: FloatArray,
    index: IntArray,
    column: IntArray,
    size: IntArray,
    factor_s: FloatArray,
    progress: FloatArray,
) -> bool:
    """Solve for switches s from the present β until no condition is violated by more.

    Or until the rest is rounding, or no work is left: `progress` has the violation and
    what is allowed.

    Parameters
    ----------
    communal : ndarray of shape (N, N)
    own : ndarray of shape (Σ n_t²,)
        The k_t one after the other, from `entries` on.
    offsets, entries : ndarray of shape (T + 1,)
    c, lo, hi, diagonal, beta : ndarray of shape (N,)
        Labels, box, the largest diagonal of K_s, and β, which is updated.
    s, factor_s : ndarray of shape (T,)
        Switches, and those of the factor.
    tol : float
        Largest max(v, rising) − min(v, sinking) within a task.
    outputs : ndarray of shape (2, N)
        Of β; updated.
    factor, index, column, size : ndarray
        The last factor, of the free variables in `index`; overwritten.
    progress : ndarray of shape (N_PROGRESS,)

    Returns
    -------
    bool
        False after a slice of work: call again with the same arrays.
    """
    n, n_tasks = beta.size, s.size
    slice_left = SLICE
    v, violations = np.empty(n), np.empty(n_tasks)
    while True:
        _write_gradient(offsets, c, s, outputs, v)
        worst = 0.0
        for t in range(n_tasks):
            first, last = offsets[t], offsets[t + 1]
            violations[t], _ = violation_at(
                v[first:last],
                beta[first:last],
                lo[first:last],
                hi[first:last],
                0.0,
                True,
            )
            worst = max(worst, violations[t])
        progress[VIOLATION] = worst
        allowed = progress[ALLOWED]
        if worst <= allowed or progress[WORK] <= 0.0:
            if progress[UPDATES] <= _REFRESH * n:
                return True
            write_outputs(communal, own, offsets, entries, beta, outputs)
            progress[UPDATES] = 0.0
            continue
        if progress[LOOKED] > _PATIENCE * n:
            error = progress[SHARE] * rounding_error(diagonal, c, beta)
            progress[SHARE] = min(2.0 * progress[SHARE], LAST_SHARE)
            progress[ALLOWED] = max(tol, error)
            progress[LOOKED] = 0.0
            if progress[UPDATES] > 0.0:
                write_outputs(communal, own, offsets, entries, beta, outputs)
                progress[UPDATES] = 0.0
            continue
        if slice_left <= 0.0:
            return False

        m, with_free = _list_free(offsets, lo, hi, beta, index, column)
        size[_FREE], size[_TASKS] = m, with_free
        cost = _joint_cost(n, m, with_free)
        if m > with_free and progress[JOINT_CREDIT] > _FACE_RATIO * cost:
            factor_s[:] = s
            paid = _joint_step(
                communal,
                own,
                offsets,
                entries,
                c,
                lo,
                hi,
                s,
                beta,
                outputs,
                v,
                factor,
                index,
                column,
                size,
            )
            progress[JOINT_CREDIT] = 0.0 if paid else -FAR
            progress[UPDATES] = 0.0
            progress[LOOKED] += m
            progress[WORK] -= cost
            slice_left -= cost
            continue
        size[_FREE] = 0
        if progress[JOINT_CREDIT] >= FAR:
            progress[JOINT_CREDIT] = 0.0
        is_moved = False
        for t in range(int(progress[TASK]), n_tasks):
            if violations[t] <= max(allowed, _SWEPT * worst):
                continue
            first, last = offsets[t], offsets[t + 1]
            for i in range(first, last):
                v[i] = c[i] - outputs[0, i] - s[t] * outputs[1, i]
            affordable = min(slice_left, progress[WORK]) / step_cost(last - first)
            most = max(int(affordable), _LEAST_STEPS)
            done, credit, changed = _sweep_task(
                communal,
                own,
                first,
                last,
                entries[t],
                lo,
                hi,
                s[t],
                max(0.5 * allowed, _SWEEP * violations[t]),
                most,
                beta,
                outputs,
                v,
                progress[CREDIT],
            )
            is_moved = is_moved or changed > 0
            spent = done * step_cost(last - first) + changed * n
            spent += 2.0 * (last - first) ** 2
            progress[JOINT_CREDIT] += spent
            progress[LOOKED] += done
            progress[UPDATES] += changed
            progress[WORK] -= spent
            slice_left -= spent
            progress[CREDIT] = credit if done == most else 0.0
            if slice_left <= 0.0:
                progress[TASK] = t
                return False
        progress[TASK] = 0.0
        if not is_moved:
            # Rounding is all that is left of what is asked for.
            progress[LOOKED] += _PATIENCE * n + 1.0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def move_switches(
    communal: FloatArray,
    own: FloatArray,
    offsets: IntArray,
    entries: IntArray,
    c: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    log_alpha: float,
    beta: FloatArray,
    outputs: FloatArray,
    log_odds: FloatArray,
) -> None:
    """Improve log-odds u and β in turns, a task at a time, in place.

    Given the others' outputs, q_t(u_t) − log α − u_t falls in u_t. Its root is sought by
    Newton's method within a bracket, as if multipliers at a bound stayed there and the
    free ones were inverse to s_t.
    """
    n, n_tasks = beta.size, log_odds.size
    v = np.empty(n)
    work_left = SLICE
    for _ in range(_TURNS):
        is_settled = True
        for t in range(n_tasks):
            first, last = offsets[t], offsets[t + 1]
            lowest, highest = -FAR, FAR
            for _ in range(_TRIALS):
                s = 1.0 / (1.0 + np.exp(-log_odds[t]))
                for i in range(first, last):
                    v[i] = c[i] - outputs[0, i] - s * outputs[1, i]
                violation, _ = violation_at(
                    v[first:last],
                    beta[first:last],
                    lo[first:last],
                    hi[first:last],
                    0.0,
                    True,
                )
                if violation > _ROUGH:
                    most = max(int(work_left / step_cost(last - first)), _LEAST_STEPS)
                    done, _, changed = _sweep_task(
                        communal,
                        own,
                        first,
                        last,
                        entries[t],
                        lo,
                        hi,
                        s,
                        max(_ROUGH, _SWEEP * violation),
                        most,
                        beta,
                        outputs,
                        v,
                        0.0,
                    )
                    work_left -= done * step_cost(last - first) + changed * n
                q, free = 0.0, 0.0
                for i in range(first, last):
                    part = 0.5 * beta[i] * outputs[1, i]
                    q += part
                    if lo[i] < beta[i] < hi[i]:
                        free += part
                residual = q - log_alpha - log_odds[t]
                step = residual / (1.0 + 2.0 * max(free, 0.0) * (1.0 - s))
                if abs(step) < _SETTLED:
                    break
                is_settled = False
                if residual > 0.0:
                    lowest = log_odds[t]
                else:
                    highest = log_odds[t]
                moved = log_odds[t] + step
                if moved <= lowest or moved >= highest:
                    moved = 0.5 * (lowest + highest)
                log_odds[t] = moved
            if work_left <= 0.0:
                return
        if is_settled:
            return


@numba.njit(cache=True, nogil=True)
def write_curvature(
    communal: FloatArray,
    own: FloatArray,
    offsets: IntArray,
    entries: IntArray,
    lo: FloatArray,
    hi: FloatArray,
    s: FloatArray,
    beta: FloatArray,
    outputs: FloatArray,
    factor: FloatArray,
    index: IntArray,
    column: IntArray,
    size: IntArray,
    factor_s: FloatArray,
    out: FloatArray,
) -> None:
    """Write V''(s), (T, T): B'PB with the free variables' own outputs in B.

    P is the inverse of their kernel on the vectors whose sums within tasks vanish.
    """
    n = beta.size
    here, whose = np.empty(n, index.dtype), np.empty(n, index.dtype)
    m, n_tasks = _list_free(offsets, lo, hi, beta, here, whose)
    out[:] = 0.0
    if m <= n_tasks:
        return
    is_current = size[_FREE] == m
    for k in range(s.size):
        is_current = is_current and s[k] == factor_s[k]
    if is_current:
        for k in range(m):
            is_current = is_current and index[k] == here[k]
    if not is_current:
        index[:m], column[:m] = here[:m], whose[:m]
        size[_FREE], size[_TASKS], size[_ROW] = m, n_tasks, m + n_tasks + 1
        factor_s[:] = s
    U = factor[: m * size[_ROW]].reshape(m, size[_ROW])
    if not is_current:
        # The gradient has no part in it.
        _factorise_free(
            communal, own, offsets, entries, s, beta, U, index, column, m, n_tasks
        )
    B = np.zeros((n_tasks, m))
    for k in range(m):
        B[column[k], k] = outputs[1, index[k]]
    start = 0
    for t in range(n_tasks):
        # Zero in front of the task, and so its transform is.
        _transform(U, m, n_tasks, start, B[t])
        while start < m and column[start] == t:
            start += 1
    task = np.empty(n_tasks, index.dtype)
    for k in range(m):
        task[column[k]] = np.searchsorted(offsets, index[k], side="right") - 1
    for t in range(n_tasks):
        for u in range(t + 1):
            value = _dot(B[t], B[u])
            out[task[t], task[u]] = value
            out[task[u], task[t]] = value


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _transform(U: FloatArray, m: int, n_tasks: int, start: int, b: FloatArray) -> None:
    """Turn b, zero before `start`, into (I − QQ')U'⁻¹b, in place."""
    for k in range(start, m):
        row = U[k]
        b[k] /= row[k]
        _add(row[k + 1 : m], -b[k], b[k + 1 :])
    along = np.zeros(n_tasks)
    for k in range(start, m):
        _add(U[k, m : m + n_tasks], b[k], along)
    for k in range(m):
        b[k] -= _dot(U[k, m : m + n_tasks], along)
