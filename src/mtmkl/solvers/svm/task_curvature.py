"""Second derivatives of the support vector duals of many tasks, compiled.

For :mod:`mtmkl.solvers.svm.task_duals`, whose notation this is. With the free variables
of a task held free and the others at their bounds, V_t'' = B_t'P_tB_t: B_t holds the
outputs g_tf of the free variables, and P_t is the inverse of their kernel, with the
equality on the vectors of sum zero.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtmkl.compiled import compiled, routine
from mtmkl.solvers.svm.smo import factorise
from mtmkl.solvers.svm.task_steps import sub_gram
from mtmkl.typing import FloatArray, IntArray


@routine
def _project(ones: FloatArray, B: FloatArray) -> None:
    """Take from each column of B its part along `ones`."""
    m, n_terms = B.shape
    norm = 0.0
    for a in range(m):
        norm += ones[a] * ones[a]
    for f in range(n_terms):
        along = 0.0
        for a in range(m):
            along += ones[a] * B[a, f]
        along /= norm
        for a in range(m):
            B[a, f] -= along * ones[a]


@routine
def _curvature_factor(
    features: FloatArray,
    gram: NDArray[Any],
    lo: FloatArray,
    hi: FloatArray,
    epsilon: float,
    equality: bool,
    s_features: FloatArray,
    s_grams: FloatArray,
    beta: FloatArray,
    weights: FloatArray,
    outputs: FloatArray,
    scaled: FloatArray,
) -> FloatArray:
    """Return U_t with U_t'U_t = V_t'', a row for each free variable of a task."""
    n = beta.size
    n_features, n_grams = s_features.size, s_grams.size
    n_terms = n_features + n_grams
    rows = np.empty(n, np.int64)
    m = 0
    for i in range(n):
        b = beta[i]
        if lo[i] < b < hi[i] and (epsilon == 0.0 or b != 0.0):
            rows[m] = i
            m += 1
    if m <= equality:
        return np.zeros((0, n_terms))
    U = np.empty((m, m + 1 + n_terms))
    sub_gram(
        features,
        gram,
        n,
        s_features,
        s_grams,
        rows[:m],
        U[:, :m],
        scaled,
    )
    largest = 0.0
    for a in range(m):
        i = rows[a]
        largest = max(largest, U[a, a])
        U[a, m] = 1.0
        for f in range(n_features):
            U[a, m + 1 + f] = weights[f] * features[i, f]
        for g in range(n_grams):
            U[a, m + 1 + n_features + g] = outputs[i, g]
    factorise(U, m, m + 1 + n_terms, max(1e-11 * largest, 1e-300))
    B = U[:, m + 1 :].copy()
    if equality:
        _project(U[:, m], B)
    return B


@compiled
def write_curvature_factors(
    offsets: IntArray,
    entries: IntArray,
    features: FloatArray,
    grams: NDArray[Any],
    weight: IntArray,
    lo: FloatArray,
    hi: FloatArray,
    epsilon: float,
    equality: bool,
    s: FloatArray,
    beta: FloatArray,
    weights: FloatArray,
    outputs: FloatArray,
    out: FloatArray,
    counts: IntArray,
) -> None:
    """Write U_t with U_t'U_t = V_t'' to the first rows of each task in out, (N, F + G).

    The rows of a task are as many as its free variables; their number goes to counts.
    """
    n_features, n_grams = features.shape[1], grams.shape[1]
    scaled = np.empty(n_features)
    s_features, s_grams = np.empty(n_features), np.empty(n_grams)
    for t in range(offsets.size - 1):
        first, last = offsets[t], offsets[t + 1]
        n = last - first
        for f in range(n_features):
            s_features[f] = s[weight[t, f]]
        for g in range(n_grams):
            s_grams[g] = s[weight[t, n_features + g]]
        B = _curvature_factor(
            features[first:last],
            grams[entries[t] : entries[t] + n * n],
            lo[first:last],
            hi[first:last],
            epsilon,
            equality,
            s_features,
            s_grams,
            beta[first:last],
            weights[t],
            outputs[first:last],
            scaled,
        )
        out[first : first + B.shape[0]] = B
        counts[t] = B.shape[0]


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
