"""Minimum over the free variables of all tasks of adaptive pooling, compiled.

For :mod:`mtmkl.solvers.med.med_pooling`, whose notation this is: v = c − K_sβ with the
kernel K_s = k + δ_tu s_t k_t, and one sum of β per task that is kept. With U'U the
kernel of the free variables and an orthonormal basis Q of U'⁻¹E, E the indicators of
the tasks, the inverse on vectors whose sums vanish is U⁻¹(I − QQ')U'⁻¹. A variable that
meets a bound adds a vector to Q, and so does whatever else is to stay as it is.

Where the communal kernel is a factor F, k = FF' between tasks, more variables y = F'd
with the kernel I stand for it, so that U is of one task after the other: its matrix is
what is left, s_t k_t + (k − FF')_t, and F'd − y = 0 adds the columns [F; −I] to E.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtmkl.compiled import add_scaled, compiled, dot, dot_at, routine
from mtmkl.solvers.svm.smo import factorise
from mtmkl.typing import FloatArray, IntArray

_RIDGE = 1e-11  # least pivot of a factor, relative to the largest diagonal entry


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
def outputs_of_task(
    data: Pooled, t: int, beta: FloatArray, shared: FloatArray, out: FloatArray
) -> None:
    """Write the communal outputs of one task by a factor, where `shared` is F'β."""
    first, last = data.offsets[t], data.offsets[t + 1]
    n, entry = last - first, data.entries[t]
    others = shared.copy()
    for i in range(first, last):
        if beta[i] != 0.0:
            add_scaled(others, -beta[i], data.communal[i])
    for i in range(first, last):
        out[i] = dot(data.communal[i], others)
    for i in range(first, last):
        if beta[i] != 0.0:
            k = entry + (i - first) * n
            add_scaled(out[first:last], beta[i], data.within[k : k + n])


@routine
def shared_part(data: Pooled, beta: FloatArray) -> FloatArray:
    """Return F'β, or nothing if there is no factor."""
    shared = np.zeros(data.communal.shape[1] if data.is_factor else 0)
    if data.is_factor:
        for i in range(beta.size):
            if beta[i] != 0.0:
                add_scaled(shared, beta[i], data.communal[i])
    return shared


@routine
def write_outputs(data: Pooled, beta: FloatArray, outputs: FloatArray) -> None:
    """Write the communal outputs kβ and each task's own k_tβ_t, shape (2, N)."""
    shared = shared_part(data, beta)
    for i in range(beta.size):
        outputs[0, i] = outputs[1, i] = 0.0
    for t in range(data.offsets.size - 1):
        first, last = data.offsets[t], data.offsets[t + 1]
        n = last - first
        if data.is_factor:
            outputs_of_task(data, t, beta, shared, outputs[0])
        for i in range(first, last):
            if beta[i] != 0.0:
                k = data.entries[t] + (i - first) * n
                add_scaled(outputs[1, first:last], beta[i], data.own[k : k + n])
                if not data.is_factor:
                    add_scaled(outputs[0], beta[i], data.communal[i])


@compiled
def outputs_of(arrays: tuple[Any, ...], beta: FloatArray) -> FloatArray:
    """Return the communal outputs kβ and each task's own k_tβ_t, shape (2, N)."""
    outputs = np.empty((2, beta.size))
    write_outputs(Pooled(*arrays), beta, outputs)
    return outputs


@routine
def write_gradient(
    data: Pooled, t: int, s: float, outputs: FloatArray, v: FloatArray
) -> None:
    """Write ``c − K_sβ`` to v in the rows of one task, with the switch s."""
    first, last = data.offsets[t], data.offsets[t + 1]
    c, here = data.c[first:last], v[first:last]
    communal, own = outputs[0, first:last], outputs[1, first:last]
    for i in range(c.size):
        here[i] = c[i] - communal[i] - s * own[i]


@routine
def write_gradients(
    data: Pooled, s: FloatArray, outputs: FloatArray, v: FloatArray
) -> None:
    """Write ``c − K_sβ`` to v."""
    for t in range(s.size):
        write_gradient(data, t, s[t], outputs, v)


@routine
def list_free(data: Pooled, beta: FloatArray) -> tuple[IntArray, IntArray, int]:
    """Return the free variables, where each task's begin, and how many have any."""
    index = np.empty(beta.size, np.intp)
    starts = np.zeros(data.offsets.size, np.intp)
    m, n_tasks = 0, 0
    for t in range(data.offsets.size - 1):
        for i in range(data.offsets[t], data.offsets[t + 1]):
            if data.lo[i] < beta[i] < data.hi[i]:
                index[m] = i
                m += 1
        starts[t + 1] = m
        n_tasks += m > starts[t]
    return index[:m], starts, n_tasks


