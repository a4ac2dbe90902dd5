"""Compiled steps of the support vector duals of many tasks.

For :mod:`mtmkl.solvers.svm.task_duals`, whose notation this is. The arrays of all tasks
lie one after the other, as :class:`~mtmkl.kernels.gram.GramBlocks` has them; Gram
matrices and outputs are flat, in the order of their entries.
"""

from typing import NamedTuple

import numpy as np

from mtmkl.compiled import add_scaled, compiled, dot, dot_at, routine
from mtmkl.solvers.svm.smo import (
    DIAGONAL,
    FAR,
    FIRST_SHARE,
    LAST_SHARE,
    SLICE,
    Dual,
    conditions,
    factorise,
    intercept_at,
    pair_steps,
    rounding_error,
    single_steps,
    step_cost,
    workspace,
)
from mtmkl.typing import FloatArray, IntArray

# Intercepts, entries, features (N, F), Gram matrices (P·G,), weights of terms.
Kernels = tuple[IntArray, IntArray, FloatArray, FloatArray, IntArray]
# c, lo, hi, diagonals at weights of 1, ε, and whether there are intercepts.
Machines = tuple[FloatArray, FloatArray, FloatArray, FloatArray, float, bool]
# β (N,), X_t'β_t (T, F) and K_tg β_t, (N·G,).
Sums = tuple[FloatArray, FloatArray, FloatArray]

_LEAST_STEPS = 16
_TILE = 32  # rows and columns that are mirrored together
# Columns of a task's statistics; the last row is of all. DRIFT is what the rounding
# errors of outputs, as each is summed once, may change of the loss; ROUNDING what those
# of the losses of support vectors may.
INTERCEPT, LINEAR, QUADRATIC, LOSS, DRIFT, ROUNDING, VIOLATION = range(7)
N_STATISTICS = 7
# Where the solves of all tasks have come to, and the work that is left.
_TASK, _CREDIT, _SHARE, WORK = range(4)


def first_progress(work: float) -> FloatArray:
    """Return the progress to begin with."""
    return np.array([0.0, 0.0, FIRST_SHARE, work])


class _Task(NamedTuple):
    """The arrays of one task."""

    x: FloatArray  # features (n, F)
    gram: FloatArray  # (n·n·G,)
    beta: FloatArray
    w: FloatArray  # X'β (F,)
    out: FloatArray  # K_g β (n·G,)


@routine
def _kernels_of(kernels: Kernels, t: int) -> tuple[FloatArray, FloatArray]:
    """Return the features and the Gram matrices of a task."""
    offsets, entries, features, grams, weight = kernels
    first, n_grams = offsets[t], weight.shape[1] - features.shape[1]
    n = offsets[t + 1] - first
    begin = entries[t] * n_grams
    return features[first : first + n], grams[begin : begin + n * n * n_grams]


@routine
def _task_of(kernels: Kernels, sums: Sums, t: int) -> _Task:
    x, gram = _kernels_of(kernels, t)
    beta, weights, outputs = sums
    first, last = kernels[0][t], kernels[0][t + 1]
    n_grams = outputs.size // beta.size
    own = outputs[first * n_grams : last * n_grams]
    return _Task(x, gram, beta[first:last], weights[t], own)


@routine
def _weights_of(kernels: Kernels, s: FloatArray, t: int) -> tuple[FloatArray, ...]:
    """Return the weights of the features and of the Gram matrices of a task."""
    n_features, weight = kernels[2].shape[1], kernels[4][t]
    found = np.empty(weight.size)
    for f in range(weight.size):
        found[f] = s[weight[f]]
    return found[:n_features], found[n_features:]


@routine
def _add_example(task: _Task, i: int, b: float) -> None:
    """Add what a sample with the multiplier b contributes to the sums of its task."""
    n_outputs = task.out.size
    for f in range(task.w.size):
        task.w[f] += b * task.x[i, f]
    if n_outputs > 0:
        add_scaled(task.out, b, task.gram[i * n_outputs : (i + 1) * n_outputs])


@compiled
def write_sums(kernels: Kernels, sums: Sums) -> None:
    """Write the other sums of β; without outputs, (0,), the weights alone."""
    sums[1][:] = 0.0
    sums[2][:] = 0.0
    for t in range(kernels[0].size - 1):
        task = _task_of(kernels, sums, t)
        for i in range(task.beta.size):
            if task.beta[i] != 0.0:
                _add_example(task, i, task.beta[i])


