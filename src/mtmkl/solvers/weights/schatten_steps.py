r"""Spectra of blocks of a matrix, and the proximal point of mixed Schatten norms.

A matrix of T rows, one per task, has a block of columns for each kernel, W_j' of shape
(T, d_j). With the trace norms n_j of the blocks the norm is N = (Σ_j n_j^q)^{1/q}, for
q from 1 to 2.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mtmkl.compiled import add_scaled, compiled, dot_at, routine, total
from mtmkl.solvers.linear.penalties import shrink_level
from mtmkl.typing import FloatArray, IntArray

_ROUNDING = 1e-15
_NOTHING = 1e-13
_MAX_STEPS = 200


@routine
def _block(S: FloatArray, first: int, last: int) -> FloatArray:
    """Return columns of S, transposed if they are no more than the rows."""
    block = S[:, first:last]
    return block.copy() if last - first > S.shape[0] else block.T.copy()


class Spectra(NamedTuple):
    """Singular values of the blocks, and vectors of their smaller sides.

    The values fall, with zeros beyond the smaller side m_j of a block. The vectors are
    matrices (m_j, m_j), in columns, one after the other: right ones where d_j ≤ T, else
    left ones.
    """

    ends: IntArray  # block j has the columns ends[j]:ends[j + 1]
    values: FloatArray  # (k, T)
    vectors: FloatArray

    @classmethod
    def of(cls, ends: IntArray, n_tasks: int) -> "Spectra":
        """Return room for the spectra of matrices of T rows."""
        sides = np.minimum(np.diff(ends), n_tasks)
        return cls(ends, np.zeros((sides.size, n_tasks)), np.zeros(np.sum(sides**2)))

    def right(self, S: FloatArray, ranks: Sequence[int] | IntArray) -> list[FloatArray]:
        """Return copies of first right singular vectors (d_j, r_j) of blocks of S."""
        out, first = [], 0
        for j, rank in enumerate(ranks):
            block = S[:, self.ends[j] : self.ends[j + 1]]
            m = min(block.shape)
            # The next decomposition writes over these vectors.
            V = self.vectors[first : first + m * m].reshape(m, m)[:, :rank].copy()
            is_left = block.shape[1] > m
            out.append(block.T @ (V / self.values[j, :rank]) if is_left else V)
            first += m * m
        return out


@compiled
def decompose(S: FloatArray, spectra: Spectra) -> None:
    """Write the spectra of the blocks of S, shape (T, D)."""
    ends, values, vectors = spectra
    place = 0
    for j in range(ends.size - 1):
        M = _block(S, ends[j], ends[j + 1])
        m = M.shape[0]
        squares, V = spectrum(np.dot(M, M.T))
        values[j, :m] = np.sqrt(np.maximum(squares[::-1], 0.0))
        values[j, m:] = 0.0
        vectors[place : place + m * m] = V[:, ::-1].copy().reshape(m * m)
        place += m * m


@compiled
def largest_values(S: FloatArray, ends: IntArray) -> FloatArray:
    """Return the largest singular value of each block, shape (k,)."""
    out = np.zeros(ends.size - 1)
    for j in range(out.size):
        if ends[j + 1] > ends[j]:
            M = _block(S, ends[j], ends[j + 1])
            out[j] = np.sqrt(max(np.linalg.eigvalsh(np.dot(M, M.T))[-1], 0.0))
    return out


@compiled
def spectrum(G: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rising eigenvalues of a positive semi-definite matrix, and vectors."""
    try:
        values, V = np.linalg.eigh(G)
    except Exception:
        # LAPACK's divide and conquer fails, seldom, on a nearly diagonal matrix.
        V, values, _ = np.linalg.svd(G)
        values, V = values[::-1].copy(), V[:, ::-1].copy()
    return values, V


@compiled
def shrink(S: FloatArray, spectra: Spectra, thresholds: FloatArray) -> FloatArray:
    """Return S with the singular values of block j less thresholds[j], or 0."""
    ends, values, vectors = spectra
    out, place = np.zeros_like(S), 0
    for j in range(ends.size - 1):
        M = _block(S, ends[j], ends[j + 1])
        m, rank = M.shape[0], 0
        while rank < m and values[j, rank] > thresholds[j]:
            rank += 1
        V = vectors[place : place + m * m].reshape(m, m)[:, :rank]
        place += m * m
        if rank > 0:
            kept = V * (1.0 - thresholds[j] / values[j, :rank])
            M = np.dot(kept, np.dot(V.T.copy(), M))
            block = out[:, ends[j] : ends[j + 1]]
            block[:] = M.T if m == block.shape[1] else M
    return out