@routine
def joint_cost(m: int, n_tasks: int, n: int, is_factor: bool, rank: int) -> float:
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
    scale = 1.0 / np.sqrt(max(dot(w, w), 1e-300))
    for a in range(w.size):
        w[a] *= scale
        factor.kept[k, a] = w[a]


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
        first, n = data.offsets[t], data.offsets[t + 1] - data.offsets[t]
        start, stop = starts[t], starts[t + 1]
        top = 0.0
        for a in range(start, stop):
            i = index[a]
            entry = data.entries[t] + (i - first) * n - first
            for b in range(a, stop):
                k = entry + index[b]
                U[row[a] + b] = data.within[k] + s[t] * data.own[k]
            for b in range(stop, factor.end[a]):
                U[row[a] + b] = data.communal[i, index[b]]
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
        for a in range(top, bottom):
            w[a] = 1.0 if start <= a < stop else 0.0
        _forward(factor, start, bottom, w)
        for u in range(t if top < start else 0):
            _project(factor, u, w)
        part = w[top:bottom]
        scale = 1.0 / np.sqrt(dot(part, part))
        for a in range(top, bottom):
            factor.sums[factor.place[t] + a] = scale * w[a]
            w[a] = 0.0
    for k in range(w.size - m):
        for a in range(m):
            w[a] = data.communal[index[a], k]
        for a in range(m, w.size):
            w[a] = -1.0 if a == m + k else 0.0
        _forward(factor, starts[0], m, w)
        _keep(factor, k, w)
    return factor


@routine
def joint_step(
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
    n, m = beta.size, index.size
    rank = data.communal.shape[1] if data.is_factor else 0
    most = 2 + m // 2
    if data.is_factor:
        cost = joint_cost(m, n_tasks, n, data.is_factor, rank)
        most = min(most, 2 + int(cost / (2.0 * m * (m / n_tasks + rank))))
    kept = np.empty((rank + most, m + rank))
    factor = _factorise_free(data, s, index, starts, kept)
    target, before = beta.copy(), outputs.copy()
    _move(data, factor, index, starts, most, v, target)
    # The decrease is the change times the mean of v before and v after.
    change = np.empty(n)
    for i in range(n):
        change[i] = target[i] - beta[i]
    gain = dot(change, v)
    write_outputs(data, target, outputs)
    write_gradients(data, s, outputs, v)
    gain += dot(change, v)
    if gain < 0.0:
        for i in range(n):
            outputs[0, i], outputs[1, i] = before[0, i], before[1, i]
        write_gradients(data, s, outputs, v)
        return False
    for i in range(n):
        beta[i] = target[i]
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
    for a in range(m):
        z[a] = v[index[a]]
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
        for a in range(m):
            i = index[a]
            moved = target[i] + step * remaining * direction[a]
            target[i] = min(max(moved, data.lo[i]), data.hi[i])
        if blocking == m:
            return
        p = index[blocking]
        target[p] = data.hi[p] if direction[blocking] > 0.0 else data.lo[p]
        is_kept[blocking] = True
        remaining *= 1.0 - step
        for a in range(size):
            w[a] = 1.0 if a == blocking else 0.0
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
        drift, count = 0.0, 0
        for a in range(starts[t], starts[t + 1]):
            if is_kept[a]:
                direction[a] = 0.0
            else:
                drift += direction[a]
                count += 1
        for a in range(starts[t], starts[t + 1]):
            if not is_kept[a]:
                direction[a] -= drift / count


@compiled
def curvature(
    arrays: tuple[Any, ...], s: FloatArray, beta: FloatArray, outputs: FloatArray
) -> FloatArray:
    """Return V''(s), (T, T): B'PB with the free variables' own outputs in B.

    P is the inverse of their kernel on the vectors whose sums within tasks vanish.
    """
    data = Pooled(*arrays)
    index, starts, n_tasks = list_free(data, beta)
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
        for a in range(top, bottom):
            is_own = starts[t] <= a < starts[t + 1]
            w[a] = outputs[1, index[a]] if is_own else 0.0
        _forward(factor, starts[t], bottom, w)
        first, last = (t, t + 1) if data.is_factor else (0, s.size)
        for u in range(first, last):
            _project(factor, u, w)
        for k in range(rank):
            along[t, k] = dot_at(factor.kept, k * size + top, w, top, bottom - top)
        for a in range(top, bottom):
            turned[place + a] = w[a]
            w[a] = 0.0
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
