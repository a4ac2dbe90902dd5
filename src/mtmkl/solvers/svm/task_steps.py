"""Compiled steps of the support vector duals of many tasks.

For :mod:`mtmkl.solvers.svm.task_duals`, whose notation this is. The arrays of all tasks
lie one after the other, as :class:`~mtmkl.kernels.gram.GramBlocks` has them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtmkl.compiled import compiled, routine
from mtmkl.solvers.svm.smo import (
    DIAGONAL,
    FAR,
    FIRST_SHARE,
    LAST_SHARE,
    SLICE,
    intercept_at,
    pair_steps,
    rounding_error,
    single_steps,
    step_cost,
    workspace,
)
from mtmkl.typing import FloatArray, IntArray

_LEAST_STEPS = 16
_TILE = 32  # rows and columns that are mirrored together
# Columns of a task's statistics.
# Nobody reads SOLVES. Without it the compiler orders sums differently (fastmath), and
# published scores move within their tolerance: it goes when these are computed anew.
INTERCEPT, LINEAR, QUADRATIC, LOSS, SOLVES, VIOLATION = range(6)
N_STATISTICS = 6
# Where the solves of all tasks have come to, and the work that is left.
_TASK, _CREDIT, _SHARE, WORK = range(4)
N_PROGRESS = 4


@compiled
def accumulate(
    offsets: IntArray,
    entries: IntArray,
    features: FloatArray,
    grams: NDArray[Any],
    beta: FloatArray,
    weights: FloatArray,
    outputs: FloatArray,
) -> None:
    """Add K_tf β_t to the outputs, and X_t'β_t to the weights of the features."""
    n_features, n_grams = features.shape[1], grams.shape[1]
    for t in range(offsets.size - 1):
        first, first_entry = offsets[t], entries[t]
        n = offsets[t + 1] - first
        for j in range(n):
            b = beta[first + j]
            if b != 0.0:
                for f in range(n_features):
                    weights[t, f] += b * features[first + j, f]
                if n_grams:
                    _add_row(
                        grams[first_entry + j * n : first_entry + (j + 1) * n],
                        b,
                        outputs[first : first + n],
                    )


@routine
def _add_row(
    row: NDArray[Any],
    b: float,
    outputs: FloatArray,
) -> None:
    flat_row, flat = row.reshape(row.size), outputs.reshape(outputs.size)
    for k in range(flat.size):
        flat[k] += b * flat_row[k]


@compiled
def rescale(
    offsets: IntArray,
    lo: FloatArray,
    hi: FloatArray,
    statistics: FloatArray,
    beta: FloatArray,
) -> None:
    """Multiply each task's β by what is best in its box, in place."""
    for t in range(offsets.size - 1):
        linear, quadratic = statistics[t, LINEAR], statistics[t, QUADRATIC]
        factor = FAR
        for i in range(offsets[t], offsets[t + 1]):
            if beta[i] > 0.0:
                factor = min(factor, hi[i] / beta[i])
            elif beta[i] < 0.0:
                factor = min(factor, lo[i] / beta[i])
        if factor == FAR:
            continue
        if linear < factor * quadratic:
            factor = max(linear, 0.0) / quadratic
        for i in range(offsets[t], offsets[t + 1]):
            b = factor * beta[i]
            if abs(b - hi[i]) <= 1e-14 * abs(hi[i]):
                b = hi[i]
            elif abs(b - lo[i]) <= 1e-14 * abs(lo[i]):
                b = lo[i]
            beta[i] = b


@routine
def _negative_gradient(
    c: FloatArray,
    features: FloatArray,
    outputs: FloatArray,
    s_features: FloatArray,
    s_grams: FloatArray,
    weights: FloatArray,
    v: FloatArray,
) -> None:
    """Write ``c − Σ_f s_f K_f β`` to v."""
    n_features, n_grams = s_features.size, s_grams.size
    for i in range(v.size):
        value = c[i]
        for f in range(n_features):
            value -= s_features[f] * weights[f] * features[i, f]
        for g in range(n_grams):
            value -= s_grams[g] * outputs[i, g]
        v[i] = value


