"""Independent and pooled support vector machines."""

import numpy as np
import pytest
from method_cases import COSTS, FEW_KERNELS, KERNELS, MIXED, Case
from model_objectives import forms
from sklearn.svm import SVC

from mtmkl.methods import IndependentSVMClassifier, PooledSVMClassifier

LIST = ["linear", {"name": "gaussian", "width": 2.0}]


@pytest.fixture(scope="module")
def labelled():
    rng = np.random.default_rng(2)
    task = rng.permutation(np.repeat(np.arange(3), [12, 20, 15]))
    X = rng.standard_normal((47, 3)) + 0.4
    W = rng.standard_normal((3, 3)) + 1
    z = np.einsum("ij,ji->i", X, W[:, task]) + 0.5 * rng.standard_normal(47)
    return X, np.where(z > 0.6, 1.0, -1.0), task


def kernel(X, Z):
    square = ((X[:, None] - Z[None]) ** 2).sum(axis=2)
    return X @ Z.T + np.exp(-square / 8.0)


def test_each_task_is_a_machine_of_scikit_learn(labelled):
    X, y, task = labelled
    model = IndependentSVMClassifier(C=2.0, kernels=LIST, tol=1e-10).fit(X, y, task)
    for t in range(3):
        rows = task == t
        one = SVC(C=2.0, kernel=kernel, tol=1e-10).fit(X[rows], y[rows])
        np.testing.assert_allclose(
            model.decision_function(X, np.full(47, t)),
            one.decision_function(X),
            atol=1e-6,
        )


def test_the_pooled_machine_does_not_see_the_task(labelled):
    X, y, task = labelled
    model = PooledSVMClassifier(C=2.0, kernels=LIST, tol=1e-10).fit(X, y, task)
    one = SVC(C=2.0, kernel=kernel, tol=1e-10).fit(X, y)
    scores = model.decision_function(X, task)
    np.testing.assert_allclose(scores, one.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(scores, model.decision_function(X, np.roll(task, 1)))


def test_fit_intercept_is_a_flag(labelled):
    X, y, task = labelled
    with pytest.raises(ValueError, match="fit_intercept must be True or False"):
        IndependentSVMClassifier(fit_intercept=1).fit(X, y, task)


def penalty(model, X, task):
    if type(model).__name__ == "PooledSVMClassifier":
        task = np.zeros_like(task)
    return 0.5 * np.sum(forms(model, X, task, 1.0))


SMALL = {"": {"kernels": FEW_KERNELS}}
CASES = {
    "IndependentSVMClassifier": Case(
        settings=SMALL,
        penalty=penalty,
        variants=[KERNELS, {"fit_intercept": False}],
        grid=COSTS,
    ),
    "IndependentSVMRegressor": Case(
        settings=SMALL,
        penalty=penalty,
        variants=[KERNELS, {"epsilon": 0.0, "standardize_target": True}],
        grid=COSTS,
    ),
    "PooledSVMClassifier": Case(
        settings=SMALL, penalty=penalty, variants=[KERNELS, MIXED], grid=COSTS
    ),
}
