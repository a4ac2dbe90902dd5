"""The norms of the squared-norm penalties and their duals, by definition."""

import numpy as np

NAMES = ("trace", "rows", "deviations")


def norm(name, W):
    """Return Ω(W) for W of shape (d, T)."""
    if name == "rows":
        return np.linalg.norm(W, axis=1).sum()
    if name == "deviations":
        W = W - W.mean(axis=1, keepdims=True)
    return np.linalg.norm(W, "nuc")


def dual_norm(name, M):
    """Return Ω°(M); for "deviations" M1 = 0 is taken for granted."""
    return np.linalg.norm(M, axis=1).max() if name == "rows" else np.linalg.norm(M, 2)
