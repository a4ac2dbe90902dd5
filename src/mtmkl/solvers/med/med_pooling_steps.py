"""Compiled steps of the joint support vector dual of adaptive pooling.

For :mod:`mtmkl.solvers.med.med_pooling`, whose notation this is: v = c − K_sβ with the
kernel K_s = k + δ_tu s_t k_t, and one sum of β per task that is kept. The communal
outputs kβ and the tasks' own k_tβ_t are updated apart, so that other switches start
from a gradient that costs N additions. Where the communal kernel is a factor F, F'β is
updated in place of kβ.

Two kinds of steps alternate. A *sweep* solves the violated tasks one after the other by
the pair steps of :mod:`mtmkl.solvers.svm.smo`, which is all there is to do where tasks
are hardly coupled. A *joint step* minimises over the free variables of all tasks by a
Cholesky factor of their kernel, whenever the sweeps have cost as much, and at once
after a change of the switches, which moves all of them and few bounds.

With U'U the kernel of the free variables and an orthonormal basis Q of U'⁻¹E, E the
indicators of the tasks, the inverse on vectors whose sums vanish is U⁻¹(I − QQ')U'⁻¹. A
variable that meets a bound adds a vector to Q, and so does whatever else is to stay as
it is. With a factor F more variables y = F'd with the kernel I stand for it, so that U
is of one task after the other: its matrix is what is left, s_t k_t + (k − FF')_t, and
F'd − y = 0 adds the columns [F; −I] to E.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtmkl.compiled import add_scaled, compiled, dot, dot_at, routine, total
from mtmkl.solvers.svm.smo import (
    DIAGONAL,
    FAR,
    FIRST_SHARE,
    LAST_SHARE,
    SLICE,
    Dual,
    factorise,
    intercept_at,
    pair_steps,
    rounding_error,
    step_cost,
    workspace,
)
from mtmkl.solvers.svm.task_steps import violation_at
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

# What a slice of work hands to the next, and to Python.
TASK, CREDIT, JOINT_CREDIT, SHARE, LOOKED, UPDATES, WORK, ALLOWED, VIOLATION = range(9)
N_PROGRESS = 9


class Pooled(NamedTuple):
    """Tasks as compiled functions take them, from Python as a tuple: half the time.

    Matrices of the tasks lie one after the other, those of task t from entries[t] on.
    """

    communal: FloatArray  # the matrix (N, N) or, with `is_factor`, F (N, r)
    is_factor: bool
    within: FloatArray  # communal matrices of the tasks
    own: FloatArray  # specialised ones
    offsets: IntArray  # (T + 1,), as entries
    entries: IntArray
    c: FloatArray  # (N,), as lo and hi
    lo: FloatArray
    hi: FloatArray


class _Factor(NamedTuple):
    """Factor U of the free variables, and a basis of what is kept as it is.

    Entry (a, b) of U, b < end[a], is U[row[a] + b]. Of the vector for the sum of task t
    entry a is sums[place[t] + a] for top[t] ≤ a < bottom[t], others are zero. The other
    vectors are rows of `kept`.
    """

    row: IntArray
    end: IntArray
    U: FloatArray
    top: IntArray
    bottom: IntArray
    place: IntArray
    sums: FloatArray
    kept: FloatArray


@routine
def _matrices(data: Pooled, t: int) -> tuple[FloatArray, FloatArray]:
    """Return the communal matrix of a task, and its specialised one."""
    n, entry = data.offsets[t + 1] - data.offsets[t], data.entries[t]
    within, own = data.within[entry : entry + n * n], data.own[entry : entry + n * n]
    return within.reshape((n, n)), own.reshape((n, n))


@routine
def _outputs_of_task(
    data: Pooled, t: int, beta: FloatArray, shared: FloatArray, out: FloatArray
) -> None:
    """Write the communal outputs of one task by a factor, where `shared` is F'β."""
    first, last = data.offsets[t], data.offsets[t + 1]
    within, _ = _matrices(data, t)
    others = shared.copy()
    for i in range(first, last):
        if beta[i] != 0.0:
            add_scaled(others, -beta[i], data.communal[i])
    for i in range(first, last):
        out[i] = dot(data.communal[i], others)
    for i in range(first, last):
        if beta[i] != 0.0:
            add_scaled(out[first:last], beta[i], within[i - first])


