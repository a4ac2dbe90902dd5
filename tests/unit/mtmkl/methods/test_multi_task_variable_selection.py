"""Variable selection: exact zeros, and equation (11)."""

import numpy as np
from method_cases import RIDGES, Case

from mtmkl.methods import MultiTaskVariableSelectionRegressor


def test_matrix_d(data):
    X, y, task = data
    estimator = MultiTaskVariableSelectionRegressor(0.7).fit(X, y, task)
    lengths = np.linalg.norm(estimator.coef_, axis=1)
    np.testing.assert_allclose(estimator.D_, np.diag(lengths / lengths.sum()))
    np.testing.assert_array_equal(estimator.A_, estimator.coef_)


def penalty(model, X, task):
    return model.gamma * np.linalg.norm(model.coef_, axis=1).sum() ** 2


CASES = {
    "MultiTaskVariableSelectionRegressor": Case(
        penalty=penalty, variants=[{}, {"fit_intercept": False}], grid=RIDGES
    )
}
