"""Part that tasks share, apart from what each has to itself, compiled.

For :mod:`mtmkl.solvers.med.med_pooling`, where the communal kernel of many examples is
a factor F of few columns, k = FF' between tasks, and a matrix within each task. With
D_t what is left of the kernel of task t's free variables, s_t k_t + (k − FF')_t, and
P_t its inverse on vectors whose sum vanishes, the inverse of all is

    P − P F S⁻¹ F'P,    P = diag(P_1, …, P_T),    S = I + Σ_t F_t'P_t F_t,

for the cost of the tasks one by one: no matrix of all free variables is made.
"""

import numpy as np

from mtmkl.compiled import compiled, routine
from mtmkl.solvers.svm.smo import factorise
from mtmkl.typing import FloatArray, IntArray

RIDGE = 1e-11  # least pivot of a factor, relative to the largest diagonal entry
_ROUNDS = 2.0  # cost of the variables dropped in a step, in units of its factors


@routine
def add_row(row: FloatArray, b: float, out: FloatArray) -> None:
    """Add a multiple of a row to `out`."""
    for k in range(out.size):
        out[k] += b * row[k]


@routine
def dot(x: FloatArray, y: FloatArray) -> float:
    """Return x'y."""
    total = 0.0
    for k in range(x.size):
        total += x[k] * y[k]
    return total


@routine
def write_communal_of_task(
    factor: FloatArray,
    within: FloatArray,
    first: int,
    last: int,
    entry: int,
    beta: FloatArray,
    shared: FloatArray,
    out: FloatArray,
) -> None:
    """Write the communal outputs of one task, where `shared` is F'β."""
    n = last - first
    others = shared.copy()
    for i in range(first, last):
        if beta[i] != 0.0:
            add_row(factor[i], -beta[i], others)
    for i in range(first, last):
        out[i] = dot(factor[i], others)
    for i in range(first, last):
        if beta[i] != 0.0:
            start = entry + (i - first) * n
            add_row(within[start : start + n], beta[i], out[first:last])


@routine
def write_communal(
    factor: FloatArray,
    within: FloatArray,
    offsets: IntArray,
    entries: IntArray,
    beta: FloatArray,
    out: FloatArray,
) -> FloatArray:
    """Write the communal outputs of all tasks, and return F'β."""
    shared = np.zeros(factor.shape[1])
    for i in range(beta.size):
        if beta[i] != 0.0:
            add_row(factor[i], beta[i], shared)
    for t in range(offsets.size - 1):
        write_communal_of_task(
            factor, within, offsets[t], offsets[t + 1], entries[t], beta, shared, out
        )
    return shared


@routine
def split_cost(m: int, n_tasks: int, rank: int) -> float:
    """Return the cost of the tasks' factors in multiplications, about."""
    n = m / max(n_tasks, 1)
    return m * (n * (n / 6.0 + rank) + 0.5 * rank**2 + 50.0) + rank**3 / 6.0


@routine
def _write_task(
    communal: FloatArray,
    within: FloatArray,
    own: FloatArray,
    first: int,
    last: int,
    entry: int,
    s: float,
    right: FloatArray,
    index: IntArray,
    block: FloatArray,
) -> None:
    """Write [U | G | h | ·] of one task: U'U = D, and G'G = F'PF, G'h = F'Pb.

    Adding 11' to D changes its conditioning alone, as sums are to vanish.
    """
    n, m, rank = last - first, index.size, communal.shape[1]
    largest = 0.0
    for a in range(m):
        i, row = index[a], block[a]
        start = entry + (i - first) * n - first
        for b in range(a, m):
            j = index[b]
            row[b] = within[start + j] + s * own[start + j]
        largest = max(largest, row[a])
        for b in range(a, m):
            row[b] -= dot(communal[i], communal[index[b]])
        row[m : m + rank] = communal[i]
        row[m + rank], row[m + rank + 1] = right[i], 1.0
    for a in range(m):
        for b in range(a, m):
            block[a, b] += largest
    factorise(block, m, m + rank + 2, max(RIDGE * largest, 1e-300))
    along, square = np.zeros(rank + 1), 0.0
    for a in range(m):
        one = block[a, m + rank + 1]
        add_row(block[a, m : m + rank + 1], one, along)
        square += one * one
    for a in range(m):
        share = -block[a, m + rank + 1] / square
        add_row(along, share, block[a, m : m + rank + 1])


@routine
def _add_task(block: FloatArray, sign: float, S: FloatArray) -> None:
    """Add the G'[G | h] of one task to S, of which the upper half is kept."""
    rank, m = S.shape[0], block.shape[0]
    for a in range(m):
        row = block[a, m : m + rank + 1]
        for j in range(rank):
            add_row(row[j:], sign * row[j], S[j, j:])


