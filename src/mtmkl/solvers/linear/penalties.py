"""Penalties: norms with proximal points and dual norms, and squares of norms.

Matrices W of shape (d, T) are given transposed. The norms are

- TRACE, the sum of the singular values; its dual norm is the largest of them;
- ROWS, Σ_i ||w^i||, the (2,1)-norm; its dual norm is the largest norm of a row;
- ROW_MAXIMA, Σ_i max_t |w_it|, the (1,∞)-norm; its dual norm is max_i Σ_t |m_it|;
- ENTRIES, Σ_it |w_it|; its dual norm is the largest absolute value;
- TASKS, Σ_t ||w_t||; its dual norm is the largest norm of a column.

The square of TRACE or ROWS, γΩ², has the conjugate Ω°²/(4γ) and an exact proximal
point. With c = 2γ/ρ and magnitudes s_1 ≥ s_2 ≥ … (singular values or row norms), the
minimiser of γ(Σ_i σ_i)² + (ρ/2) Σ_i (σ_i − s_i)² over σ ≥ 0 is σ_i = max(s_i − τ, 0)
with τ = cΣσ. If k magnitudes survive, Σσ = Σ_{i≤k} s_i − kτ, so
τ = c Σ_{i≤k} s_i / (1 + kc), and k is the largest index with s_k > τ_k.
"""

from dataclasses import dataclass

import numpy as np

from mtmkl.compiled import compiled, dot, dot_at, routine, total
from mtmkl.typing import FloatArray

TRACE = 0
ROWS = 1
ROW_MAXIMA = 2
ENTRIES = 3
TASKS = 4

# Start with a threshold of a tenth of the norm: ρ = 20γ makes it so at every scale.
STEP_OVER_GAMMA = 20.0


@dataclass(frozen=True)
class SquaredNorm:
    """γΩ(W)² for the norm TRACE or ROWS, as the iteration of ``task_admm`` needs it."""

    gamma: float
    norm: int

    is_square = True

    @property
    def first_step(self) -> float:
        """First ρ."""
        return STEP_OVER_GAMMA * self.gamma

    def prox(self, V: FloatArray, step: float) -> tuple[FloatArray, float]:
        """Return the Z that minimises γΩ(Z)² + (ρ/2)||Z − V||_F², and γΩ(Z)²."""
        Z, norm = prox_squared_norm(V, 2.0 * self.gamma / step, self.norm)
        return Z, self.gamma * norm * norm

    def conjugate(self, M: FloatArray) -> float:
        """Return Ω°(M)²/(4γ)."""
        largest = dual_norm(M, self.norm)
        return largest * largest / (4.0 * self.gamma)


@routine
def shrink_level(magnitudes: FloatArray, c: float) -> float:
    """Return τ, by which magnitudes (in any order, ≥ 0) are shrunk; see the module.

    The candidate τ of all magnitudes drops those it exceeds, which raises the next
    candidate, until none is dropped.
    """
    level = -1.0
    n_kept = -1
    while True:
        kept = 0.0
        count = 0
        for magnitude in magnitudes:
            if magnitude > level:
                kept += magnitude
                count += 1
        if count == n_kept:
            return max(level, 0.0)
        n_kept = count
        level = c * kept / (1.0 + count * c)


@compiled
def prox_squared_norm(V: FloatArray, c: float, code: int) -> tuple[FloatArray, float]:
    """Return the proximal point of (c/2)·Ω² at ``V.T``, transposed, and Ω there.

    Zero rows or singular values are exact: they are left out of the product rather than
    multiplied by something small.
    """
    if code == ROWS:
        return _prox_squared_rows(V, c)
    n_tasks, n_features = V.shape
    values, vectors = np.linalg.eigh(_smaller_gram(V))
    size = values.size
    for j in range(size):
        values[j] = np.sqrt(max(values[j], 0.0))
    level = shrink_level(values, c)
    norm = 0.0
    # Z is this matrix times V, from the left or the right.
    product = np.zeros((size, size))
    for j in range(size):
        if values[j] > level:
            norm += values[j] - level
            factor = 1.0 - level / values[j]
            for i in range(size):
                scaled = factor * vectors[i, j]
                for k in range(size):
                    product[i, k] += scaled * vectors[k, j]
    return np.dot(V, product) if n_features <= n_tasks else np.dot(product, V), norm


@routine
def _prox_squared_rows(V: FloatArray, c: float) -> tuple[FloatArray, float]:
    lengths = _row_norms(V)
    level = shrink_level(lengths, c)
    norm = 0.0
    for i in range(lengths.size):
        kept = max(lengths[i] - level, 0.0)
        norm += kept
        lengths[i] = kept / lengths[i] if kept > 0.0 else 0.0
    Z = np.empty_like(V)
    for t in range(V.shape[0]):
        for i in range(V.shape[1]):
            Z[t, i] = lengths[i] * V[t, i]
    return Z, norm


