"""CMTL: its objective, and the order of its weights."""

import numpy as np
import pytest
from method_cases import WEIGHTS, Case
from model_objectives import standardised

from mtmkl.methods import CMTL


def test_order_of_the_epsilons(pairs_of_classes):
    with pytest.raises(ValueError, match="epsilon_mean < epsilon_between < epsilon"):
        CMTL(epsilon_mean=2.0).fit(*pairs_of_classes)


def penalty(model, X, task):
    W = standardised(model, X, model.coef_)
    T = W.shape[1]
    r = min(model.n_clusters, T)
    mean = W.mean(axis=1, keepdims=True)
    sizes = np.zeros(T)
    found = np.linalg.svd(W - mean, compute_uv=False)
    sizes[: found.size] = found[:T]
    least, most = 1 / model.epsilon_within, 1 / model.epsilon_between
    total = (T - r + 1) * least + (r - 1) * most
    # S has the eigenvalues of least Σσ²/s, in proportion to σ where they may be.
    low, high = 0.0, max(sizes.max(), 1e-300) / least
    for _ in range(200):
        middle = 0.5 * (low + high)
        # Larger divisors make smaller eigenvalues.
        if np.clip(sizes / max(middle, 1e-300), least, most).sum() > total:
            low = middle
        else:
            high = middle
    s = np.clip(sizes / high, least, most)
    between = np.sum(sizes**2 / s)
    return model.lam * (model.epsilon_mean * T * np.sum(mean**2) + between)


CASES = {
    "CMTL": Case(
        path=[
            {"lam": 1.0, "n_clusters": 1},
            {"lam": 0.02, "n_clusters": 0.5},
            {"lam": 5.0, "n_clusters": 2},
            {"lam": 0.1, "n_clusters": 1},
        ],
        penalty=penalty,
        grid=[{"lam": lam, "n_clusters": r} for lam in WEIGHTS for r in (2, 1, 3)],
    )
}
