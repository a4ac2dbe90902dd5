"""Kernel weights in the unit ball of a p-norm: θ ≥ 0, ||θ||_p ≤ 1, for p from 1 to ∞.

With q_m = β'K_mβ, the largest Σ_m θ_m q_m over these weights is the dual norm of q.
"""

import numpy as np

from mtmkl.typing import FloatArray

_LEAST = 1e-10  # weight, as a share of the largest


def equal_weights(n_terms: int, p: float) -> FloatArray:
    """Return the weights M^{-1/p}, on the sphere."""
    return np.full(n_terms, n_terms ** (-1.0 / p))


def on_sphere(weights: FloatArray, p: float) -> FloatArray:
    """Return the multiple of weights ≥ 0, with 1 as the largest, that has the norm 1.

    For p > 1, whose best weights are 0 only with their models, none gets below a share
    of 1e-10 of the largest: one of 0 would stay 0 for ever, and from there it returns,
    at p = 2 in some twenty steps of :func:`next_weights`.
    """
    if p > 1:
        weights = np.maximum(weights, _LEAST)
    scaled: FloatArray = weights / np.linalg.norm(weights, p)
    return scaled


def dual_norm(q: FloatArray, p: float) -> float:
    """Return the norm of q ≥ 0 that is dual to the p-norm."""
    largest = float(q.max())
    if p == 1 or largest == 0.0:
        return largest
    # The dual exponent of a p near 1 is beyond the range of numbers not scaled.
    order = 1.0 if np.isinf(p) else p / (p - 1.0)
    return largest * float(np.linalg.norm(q / largest, order))


def next_weights(
    theta: FloatArray, q: FloatArray, p: float, length: float = 1.0
) -> FloatArray:
    """Return the best weights for W as it stands, or some way through them in log θ.

    That is θ_m ∝ ||W_m||^{2/(p+1)} with ||W_m||² = θ_m² q_m, eq. (22) of Widmer et al.
    (2015), put on the sphere by :func:`on_sphere`. Values of q that rounding leaves
    below 0 count as 0. A length above 1 goes further on the line from θ.
    """
    # β'Kβ of samples whose labels cancel out is rounding, of either sign.
    squared = theta**2 * np.maximum(q, 0.0)
    if not squared.any():
        return theta
    best = on_sphere((squared / squared.max()) ** (1.0 / (p + 1.0)), p)
    if length == 1.0:
        return best
    logs = np.log(theta) + length * np.log(best / theta)
    return on_sphere(np.exp(logs - logs.max()), p)