@routine
def _shared_part(data: Pooled, beta: FloatArray) -> FloatArray:
    """Return F'β, or nothing if there is no factor."""
    shared = np.zeros(data.communal.shape[1] if data.is_factor else 0)
    if data.is_factor:
        for i in range(beta.size):
            if beta[i] != 0.0:
                add_scaled(shared, beta[i], data.communal[i])
    return shared


@compiled
def outputs_of(arrays: tuple[Any, ...], beta: FloatArray) -> FloatArray:
    """Return the communal outputs kβ and each task's own k_tβ_t, shape (2, N)."""
    data, outputs = Pooled(*arrays), np.zeros((2, beta.size))
    shared = _shared_part(data, beta)
    for t in range(data.offsets.size - 1):
        first, last = data.offsets[t], data.offsets[t + 1]
        _, own = _matrices(data, t)
        if data.is_factor:
            _outputs_of_task(data, t, beta, shared, outputs[0])
        for i in range(first, last):
            if beta[i] != 0.0:
                add_scaled(outputs[1, first:last], beta[i], own[i - first])
                if not data.is_factor:
                    add_scaled(outputs[0], beta[i], data.communal[i])
    return outputs


@routine
def _write_gradient(
    data: Pooled, t: int, s: float, outputs: FloatArray, v: FloatArray
) -> None:
    """Write ``c − K_sβ`` to v in the rows of one task, with the switch s."""
    rows = slice(data.offsets[t], data.offsets[t + 1])
    v[rows] = data.c[rows] - outputs[0, rows] - s * outputs[1, rows]


@routine
def _write_gradients(
    data: Pooled, s: FloatArray, outputs: FloatArray, v: FloatArray
) -> None:
    """Write ``c − K_sβ`` to v."""
    for t in range(s.size):
        _write_gradient(data, t, s[t], outputs, v)


@routine
def _list_free(data: Pooled, beta: FloatArray) -> tuple[IntArray, IntArray, int]:
    """Return the free variables, where each task's begin, and how many have any."""
    index = np.flatnonzero((data.lo < beta) & (beta < data.hi))
    starts = np.searchsorted(index, data.offsets)
    return index, starts, int(np.count_nonzero(np.diff(starts)))


@routine
def _joint_cost(m: int, n_tasks: int, n: int, is_factor: bool, rank: int) -> float:
    """Return the cost of a joint step of m free variables in multiplications, about."""
    if not is_factor:
        return m * m * (m / 6.0 + n_tasks + 6.0) + m * n + 1000.0
    size = m / max(n_tasks, 1)
    return 2.0 * m * (size * (size / 6.0 + rank) + rank**2 + 50.0) + 1000.0


@routine
def _forward(factor: _Factor, top: int, bottom: int, w: FloatArray) -> None:
    """Turn w, zero but from `top` to `bottom`, into U'⁻¹w, in place."""
    for a in range(top, bottom):
        if w[a] != 0.0:
            row, end = factor.row[a], factor.end[a]
            w[a] /= factor.U[row + a]
            add_scaled(w[a + 1 : end], -w[a], factor.U[row + a + 1 : row + end])


@routine
def _backward(factor: _Factor, z: FloatArray, out: FloatArray) -> None:
    """Write U⁻¹z."""
    for a in range(factor.row.size - 1, -1, -1):
        row, end = factor.row[a], factor.end[a]
        rest = dot_at(factor.U, row + a + 1, out, a + 1, end - a - 1)
        out[a] = (z[a] - rest) / factor.U[row + a]


@routine
def _project(factor: _Factor, t: int, w: FloatArray) -> None:
    """Make w orthogonal to the vector for the sum of a task."""
    top, bottom, place = factor.top[t], factor.bottom[t], factor.place[t]
    along = dot_at(factor.sums, place + top, w, top, bottom - top)
    add_scaled(w[top:bottom], -along, factor.sums[place + top : place + bottom])


@routine
def _project_all(factor: _Factor, n_kept: int, w: FloatArray) -> None:
    """Make w orthogonal to the sums of all tasks and to the first rows of `kept`."""
    for t in range(factor.top.size):
        _project(factor, t, w)
    for k in range(n_kept):
        add_scaled(w, -dot(factor.kept[k], w), factor.kept[k])


@routine
def _keep(factor: _Factor, k: int, w: FloatArray) -> None:
    """Make w row k of `kept`, orthonormal to all before it; w is changed, too."""
    _project_all(factor, k, w)
    w *= 1.0 / np.sqrt(max(dot(w, w), 1e-300))
    factor.kept[k] = w


