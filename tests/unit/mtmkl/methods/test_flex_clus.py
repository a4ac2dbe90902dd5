"""FlexClus: its limits, its common part and its objective."""

from itertools import combinations

import numpy as np
from method_cases import WEIGHTS, Case
from model_objectives import standardised


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
