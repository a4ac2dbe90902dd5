"""Joint steps of the dual of adaptive pooling, and its second derivatives, compiled.

For :mod:`mtmkl.solvers.med.med_pooling`, whose notation this is: v = c − K_sβ with the
kernel K_s = k + δ_tu s_t k_t, and one sum of β per task that is kept. Both need the
Cholesky factor of the kernel of the free variables of all tasks, which the last step
keeps for the derivatives; or those of :mod:`mtmkl.solvers.med.med_pooling_split`.
"""

import numpy as np

from mtmkl.compiled import compiled, routine
from mtmkl.solvers.med.med_pooling_split import (
    RIDGE,
    add_row,
    dot,
    split_cost,
    split_curvature,
    split_target,
    write_communal,
)
from mtmkl.solvers.svm.smo import drop, factorise
from mtmkl.typing import FloatArray, IntArray

_DEGENERATE = 1e-8  # squared length at which columns without a row are made anew

# Size of a factor: free variables, tasks among them, length of a row.
FREE, TASKS, ROW = range(3)
N_SIZES = 3


@compiled
def write_outputs(
    communal: FloatArray,
    within: FloatArray,
    own: FloatArray,
    offsets: IntArray,
    entries: IntArray,
    beta: FloatArray,
    outputs: FloatArray,
) -> None:
    """Write the communal outputs kβ and each task's own k_tβ_t, shape (2, N)."""
    outputs[:] = 0.0
    if within.size > 0:
        write_communal(communal, within, offsets, entries, beta, outputs[0])
    for t in range(offsets.size - 1):
        first, last = offsets[t], offsets[t + 1]
        n = last - first
        for i in range(first, last):
            if beta[i] != 0.0:
                entry = entries[t] + (i - first) * n
                if within.size == 0:
                    add_row(communal[i], beta[i], outputs[0])
                add_row(own[entry : entry + n], beta[i], outputs[1, first:last])


@routine
def write_gradient_of_task(
    first: int,
    last: int,
    c: FloatArray,
    s: float,
    outputs: FloatArray,
    v: FloatArray,
) -> None:
    """Write ``c − K_sβ`` to v in the rows of one task, with the switch s."""
    for i in range(first, last):
        v[i] = c[i] - outputs[0, i] - s * outputs[1, i]


@routine
def write_gradient(
    offsets: IntArray,
    c: FloatArray,
    s: FloatArray,
    outputs: FloatArray,
    v: FloatArray,
) -> None:
    """Write ``c − K_sβ`` to v."""
    for t in range(s.size):
        write_gradient_of_task(offsets[t], offsets[t + 1], c, s[t], outputs, v)