@routine
def _smaller_gram(V: FloatArray) -> FloatArray:
    """Return V'V or VV', the smaller one: its lower triangle, which is all eigh reads.

    V'V is a sum over rows, so that it takes no columns apart.
    """
    n_tasks, d = V.shape
    if d <= n_tasks:
        gram = np.zeros((d, d))
        for t in range(n_tasks):
            row = V[t]
            for i in range(d):
                for j in range(i + 1):
                    gram[i, j] += row[i] * row[j]
        return gram
    gram = np.zeros((n_tasks, n_tasks))
    for s in range(n_tasks):
        for t in range(s + 1):
            gram[s, t] = dot_at(V, s * d, V, t * d, d)
    return gram


@routine
def _row_norms(V: FloatArray) -> FloatArray:
    """Return the norms of the columns of V, the rows of the coefficient matrix."""
    norms = np.zeros(V.shape[1])
    for t in range(V.shape[0]):
        for i in range(V.shape[1]):
            norms[i] += V[t, i] * V[t, i]
    return np.sqrt(norms)


@compiled
def prox(V: FloatArray, level: float, code: int, Z: FloatArray) -> None:
    """Write the proximal point of ``level`` times a norm at ``V.T`` into ``Z.T``.

    Of all norms but TRACE.
    """
    n_tasks, d = V.shape
    ceilings = np.full(d, level)
    factors = np.ones(d)
    if code == ROWS:
        factors = _row_norms(V)
        for i in range(d):
            factors[i] = max(1.0 - level / factors[i], 0.0) if factors[i] > 0.0 else 0.0
    elif code == ROW_MAXIMA:
        _set_ceilings(V, level, ceilings)
    for t in range(n_tasks):
        if code == TASKS:
            size = np.sqrt(dot(V[t], V[t]))
            factor = 1.0 - level / size if size > level else 0.0
            for i in range(d):
                Z[t, i] = factor * V[t, i]
        elif code == ROWS:
            for i in range(d):
                Z[t, i] = factors[i] * V[t, i]
        else:
            for i in range(d):
                clipped = min(max(V[t, i], -ceilings[i]), ceilings[i])
                Z[t, i] = clipped if code == ROW_MAXIMA else V[t, i] - clipped


@routine
def _set_ceilings(V: FloatArray, level: float, ceilings: FloatArray) -> None:
    """Write of each row the c with Σ_t max(|v_t| − c, 0) = level, or 0.

    The candidate of all entries drops those below it, which raises the next candidate,
    until none is dropped.
    """
    n_tasks, d = V.shape
    for i in range(d):
        ceilings[i] = 0.0
        n_kept = -1
        while True:
            above = 0.0
            count = 0
            for t in range(n_tasks):
                size = abs(V[t, i])
                if size > ceilings[i]:
                    above += size
                    count += 1
            if count == n_kept or above <= level:
                break
            n_kept = count
            ceilings[i] = (above - level) / count


@compiled
def norm(Z: FloatArray, code: int) -> float:
    """Return a norm of ``Z.T``, but TRACE."""
    return total(_sizes(Z, code, code == ROW_MAXIMA))


@compiled
def dual_norm(M: FloatArray, code: int) -> float:
    """Return the dual norm at ``M.T``."""
    if code == TRACE:
        return np.sqrt(max(np.linalg.eigh(_smaller_gram(M))[0][-1], 0.0))
    largest = 0.0
    for size in _sizes(M, code, code == ENTRIES):
        largest = max(largest, size)
    return largest


@routine
def _sizes(Z: FloatArray, code: int, by_maxima: bool) -> FloatArray:
    """Return what a norm of ``Z.T`` is the sum of, its dual norm the largest of."""
    n_tasks, d = Z.shape
    if code == ROWS:
        return _row_norms(Z)
    if code == TASKS:
        sizes = np.empty(n_tasks)
        for t in range(n_tasks):
            sizes[t] = np.sqrt(dot(Z[t], Z[t]))
        return sizes
    sizes = np.zeros(d)
    for t in range(n_tasks):
        for i in range(d):
            size = abs(Z[t, i])
            sizes[i] = max(sizes[i], size) if by_maxima else sizes[i] + size
    return sizes


@compiled
def pairwise_norms(Z: FloatArray) -> float:
    """Return Σ_{i<j} ||z_i − z_j||₂ for Z of shape (T, d)."""
    value = 0.0
    difference = np.empty(Z.shape[1])
    for i in range(Z.shape[0]):
        for j in range(i + 1, Z.shape[0]):
            for k in range(difference.size):
                difference[k] = Z[i, k] - Z[j, k]
            value += np.sqrt(dot(difference, difference))
    return value