@compiled
def violation_at(
    v: FloatArray,
    beta: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    epsilon: float,
    equality: bool,
) -> tuple[float, float]:
    """Return the largest violation of the conditions, and an intercept.

    That tells which variables violate theirs: the mean over the free variables, or the
    middle of the interval if none is free, or its finite end; that of a solution is
    `intercept_at`. Without the equality it is zero.
    """
    highest, lowest = -FAR, FAR
    n_free, mean = 0, 0.0
    for i in range(v.size):
        b = beta[i]
        if b < hi[i]:
            rising = v[i] + (-epsilon if b >= 0.0 else epsilon)
            highest = max(highest, rising)
            if b > lo[i] and (epsilon == 0.0 or b != 0.0):
                n_free += 1
                mean += rising
        if b > lo[i]:
            lowest = min(lowest, v[i] + (-epsilon if b > 0.0 else epsilon))
    if not equality:
        return max(max(highest, -lowest), 0.0), 0.0
    intercept = 0.0
    if n_free > 0:
        intercept = mean / n_free
    elif highest > -0.5 * FAR and lowest < 0.5 * FAR:
        intercept = 0.5 * (highest + lowest)
    elif highest > -0.5 * FAR:
        intercept = highest
    elif lowest < 0.5 * FAR:
        intercept = lowest
    return highest - lowest, intercept


@routine
def sub_gram(
    features: FloatArray,
    gram: NDArray[Any],
    n: int,
    s_features: FloatArray,
    s_grams: FloatArray,
    rows: IntArray,
    K: FloatArray,
    scaled: FloatArray,
) -> None:
    """Write ``Σ_f s_f K_f`` between some rows to K."""
    n_features, n_grams = s_features.size, s_grams.size
    m = rows.size
    # One-dimensional, for a row taken out of a matrix costs more than its sum.
    flat = gram.reshape(gram.size)
    for a in range(m):
        i = rows[a]
        for f in range(n_features):
            scaled[f] = s_features[f] * features[i, f]
        target = K[a]
        if n_grams == 1 and n_features == 0:
            source = flat[i * n : (i + 1) * n]
            for b in range(a + 1):
                target[b] = s_grams[0] * source[rows[b]]
            continue
        for b in range(a + 1):
            j = rows[b]
            value = 0.0
            for f in range(n_features):
                value += scaled[f] * features[j, f]
            first = (i * n + j) * n_grams
            entry = flat[first : first + n_grams]
            for g in range(n_grams):
                value += s_grams[g] * entry[g]
            target[b] = value
    # By tiles: down a column, each entry is in another line of the cache.
    for top in range(0, m, _TILE):
        for left in range(0, top + 1, _TILE):
            for a in range(top, min(top + _TILE, m)):
                row = K[a]
                for b in range(left, min(left + _TILE, a)):
                    K[b, a] = row[b]


@routine
def _weighted_diagonal(
    features: FloatArray,
    gram: NDArray[Any],
    s_features: FloatArray,
    s_grams: FloatArray,
    out: FloatArray,
) -> None:
    """Write Σ_f s_f k_f(x_i, x_i) to out."""
    n = out.size
    for i in range(n):
        value = 0.0
        for f in range(s_features.size):
            value += s_features[f] * features[i, f] * features[i, f]
        for g in range(s_grams.size):
            value += s_grams[g] * gram[i * (n + 1), g]
        out[i] = value


@compiled
def sum_of_rounding_errors(
    offsets: IntArray, c: FloatArray, diagonal: FloatArray, beta: FloatArray
) -> float:
    """Return the sum of the rounding errors of all outputs, as each is summed once."""
    total = 0.0
    for t in range(offsets.size - 1):
        first, last = offsets[t], offsets[t + 1]
        total += (last - first) * rounding_error(
            diagonal[first:last], c[first:last], beta[first:last]
        )
    return total


