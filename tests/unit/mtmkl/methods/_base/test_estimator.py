"""Classes of the estimators: few are above each."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF

from mtmkl import methods
from mtmkl.kernels.base import Gaussian


def depth(of):
    own = [base for base in of.__bases__ if base.__module__.startswith("mtmkl.")]
    return 1 + max(map(depth, own), default=0)


def test_no_estimator_is_more_than_three_classes_deep():
    assert max(map(depth, methods.REGISTRY.values())) <= 3


def test_a_fit_without_task_warns_its_caller():
    X, y = np.arange(6.0)[:, None], np.arange(6.0)
    model = methods.IndependentRidgeRegressor()
    with pytest.warns(UserWarning, match="all 6 samples are taken as one task") as seen:
        model.fit(X, y)
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y, task=np.zeros(6)).predict(X)
        model.fit(X, np.column_stack([y, y])).predict(X)


@pytest.mark.parametrize(
    ("labels", "C", "refusal"), [("ab", -1.0, "C must"), ("abc", 1.0, "Only binary")]
)
def test_a_refit_that_fails_leaves_no_model_of_other_tasks(labels, C, refusal):
    X, task = np.random.default_rng(0).normal(size=(24, 3)), np.arange(24) % 2
    model = methods.IndependentSVMClassifier().fit(X, X[:, 0] > 0, task)
    model.set_params(C=C)
    with pytest.raises(ValueError, match=refusal):
        model.fit(X, np.resize([*labels], 24), np.array(["rome", "oslo"])[task])
    with pytest.raises(NotFittedError):
        model.predict(X, np.array(["rome", "oslo"])[task])
    model.set_params(C=1.0).fit(X, X[:, 0] > 0, task).predict(X, task)


@pytest.mark.parametrize("kind", ["U", "O"])
def test_a_regressor_refuses_numbers_written_as_text(kind):
    y, task = np.arange(6.0), np.zeros(6)
    with pytest.raises(ValueError, match="y holds text"):
        methods.IndependentRidgeRegressor().fit(
            y[:, None], y.astype("U").astype(kind), task
        )


@pytest.mark.parametrize("kernels", ["features", "linear"])
def test_features_too_large_for_a_fit_are_too_large_for_a_prediction(kernels):
    X, task = np.arange(6.0)[:, None], np.zeros(6)
    model = methods.IndependentSVMClassifier(kernels=kernels).fit(X, task > X[:, 0] - 3)
    with pytest.raises(ValueError, match=r"X has values up to 1e\+308"):
        model.decision_function([[1e308]])


def test_points_of_a_grid_that_differ_in_other_parameters_are_paths_of_their_own():
    y, task = np.arange(12.0) + 3.0, np.arange(12) % 2
    X, method = np.arange(12.0)[:, None] ** 0.5, methods.IndependentRidgeRegressor
    grid = [{"gamma": g, "fit_intercept": f} for g in (0.1, 9.0) for f in (True, False)]
    path = method().fit_path(X, y, task, grid=grid)
    for point, model in zip(grid, path, strict=True):
        single = method(**point).fit(X, y, task)
        np.testing.assert_allclose(model.predict(X, task), single.predict(X, task))


def test_equal_values_make_one_path_and_other_objects_of_equal_text_do_not(monkeypatch):
    method, sizes = methods.IndependentSVMClassifier, []
    own = method._fit_group

    def fit_group(self, group, *data):
        sizes.append(len(group))
        own(self, group, *data)

    monkeypatch.setattr(method, "_fit_group", fit_group)
    X = np.arange(12.0)[:, None]
    kernels = [Gaussian(width=2.0), Gaussian(width=2.0)]
    kernels += [{"name": "gaussian", "width": 3.0}, {"name": "gaussian", "width": 3.0}]
    kernels += [RBF(1.0001), RBF(1.0002)]
    assert repr(kernels[-2]) == repr(kernels[-1])
    grid = [{"kernels": [each]} for each in kernels]
    list(method().fit_path(X, np.sign(X[:, 0] - 5.5), np.arange(12) % 2, grid=grid))
    assert sizes == [2, 2, 1, 1]
