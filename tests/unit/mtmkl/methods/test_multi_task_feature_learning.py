"""Feature learning: what the paper states of its solutions."""

import numpy as np
import pytest
from method_cases import GAUSSIAN, RIDGES, Case
from model_objectives import coordinates_of

from mtmkl.certify.kernel_problems import square_root
from mtmkl.certify.linear_problems import squared_norm
from mtmkl.certify.solving import find_optimum
from mtmkl.kernels.base import Gaussian
from mtmkl.methods import MultiTaskFeatureLearningRegressor


@pytest.mark.parametrize("kernel", [None, {"name": "gaussian", "width": 2.0}])
def test_transform_returns_the_features_that_predictions_weigh(data, kernel):
    X, y, task = data
    model = MultiTaskFeatureLearningRegressor(kernel=kernel, standardize=True)
    learned = model.fit(X, y, task).transform(X)
    names = model.get_feature_names_out()
    assert names.shape == (learned.shape[1],)
    assert names[0] == "multitaskfeaturelearningregressor0"
    fit = np.einsum("ij,ji->i", learned, model.A_[:, task]) + model.intercept_[task]
    np.testing.assert_allclose(fit, model.predict(X, task), atol=1e-10)


def test_features_and_matrix_d_are_those_of_theorem_1_and_of_problem_7(data):
    X, y, task = data
    fitted = MultiTaskFeatureLearningRegressor(2.0, tol=1e-11).fit(X, y, task)
    U, A, D, W = fitted.features_, fitted.A_, fitted.D_, fitted.coef_
    np.testing.assert_allclose(U.T @ U, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(U @ A, W, atol=1e-12)
    assert np.all(A.sum(axis=1) >= -1e-12)
    importance = np.linalg.norm(A, axis=1)
    assert np.all(np.diff(importance) <= 1e-12)
    assert fitted.norm_ == pytest.approx(importance.sum())
    expected = U @ np.diag(importance / importance.sum()) @ U.T
    np.testing.assert_allclose(D, expected, atol=1e-12)
    assert np.linalg.matrix_rank(D, tol=1e-6) == fitted.n_features_
    loss = np.sum((y - fitted.predict(X, task)) ** 2)
    penalty = np.trace(W.T @ np.linalg.pinv(D, rcond=1e-9) @ W)
    assert fitted.objective_ == pytest.approx(loss + 2.0 * penalty, rel=1e-6)


def test_gaussian_kernel_reports_its_basis(data):
    X, y, task = data
    estimator = MultiTaskFeatureLearningRegressor(
        0.1, kernel={"name": "gaussian", "median_factor": 2.0}, basis_tol=1e-3
    ).fit(X, y, task)
    assert estimator.coef_.shape == (estimator.basis_dimension_, 8)
    assert estimator.basis_dimension_ < len(X)
    assert 0 < estimator.discarded_trace_ < 1e-2
    assert estimator.duality_gap_ <= 1e-6
    assert estimator.duality_gap_ < estimator.untruncated_gap_ < 1
    assert estimator.features_.shape == (estimator.basis_dimension_, 8)
    with pytest.raises(ValueError, match=r"basis_tol must be .*less than 1, got 1\.0"):
        estimator.set_params(basis_tol=1.0).fit(X, y, task)
    without = MultiTaskFeatureLearningRegressor(0.1).fit(X, y, task)
    estimator.set_params(kernel=None, basis_tol=1e-6).fit(X, y, task)
    assert vars(estimator).keys() == vars(without).keys()


@pytest.mark.parametrize(
    ("basis_tol", "gamma"), [(0.3, 1.0), (1e-2, 0.01), (1e-2, 30.0), (1e-4, 1.0)]
)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_gap_without_truncation_bounds_the_untruncated_minimum(
    basis_tol, gamma, fit_intercept
):
    rng = np.random.default_rng(1)
    task = np.repeat(np.arange(3), 6)
    X = rng.standard_normal((task.size, 2))
    # Features that several tasks share, and one that a task has twice.
    X[6:10], X[12:14], X[5] = X[:4], X[6:8], X[4]
    y = np.sin(2 * X[:, 0]) + 0.3 * task * X[:, 1] + 0.3 * rng.standard_normal(18)
    kernel = Gaussian(width=1.0)
    options = {"kernel": kernel, "basis_tol": basis_tol, "tol": 1e-9}
    estimator = MultiTaskFeatureLearningRegressor(
        gamma, fit_intercept=fit_intercept, **options
    )
    estimator.fit(X, y, task)
    every = square_root(kernel(X, X)), y, task
    stated = squared_norm(every, gamma, "trace", fit_intercept=fit_intercept)
    minimum = find_optimum(stated).value
    certified = estimator.objective_ * (1 - estimator.untruncated_gap_)
    assert certified <= minimum * (1 + 1e-6)
    assert minimum <= estimator.objective_ * (1 + 1e-6)
    assert estimator.untruncated_gap_ >= estimator.duality_gap_
    if gamma >= 1.0 and basis_tol == 1e-4:
        assert estimator.untruncated_gap_ < 1e-3


def test_fewer_tasks_than_inputs(data):
    X, y, task = data
    few = task < 3
    estimator = MultiTaskFeatureLearningRegressor(0.5).fit(X[few], y[few], task[few])
    assert estimator.features_.shape == (5, 3)
    assert estimator.A_.shape == (3, 3)
    assert estimator.D_.shape == (5, 5)


def test_targets_of_zero(data):
    X, y, task = data
    estimator = MultiTaskFeatureLearningRegressor().fit(X, 0 * y, task)
    np.testing.assert_array_equal(estimator.coef_, 0.0)
    np.testing.assert_allclose(estimator.D_, np.eye(5) / 5)
    assert estimator.n_features_ == 0


def penalty(model, X, task):
    return model.gamma * np.linalg.norm(coordinates_of(model), "nuc") ** 2


CASES = {
    "MultiTaskFeatureLearningRegressor": Case(
        penalty=penalty,
        variants=[
            {},
            {"fit_intercept": False, "standardize": True},
            {"kernel": GAUSSIAN},
        ],
        grid=RIDGES,
    )
}


def test_a_kernel_that_is_zero_leaves_the_means_of_the_tasks():
    X, task = np.column_stack([np.ones(12), np.arange(12.0)]), np.arange(12) % 2
    kernel = {"name": "linear", "feature": 0}  # standardised, a constant is zero
    model = MultiTaskFeatureLearningRegressor(kernel=kernel, standardize=True)
    found = model.fit(X, X[:, 1], task=task).predict(X, task=task)
    np.testing.assert_allclose(found, np.where(task == 0, 5.0, 6.0))
    assert model.duality_gap_ == 0