@routine
def _write_matrix(
    data: Pooled, s: FloatArray, index: IntArray, starts: IntArray, factor: _Factor
) -> float:
    """Write the upper half of the kernel of the free variables, or of what F leaves.

    On vectors whose sums within tasks vanish, adding 11' of a task changes the
    conditioning alone: indicators are then no further from the range of the matrix
    than it is. Returns the largest diagonal entry without that.
    """
    U, row, rank = factor.U, factor.row, data.communal.shape[1]
    largest = 0.0
    for t in range(s.size):
        start, stop = starts[t], starts[t + 1]
        (within, own), first = _matrices(data, t), data.offsets[t]
        top = 0.0
        for a in range(start, stop):
            i = index[a] - first
            for b in range(a, stop):
                j = index[b] - first
                U[row[a] + b] = within[i, j] + s[t] * own[i, j]
            for b in range(stop, factor.end[a]):
                U[row[a] + b] = data.communal[index[a], index[b]]
            top = max(top, U[row[a] + a])
        for a in range(start, stop):
            for b in range(a, stop):
                U[row[a] + b] += top
                if data.is_factor:
                    U[row[a] + b] -= dot_at(
                        data.communal, index[a] * rank,
                        data.communal, index[b] * rank, rank,
                    )  # fmt: skip
        largest = max(largest, top)
    return largest


@routine
def _lay_out(data: Pooled, starts: IntArray, kept: FloatArray) -> _Factor:
    """Return room for a factor, of all tasks together or of one after the other."""
    n_tasks, m = starts.size - 1, starts[-1]
    row, end = np.empty(m, np.intp), np.empty(m, np.intp)
    top, bottom = np.zeros(n_tasks, np.intp), np.zeros(n_tasks, np.intp)
    place = np.zeros(n_tasks, np.intp)
    n_entries, n_sums = 0, 0
    for t in range(n_tasks):
        if starts[t] == starts[t + 1]:
            continue
        bottom[t] = m
        if data.is_factor:
            top[t], bottom[t] = starts[t], starts[t + 1]
        width = bottom[t] - top[t]
        place[t] = n_sums - top[t]
        n_sums += width
        for a in range(starts[t], starts[t + 1]):
            row[a], end[a] = n_entries - top[t], bottom[t]
            n_entries += width
    U, sums = np.empty(n_entries), np.empty(n_sums)
    return _Factor(row, end, U, top, bottom, place, sums, kept)


@routine
def _factorise_free(
    data: Pooled, s: FloatArray, index: IntArray, starts: IntArray, kept: FloatArray
) -> _Factor:
    """Return the factor of the free variables, which fills the first rows of `kept`."""
    factor, m = _lay_out(data, starts, kept), index.size
    largest = _write_matrix(data, s, index, starts, factor)
    ridge = max(_RIDGE * largest, 1e-300)
    if not data.is_factor:
        factorise(factor.U.reshape(m, m), m, m, ridge)
    w = np.zeros(factor.kept.shape[1])
    for t in range(s.size):
        start, stop = starts[t], starts[t + 1]
        if start == stop:
            continue
        n = stop - start
        if data.is_factor:
            first = factor.row[start] + start
            U = factor.U[first : first + n * n].reshape(n, n)
            factorise(U, n, n, ridge)
        top, bottom = factor.top[t], factor.bottom[t]
        w[start:stop] = 1.0
        _forward(factor, start, bottom, w)
        for u in range(t if top < start else 0):
            _project(factor, u, w)
        part = w[top:bottom]
        scale = 1.0 / np.sqrt(dot(part, part))
        place = factor.place[t]
        factor.sums[place + top : place + bottom] = scale * part
        part[:] = 0.0
    for k in range(w.size - m):
        w[:m] = data.communal[index, k]
        w[m:] = 0.0
        w[m + k] = -1.0
        _forward(factor, starts[0], m, w)
        _keep(factor, k, w)
    return factor


@routine
def _joint_step(
    data: Pooled,
    s: FloatArray,
    index: IntArray,
    starts: IntArray,
    n_tasks: int,
    beta: FloatArray,
    outputs: FloatArray,
    v: FloatArray,
) -> bool:
    """Minimise over the free variables of all tasks, in place.

    Returns whether the objective went down, as it does unless the kernel is
    indefinite; the point is left as it was otherwise.
    """
    m = index.size
    rank = data.communal.shape[1] if data.is_factor else 0
    most = 2 + m // 2
    if data.is_factor:
        cost = _joint_cost(m, n_tasks, beta.size, data.is_factor, rank)
        most = min(most, 2 + int(cost / (2.0 * m * (m / n_tasks + rank))))
    kept = np.empty((rank + most, m + rank))
    factor = _factorise_free(data, s, index, starts, kept)
    target, before = beta.copy(), outputs.copy()
    _move(data, factor, index, starts, most, v, target)
    # The decrease is the change times the mean of v before and v after.
    change = target - beta
    gain = dot(change, v)
    outputs[:] = outputs_of(data, target)
    _write_gradients(data, s, outputs, v)
    gain += dot(change, v)
    if gain < 0.0:
        outputs[:] = before
        _write_gradients(data, s, outputs, v)
        return False
    beta[:] = target
    return True


