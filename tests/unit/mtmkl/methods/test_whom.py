"""Whom: its starts, its groups and its objective."""

import numpy as np
from method_cases import WEIGHTS, Case
from model_objectives import standardised

from mtmkl.methods import WhomClassifier


def test_names_the_groups(pairs_of_classes):
    X, y, task = pairs_of_classes
    labels = np.where(task == 4, 1.0, y)
    estimator = WhomClassifier(n_groups=3, tol=1e-9).fit(X, labels, task)
    assert estimator.groups_[4] == -1
    assert set(np.delete(estimator.groups_, 4)) <= {0, 1, 2}


def penalty(model, X, task):
    W, groups = standardised(model, X, model.coef_), model.groups_[model.groups_ >= 0]
    norms = [np.linalg.norm(W[:, groups == g], "nuc") for g in np.unique(groups)]
    return model.lam * np.sum(np.square(norms))


CASES = {
    "WhomClassifier": Case(
        settings={"": {"n_restarts": 2}},
        penalty=penalty,
        variants=[{"n_restarts": 1}],
        grid=[{"lam": lam, "n_groups": 2} for lam in WEIGHTS],
    )
}
