"""Robust multi-task learning: the outliers it finds, its limit and its objective."""

import numpy as np
from method_cases import Case
from sklearn.linear_model import MultiTaskLasso

from mtmkl.methods import RobustMultiTaskRegressor

from .test_dirty_model import PATH


def test_outliers_alone_have_coefficients_of_their_own():
    rng = np.random.default_rng(0)
    task = np.repeat(np.arange(9), 40)
    W = np.zeros((12, 9))
    W[:3] = rng.standard_normal((3, 9))
    W[:, 7] = rng.standard_normal(12)
    X = rng.standard_normal((task.size, 12))
    y = np.einsum("ij,ji->i", X, W[:, task]) + 0.1 * rng.standard_normal(task.size)
    estimator = RobustMultiTaskRegressor(50.0, 60.0).fit(X, y, task)
    np.testing.assert_array_equal(np.flatnonzero(estimator.own_coef_.any(axis=0)), [7])
    used = np.flatnonzero(estimator.shared_coef_.any(axis=1))
    np.testing.assert_array_equal(used, [0, 1, 2])


def test_dear_outliers_leave_the_group_lasso():
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((30, 8)), rng.standard_normal((30, 4)) + 3.0
    task = np.repeat(np.arange(4), 30)
    estimator = RobustMultiTaskRegressor(12.0, 1e6, tol=1e-11)
    estimator.fit(np.tile(X, (4, 1)), Y.T.ravel(), task)
    lasso = MultiTaskLasso(12.0 / (2 * 30), tol=1e-12).fit(X, Y)
    np.testing.assert_allclose(estimator.coef_.T, lasso.coef_, atol=1e-5)
    np.testing.assert_allclose(estimator.intercept_, lasso.intercept_, atol=1e-5)


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
