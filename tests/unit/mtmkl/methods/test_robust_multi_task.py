"""Robust multi-task learning: the outliers it finds, its limit and its objective."""

import numpy as np
from method_cases import Case

from .test_dirty_model import PATH


def penalty(model, X, task):
    shared = np.linalg.norm(model.shared_coef_, axis=1).sum()
    own = np.linalg.norm(model.own_coef_, axis=0).sum()
    return model.lam_1 * shared + model.lam_2 * own


CASES = {
    "RobustMultiTaskRegressor": Case(
        penalty=penalty,
        variants=[{}, {"fit_intercept": False}],
        grid=PATH,
    )
}
