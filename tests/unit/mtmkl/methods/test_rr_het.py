"""RR-Het: its printed problem, and its limits."""

import numpy as np
import pytest
from method_cases import RIDGES, Case

from mtmkl.methods import (
    MultiTaskFeatureLearningRegressor,
    RRHetRegressor,
)


def test_objective_is_that_of_the_printed_problem(data):
    X, y, task = data
    estimator = RRHetRegressor(1.5, tol=1e-11).fit(X, y, task)
    deviations = estimator.coef_ - estimator.mean_[:, None]
    np.testing.assert_allclose(estimator.mean_, estimator.coef_.mean(axis=1))
    inverse = np.linalg.pinv(estimator.D_, rcond=1e-9)
    loss = np.sum((y - estimator.predict(X, task)) ** 2)
    value = loss + 1.5 * np.trace(deviations.T @ inverse @ deviations)
    assert estimator.objective_ == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(estimator.features_ @ estimator.A_, deviations)
    assert estimator.n_features_ == np.linalg.matrix_rank(deviations, tol=1e-5)


@pytest.mark.parametrize("method", [RRHetRegressor, MultiTaskFeatureLearningRegressor])
def test_many_inputs_of_few_examples_lose_nothing_in_their_span(method, data):
    # Five features spread over forty: another orthonormal basis of the same problem.
    X, y, task = data
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 5)))[0].T
    few, index = np.unique(X.round(0), axis=0, return_inverse=True)
    X, index = few[:30], np.minimum(index.ravel(), 29)
    narrow = method(1.0, tol=1e-12).fit(X[index], y, task)
    wide = method(1.0, tol=1e-12).fit((X @ basis)[index], y, task)
    np.testing.assert_allclose(wide.coef_, basis.T @ narrow.coef_, atol=1e-5)
    np.testing.assert_allclose(wide.intercept_, narrow.intercept_, atol=1e-5)
    assert wide.objective_ == pytest.approx(narrow.objective_, rel=1e-8)


def test_a_mean_that_fits_all_targets_is_the_optimum():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 60)), rng.standard_normal(40)
    model = RRHetRegressor().fit(X, y, np.arange(40) % 2)
    assert model.duality_gap_ <= model.tol
    np.testing.assert_allclose(model.predict(X, np.arange(40) % 2), y, atol=1e-9)
    np.testing.assert_array_equal(model.coef_[:, 0], model.coef_[:, 1])


def penalty(model, X, task):
    W = model.coef_ - model.coef_.mean(axis=1, keepdims=True)
    return model.gamma * np.linalg.norm(W, "nuc") ** 2


CASES = {
    "RRHetRegressor": Case(
        penalty=penalty, variants=[{}, {"fit_intercept": False}], grid=RIDGES
    )
}
