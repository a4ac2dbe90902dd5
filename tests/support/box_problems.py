"""Support vector duals as box problems: samples and conditions of optimality."""

import numpy as np
import pytest


def inputs(n, d, seed):
    return np.random.default_rng(seed).standard_normal((n, d))


def gaussian(X, width):
    squares = ((X[:, None] - X) ** 2).sum(-1)
    return np.exp(-squares / (2 * width**2))


def labels(X, seed, flip=0.15):
    rng = np.random.default_rng(seed + 1000)
    y = np.where(X[:, 0] + 0.5 * X[:, -1] ** 2 > 0.6, 1.0, -1.0)
    return np.where(rng.random(len(y)) < flip, -y, y)


def problem(kind, n=40, seed=0):
    X = inputs(n, 5, seed)
    y = labels(X, seed)
    K = {
        "linear": lambda: X @ X.T,
        "cubic": lambda: (X @ X.T / 5 + 1) ** 3,
        "gaussian": lambda: gaussian(X, 1.5),
        "narrow": lambda: gaussian(X, 0.2),
    }[kind]()
    return K, y


def assert_optimal(K, c, lo, hi, beta, *, epsilon=0.0, total=None, atol):
    """Feasibility and the optimality conditions, from nothing but the definition."""
    assert (beta >= lo).all()
    assert (beta <= hi).all()
    v = c - K @ beta
    rise = np.where(beta < hi, v - np.where(beta >= 0, epsilon, -epsilon), -np.inf)
    sink = np.where(beta > lo, v - np.where(beta > 0, epsilon, -epsilon), np.inf)
    if total is None:
        assert rise.max() <= atol
        assert sink.min() >= -atol
    else:
        assert beta.sum() == pytest.approx(total, abs=1e-9 * np.abs(beta).sum() + 1e-12)
        assert rise.max() - sink.min() <= atol
