"""Sparse features with the statistics of strings, and the map of all terms written out.

Section 3.2.3 of Widmer et al. 2015 is about features of strings: many of them, few in
each sample. Samples are drawn at any number: each counts 500 draws from 20,000 k-mers
of log-normal frequency and has norm 1. Thirteen tasks have true weights that grow apart
with their distance.
"""

import numpy as np
from scipy.sparse import csr_matrix

from mtmkl.typing import FloatArray, IntArray

N_TASKS, N_FEATURES, N_DRAWS = 13, 20_000, 500
_DISTANCES = np.abs(np.subtract.outer(np.arange(N_TASKS), np.arange(N_TASKS))) / N_TASKS
TASK_KERNELS: tuple[FloatArray, ...] = (
    np.eye(N_TASKS),
    np.ones((N_TASKS, N_TASKS)),
    np.exp(-3.0 * _DISTANCES),
)
"""Tasks apart, all pooled, and the closer the more alike."""

_CHUNK = 500  # rows drawn at a time; bounds what is needed beyond the result


def draw_strings(n: int, seed: int = 0) -> tuple[csr_matrix, FloatArray, IntArray]:
    """Return features, labels and tasks of n samples."""
    rng = np.random.default_rng(seed)
    frequencies = rng.lognormal(sigma=1.5, size=N_FEATURES)
    shares = np.ceil(frequencies / frequencies.sum() * 2e6).astype(int)
    lot = np.repeat(np.arange(N_FEATURES, dtype=np.int32), shares)
    data = np.empty(n * N_DRAWS)
    indices = np.empty(n * N_DRAWS, dtype=np.int32)
    indptr = np.zeros(n + 1, dtype=np.int32 if n * N_DRAWS < 2**31 else np.int64)
    filled = 0
    for begin in range(0, n, _CHUNK):
        size = min(_CHUNK, n - begin)
        drawn = np.sort(lot[rng.integers(lot.size, size=(size, N_DRAWS))], axis=1)
        new = np.ones(drawn.shape, dtype=bool)
        new[:, 1:] = drawn[:, 1:] != drawn[:, :-1]
        where = np.flatnonzero(new.ravel())
        counts = np.diff(where, append=drawn.size).astype(float)
        per_row = new.sum(axis=1)
        row = np.repeat(np.arange(size), per_row)
        counts /= np.sqrt(np.bincount(row, counts**2))[row]
        end = filled + where.size
        data[filled:end], indices[filled:end] = counts, drawn.ravel()[where]
        indptr[begin + 1 : begin + size + 1] = filled + np.cumsum(per_row)
        filled = end
    X = csr_matrix((data[:filled], indices[:filled], indptr), shape=(n, N_FEATURES))
    W = np.linalg.cholesky(TASK_KERNELS[2]) @ rng.standard_normal((N_TASKS, N_FEATURES))
    task = rng.integers(N_TASKS, size=n)
    scores = np.empty(n)
    for begin in range(0, n, _CHUNK):
        part = slice(begin, begin + _CHUNK)
        scores[part] = (X[part] @ W.T)[np.arange(task[part].size), task[part]]
    scores += scores.std() * rng.standard_normal(n)
    return X, np.where(scores > 0, 1.0, -1.0), task


def expanded(X: csr_matrix, task: IntArray, theta: FloatArray) -> csr_matrix:
    """Return features whose scalar products are Σ_m θ_m R_m[s,t] ⟨x, z⟩."""
    factors = [
        np.sqrt(weight) * factor
        for weight, kernel in zip(theta, TASK_KERNELS, strict=True)
        for factor in _factor(kernel).T
    ]
    matrix = np.array(factors)
    rows = [np.flatnonzero(matrix[:, t]) for t in range(N_TASKS)]
    n_blocks = np.array([each.size for each in rows])
    lengths = np.diff(X.indptr) * n_blocks[task]
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    data, indices = np.empty(indptr[-1]), np.empty(indptr[-1], dtype=np.int32)
    for i, t in enumerate(task):
        own = slice(X.indptr[i], X.indptr[i + 1])
        part = slice(indptr[i], indptr[i + 1])
        data[part] = np.outer(matrix[rows[t], t], X.data[own]).ravel()
        indices[part] = (rows[t][:, None] * X.shape[1] + X.indices[own]).ravel()
    shape = (X.shape[0], matrix.shape[0] * X.shape[1])
    return csr_matrix((data, indices, indptr.astype(np.int32)), shape=shape)


def _factor(kernel: FloatArray) -> FloatArray:
    """Return the Cholesky factor, without the columns that rounding makes."""
    rank = int(np.linalg.matrix_rank(kernel))
    if rank == len(kernel):
        return np.asarray(np.linalg.cholesky(kernel), dtype=np.float64)
    values, vectors = np.linalg.eigh(kernel)
    return np.asarray(vectors[:, -rank:] * np.sqrt(values[-rank:]), dtype=np.float64)
