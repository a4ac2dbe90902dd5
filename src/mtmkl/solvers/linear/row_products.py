"""Products of stacked rows with one vector and back, in a single pass over the rows.

The first-order methods over many tasks take V_t w_t and then V_t'(…) of what they make
of it, in every iteration. The rows of all tasks are far larger than a cache, so that
reading each row once for both products is what such an iteration costs.
"""

import numpy as np

from mtmkl.compiled import compiled
from mtmkl.typing import FloatArray, IntArray


@compiled
def pull_back(
    rows: FloatArray,
    point: FloatArray,
    aims: FloatArray,
    slopes: FloatArray,
    fit: FloatArray,
    pull: FloatArray,
) -> None:
    """Write Vw into ``fit`` and V'(a − b∘Vw) into ``pull``, V being ``rows``."""
    n_rows, n_features = rows.shape
    for i in range(n_features):
        pull[i] = 0.0
    # Four rows at a time: the vectors are then read a quarter as often.
    whole = n_rows - n_rows % 4
    for j in range(0, whole, 4):
        first, second, third, fourth = rows[j], rows[j + 1], rows[j + 2], rows[j + 3]
        p, q, r, s = 0.0, 0.0, 0.0, 0.0
        for i in range(n_features):
            w = point[i]
            p += first[i] * w
            q += second[i] * w
            r += third[i] * w
            s += fourth[i] * w
        fit[j], fit[j + 1], fit[j + 2], fit[j + 3] = p, q, r, s
        p = aims[j] - slopes[j] * p
        q = aims[j + 1] - slopes[j + 1] * q
        r = aims[j + 2] - slopes[j + 2] * r
        s = aims[j + 3] - slopes[j + 3] * s
        for i in range(n_features):
            pull[i] += p * first[i] + q * second[i] + r * third[i] + s * fourth[i]
    for j in range(whole, n_rows):
        row = rows[j]
        p = 0.0
        for i in range(n_features):
            p += row[i] * point[i]
        fit[j] = p
        p = aims[j] - slopes[j] * p
        for i in range(n_features):
            pull[i] += p * row[i]


@compiled
def pull_back_tasks(
    right: FloatArray,
    offsets: IntArray,
    points: FloatArray,
    aims: FloatArray,
    slopes: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return V_t'(a_t − b_t∘V_t w_t) of each task, (T, d), and all V_t w_t, stacked."""
    pull = np.empty_like(points)
    fit = np.empty_like(aims)
    for t in range(points.shape[0]):
        lo, hi = offsets[t], offsets[t + 1]
        pull_back(
            right[lo:hi], points[t], aims[lo:hi], slopes[lo:hi], fit[lo:hi], pull[t]
        )
    return pull, fit


@compiled
def pull_back_sets(
    right: FloatArray,
    offsets: IntArray,
    points: FloatArray,
    aims: FloatArray,
    slopes: FloatArray,
) -> FloatArray:
    """Return the first of :func:`pull_back_tasks` for several points, (S, T, d).

    With as many a, (S, n_rows). A task's rows are read once for all.
    """
    pull = np.empty_like(points)
    fit = np.empty_like(slopes)
    for t in range(points.shape[1]):
        lo, hi = offsets[t], offsets[t + 1]
        for s in range(points.shape[0]):
            pull_back(
                right[lo:hi],
                points[s, t],
                aims[s, lo:hi],
                slopes[lo:hi],
                fit[lo:hi],
                pull[s, t],
            )
    return pull