@compiled
def rescale(
    kernels: Kernels,
    sums: Sums,
    lo: FloatArray,
    hi: FloatArray,
    statistics: FloatArray,
) -> None:
    """Multiply each task's β by what is best in its box, and the other sums."""
    offsets = kernels[0]
    for t in range(offsets.size - 1):
        linear, quadratic = statistics[t, LINEAR], statistics[t, QUADRATIC]
        task = _task_of(kernels, sums, t)
        beta = task.beta
        factor = FAR
        for i in range(beta.size):
            if beta[i] > 0.0:
                factor = min(factor, hi[offsets[t] + i] / beta[i])
            elif beta[i] < 0.0:
                factor = min(factor, lo[offsets[t] + i] / beta[i])
        if factor == FAR:
            factor = 0.0
        elif linear < factor * quadratic:
            factor = max(linear, 0.0) / quadratic
        for i in range(beta.size):
            b, low, high = factor * beta[i], lo[offsets[t] + i], hi[offsets[t] + i]
            if abs(b - high) <= 1e-14 * abs(high):
                b = high
            elif abs(b - low) <= 1e-14 * abs(low):
                b = low
            beta[i] = b
        task.w[:] *= factor
        task.out[:] *= factor


@routine
def _negative_gradient(
    task: _Task, weights: tuple[FloatArray, ...], c: FloatArray, v: FloatArray
) -> None:
    """Write ``c − Σ_f s_f K_f β`` to v."""
    s_features, s_grams = weights
    n_features, n_grams = s_features.size, s_grams.size
    v[:] = c
    if n_features > 0:
        scaled = s_features * task.w
        for i in range(v.size):
            v[i] -= dot_at(task.x, i * n_features, scaled, 0, n_features)
    if n_grams == 1:
        add_scaled(v, -s_grams[0], task.out)
    elif n_grams > 1:
        for i in range(v.size):
            v[i] -= dot_at(task.out, i * n_grams, s_grams, 0, n_grams)


@compiled
def violation_at(dual: Dual, equality: bool) -> tuple[float, float]:
    """Return the largest violation of the conditions, and an intercept.

    That tells which variables violate theirs: the mean over the free variables, or the
    middle of the interval if none is free, or its finite end; that of a solution is
    `intercept_at`. Without the equality it is zero.
    """
    highest, lowest, intercept = conditions(dual, 0.0)
    if not equality:
        return max(max(highest, -lowest), 0.0), 0.0
    return highest - lowest, intercept


@routine
def _sub_gram(
    task: _Task, weights: tuple[FloatArray, ...], rows: IntArray, K: FloatArray
) -> None:
    """Write ``Σ_f s_f K_f`` between some rows to the first columns of K."""
    (s_features, s_grams), x, gram = weights, task.x, task.gram
    n, n_features, n_grams = x.shape[0], s_features.size, s_grams.size
    m, scaled = rows.size, np.empty(n_features)
    for a in range(m):
        i = rows[a]
        K[a, : a + 1] = 0.0
        if n_features > 0:
            for f in range(n_features):
                scaled[f] = s_features[f] * x[i, f]
            for b in range(a + 1):
                K[a, b] = dot_at(x, rows[b] * n_features, scaled, 0, n_features)
        if n_grams == 1:
            for b in range(a + 1):
                K[a, b] += s_grams[0] * gram[i * n + rows[b]]
        elif n_grams > 1:
            for b in range(a + 1):
                first = (i * n + rows[b]) * n_grams
                K[a, b] += dot_at(gram, first, s_grams, 0, n_grams)
    # By tiles: down a column, each entry is in another line of the cache.
    for top in range(0, m, _TILE):
        for left in range(0, top + 1, _TILE):
            for a in range(top, min(top + _TILE, m)):
                row = K[a]
                for b in range(left, min(left + _TILE, a)):
                    K[b, a] = row[b]


@compiled
def diagonals(kernels: Kernels, s: FloatArray) -> FloatArray:
    """Return Σ_f s_f k_f(x_i, x_i), (N,)."""
    offsets = kernels[0]
    found = np.empty(offsets[-1])
    for t in range(offsets.size - 1):
        x, gram = _kernels_of(kernels, t)
        s_features, s_grams = _weights_of(kernels, s, t)
        n, n_grams = x.shape[0], s_grams.size
        for i in range(n):
            here = dot_at(gram, i * (n + 1) * n_grams, s_grams, 0, n_grams)
            found[offsets[t] + i] = here + dot(s_features * x[i], x[i])
    return found


@routine
def _violating(dual: Dual, intercept: float) -> IntArray:
    """Return the samples that have a multiplier or violate their condition."""
    _, lo, hi, epsilon, beta, v = dual
    rows = np.empty(v.size, np.int64)
    m = 0
    for i in range(v.size):
        b = beta[i]
        if (
            b != 0.0
            or (b < hi[i] and v[i] - epsilon > intercept)
            or (b > lo[i] and v[i] + epsilon < intercept)
        ):
            rows[m] = i
            m += 1
    return rows[:m]


