r"""Spectra of blocks of a matrix, and the proximal point of mixed Schatten norms.

A matrix of T rows, one per task, has a block of columns for each kernel, W_j' of shape
(T, d_j). With the trace norms n_j of the blocks the norm is N = (Σ_j n_j^q)^{1/q}, for
q from 1 to 2.
"""

import numpy as np
from numba import njit

from mtmkl.typing import FloatArray, IntArray

_ROUNDING = 1e-15
_MAX_HALVINGS = 200

_COMPILED = {"cache": True, "nogil": True}


@njit(**_COMPILED)
def decompose(
    S: FloatArray, ends: IntArray, values: FloatArray, vectors: FloatArray
) -> None:
    """Write the singular values of the blocks, and vectors of their smaller sides.

    Parameters
    ----------
    S : ndarray of shape (T, D)
    ends : ndarray of shape (k + 1,)
        Block j has the columns ``ends[j]:ends[j + 1]``.
    values : ndarray of shape (k, T)
        Falling; zeros beyond the smaller side of a block.
    vectors : ndarray of shape (Σ_j m_j²,)
        The matrices (m_j, m_j) of vectors in columns, m_j the smaller side, one after
        the other: right ones where d_j ≤ T, else left ones.
    """
    n_tasks = S.shape[0]
    values[:] = 0.0
    first = 0
    for j in range(ends.size - 1):
        d = ends[j + 1] - ends[j]
        M = S[:, ends[j] : ends[j + 1]].copy()
        m = min(d, n_tasks)
        if d <= n_tasks:
            squares, V = np.linalg.eigh(np.dot(M.T, M))
        else:
            squares, V = np.linalg.eigh(np.dot(M, M.T))
        for i in range(m):
            values[j, i] = np.sqrt(max(squares[m - 1 - i], 0.0))
            for a in range(m):
                vectors[first + a * m + i] = V[a, m - 1 - i]
        first += m * m


@njit(**_COMPILED)
def shrink(
    S: FloatArray,
    ends: IntArray,
    values: FloatArray,
    vectors: FloatArray,
    thresholds: FloatArray,
    out: FloatArray,
) -> None:
    """Write S with the singular values of block j less thresholds[j], or 0."""
    n_tasks = S.shape[0]
    first = 0
    for j in range(ends.size - 1):
        d = ends[j + 1] - ends[j]
        m = min(d, n_tasks)
        rank = 0
        while rank < m and values[j, rank] > thresholds[j]:
            rank += 1
        if rank == 0:
            out[:, ends[j] : ends[j + 1]] = 0.0
        else:
            M = S[:, ends[j] : ends[j + 1]].copy()
            V = vectors[first : first + m * m].reshape(m, m)[:, :rank].copy()
            F = V.copy()
            for i in range(rank):
                factor = 1.0 - thresholds[j] / values[j, i]
                for a in range(m):
                    F[a, i] *= factor
            if d <= n_tasks:
                out[:, ends[j] : ends[j + 1]] = np.dot(np.dot(M, F), V.T)
            else:
                out[:, ends[j] : ends[j + 1]] = np.dot(F, np.dot(V.T, M))
        first += m * m


@njit(**_COMPILED)
def _block_norm(values: FloatArray, kappa: float, q: float) -> float:
    """Return n with n = Σ_i max(s_i − κ n^{q−1}, 0), for falling values s."""
    if q == 1.0:
        total = 0.0
        for s in values:
            total += max(s - kappa, 0.0)
        return total
    low, high = 0.0, values.sum()
    for _ in range(_MAX_HALVINGS):
        if high - low <= _ROUNDING * high:
            break
        n = 0.5 * (low + high)
        threshold = kappa * n ** (q - 1.0)
        total, rank = 0.0, 0
        for s in values:
            if s <= threshold:
                break
            total += s - threshold
            rank += 1
        excess = n - total
        if excess > 0.0:
            high = n
        else:
            low = n
        # Newton's step, where it stays within.
        slope = 1.0 + rank * kappa * (q - 1.0) * n ** (q - 2.0)
        newton = n - excess / slope
        if low < newton < high:
            threshold = kappa * newton ** (q - 1.0)
            total = 0.0
            for s in values:
                if s <= threshold:
                    break
                total += s - threshold
            if newton > total:
                high = newton
            else:
                low = newton
            if abs(newton - total) <= _ROUNDING * newton:
                return newton
    return 0.5 * (low + high)


@njit(**_COMPILED)
def thresholds_of(
    values: FloatArray, q: float, tau: float, thresholds: FloatArray, norms: FloatArray
) -> float:
    """Write the thresholds of the proximal point of ½τN², and its trace norms.

    They are θ_j = τ N^{2−q} n_j^{q−1}: all τN at q = 1, τn_j at q = 2.

    Parameters
    ----------
    values : ndarray of shape (k, T)
        Singular values of the blocks, falling.
    q : float
        From 1 to 2.
    tau : float
    thresholds, norms : ndarray of shape (k,)

    Returns
    -------
    float
        N.
    """
    k = values.shape[0]
    total = 0.0
    for j in range(k):
        total += values[j].sum() ** q
    low, high = 0.0, tau * total ** ((2.0 - q) / q)
    norm, kappa = 0.0, tau
    for _ in range(_MAX_HALVINGS):
        if q < 2.0:
            kappa = 0.5 * (low + high)
        total = 0.0
        for j in range(k):
            norms[j] = _block_norm(values[j], kappa, q)
            total += norms[j] ** q
        norm = total ** (1.0 / q)
        if q == 2.0:
            break
        reached = tau * norm ** (2.0 - q)
        if reached > kappa:
            low = kappa
            # κ ↦ τN^{2−q} falls, so that its value is an upper bound of the root.
            high = min(high, reached)
        else:
            high = kappa
            low = max(low, reached)
        if high - low <= _ROUNDING * high:
            break
    for j in range(k):
        thresholds[j] = kappa * norms[j] ** (q - 1.0) if q > 1.0 else kappa
    return norm


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def own_outputs(
    offsets: IntArray, factors: FloatArray, W: FloatArray, out: FloatArray
) -> None:
    """Write z_i'w_t of each example i of task t, for w_t in the rows of W."""
    for t in range(offsets.size - 1):
        for i in range(offsets[t], offsets[t + 1]):
            total = 0.0
            for f in range(factors.shape[1]):
                total += factors[i, f] * W[t, f]
            out[i] = total
