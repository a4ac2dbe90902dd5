"""Compiled epochs of multi-task kernel learning on explicit, sparse features.

For :mod:`mtmkl.solvers.weights.mt_mkl_features`, whose notation this is. A feature map
is its values, its column numbers, and where each row begins, as in CSR.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtmkl.compiled import compiled, routine
from mtmkl.solvers.svm.logistic_duals import logistic_step
from mtmkl.typing import FloatArray, IntArray

BoolArray = NDArray[np.bool_]
Rows = tuple[FloatArray, NDArray[Any], NDArray[np.int64]]


class Problem(NamedTuple):
    """The data, M terms on B feature maps, and the parameters."""

    maps: tuple[Rows, ...]
    offsets: IntArray  # (B + 1,), where the columns of each map begin
    norms: FloatArray  # (B, n), k_b(x_i, x_i)
    y: FloatArray
    task: IntArray
    kernels: FloatArray  # (M, T, T)
    map_of: IntArray  # (M,)
    C: float
    p: float
    logistic: bool

    @property
    def n_tasks(self) -> int:
        """Number of tasks T."""
        return int(self.kernels.shape[1])


_BLOCK = 2048  # columns combined at a time, which the first cache holds


@compiled
def squared_norms(
    data: FloatArray, indices: NDArray[Any], indptr: NDArray[np.int64]
) -> FloatArray:
    """Return the squared norms of the rows of a map."""
    norms = np.empty(indptr.size - 1)
    for i in range(norms.size):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += data[k] * data[k]
        norms[i] = total
    return norms


@routine
def _dot(
    data: FloatArray, indices: NDArray[Any], begin: int, end: int, v: FloatArray
) -> float:
    values, columns = data[begin:end], indices[begin:end]
    # Four sums, so that an addition need not wait for the one before.
    whole = values.size - values.size % 4
    first = second = third = fourth = 0.0
    for k in range(0, whole, 4):
        first += values[k] * v[columns[k]]
        second += values[k + 1] * v[columns[k + 1]]
        third += values[k + 2] * v[columns[k + 2]]
        fourth += values[k + 3] * v[columns[k + 3]]
    for k in range(whole, values.size):
        first += values[k] * v[columns[k]]
    return (first + second) + (third + fourth)


@routine
def _add(
    data: FloatArray,
    indices: NDArray[Any],
    begin: int,
    end: int,
    step: float,
    v: FloatArray,
) -> None:
    values, columns = data[begin:end], indices[begin:end]
    for k in range(values.size):
        v[columns[k]] += step * values[k]


@compiled
def accumulate(problem: Problem, beta: FloatArray, U: FloatArray) -> None:
    """Add β_i φ_b(x_i) to u_{b,τ(i)}."""
    maps, offsets, task = problem.maps, problem.offsets, problem.task
    for i in range(beta.size):
        if beta[i] != 0.0:
            for b in range(len(maps)):
                data, indices, indptr = maps[b]
                u = U[task[i], offsets[b] : offsets[b + 1]]
                _add(data, indices, indptr[i], indptr[i + 1], beta[i], u)


@routine
def _enter(
    offsets: IntArray, G: FloatArray, t: int, U: FloatArray, v: FloatArray
) -> None:
    """Write v_{b,t} = Σ_s G_b[t,s] u_{b,s} for all maps."""
    for b in range(G.shape[0]):
        for begin in range(offsets[b], offsets[b + 1], _BLOCK):
            end = min(begin + _BLOCK, offsets[b + 1])
            target = v[begin:end]
            target[:] = 0.0
            for s in range(G.shape[1]):
                factor = G[b, t, s]
                if factor != 0.0:
                    source = U[s, begin:end]
                    for j in range(source.size):
                        target[j] += factor * source[j]


@routine
def _margin(problem: Problem, G: FloatArray, t: int, i: int, v: FloatArray) -> float:
    maps, offsets = problem.maps, problem.offsets
    total = 0.0
    for b in range(len(maps)):
        # With a zero on its diagonal the row of G is zero, and so is v.
        if G[b, t, t] > 0.0:
            data, indices, indptr = maps[b]
            part = v[offsets[b] : offsets[b + 1]]
            total += _dot(data, indices, indptr[i], indptr[i + 1], part)
    return total


@compiled
def _loss(margin: float, logistic: bool) -> float:
    if not logistic:
        return max(1.0 - margin, 0.0)
    return np.log1p(np.exp(-abs(margin))) + max(-margin, 0.0)


@routine
def _logistic_share(old: float, C: float) -> float:
    """Return C·l*(−α/C), the negative entropy."""
    if old <= 0.0 or old >= C:
        return 0.0
    return old * np.log(old / C) + (C - old) * np.log1p(-old / C)


@compiled
def epoch(
    problem: Problem,
    G: FloatArray,
    deducible: BoolArray,
    tasks: IntArray,
    order: IntArray,
    first: IntArray,
    last: IntArray,
    upper_bound: float,
    lower_bound: float,
    alpha: FloatArray,
    U: FloatArray,
) -> tuple[float, float, float]:
    """Go once through the samples that take part, and update alpha, U, order, last.

    Returns the estimated share of the losses in the gap, and the largest and least
    violation, by which the next epoch leaves out samples of the hinge loss: one at 0
    whose gradient 1 − y_i f_i is below the least violation (or at C and above the
    largest) has moved further into its bound than anything else has yet to move.
    """
    maps, offsets, y, C = problem.maps, problem.offsets, problem.y, problem.C
    n_maps = len(maps)
    v = np.empty(U.shape[1])
    gap = 0.0
    largest = -np.inf
    least = np.inf
    for t in tasks:
        if first[t] == last[t]:
            continue
        _enter(offsets, G, t, U, v)
        # Within the task v changes by G_b[t,t] times u: put the rest aside.
        for b in range(n_maps):
            if deducible[b, t]:
                inverse = 1.0 / G[b, t, t]
                for j in range(offsets[b], offsets[b + 1]):
                    U[t, j] -= inverse * v[j]
        position = first[t]
        while position < last[t]:
            i = order[position]
            old = alpha[i]
            margin = y[i] * _margin(problem, G, t, i, v)
            curvature = 0.0
            for b in range(n_maps):
                curvature += G[b, t, t] * problem.norms[b, i]
            gap += C * _loss(margin, problem.logistic) + old * margin
            if problem.logistic:
                gap += _logistic_share(old, C)
                new = logistic_step(old, margin, curvature, C)
            else:
                gap -= old
                gradient = 1.0 - margin
                if (old == 0.0 and gradient < lower_bound) or (
                    old == C and gradient > upper_bound
                ):
                    last[t] -= 1
                    order[position] = order[last[t]]
                    order[last[t]] = i
                    continue
                violation = gradient
                if (old == 0.0 and gradient < 0.0) or (old == C and gradient > 0.0):
                    violation = 0.0
                largest = max(largest, violation)
                least = min(least, violation)
                # Without curvature the gradient is 1, its quotient infinite, and α = C.
                new = min(max(old + gradient / curvature, 0.0), C)
            position += 1
            if new == old:
                continue
            alpha[i] = new
            step = y[i] * (new - old)
            for b in range(n_maps):
                data, indices, indptr = maps[b]
                begin, end = indptr[i], indptr[i + 1]
                scale = G[b, t, t]
                if scale > 0.0:
                    part = v[offsets[b] : offsets[b + 1]]
                    _add(data, indices, begin, end, step * scale, part)
                if not deducible[b, t]:
                    part = U[t, offsets[b] : offsets[b + 1]]
                    _add(data, indices, begin, end, step, part)
        for b in range(n_maps):
            if deducible[b, t]:
                inverse = 1.0 / G[b, t, t]
                for j in range(offsets[b], offsets[b + 1]):
                    U[t, j] += inverse * v[j]
    # Without a violation on a side there is nothing to measure settled samples by.
    if largest <= 0.0:
        largest = np.inf
    if least >= 0.0:
        least = -np.inf
    return gap, largest, least


@compiled
def total_loss(
    problem: Problem, G: FloatArray, U: FloatArray, order: IntArray, first: IntArray
) -> float:
    """Return Σ_i l(y_i f_i)."""
    v = np.empty(U.shape[1])
    total = 0.0
    for t in range(first.size - 1):
        if first[t] == first[t + 1]:
            continue
        _enter(problem.offsets, G, t, U, v)
        for position in range(first[t], first[t + 1]):
            i = order[position]
            margin = problem.y[i] * _margin(problem, G, t, i, v)
            total += _loss(margin, problem.logistic)
    return total