@routine
def _move(
    data: Pooled,
    factor: _Factor,
    index: IntArray,
    starts: IntArray,
    most: int,
    v: FloatArray,
    target: FloatArray,
) -> None:
    """Move the free variables in `target` towards their minimum.

    The Newton step is cut at the first bound it meets, the variable that met it is kept
    there, and so on. What remains of the gradient is always ``1 − step`` of what it
    was.
    """
    m, size = index.size, factor.kept.shape[1]
    z, w, direction = np.zeros(size), np.zeros(size), np.empty(m)
    is_kept = np.zeros(m, np.bool_)
    z[:m] = v[index]
    _forward(factor, starts[0], m, z)
    n_kept = size - m
    _project_all(factor, n_kept, z)
    remaining = 1.0
    for _ in range(most):
        _backward(factor, z, direction)
        _keep_sums(starts, is_kept, direction)
        step, blocking = 1.0, m
        for a in range(m):
            d, i = remaining * direction[a], index[a]
            room = data.hi[i] - target[i] if d > 0.0 else target[i] - data.lo[i]
            if max(room, 0.0) < step * abs(d):
                step, blocking = max(room, 0.0) / abs(d), a
        moved = target[index] + step * remaining * direction
        target[index] = np.minimum(np.maximum(moved, data.lo[index]), data.hi[index])
        if blocking == m:
            return
        p = index[blocking]
        target[p] = data.hi[p] if direction[blocking] > 0.0 else data.lo[p]
        is_kept[blocking] = True
        remaining *= 1.0 - step
        w[:] = 0.0
        w[blocking] = 1.0
        _forward(factor, blocking, m, w)
        _keep(factor, n_kept, w)
        add_scaled(z, -dot(w, z), w)
        n_kept += 1


@routine
def _keep_sums(
    starts: IntArray, is_kept: NDArray[np.bool_], direction: FloatArray
) -> None:
    """Make sums of the direction within tasks zero to rounding, without some."""
    for t in range(starts.size - 1):
        own = slice(starts[t], starts[t + 1])
        part, is_free = direction[own], ~is_kept[own]
        drift = np.where(is_free, part, 0.0).sum() / np.count_nonzero(is_free)
        part[:] = np.where(is_free, part - drift, 0.0)


@compiled
def curvature(
    arrays: tuple[Any, ...], s: FloatArray, beta: FloatArray, outputs: FloatArray
) -> FloatArray:
    """Return V''(s), (T, T): B'PB with the free variables' own outputs in B.

    P is the inverse of their kernel on the vectors whose sums within tasks vanish.
    """
    data = Pooled(*arrays)
    index, starts, n_tasks = _list_free(data, beta)
    m, out = index.size, np.zeros((s.size, s.size))
    if m <= n_tasks:
        return out
    rank = data.communal.shape[1] if data.is_factor else 0
    size = m + rank
    factor = _factorise_free(data, s, index, starts, np.empty((rank, size)))
    # Laid out as the vectors for the sums are.
    turned, along = np.empty(factor.sums.size), np.zeros((s.size, rank))
    w = np.zeros(size)
    for t in range(s.size):
        top, bottom, place = factor.top[t], factor.bottom[t], factor.place[t]
        w[starts[t] : starts[t + 1]] = outputs[1, index[starts[t] : starts[t + 1]]]
        _forward(factor, starts[t], bottom, w)
        first, last = (t, t + 1) if data.is_factor else (0, s.size)
        for u in range(first, last):
            _project(factor, u, w)
        for k in range(rank):
            along[t, k] = dot_at(factor.kept, k * size + top, w, top, bottom - top)
        turned[place + top : place + bottom] = w[top:bottom]
        w[top:bottom] = 0.0
    for t in range(s.size):
        top, n = factor.top[t], factor.bottom[t] - factor.top[t]
        for u in range(t + 1):
            value = -dot_at(along, t * rank, along, u * rank, rank)
            if top < factor.bottom[u]:
                value += dot_at(
                    turned, factor.place[t] + top, turned, factor.place[u] + top, n
                )
            out[t, u] = out[u, t] = value
    return out