@routine
def _dual_of(rows: IntArray, dual: Dual) -> Dual:
    """Return the dual of some samples, with arrays of its own."""
    out = np.empty((5, rows.size))
    c, lo, hi, beta, v = out[0], out[1], out[2], out[3], out[4]
    for a in range(rows.size):
        i = rows[a]
        c[a], lo[a], hi[a] = dual.c[i], dual.lo[i], dual.hi[i]
        beta[a], v[a] = dual.beta[i], dual.v[i]
    return Dual(c, lo, hi, dual.epsilon, beta, v)


@routine
def _take_over(rows: IntArray, new: FloatArray, task: _Task) -> bool:
    """Move β of some samples, and the sums of their task; tell whether any moved."""
    moved = False
    for a in range(rows.size):
        i = rows[a]
        if new[a] != task.beta[i]:
            moved = True
            _add_example(task, i, new[a] - task.beta[i])
            task.beta[i] = new[a]
    return moved


@routine
def _write_values(dual: Dual, intercept: float, statistics: FloatArray) -> None:
    """Write what a task's β is worth to its statistics, and the sum of C as drift."""
    c, lo, hi, epsilon, beta, v = dual
    linear, loss, quadratic, costs, sizes = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(beta.size):
        b = beta[i]
        linear += c[i] * b - epsilon * abs(b)
        quadratic += (c[i] - v[i]) * b
        residual = v[i] - intercept
        loss += max(
            max(hi[i] * (residual - epsilon), lo[i] * (residual + epsilon)), 0.0
        )
        cost = max(hi[i], -lo[i])
        costs += cost
        if b != 0.0:
            sizes += cost * (abs(c[i]) + abs(intercept))
    statistics[LINEAR], statistics[QUADRATIC] = linear, quadratic
    statistics[LOSS], statistics[ROUNDING] = loss, 2.0**-52 * sizes
    statistics[DRIFT] = costs


@routine
def _add_squares(weight: IntArray, task: _Task, q: FloatArray) -> None:
    """Add ½ β_t'K_tf β_t of a task to q, by the weights of its terms."""
    beta, w, out = task.beta, task.w, task.out
    n_grams = weight.size - w.size
    products = np.zeros(n_grams)
    if n_grams == 1:
        products[0] = dot(beta, out)
    elif n_grams > 1:
        for i in range(beta.size):
            if beta[i] != 0.0:
                add_scaled(products, beta[i], out[i * n_grams : (i + 1) * n_grams])
    for f in range(w.size):
        q[weight[f]] += 0.5 * w[f] * w[f]
    for g in range(n_grams):
        q[weight[w.size + g]] += 0.5 * products[g]


@compiled
def solve_tasks(
    kernels: Kernels,
    machines: Machines,
    sums: Sums,
    s: FloatArray,
    tol: float,
    q: FloatArray,
    statistics: FloatArray,
    progress: FloatArray,
) -> bool:
    """Solve every task's support vector dual for given weights, from the present β.

    Each is solved on the samples that have a multiplier or violate their condition,
    until no other violates, the rest is rounding, or no work is left.

    Returns False after a slice of work: call again with the same arrays.
    """
    offsets, weight = kernels[0], kernels[4]
    all_c, all_lo, all_hi, all_diagonals, epsilon, equality = machines
    slice_left = SLICE
    for t in range(int(progress[_TASK]), offsets.size - 1):
        first, last = offsets[t], offsets[t + 1]
        c, lo, hi = all_c[first:last], all_lo[first:last], all_hi[first:last]
        v, diagonal = np.empty(last - first), all_diagonals[first:last]
        task, weights = _task_of(kernels, sums, t), _weights_of(kernels, s, t)
        beta = task.beta
        dual = Dual(c, lo, hi, epsilon, beta, v)
        allowed, largest = tol, 1.0
        for f in range(weight.shape[1]):
            largest = max(largest, s[weight[t, f]])
        _negative_gradient(task, weights, c, v)
        while True:
            violation, intercept = violation_at(dual, equality)
            if violation <= tol:
                break
            share = progress[_SHARE]
            if share * largest * rounding_error(diagonal, c, beta) > tol:
                # Weights below the largest make it smaller.
                own = diagonals(kernels, s)[first:last]
                allowed = max(tol, share * rounding_error(own, c, beta))
            if violation <= allowed or progress[WORK] <= 0.0:
                break
            progress[_SHARE] = min(2.0 * share, LAST_SHARE)
            rows = _violating(dual, intercept)
            m = rows.size
            K = np.empty((m, m))
            _sub_gram(task, weights, rows, K)
            some = _dual_of(rows, dual)
            work, index = workspace(m)
            for a in range(m):
                work[DIAGONAL, a] = K[a, a]
            cost = step_cost(m)
            most = max(int(min(slice_left, progress[WORK]) / cost), _LEAST_STEPS)
            credit = progress[_CREDIT]
            if equality:
                done, _, credit = pair_steps(
                    K, some, work, index, 0.5 * allowed, most, credit
                )
            else:
                done, _, credit = single_steps(
                    K, some, work, index, 0.5 * allowed, most, credit
                )
            progress[_CREDIT] = credit if done == most else 0.0
            spent = done * cost + 0.5 * m * m * weight.shape[1]
            slice_left -= spent
            progress[WORK] -= spent
            moved = _take_over(rows, some.beta, task)
            _negative_gradient(task, weights, c, v)
            if not moved:  # rounding is all that is left
                break
            if slice_left <= 0.0:
                progress[_TASK] = t
                return False
        progress[_CREDIT], progress[_SHARE] = 0.0, FIRST_SHARE
        if equality:
            intercept = intercept_at(dual)
        statistics[t, INTERCEPT], statistics[t, VIOLATION] = intercept, violation
        _write_values(dual, intercept, statistics[t])
        statistics[t, DRIFT] *= largest * rounding_error(diagonal, c, beta)
        _add_squares(weight[t], task, q)
    totals = statistics[-1]
    totals[:] = 0.0
    for t in range(offsets.size - 1):
        violation = max(totals[VIOLATION], statistics[t, VIOLATION])
        add_scaled(totals, 1.0, statistics[t])
        totals[VIOLATION] = violation
    return True