@compiled
def solve_tasks(
    offsets: IntArray,
    entries: IntArray,
    features: FloatArray,
    grams: NDArray[Any],
    weight: IntArray,
    c: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    epsilon: float,
    equality: bool,
    s: FloatArray,
    tol: float,
    diagonal: FloatArray,
    beta: FloatArray,
    weights: FloatArray,
    outputs: FloatArray,
    q: FloatArray,
    statistics: FloatArray,
    progress: FloatArray,
) -> bool:
    """Solve every task's support vector dual for given weights, from the present β.

    Each is solved on the examples that have a multiplier or violate their condition,
    until no other violates, the rest is rounding, or no work is left.

    Returns False after a slice of work: call again with the same arrays.
    """
    slice_left = SLICE
    n_features, n_grams = features.shape[1], grams.shape[1]
    largest = 0
    for t in range(offsets.size - 1):
        largest = max(largest, offsets[t + 1] - offsets[t])
    v_space = np.empty(largest)
    rows_space = np.empty(largest, np.int64)
    scaled = np.empty(n_features)
    s_features, s_grams = np.empty(n_features), np.empty(n_grams)
    for t in range(offsets.size - 1):
        first, last = offsets[t], offsets[t + 1]
        n = last - first
        if t < progress[_TASK]:
            continue
        for f in range(n_features):
            s_features[f] = s[weight[t, f]]
        for g in range(n_grams):
            s_grams[g] = s[weight[t, n_features + g]]
        x, c_t, lo_t, hi_t = (
            features[first:last],
            c[first:last],
            lo[first:last],
            hi[first:last],
        )
        beta_t, out_t, w_t = beta[first:last], outputs[first:last], weights[t]
        gram = grams[entries[t] : entries[t] + n * n]
        v = v_space[:n]
        _negative_gradient(c_t, x, out_t, s_features, s_grams, w_t, v)
        allowed = tol
        while True:
            violation, intercept = violation_at(
                v, beta_t, lo_t, hi_t, epsilon, equality
            )
            if violation <= tol:
                break
            share = progress[_SHARE]
            if share * rounding_error(diagonal[first:last], c_t, beta_t) > tol:
                # Weights make it smaller.
                here = np.empty(n)
                _weighted_diagonal(x, gram, s_features, s_grams, here)
                allowed = max(tol, share * rounding_error(here, c_t, beta_t))
            if violation <= allowed or progress[WORK] <= 0.0:
                break
            progress[_SHARE] = min(2.0 * share, LAST_SHARE)
            m = 0
            for i in range(n):
                b = beta_t[i]
                if (
                    b != 0.0
                    or (b < hi_t[i] and v[i] - epsilon > intercept)
                    or (b > lo_t[i] and v[i] + epsilon < intercept)
                ):
                    rows_space[m] = i
                    m += 1
            rows = rows_space[:m]
            K = np.empty((m, m))
            sub_gram(x, gram, n, s_features, s_grams, rows, K, scaled)
            vectors = np.empty((5, m))
            for a in range(m):
                i = rows[a]
                vectors[0, a] = c_t[i]
                vectors[1, a] = lo_t[i]
                vectors[2, a] = hi_t[i]
                vectors[3, a] = beta_t[i]
                vectors[4, a] = v[i]
            work, index = workspace(m)
            for a in range(m):
                work[DIAGONAL, a] = K[a, a]
            affordable = min(slice_left, progress[WORK]) / step_cost(m)
            most = max(int(affordable), _LEAST_STEPS)
            if equality:
                done, _, credit = pair_steps(
                    K,
                    vectors[0],
                    vectors[1],
                    vectors[2],
                    epsilon,
                    vectors[3],
                    vectors[4],
                    work,
                    index,
                    0.5 * allowed,
                    most,
                    progress[_CREDIT],
                )
            else:
                done, _, credit = single_steps(
                    K,
                    vectors[0],
                    vectors[1],
                    vectors[2],
                    epsilon,
                    vectors[3],
                    vectors[4],
                    work,
                    index,
                    0.5 * allowed,
                    most,
                    progress[_CREDIT],
                )
            statistics[t, SOLVES] += 1.0
            progress[_CREDIT] = credit if done == most else 0.0
            spent = done * step_cost(m) + 0.5 * m * m * (n_features + n_grams)
            slice_left -= spent
            progress[WORK] -= spent
            moved = False
            for a in range(m):
                i = rows[a]
                change = vectors[3, a] - beta_t[i]
                if change != 0.0:
                    moved = True
                    beta_t[i] = vectors[3, a]
                    for f in range(n_features):
                        w_t[f] += change * x[i, f]
                    if n_grams:
                        _add_row(gram[i * n : (i + 1) * n], change, out_t)
            _negative_gradient(c_t, x, out_t, s_features, s_grams, w_t, v)
            if not moved:
                # Rounding is all that is left.
                break
            if slice_left <= 0.0:
                progress[_TASK] = t
                return False
        progress[_CREDIT] = 0.0
        progress[_SHARE] = FIRST_SHARE
        if equality:
            intercept = intercept_at(v, beta_t, lo_t, hi_t, epsilon)
        linear, loss, quadratic = 0.0, 0.0, 0.0
        for i in range(n):
            b = beta_t[i]
            linear += c_t[i] * b - epsilon * abs(b)
            quadratic += (c_t[i] - v[i]) * b
            residual = v[i] - intercept
            loss += max(
                max(hi_t[i] * (residual - epsilon), lo_t[i] * (residual + epsilon)), 0.0
            )
        for f in range(n_features):
            q[weight[t, f]] += 0.5 * w_t[f] * w_t[f]
        for g in range(n_grams):
            total = 0.0
            for i in range(n):
                total += beta_t[i] * out_t[i, g]
            q[weight[t, n_features + g]] += 0.5 * total
        statistics[t, INTERCEPT] = intercept
        statistics[t, LINEAR] = linear
        statistics[t, QUADRATIC] = quadratic
        statistics[t, LOSS] = loss
        statistics[t, VIOLATION] = violation
    return True