@routine
def split_target(
    communal: FloatArray,
    within: FloatArray,
    own: FloatArray,
    offsets: IntArray,
    entries: IntArray,
    lo: FloatArray,
    hi: FloatArray,
    s: FloatArray,
    v: FloatArray,
    index: IntArray,
    column: IntArray,
    n_tasks: int,
    target: FloatArray,
) -> None:
    """Move the free variables in `target` towards their minimum.

    The Newton step is cut at the first bound it meets, and the variable that met it is
    dropped, as long as that costs no more than two new steps would.
    """
    rank, m = communal.shape[1], index.size
    start, count, task, place, S = _lay_out(offsets, index, column, n_tasks, rank)
    room = np.empty(place[n_tasks])
    for t in range(n_tasks):
        block = _block(room, place[t], count[t], rank)
        u = task[t]
        _write_task(
            communal, within, own, offsets[u], offsets[u + 1], entries[u], s[u],
            v, index[start[t] : start[t] + count[t]], block,
        )  # fmt: skip
        _add_task(block, 1.0, S)
    direction, z, remaining = np.empty(m), np.empty(rank), 1.0
    per_round = m * (m / n_tasks + rank) + rank**3 / 6.0
    most = 2 + int(_ROUNDS * split_cost(m, n_tasks, rank) / per_round)
    for _ in range(min(most, 2 + m // 2)):
        R = S.copy()
        factorise(R, rank, rank + 1, 1e-300)
        for j in range(rank - 1, -1, -1):
            rest = R[j, rank] - dot(R[j, j + 1 : rank], z[j + 1 :])
            z[j] = rest / R[j, j]
        step, blocking, whose = 1.0, -1, -1
        for t in range(n_tasks):
            n = count[t]
            block = _block(room, place[t], n, rank)
            d = direction[start[t] : start[t] + n]
            drift = 0.0
            for a in range(n - 1, -1, -1):
                row = block[a]
                rest = row[n + rank] - dot(row[n : n + rank], z)
                rest -= dot(row[a + 1 : n], d[a + 1 :])
                d[a] = rest / row[a]
                drift += d[a] / n
            for a in range(n):
                d[a] = remaining * (d[a] - drift)
                i = index[start[t] + a]
                least = target[i] - lo[i] if d[a] < 0.0 else hi[i] - target[i]
                if max(least, 0.0) < step * abs(d[a]):
                    step, blocking, whose = max(least, 0.0) / abs(d[a]), a, t
        for t in range(n_tasks):
            for k in range(start[t], start[t] + count[t]):
                i = index[k]
                target[i] = min(max(target[i] + step * direction[k], lo[i]), hi[i])
        if blocking < 0:
            return
        # Task `whose` goes on without the variable that met its bound.
        first, n = start[whose], count[whose] - 1
        p = index[first + blocking]
        target[p] = lo[p] if direction[first + blocking] < 0.0 else hi[p]
        remaining *= 1.0 - step
        _add_task(_block(room, place[whose], n + 1, rank), -1.0, S)
        index[first + blocking : first + n] = index[
            first + blocking + 1 : first + n + 1
        ].copy()
        count[whose] = n
        if n > 0:
            block, u = _block(room, place[whose], n, rank), task[whose]
            _write_task(
                communal, within, own, offsets[u], offsets[u + 1], entries[u], s[u],
                v, index[first : first + n], block,
            )  # fmt: skip
            _add_task(block, 1.0, S)


@routine
def _lay_out(
    offsets: IntArray, index: IntArray, column: IntArray, n_tasks: int, rank: int
) -> tuple[IntArray, IntArray, IntArray, IntArray, FloatArray]:
    """Return where tasks and factors begin, sizes and numbers of tasks, and I for S."""
    count, task = np.zeros(n_tasks, np.int64), np.zeros(n_tasks, np.int64)
    for k in range(index.size):
        count[column[k]] += 1
        task[column[k]] = np.searchsorted(offsets, index[k], side="right") - 1
    start, place = np.zeros(n_tasks + 1, np.int64), np.zeros(n_tasks + 1, np.int64)
    for t in range(n_tasks):
        start[t + 1] = start[t] + count[t]
        place[t + 1] = place[t] + count[t] * (count[t] + rank + 2)
    S = np.zeros((rank, rank + 1))
    for j in range(rank):
        S[j, j] = 1.0
    return start, count, task, place, S


@compiled
def _block(room: FloatArray, place: int, n: int, rank: int) -> FloatArray:
    width = n + rank + 2
    return room[place : place + n * width].reshape(n, width)


@routine
def split_curvature(
    communal: FloatArray,
    within: FloatArray,
    own: FloatArray,
    offsets: IntArray,
    entries: IntArray,
    s: FloatArray,
    outputs: FloatArray,
    index: IntArray,
    column: IntArray,
    n_tasks: int,
    out: FloatArray,
) -> None:
    """Write V''(s): with h of the tasks' own outputs, diag(h'h) − (G'h)'S⁻¹G'h."""
    rank = communal.shape[1]
    start, count, task, place, S = _lay_out(offsets, index, column, n_tasks, rank)
    # Row j has G'h of all tasks beside row j of S, so that one factor turns both.
    R = np.zeros((rank, rank + n_tasks))
    room = np.empty(np.diff(place).max())
    alone = np.zeros(n_tasks)
    for t in range(n_tasks):
        block, u, n = _block(room, 0, count[t], rank), task[t], count[t]
        _write_task(
            communal, within, own, offsets[u], offsets[u + 1], entries[u], s[u],
            outputs, index[start[t] : start[t] + n], block,
        )  # fmt: skip
        S[:, rank] = 0.0
        _add_task(block, 1.0, S)
        R[:, rank + t] = S[:, rank]
        for a in range(n):
            alone[t] += block[a, n + rank] ** 2
    R[:, :rank] = S[:, :rank]
    factorise(R, rank, rank + n_tasks, 1e-300)
    turned = R[:, rank:].copy()
    shared = np.dot(turned.T, turned)
    for t in range(n_tasks):
        for u in range(n_tasks):
            out[task[t], task[u]] = -shared[t, u]
        out[task[t], task[t]] += alone[t]
