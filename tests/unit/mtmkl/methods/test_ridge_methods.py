"""Independent and aggregate ridge regression against scikit-learn's."""

import numpy as np
import pytest
from method_cases import GAUSSIAN, RIDGES, Case
from model_objectives import coordinates_of
from sklearn.linear_model import Ridge

from mtmkl.methods import (
    AggregateRidgeRegressor,
    IndependentRidgeRegressor,
    MultiTaskFeatureLearningRegressor,
    MultiTaskVariableSelectionRegressor,
    RRHetRegressor,
)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_independent_is_ridge_of_each_task(data, fit_intercept):
    X, y, task = data
    gammas = np.geomspace(0.01, 10, 8)
    estimator = IndependentRidgeRegressor(gammas, fit_intercept=fit_intercept)
    estimator.fit(X, y, task)
    for t in range(8):
        ridge = Ridge(alpha=gammas[t], fit_intercept=fit_intercept)
        ridge.fit(X[task == t], y[task == t])
        np.testing.assert_allclose(estimator.coef_[:, t], ridge.coef_, atol=1e-9)
        assert estimator.intercept_[t] == pytest.approx(ridge.intercept_, abs=1e-9)
    assert estimator.duality_gap_ < 1e-12


def test_gamma_of_each_task_must_match_the_tasks(data):
    with pytest.raises(ValueError, match=r"one for each of the 8 tasks"):
        IndependentRidgeRegressor([1.0, 2.0]).fit(*data)
    with pytest.raises(ValueError, match="gamma must be positive"):
        IndependentRidgeRegressor([1.0] * 7 + [0.0]).fit(*data)
    assert IndependentRidgeRegressor.per_task_params == ("gamma",)


@pytest.mark.parametrize(
    "method",
    [
        AggregateRidgeRegressor, IndependentRidgeRegressor, RRHetRegressor,
        MultiTaskFeatureLearningRegressor, MultiTaskVariableSelectionRegressor,
    ],
)  # fmt: skip
def test_targets_far_from_zero_are_explained_at_defaults(method, data):
    X, y, task = data
    far = y + 100.0
    assert method().fit(X, far, task).score(X, far, task=task) > 0.1
    without = method(fit_intercept=False).fit(X, far, task)
    assert without.score(X, far, task=task) < -10.0


def ridge_penalty(model, X, task):
    return np.sum(model.gamma * coordinates_of(model) ** 2)


def pooled_ridge_penalty(model, X, task):
    w = model.coef_[:, :1]
    assert (model.coef_ == w).all()
    return model.gamma * np.sum(w**2)


CASES = {
    "IndependentRidgeRegressor": Case(
        penalty=ridge_penalty,
        variants=[{}, {"kernel": GAUSSIAN, "fit_intercept": True, "standardize": True}],
        grid=RIDGES,
    ),
    "AggregateRidgeRegressor": Case(
        penalty=pooled_ridge_penalty,
        variants=[{}, {"fit_intercept": False}],
        grid=RIDGES,
    ),
}