# Columns of what a path returns of each C.
PRIMAL, DUAL, ERROR, LEFT, N_ROUNDS = range(5)
N_VALUES = 5
MAX_ROUNDS = 32  # the accuracy falls by 0.3 at least, from 1e-4 at most to 1e-14
# Where a path has come to.
_COST, _ACCURACY, _ENTERED = range(3)
N_PLACE = 3
_UPDATES = 100.0  # rounding errors that outputs gather, in those of one sum
_NEGLIGIBLE = 1e-8  # relative error of an objective


@compiled
def solve_path(
    offsets: IntArray,
    entries: IntArray,
    features: FloatArray,
    grams: NDArray[Any],
    weight: IntArray,
    c: FloatArray,
    copies: FloatArray,
    is_classification: bool,
    epsilon: float,
    equality: bool,
    diagonal: FloatArray,
    costs: FloatArray,
    floor: float,
    tol: float,
    first_accuracy: float,
    finest_accuracy: float,
    granted: float,
    beta: FloatArray,
    weights: FloatArray,
    outputs: FloatArray,
    q: FloatArray,
    statistics: FloatArray,
    progress: FloatArray,
    place: FloatArray,
    betas: FloatArray,
    intercepts: FloatArray,
    values: FloatArray,
    rounds: FloatArray,
) -> bool:
    """Solve the duals with weights 1 for one C after the other, to a relative gap.

    Each starts from the one before; β of no bound is one for every box around it, and
    of any other its best multiple is. A value that is returned is of sums that gathered
    no rounding, as those of `evaluate` of the duals of many tasks are.

    Returns False after a slice of work: call again with the same arrays.
    """
    n = c.size
    n_tasks = offsets.size - 1
    lo, hi = np.empty(n), np.empty(n)
    s, nothing = np.ones(q.size), np.empty((grams.shape[0], 0), grams.dtype)
    unit, most_copies, largest_beta = 1e-300, 1.0, 0.0
    for i in range(n):
        unit = max(unit, abs(c[i]))
        most_copies = max(most_copies, copies[i])
    while place[_COST] < costs.size:
        k = int(place[_COST])
        C = costs[k]
        for i in range(n):
            bound = C * copies[i]
            if is_classification:
                lo[i], hi[i] = min(bound * c[i], 0.0), max(bound * c[i], 0.0)
            else:
                lo[i], hi[i] = -bound, bound
        if place[_ENTERED] == 0.0:
            if k > 0 and costs[k - 1] != C:
                largest_beta = 0.0
                for i in range(n):
                    largest_beta = max(largest_beta, abs(beta[i]))
                if largest_beta >= min(C, costs[k - 1]):
                    rescale(offsets, lo, hi, statistics, beta)
                weights[:] = 0.0
                outputs[:] = 0.0
                accumulate(offsets, entries, features, grams, beta, weights, outputs)
            place[_ENTERED] = 1.0
            place[_ACCURACY] = first_accuracy
            progress[_TASK], progress[_CREDIT] = 0.0, 0.0
            progress[_SHARE], progress[WORK] = FIRST_SHARE, granted
            values[k, N_ROUNDS] = 0.0
            q[:] = 0.0
        accuracy = place[_ACCURACY]
        if not solve_tasks(
            offsets, entries, features, grams, weight, c, lo, hi, epsilon, equality,
            s, accuracy * unit, diagonal, beta, weights, outputs, q, statistics,
            progress,
        ):  # fmt: skip
            return False
        error = 0.0
        for t in range(n_tasks):
            error = max(error, statistics[t, VIOLATION])
        is_last = error > accuracy * unit or accuracy < finest_accuracy
        primal, dual, loss = _values(statistics, q)
        least = floor * C
        is_reached = primal - dual <= tol * max(abs(primal), least)
        if is_last or is_reached:
            drift = C * most_copies * sum_of_rounding_errors(offsets, c, diagonal, beta)
            fresh_weights = np.zeros_like(weights)
            fresh_outputs = outputs
            if _UPDATES * drift > _NEGLIGIBLE * loss:
                fresh_outputs = np.zeros_like(outputs)
                accumulate(
                    offsets, entries, features, grams, beta, fresh_weights,
                    fresh_outputs,
                )  # fmt: skip
            elif features.shape[1]:
                accumulate(
                    offsets, entries, features, nothing, beta, fresh_weights, outputs
                )
            fresh_q = np.zeros_like(q)
            fresh = np.zeros_like(statistics)
            idle = np.array([0.0, 0.0, FIRST_SHARE, progress[WORK]])
            solve_tasks(
                offsets, entries, features, grams, weight, c, lo, hi, epsilon, equality,
                s, np.inf, diagonal, beta, fresh_weights, fresh_outputs, fresh_q, fresh,
                idle,
            )  # fmt: skip
            rounding = 0.0
            for t in range(n_tasks):
                statistics[t, INTERCEPT] = fresh[t, INTERCEPT]
                for i in range(offsets[t], offsets[t + 1]):
                    if beta[i] != 0.0:
                        rounding += (abs(c[i]) + abs(fresh[t, INTERCEPT])) * copies[i]
            primal, dual, loss = _values(fresh, fresh_q)
            primal += 2.0**-52 * C * rounding
            is_reached = primal - dual <= tol * max(abs(primal), least)
        rounds[k, int(min(values[k, N_ROUNDS], MAX_ROUNDS - 1))] = primal
        values[k, N_ROUNDS] += 1.0
        if is_last or is_reached:
            values[k, PRIMAL], values[k, DUAL] = primal, dual
            values[k, ERROR] = error if error > accuracy * unit else 0.0
            values[k, LEFT] = progress[WORK]
            betas[k] = beta
            intercepts[k] = statistics[:, INTERCEPT]
            place[_COST], place[_ENTERED] = k + 1.0, 0.0
            continue
        wanted = 0.25 * tol * max(abs(primal), least)
        gap = max(primal - dual, 1e-300)
        place[_ACCURACY] = accuracy * min(max(wanted / gap, 0.01), 0.3)
        progress[_TASK], progress[_CREDIT], progress[_SHARE] = 0.0, 0.0, FIRST_SHARE
        q[:] = 0.0
    return True


@compiled
def _values(statistics: FloatArray, q: FloatArray) -> tuple[float, float, float]:
    """Return primal and dual objectives, and the loss in the first of them."""
    linear, quadratic, loss, total = 0.0, 0.0, 0.0, 0.0
    for t in range(statistics.shape[0]):
        linear += statistics[t, LINEAR]
        quadratic += statistics[t, QUADRATIC]
        loss += statistics[t, LOSS]
    for d in range(q.size):
        total += q[d]
    return 0.5 * quadratic + loss, linear - total, loss
