"""The dirty model: what its two parts find, its limit and its objective."""

import numpy as np
import pytest
from method_cases import Case
from sklearn.linear_model import Lasso

from mtmkl.methods import DirtyModelRegressor


def test_parts_are_shared_inputs_and_those_of_single_tasks():
    rng = np.random.default_rng(0)
    task = np.repeat(np.arange(6), 40)
    W = np.zeros((12, 6))
    W[:3] = np.where(rng.random((3, 6)) < 0.5, 1.0, -1.0)
    W[5, 2] = W[8, 4] = 2.0
    X = rng.standard_normal((task.size, 12))
    y = np.einsum("ij,ji->i", X, W[:, task]) + 0.1 * rng.standard_normal(task.size)
    estimator = DirtyModelRegressor(60.0, 25.0).fit(X, y, task)
    np.testing.assert_array_equal(
        np.flatnonzero(estimator.shared_coef_.any(axis=1)), [0, 1, 2]
    )
    assert {(5, 2), (8, 4)} == set(zip(*np.nonzero(estimator.own_coef_), strict=True))


def test_a_single_task_is_a_lasso_with_an_offset(data):
    X, y, _ = data
    estimator = DirtyModelRegressor(3.0, 7.0, tol=1e-12).fit(X, y + 5.0)
    # n samples in scikit-learn's loss, over 2n.
    lasso = Lasso(3.0 / (2 * y.size), tol=1e-12).fit(X, y + 5.0)
    np.testing.assert_allclose(estimator.coef_[:, 0], lasso.coef_, atol=1e-6)
    assert estimator.intercept_[0] == pytest.approx(lasso.intercept_, abs=1e-6)


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