@routine
def _block_threshold(values: FloatArray, log_kappa: float, q: float) -> float:
    """Return the θ = κ n^{q−1} with n = Σ_i max(s_i − θ, 0), for falling values s.

    It is the root of log Σ_i max(s_i − θ, 0) − (log θ − log κ)/(q − 1), which falls.
    """
    if values[0] <= 0.0:
        return 0.0
    order = 1.0 / (q - 1.0)
    high = np.log(values[0])
    if high + np.log(_NOTHING) > order * (high - log_kappa):
        return values[0]  # n is nothing next to the largest value
    low = high - 1e3
    x = min(log_kappa + (q - 1.0) * np.log(total(values)), high + np.log(0.5))
    for _ in range(_MAX_STEPS):
        theta = np.exp(x)
        norm, rank = 0.0, 0
        for s in values:
            if s <= theta:
                break
            norm += s - theta
            rank += 1
        if norm > 0.0:
            error = np.log(norm) - order * (x - log_kappa)
            slope = -rank * theta / norm - order
            step = -error / slope
            if error > 0.0:
                low = x
            else:
                high = x
        else:
            high = x
            step = -np.inf
        if abs(step) <= _ROUNDING or high - low <= _ROUNDING * abs(low):
            break
        x += step
        if not low < x < high:
            # Near the largest value the distance from it is what matters.
            x = np.log(0.5 * (np.exp(low) + np.exp(high)))
    return np.exp(x)


@compiled
def thresholds_of(
    values: FloatArray, q: float, tau: float, thresholds: FloatArray, norms: FloatArray
) -> float:
    """Write the thresholds of the proximal point of ½τN² and its trace norms; return N.

    They are θ_j = τ N^{2−q} n_j^{q−1}: all τN at q = 1, τn_j at q = 2.
    """
    k = values.shape[0]
    largest = 0.0
    for j in range(k):
        largest += total(values[j]) ** q
    if largest == 0.0 or q == 1.0:
        thresholds[:] = shrink_level(values.reshape(-1), tau)
        return _trace_norms(values, thresholds, q, norms)
    # log κ = log τ + (2 − q) log N, whose right-hand side falls with κ.
    high = np.log(tau) + (2.0 - q) / q * np.log(largest)
    low = -np.inf
    x, last, last_error, norm, width = high, 0.0, 0.0, 0.0, np.inf
    for _ in range(_MAX_STEPS):
        for j in range(k):
            thresholds[j] = _block_threshold(values[j], x, q)
        norm = _trace_norms(values, thresholds, q, norms)
        if norm == 0.0:
            high = x
            x = x - 1.0 if low == -np.inf else 0.5 * (low + high)
            last_error = 0.0
            continue
        reached = np.log(tau) + (2.0 - q) * np.log(norm)
        error = reached - x
        if error > 0.0:
            low, high = x, min(high, reached)
        else:
            low, high = max(low, reached), x
        if high - low <= _ROUNDING * max(abs(x), 1.0):
            break
        new = 0.5 * (low + high)
        if last_error != 0.0 and error != last_error and high - low < 0.5 * width:
            secant = x - error * (x - last) / (error - last_error)
            if low < secant < high:
                new = secant
        width = high - low
        last, last_error, x = x, error, new
    return norm


@routine
def _trace_norms(
    values: FloatArray, thresholds: FloatArray, q: float, norms: FloatArray
) -> float:
    """Write the sums of the values less the thresholds, and return their q-norm."""
    powers = 0.0
    for j in range(norms.size):
        norms[j] = 0.0
        for s in values[j]:
            if s <= thresholds[j]:
                break
            norms[j] += s - thresholds[j]
        powers += norms[j] ** q
    return float(powers ** (1.0 / q))


@compiled
def own_outputs(
    offsets: IntArray, factors: FloatArray, spans: IntArray, W: FloatArray
) -> FloatArray:
    """Return z_i'w_t of each sample i of task t, for w_t in the rows of W.

    In kernel j a sample has coordinates other than 0 from column ``spans[i, j, 0]``
    up to column ``spans[i, j, 1]`` at most.
    """
    D, out = W.shape[1], np.zeros(factors.shape[0])
    for t in range(offsets.size - 1):
        for i in range(offsets[t], offsets[t + 1]):
            for j in range(spans.shape[1]):
                first, last = spans[i, j, 0], spans[i, j, 1]
                out[i] += dot_at(factors, i * D + first, W, t * D + first, last - first)
    return out


@compiled
def add_own_sums(
    offsets: IntArray,
    factors: FloatArray,
    spans: IntArray,
    beta: FloatArray,
    W: FloatArray,
) -> None:
    """Add Σ_i β_i z_i of the samples i of task t to row t of W."""
    for t in range(offsets.size - 1):
        for i in range(offsets[t], offsets[t + 1]):
            if beta[i] != 0.0:
                for j in range(spans.shape[1]):
                    first, last = spans[i, j, 0], spans[i, j, 1]
                    add_scaled(W[t, first:last], beta[i], factors[i, first:last])


def spans_of(factors: FloatArray, ends: IntArray) -> IntArray:
    """Return from where to where rows are other than 0 in each kernel, (N, k, 2)."""
    spans = np.zeros((len(factors), ends.size - 1, 2), dtype=np.intp)
    for j, (first, last) in enumerate(pairwise(ends)):
        if last > first:
            is_there = factors[:, first:last] != 0.0
            spans[:, j, 0] = first + is_there.argmax(axis=1)
            spans[:, j, 1] = last - is_there[:, ::-1].argmax(axis=1)
            spans[~is_there.any(axis=1), j] = first
    return spans
