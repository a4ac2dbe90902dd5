"""MeTaG: its limit, its ratio of weights and its objective."""

from itertools import combinations

import numpy as np
import pytest
from method_cases import WEIGHTS, Case
from model_objectives import standardised

from mtmkl.methods import MeTaGClassifier


def test_needs_a_ratio_above_one(pairs_of_classes):
    with pytest.raises(ValueError, match=r"phi must be more than 1, got 1\.0"):
        MeTaGClassifier(phi=1.0).fit(*pairs_of_classes)
    with pytest.raises(ValueError, match=r"at most 1e150, got phi=10\.0, n_levels=400"):
        MeTaGClassifier(phi=10.0, n_levels=400).fit(*pairs_of_classes)
    with pytest.raises(ValueError, match="n_levels must be a whole number of at least"):
        MeTaGClassifier(n_levels=0).fit(*pairs_of_classes)


def penalty(model, X, task):
    W = standardised(model, X, model.coef_)
    T, H = W.shape[1], model.n_levels
    distances = sum(np.linalg.norm(one - other) for one, other in combinations(W.T, 2))
    ridge = 1e-6 * T * np.sum(W.mean(axis=1) ** 2) / H
    return model.lam / model.phi ** (H - 1) * distances + ridge


CASES = {
    "MeTaGClassifier": Case(
        penalty=penalty,
        variants=[{}, {"n_levels": 1}],
        grid=[{"lam": lam} for lam in WEIGHTS],
    )
}
