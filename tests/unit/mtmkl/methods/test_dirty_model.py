"""The dirty model: what its two parts find, its limit and its objective."""

import numpy as np
from method_cases import Case


def penalty(model, X, task):
    shared, own = np.abs(model.shared_coef_), np.abs(model.own_coef_)
    return model.lam_1 * shared.max(axis=1).sum() + model.lam_2 * own.sum()


#: Weights at which both parts may be in use, one, or none.
PATH = [
    {"lam_1": one, "lam_2": other}
    for one, other in (
        (1.0, 0.5), (0.01, 0.004), (30.0, 9.0), (1.0, 40.0), (40.0, 0.1), (1e4, 1e4),
    )
]  # fmt: skip

CASES = {
    "DirtyModelRegressor": Case(
        penalty=penalty,
        variants=[{}, {"fit_intercept": False}],
        grid=PATH,
    )
}