def first_progress(tol: float, work: float) -> FloatArray:
    """Return the progress to begin with: a joint step is granted."""
    progress = np.zeros(N_PROGRESS)
    progress[JOINT_CREDIT], progress[SHARE] = FAR, FIRST_SHARE
    progress[WORK], progress[ALLOWED] = work, tol
    return progress


@routine
def _dual_of(data: Pooled, t: int, beta: FloatArray, v: FloatArray) -> Dual:
    """Return the dual of a task, for the present outputs of the others."""
    own = slice(data.offsets[t], data.offsets[t + 1])
    return Dual(data.c[own], data.lo[own], data.hi[own], 0.0, beta[own], v[own])


@compiled
def values_of(
    arrays: tuple[Any, ...], s: FloatArray, beta: FloatArray, outputs: FloatArray
) -> tuple[FloatArray, FloatArray, float, float, float]:
    """Return q_t, the intercepts, c'β, β'K_sβ and the loss of a point."""
    data, n = Pooled(*arrays), beta.size
    v, q, intercept = np.empty(n), np.empty(s.size), np.empty(s.size)
    _write_gradients(data, s, outputs, v)
    linear = dot(data.c, beta)
    quadratic = linear - dot(v, beta)
    for t in range(s.size):
        first, last = data.offsets[t], data.offsets[t + 1]
        intercept[t] = intercept_at(_dual_of(data, t, beta, v))
        q[t] = 0.5 * dot_at(beta, first, outputs, n + first, last - first)
        residual = v[first:last] - intercept[t]
        v[first:last] = np.maximum(
            data.lo[first:last] * residual, data.hi[first:last] * residual
        )
    return q, intercept, linear, quadratic, total(v)


@routine
def _violation(data: Pooled, t: int, beta: FloatArray, v: FloatArray) -> float:
    """Return the largest violation of the conditions of a task."""
    dual = _dual_of(data, t, beta, v)
    equality = dual.v.size > 0  # no literal, which Numba would compile for once more
    violation, _ = violation_at(dual, equality)
    return violation


@routine
def _sweep_task(
    data: Pooled,
    t: int,
    s: float,
    tol: float,
    most: int,
    beta: FloatArray,
    outputs: FloatArray,
    v: FloatArray,
    credit: float,
    shared: FloatArray,
) -> tuple[int, float, int]:
    """Solve one task's dual for the present outputs of the others, in place.

    With a factor, `shared` is updated and not the outputs of the others.

    Returns the pair steps done, their credit (`pair_steps`), and how many β changed.
    """
    first, last = data.offsets[t], data.offsets[t + 1]
    within, own = _matrices(data, t)
    K = within + s * own
    n, c, start = last - first, v[first:last].copy(), beta[first:last].copy()
    work, index = workspace(n)
    for a in range(n):
        work[DIAGONAL, a] = K[a, a]
        if start[a] != 0.0:
            add_scaled(c, start[a], K[a])
    dual = _dual_of(data, t, beta, v)
    dual = Dual(c, dual.lo, dual.hi, 0.0, dual.beta, dual.v)
    done, _, credit = pair_steps(K, dual, work, index, tol, most, credit)
    changed = 0
    for a in range(n):
        change = beta[first + a] - start[a]
        if change == 0.0:
            continue
        changed += 1
        add_scaled(outputs[1, first:last], change, own[a])
        row = data.communal[first + a]
        if data.is_factor:
            add_scaled(outputs[0, first:last], change, within[a])
            add_scaled(shared, change, row)
        else:
            add_scaled(outputs[0], change, row)
    return done, credit, changed


