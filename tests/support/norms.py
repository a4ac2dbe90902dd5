"""Norms and penalties of linear models by definition."""

import numpy as np

NAMES = ("trace", "rows", "deviations")


def norm(name, W):
    """Return Ω(W) for W of shape (d, T)."""
    if name == "rows":
        return np.linalg.norm(W, axis=1).sum()
    if name == "deviations":
        W = W - W.mean(axis=1, keepdims=True)
    return np.linalg.norm(W, "nuc")


def clustered(W, r, *, epsilon_mean, epsilon_between, epsilon_within):
    """Return CMTL's penalty of W, (d, T), with r clusters.

    The eigenvalues of S are in proportion to the singular values where they may be;
    their scale is found by bisection.
    """
    T = W.shape[1]
    mean = W.mean(axis=1, keepdims=True)
    sizes = np.zeros(T - 1)
    found = np.linalg.svd(W - mean, compute_uv=False)
    sizes[: found.size] = found[: T - 1]
    low, high = 1 / epsilon_within, 1 / epsilon_between
    budget = (T - r) * low + (r - 1) * high
    below, above = 0.0, 1e12
    for _ in range(200):
        c = np.sqrt(max(below, 1e-30) * above)
        if np.clip(c * sizes, low, high).sum() > budget:
            above = c
        else:
            below = c
    s = np.clip(below * sizes, low, high)
    return epsilon_mean * T * np.sum(mean**2) + np.sum(sizes**2 / s)
