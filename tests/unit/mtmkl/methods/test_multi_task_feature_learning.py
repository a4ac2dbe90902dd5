"""Feature learning: what the paper states of its solutions."""

import cvxpy as cp
import numpy as np
import pytest
from method_cases import GAUSSIAN, RIDGES, Case
from model_objectives import coordinates_of

from mtmkl.kernels.base import Gaussian
from mtmkl.methods import MultiTaskFeatureLearningRegressor

GAMMA = 2.0


@pytest.fixture(scope="module")
def fitted(data):
    X, y, task = data
    return MultiTaskFeatureLearningRegressor(GAMMA, tol=1e-11).fit(X, y, task)


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


def test_objective_is_that_of_problem_4_and_of_problem_7(fitted, data):
    X, y, task = data
    U, A, W = fitted.features_, fitted.A_, fitted.coef_
    loss = np.sum((y - fitted.predict(X, task)) ** 2)
    np.testing.assert_allclose(U.T @ U, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(U @ A, W, atol=1e-12)
    row_norms = np.linalg.norm(A, axis=1)
    assert np.all(np.diff(row_norms) <= 1e-12)
    assert fitted.objective_ == pytest.approx(loss + GAMMA * row_norms.sum() ** 2)
    assert fitted.norm_ == pytest.approx(row_norms.sum())
    D = fitted.D_
    penalty = np.trace(W.T @ np.linalg.pinv(D, rcond=1e-9) @ W)
    assert fitted.objective_ == pytest.approx(loss + GAMMA * penalty, rel=1e-6)


def test_matrix_d_is_that_of_theorem_1(fitted):
    importance = np.linalg.norm(fitted.A_, axis=1)
    U = fitted.features_
    expected = U @ np.diag(importance / importance.sum()) @ U.T
    np.testing.assert_allclose(fitted.D_, expected, atol=1e-12)
    assert np.linalg.matrix_rank(fitted.D_, tol=1e-6) == fitted.n_features_


def test_signs_of_features_make_their_coefficients_sum_to_no_less_than_zero(fitted):
    assert np.all(fitted.A_.sum(axis=1) >= -1e-12)


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


def _untruncated_minimum(kernel, X, y, task, gamma, *, fit_intercept):
    """Return the minimum over all of the kernel's functions, by an interior point."""
    values, vectors = np.linalg.eigh(kernel(X, X))
    Z = vectors * np.sqrt(np.maximum(values, 0.0))
    n_tasks = task.max() + 1
    W = cp.Variable((Z.shape[1], n_tasks))
    b = cp.Variable(n_tasks) if fit_intercept else np.zeros(n_tasks)
    loss = sum(
        cp.sum_squares(y[task == t] - Z[task == t] @ W[:, t] - b[t])
        for t in range(n_tasks)
    )
    problem = cp.Problem(cp.Minimize(loss + gamma * cp.square(cp.normNuc(W))))
    return problem.solve(solver=cp.CLARABEL)


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
    minimum = _untruncated_minimum(
        kernel, X, y, task, gamma, fit_intercept=fit_intercept
    )
    certified = estimator.objective_ * (1 - estimator.untruncated_gap_)
    assert certified <= minimum * (1 + 1e-6)
    assert minimum <= estimator.objective_ * (1 + 1e-6)
    assert estimator.untruncated_gap_ >= estimator.duality_gap_
    if gamma >= 1.0 and basis_tol == 1e-4:
        assert estimator.untruncated_gap_ < 1e-3


def test_standardize_makes_the_scale_of_the_inputs_irrelevant(data):
    X, y, task = data
    options = {"standardize": True, "tol": 1e-11}
    for kernel in (None, Gaussian(median_factor=1.0)):
        estimator = MultiTaskFeatureLearningRegressor(0.5, kernel=kernel, **options)
        plain = estimator.fit(X, y, task).predict(X, task)
        moved = X * np.array([1.0, 100.0, 0.01, 5.0, 1.0]) - 3.0
        rescaled = estimator.fit(moved, y, task).predict(moved, task)
        np.testing.assert_allclose(rescaled, plain, atol=1e-4)


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