# Second derivatives: with the free variables of a task held free and the others at
# their bounds, V_t'' = B_t'P_tB_t. B_t holds the outputs g_tf of the free variables,
# and P_t is the inverse of their kernel, with the equality on the vectors of sum zero.


@routine
def _project(ones: FloatArray, B: FloatArray) -> None:
    """Take from each column of B its part along `ones`."""
    along = np.zeros(B.shape[1])
    norm = dot(ones, ones)
    for a in range(ones.size):
        add_scaled(along, ones[a] / norm, B[a])
    for a in range(ones.size):
        add_scaled(B[a], -ones[a], along)


@compiled
def write_curvature_factors(
    kernels: Kernels,
    machines: Machines,
    sums: Sums,
    s: FloatArray,
    factors: FloatArray,
    counts: IntArray,
) -> None:
    """Write U_t with U_t'U_t = V_t'' to the first rows of each task of (N, F + G).

    The rows of a task are as many as its free variables; their number goes to counts.
    """
    _, lo, hi, _, epsilon, equality = machines
    offsets = kernels[0]
    for t in range(offsets.size - 1):
        first, last = offsets[t], offsets[t + 1]
        task, weights = _task_of(kernels, sums, t), _weights_of(kernels, s, t)
        beta = task.beta
        is_inside = (lo[first:last] < beta) & (beta < hi[first:last])
        rows = np.flatnonzero(is_inside & ((epsilon == 0.0) | (beta != 0.0)))
        m = rows.size
        if m <= equality:
            continue
        width = m + 1 + factors.shape[1]
        U = np.empty((m, width))
        _sub_gram(task, weights, rows, U)
        largest = np.max(np.diag(U[:, :m]))
        _write_outputs(rows, task, U)
        factorise(U, m, width, max(1e-11 * largest, 1e-300))
        ones = U[:, m].copy()
        factors[first : first + m] = U[:, m + 1 :]
        if equality:
            _project(ones, factors[first : first + m])
        counts[t] = m


@routine
def _write_outputs(rows: IntArray, task: _Task, U: FloatArray) -> None:
    """Write 1 and the outputs of each term for some samples to U, after the kernel."""
    m, n_features = rows.size, task.w.size
    outputs = task.out.reshape((task.beta.size, task.out.size // task.beta.size))
    for a in range(m):
        U[a, m] = 1.0
        U[a, m + 1 : m + 1 + n_features] = task.w * task.x[rows[a]]
        U[a, m + 1 + n_features :] = outputs[rows[a]]


@compiled
def add_curvature(
    offsets: IntArray,
    block: IntArray,
    weight: IntArray,
    factors: FloatArray,
    counts: IntArray,
    out: FloatArray,
) -> None:
    """Add U_t'U_t, by the weights of its terms, to the matrix of each task's block."""
    n_terms = weight.shape[1]
    for t in range(offsets.size - 1):
        U = factors[offsets[t] : offsets[t] + counts[t]]
        square = np.dot(U.T, U)
        for f in range(n_terms):
            for g in range(n_terms):
                out[block[t], weight[t, f], weight[t, g]] += square[f, g]