@compiled
def solve_joint(
    arrays: tuple[Any, ...],
    s: FloatArray,
    tol: float,
    diagonal: FloatArray,
    beta: FloatArray,
    outputs: FloatArray,
    progress: FloatArray,
    slice_left: float,
) -> bool:
    """Solve for switches s from the present β until no condition is violated by more.

    Or until the rest is rounding, or no work is left: `progress` has the violation and
    what is allowed.

    Returns False after a slice of work: call again with the same arrays.
    """
    data, n = Pooled(*arrays), beta.size
    v, violations = np.empty(n), np.empty(s.size)
    while True:
        shared = _shared_part(data, beta)
        progress[VIOLATION] = 0.0
        for t in range(s.size):
            if data.is_factor:
                _outputs_of_task(data, t, beta, shared, outputs[0])
            _write_gradient(data, t, s[t], outputs, v)
            violations[t] = _violation(data, t, beta, v)
            progress[VIOLATION] = max(progress[VIOLATION], violations[t])
        is_done = progress[VIOLATION] <= progress[ALLOWED] or progress[WORK] <= 0.0
        if is_done and progress[UPDATES] <= _REFRESH * n:
            return True
        is_long = not is_done and progress[LOOKED] > _PATIENCE * n
        if is_long:
            error = progress[SHARE] * rounding_error(diagonal, data.c, beta)
            progress[SHARE] = min(2.0 * progress[SHARE], LAST_SHARE)
            progress[ALLOWED] = max(tol, error)
            progress[LOOKED] = 0.0
        if is_done or is_long:
            if progress[UPDATES] > 0.0:
                outputs[:] = outputs_of(data, beta)
                progress[UPDATES] = 0.0
            continue
        if slice_left <= 0.0:
            return False

        index, starts, n_tasks = _list_free(data, beta)
        m = index.size
        rank = data.communal.shape[1]
        cost = _joint_cost(m, n_tasks, n, data.is_factor, rank)
        if m > n_tasks and progress[JOINT_CREDIT] > _FACE_RATIO * cost:
            pays = _joint_step(data, s, index, starts, n_tasks, beta, outputs, v)
            progress[JOINT_CREDIT] = 0.0 if pays else -FAR
            progress[UPDATES] = 0.0
            progress[LOOKED] += m
            progress[WORK] -= cost
            slice_left -= cost
            continue
        if progress[JOINT_CREDIT] >= FAR:
            progress[JOINT_CREDIT] = 0.0
        is_moved = False
        for t in range(int(progress[TASK]), s.size):
            if violations[t] <= max(progress[ALLOWED], _SWEPT * progress[VIOLATION]):
                continue
            size = data.offsets[t + 1] - data.offsets[t]
            if data.is_factor:
                _outputs_of_task(data, t, beta, shared, outputs[0])
            _write_gradient(data, t, s[t], outputs, v)
            affordable = min(slice_left, progress[WORK]) / step_cost(size)
            most = max(int(affordable), _LEAST_STEPS)
            enough = max(0.5 * progress[ALLOWED], _SWEEP * violations[t])
            done, credit, changed = _sweep_task(
                data, t, s[t], enough, most, beta, outputs, v, progress[CREDIT], shared
            )
            is_moved = is_moved or changed > 0
            spent = done * step_cost(size) + 2.0 * size * size
            spent += changed * data.communal.shape[1]
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


@compiled
def move_switches(
    arrays: tuple[Any, ...],
    log_alpha: float,
    beta: FloatArray,
    outputs: FloatArray,
    log_odds: FloatArray,
) -> None:
    """Improve log-odds u and β in turns, a task at a time, in place.

    Given the others' outputs, q_t(u_t) − log α − u_t falls in u_t. Its root is sought
    by Newton's method within a bracket, as if multipliers at a bound stayed there and
    the free ones were inverse to s_t.
    """
    data = Pooled(*arrays)
    v, shared = np.empty(beta.size), _shared_part(data, beta)
    work_left = SLICE
    for _ in range(_TURNS):
        is_settled = True
        for t in range(log_odds.size):
            rows = slice(data.offsets[t], data.offsets[t + 1])
            n = rows.stop - rows.start
            lowest, highest = -FAR, FAR
            if data.is_factor:
                _outputs_of_task(data, t, beta, shared, outputs[0])
            for _ in range(_TRIALS):
                s = 1.0 / (1.0 + np.exp(-log_odds[t]))
                _write_gradient(data, t, s, outputs, v)
                violation = _violation(data, t, beta, v)
                if violation > _ROUGH:
                    most = max(int(work_left / step_cost(n)), _LEAST_STEPS)
                    tol = max(_ROUGH, _SWEEP * violation)
                    done, _, changed = _sweep_task(
                        data, t, s, tol, most, beta, outputs, v, 0.0, shared
                    )
                    work_left -= done * step_cost(n) + changed * data.communal.shape[1]
                parts = 0.5 * beta[rows] * outputs[1, rows]
                is_free = (data.lo[rows] < beta[rows]) & (beta[rows] < data.hi[rows])
                q, free = parts.sum(), parts[is_free].sum()
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