@routine
def list_free(
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


@routine
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


@routine
def _factorise_free(
    communal: FloatArray,
    within: FloatArray,
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
            entry = entries[task] + (i - first) * n - first
            if within.size == 0:
                for b in range(a, m):
                    row[b] = source[index[b]]
            else:
                for b in range(a, end):
                    row[b] = within[entry + index[b]]
                for b in range(end, m):
                    row[b] = dot(source, communal[index[b]])
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
    factorise(U, m, width, max(RIDGE * top, 1e-300))
    _orthonormalise(U, m, m, n_tasks)


@routine
def _write_direction(
    U: FloatArray, m: int, n_tasks: int, column: IntArray, direction: FloatArray
) -> None:
    """Write the Newton step of the free variables that keeps the sums within tasks."""
    width = m + n_tasks + 1
    along = np.zeros(n_tasks)
    for a in range(m):
        add_row(U[a, m : width - 1], U[a, width - 1], along)
    for a in range(m - 1, -1, -1):
        row = U[a]
        rest = row[width - 1] - dot(row[m : width - 1], along)
        rest -= dot(row[a + 1 : m], direction[a + 1 : m])
        direction[a] = rest / row[a]
    # Sums are then zero to rounding.
    drift, count = np.zeros(n_tasks), np.zeros(n_tasks)
    for a in range(m):
        drift[column[a]] += direction[a]
        count[column[a]] += 1.0
    for a in range(m):
        direction[a] -= drift[column[a]] / count[column[a]]


@routine
def _drop_free(U: FloatArray, m: int, n_tasks: int, p: int) -> None:
    """Remove free variable p from [U | Q | U'⁻¹v], in place."""
    drop(U, m, m + n_tasks + 1, p)
    # Without its last row w, Q'Q is I − ww': multiplied by the root of the inverse.
    w = U[m - 1, m - 1 : m - 1 + n_tasks]
    square = dot(w, w)
    if 1.0 - square < _DEGENERATE:
        _orthonormalise(U, m - 1, m - 1, n_tasks)
        return
    share = 1.0 / (np.sqrt(1.0 - square) * (1.0 + np.sqrt(1.0 - square)))
    for a in range(m - 1):
        row = U[a, m - 1 : m - 1 + n_tasks]
        add_row(w, share * dot(row, w), row)


@routine
def joint_cost(n: int, m: int, n_tasks: int) -> float:
    """Return the cost of a joint step in multiplications, about, if it is not split."""
    return m * m * (m / 6.0 + n_tasks + 6.0) + m * n + 1000.0


@routine
def is_split(communal: FloatArray, within: FloatArray, m: int, n_tasks: int) -> bool:
    """Tell whether tasks are eliminated one by one: with a factor, where it pays."""
    cost = split_cost(m, n_tasks, communal.shape[1])
    return within.size > 0 and cost < joint_cost(m, m, n_tasks)


@routine
def joint_step(
    communal: FloatArray,
    within: FloatArray,
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
    split: bool,
) -> bool:
    """Minimise over the free variables of all tasks, in place.

    Returns whether the objective went down, as it does unless the kernel is
    indefinite; the point is left as it was otherwise.
    """
    m, n_tasks = size[FREE], size[TASKS]
    target = beta.copy()
    if split:
        split_target(
            communal, within, own, offsets, entries,
            lo, hi, s, v, index[:m], column[:m], n_tasks, target,
        )  # fmt: skip
        size[FREE] = 0
    else:
        size[ROW] = m + n_tasks + 1
        U = factor[: m * size[ROW]].reshape(m, size[ROW])
        _factorise_free(
            communal, within, own, offsets, entries, s, v, U, index, column, m, n_tasks
        )
        size[FREE] = _write_target(U, m, n_tasks, lo, hi, index, column, target)

    # The decrease is the change times the mean of v before and v after.
    kept = outputs.copy()
    gain = 0.0
    for i in range(beta.size):
        gain += (target[i] - beta[i]) * v[i]
    write_outputs(communal, within, own, offsets, entries, target, outputs)
    write_gradient(offsets, c, s, outputs, v)
    for i in range(beta.size):
        gain += (target[i] - beta[i]) * v[i]
    if gain < 0.0:
        outputs[:] = kept
        write_gradient(offsets, c, s, outputs, v)
        return False
    beta[:] = target
    return True


@routine
def _write_target(
    U: FloatArray,
    m: int,
    n_tasks: int,
    lo: FloatArray,
    hi: FloatArray,
    index: IntArray,
    column: IntArray,
    target: FloatArray,
) -> int:
    """Move the free variables in `target` to their minimum; return how many stay so.

    The Newton step is cut at the first bound it meets, the variable that met it is
    dropped from the factor, and so on, as in :mod:`mtmkl.solvers.svm.smo`.
    """
    point, direction = target[index[:m]], np.empty(m)
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
        _drop_free(U, m, n_tasks, blocking)
        m -= 1
    for k in range(m):
        i = index[k]
        target[i] = min(max(point[k], lo[i]), hi[i])
    return m


@routine
def _transform(U: FloatArray, m: int, n_tasks: int, start: int, b: FloatArray) -> None:
    """Turn b, zero before `start`, into (I − QQ')U'⁻¹b, in place."""
    for k in range(start, m):
        row = U[k]
        b[k] /= row[k]
        add_row(row[k + 1 : m], -b[k], b[k + 1 :])
    along = np.zeros(n_tasks)
    for k in range(start, m):
        add_row(U[k, m : m + n_tasks], b[k], along)
    for k in range(m):
        b[k] -= dot(U[k, m : m + n_tasks], along)


@compiled
def write_curvature(
    communal: FloatArray,
    within: FloatArray,
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
    m, n_tasks = list_free(offsets, lo, hi, beta, here, whose)
    out[:] = 0.0
    if m <= n_tasks:
        return
    if is_split(communal, within, m, n_tasks):
        split_curvature(
            communal, within, own, offsets, entries,
            s, outputs[1], here[:m], whose[:m], n_tasks, out,
        )  # fmt: skip
        return
    is_current = size[FREE] == m
    for k in range(s.size):
        is_current = is_current and s[k] == factor_s[k]
    if is_current:
        for k in range(m):
            is_current = is_current and index[k] == here[k]
    if not is_current:
        index[:m], column[:m] = here[:m], whose[:m]
        size[FREE], size[TASKS], size[ROW] = m, n_tasks, m + n_tasks + 1
        factor_s[:] = s
    U = factor[: m * size[ROW]].reshape(m, size[ROW])
    if not is_current:
        # The gradient has no part in it.
        _factorise_free(
            communal, within, own, offsets, entries,
            s, beta, U, index, column, m, n_tasks,
        )  # fmt: skip
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
            value = dot(B[t], B[u])
            out[task[t], task[u]] = value
            out[task[u], task[t]] = value
