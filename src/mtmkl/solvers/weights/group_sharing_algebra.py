"""Projections, systems and means of the iterations for kernel weights.

For :mod:`mtmkl.solvers.weights.group_sharing_admm`, whose notation this is.
"""

import numpy as np

from mtmkl.compiled import compiled, routine
from mtmkl.typing import FloatArray, IntArray


@compiled
def project_on_simplex(v: FloatArray, out: FloatArray) -> None:
    """Write the point of the simplex nearest to v."""
    n = v.size
    count, total = n, 0.0
    for m in range(n):
        total += v[m]
    threshold = (total - 1.0) / count
    while True:
        remaining, total = 0, 0.0
        for m in range(n):
            if v[m] > threshold:
                remaining += 1
                total += v[m]
        if remaining >= count or remaining == 0:
            break
        count = remaining
        threshold = (total - 1.0) / count
    for m in range(n):
        out[m] = max(v[m] - threshold, 0.0)


@routine
def _invert(A: FloatArray, L: FloatArray, out: FloatArray) -> None:
    """Write the inverse of a positive definite matrix, by its Cholesky factor."""
    n = A.shape[0]
    for i in range(n):
        for j in range(i + 1):
            value = A[i, j]
            for k in range(j):
                value -= L[i, k] * L[j, k]
            if i == j:
                L[i, i] = np.sqrt(max(value, 1e-300))
            else:
                L[i, j] = value / L[j, j]
    for c in range(n):
        for i in range(n):
            value = 1.0 if i == c else 0.0
            for k in range(i):
                value -= L[i, k] * out[k, c]
            out[i, c] = value / L[i, i]
        for i in range(n - 1, -1, -1):
            value = out[i, c]
            for k in range(i + 1, n):
                value -= L[k, i] * out[k, c]
            out[i, c] = value / L[i, i]


@routine
def factorise_blocks(
    H: FloatArray,
    B: FloatArray,
    sigma: float,
    rho: float,
    inverses: FloatArray,
    coupling: FloatArray,
) -> None:
    """Write A_t⁻¹ of every task, and (I − ρ Σ_t A_t⁻¹)⁻¹."""
    n_tasks, n = H.shape[0], H.shape[1]
    A, L, rest = np.empty((n, n)), np.zeros((n, n)), np.empty((n, n))
    for a in range(n):
        for b in range(n):
            rest[a, b] = 1.0 if a == b else 0.0
    for t in range(n_tasks):
        for a in range(n):
            for b in range(n):
                value = H[t, a, b]
                for j in range(B.shape[1]):
                    value += sigma * B[t, j, a] * B[t, j, b]
                A[a, b] = value
            A[a, a] += sigma + rho * n_tasks
        _invert(A, L, inverses[t])
        for a in range(n):
            for b in range(n):
                rest[a, b] -= rho * inverses[t, a, b]
    _invert(rest, L, coupling)


@routine
def merge_fused(
    z: FloatArray, shrink: FloatArray, out: FloatArray, label: IntArray
) -> None:
    """Write the means of z over tasks that pairs of difference zero connect."""
    n_tasks, n = z.shape
    for t in range(n_tasks):
        label[t] = t
    k = 0
    for t in range(n_tasks):
        for s in range(t + 1, n_tasks):
            if shrink[k] == 0.0 and label[s] != label[t]:
                kept, lost = min(label[t], label[s]), max(label[t], label[s])
                for i in range(n_tasks):
                    if label[i] == lost:
                        label[i] = kept
            k += 1
    for t in range(n_tasks):
        if label[t] != t:
            continue
        size = 0
        for m in range(n):
            out[t, m] = 0.0
        for s in range(t, n_tasks):
            if label[s] == t:
                size += 1
                for m in range(n):
                    out[t, m] += z[s, m]
        for m in range(n):
            out[t, m] /= size
        for s in range(t + 1, n_tasks):
            if label[s] == t:
                for m in range(n):
                    out[s, m] = out[t, m]
