"""CMTL: its objective, and the order of its weights."""

import pytest
from method_cases import WEIGHTS, Case
from model_objectives import standardised
from norms import clustered

from mtmkl.methods import CMTLClassifier


def test_order_of_the_epsilons(pairs_of_classes):
    with pytest.raises(ValueError, match="epsilon_mean < epsilon_between < epsilon"):
        CMTLClassifier(epsilon_mean=2.0).fit(*pairs_of_classes)


def penalty(model, X, task):
    W = standardised(model, X, model.coef_)
    names = ("epsilon_mean", "epsilon_between", "epsilon_within")
    epsilons = {name: getattr(model, name) for name in names}
    return model.lam * clustered(W, min(model.n_clusters, W.shape[1]), **epsilons)


CASES = {
    "CMTLClassifier": Case(
        penalty=penalty,
        grid=[{"lam": lam, "n_clusters": r} for lam in WEIGHTS for r in (2, 1, 3)],
    )
}
