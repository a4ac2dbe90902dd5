"""FlexClus: its limits, its common part and its objective."""

from itertools import combinations

import numpy as np
from method_cases import WEIGHTS, Case
from model_objectives import standardised
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from mtmkl.methods import FlexClusClassifier


def test_without_differences_is_ridge_on_standardised_inputs(pairs_of_classes):
    X, y, task = pairs_of_classes
    estimator = FlexClusClassifier(lam_1=0.0, lam_2=4.0, lam_3=4.0, tol=1e-9).fit(
        X, y, task
    )
    Z = StandardScaler().fit_transform(X)
    for t in range(10):
        rows = task == t
        ridge = Ridge(alpha=2.0).fit(Z[rows], y[rows])
        np.testing.assert_allclose(
            estimator.decision_function(X[rows], task[rows]),
            ridge.predict(Z[rows]),
            atol=1e-4,
        )


def test_tells_the_common_part(pairs_of_classes):
    X, y, task = pairs_of_classes
    estimator = FlexClusClassifier(lam_1=3.0, tol=1e-9).fit(X, y, task)
    assert estimator.common_coef_.shape == estimator.coef_.shape
    pooled = [np.unique(row).size for row in estimator.common_coef_]
    assert max(pooled) < 10


def penalty(model, X, task):
    U = standardised(model, X, model.common_coef_)
    V = standardised(model, X, model.coef_ - model.common_coef_)
    distances = sum(np.abs(one - other).sum() for one, other in combinations(U.T, 2))
    lam_2, lam_3 = max(model.lam_2, 1e-6), max(model.lam_3, 1e-6)
    return model.lam_1 * distances + lam_2 * np.sum(U**2) + lam_3 * np.sum(V**2)


CASES = {
    "FlexClusClassifier": Case(
        penalty=penalty,
        grid=[
            {"lam_1": lam, "lam_2": each, "lam_3": 1.0}
            for lam in (*WEIGHTS, 0.0)
            for each in (1.0, 0.0)
        ],
    )
}
