"""Squared-norm penalties of Argyriou et al. (2008) and its comparators, compiled.

Each penalty is γ·Ω(W)² for a norm (or seminorm) Ω of the d × T coefficient matrix W:

- "trace", the sum of the singular values; its dual norm is the largest of them;
- "rows", the sum of the row norms, the (2,1)-norm; its dual norm is the largest;
- "deviations", the trace norm of WΠ with Π = I − 11'/T, the columns' deviations from
  their mean: a seminorm, with the dual norm of "trace" where M1 = 0, and an infinite
  one elsewhere.

A solver needs the proximal point of the *square* with its Ω, and the dual norm Ω°, by
which the conjugate of γΩ² is Ω°²/(4γ).

The proximal points are exact. With c = 2γ/ρ and magnitudes s_1 ≥ s_2 ≥ … (singular
values or row norms), the minimiser of γ(Σ_i σ_i)² + (ρ/2) Σ_i (σ_i − s_i)² over σ ≥ 0
is σ_i = max(s_i − τ, 0) with τ = cΣσ. If k magnitudes survive, Σσ = Σ_{i≤k} s_i − kτ,
so τ = c Σ_{i≤k} s_i / (1 + kc), and k is the largest index with s_k > τ_k.
"""

import numpy as np

from mtmkl.compiled import compiled, routine
from mtmkl.typing import FloatArray

TRACE = 0
ROWS = 1
DEVIATIONS = 2

#: The numbers by which the compiled functions know the penalties.
PENALTIES = {"trace": TRACE, "rows": ROWS, "deviations": DEVIATIONS}

# The compiled functions are written in plain loops where numpy expressions would be as
# fast: each expression costs a large part of a second to compile.


@compiled
def shrink_level(magnitudes: FloatArray, c: float) -> float:
    """Return τ, by which magnitudes (in any order, ≥ 0) are shrunk; see the module.

    The candidate τ of all magnitudes drops those it exceeds, which raises the next
    candidate, until none is dropped.
    """
    level = -1.0
    n_kept = -1
    while True:
        total = 0.0
        count = 0
        for magnitude in magnitudes:
            if magnitude > level:
                total += magnitude
                count += 1
        if count == n_kept:
            return max(level, 0.0)
        n_kept = count
        level = c * total / (1.0 + count * c)


@compiled
def prox_squared_norm(Y: FloatArray, c: float, code: int) -> tuple[FloatArray, float]:
    """Return the proximal point of (c/2)·Ω² at ``Y.T``, transposed, and Ω there.

    For DEVIATIONS that of the centred Y: the mean, which Ω leaves free, is left out.
    Zero rows or singular values are exact: they are left out of the product rather than
    multiplied by something small.
    """
    n_tasks, n_features = Y.shape
    norm = 0.0
    if code == ROWS:
        Z = np.empty_like(Y)
        lengths = _row_norms(Y)
        level = shrink_level(lengths, c)
        for i in range(n_features):
            factor = 0.0
            if lengths[i] > level:
                factor = 1.0 - level / lengths[i]
                norm += lengths[i] - level
            for t in range(n_tasks):
                Z[t, i] = factor * Y[t, i]
        return Z, norm

    if code == DEVIATIONS:
        Y = Y.copy()
        for i in range(n_features):
            mean = 0.0
            for t in range(n_tasks):
                mean += Y[t, i]
            mean /= n_tasks
            for t in range(n_tasks):
                Y[t, i] -= mean
    on_features = n_features <= n_tasks
    gram = np.dot(Y.T, Y) if on_features else np.dot(Y, Y.T)
    values, vectors = np.linalg.eigh(gram)
    size = values.size
    for j in range(size):
        values[j] = np.sqrt(max(values[j], 0.0))
    level = shrink_level(values, c)
    first = 0
    while first < size and values[first] <= level:
        first += 1
    kept = np.empty((size, size - first))
    scaled = np.empty((size, size - first))
    for j in range(first, size):
        factor = 1.0 - level / values[j]
        norm += values[j] - level
        for i in range(size):
            kept[i, j - first] = vectors[i, j]
            scaled[i, j - first] = factor * vectors[i, j]
    if on_features:
        return np.dot(np.dot(Y, scaled), kept.T), norm
    return np.dot(scaled, np.dot(kept.T, Y)), norm


@routine
def _row_norms(Y: FloatArray) -> FloatArray:
    """Return the norms of the columns of Y, the rows of the coefficient matrix."""
    norms = np.zeros(Y.shape[1])
    for t in range(Y.shape[0]):
        for i in range(Y.shape[1]):
            norms[i] += Y[t, i] * Y[t, i]
    for i in range(Y.shape[1]):
        norms[i] = np.sqrt(norms[i])
    return norms


@compiled
def squared_dual_norm(M: FloatArray, code: int) -> float:
    """Return Ω°(``M.T``)² for M of shape (T, d), for DEVIATIONS assuming M1 = 0."""
    if code == ROWS:
        largest = 0.0
        for norm in _row_norms(M):
            largest = max(largest, norm)
        return largest * largest
    n_tasks, n_features = M.shape
    gram = np.dot(M.T, M) if n_features <= n_tasks else np.dot(M, M.T)
    return max(np.linalg.eigvalsh(gram)[-1], 0.0)
