"""Wrapped estimators beside the plain calls of their packages, and as runs see them."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.utils import get_tags

from mtmkl_suite.methods import resolve

FORESTS = "{}(sklearn.ensemble:RandomForest{})"


@pytest.fixture(scope="module")
def examples():
    """Three tasks of 30 samples in mixed order, with numbers and labels."""
    rng = np.random.default_rng(0)
    task = rng.permutation(np.repeat([0, 1, 2], 30))
    X = rng.standard_normal((90, 4))
    z = X[:, 0] * (task - 1) + X[:, 1] + 0.1 * rng.standard_normal(90)
    return X, z, np.where(z > 0, 1.0, -1.0), task


def test_histogram_boosting_is_told_that_the_task_is_a_category(examples):
    X, z, _, task = examples
    params = {"max_iter": 8, "max_leaf_nodes": 4, "min_samples_leaf": 3}
    told_so = {"task_feature": "category", "early_stopping": False, **params}
    found = resolve("Pooled(sklearn.ensemble:HistGradientBoostingRegressor)")(**told_so)
    plain = HistGradientBoostingRegressor(**params, categorical_features=[4])
    told = np.column_stack([X, task])
    expected = plain.fit(told, z).predict(told)
    np.testing.assert_array_equal(found.fit(X, z, task).predict(X, task), expected)
    # More tasks than bins are numbers.
    few = clone(found).set_params(max_bins=2).fit(X, z, task).predict(X, task)
    plain.set_params(max_bins=2, categorical_features=None)
    np.testing.assert_array_equal(few, plain.fit(told, z).predict(told))


def test_lightgbm_is_its_own_estimator_on_the_same_inputs(examples):
    lightgbm = pytest.importorskip("lightgbm")
    X, z, _, task = examples
    params = {"n_estimators": 8, "num_leaves": 4, "min_child_samples": 3}
    found = resolve("Pooled(LGBMRegressor)")(task_feature="category", **params)
    own = {"min_data_per_group": 3, "min_data_in_bin": 1, "n_jobs": 1, "verbose": -1}
    told = np.column_stack([X, task])
    plain = lightgbm.LGBMRegressor(**params, **own)
    expected = plain.fit(told, z, categorical_feature=[4]).booster_.predict(told)
    found = found.fit(X, z, task).predict(X, task)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("wrapper", ["PerTask", "Pooled"])
@pytest.mark.parametrize("package", ["sklearn", "lightgbm"])
def test_scores_of_labels(wrapper, package, examples):
    pytest.importorskip(package)
    X, _, y, task = examples
    y = np.where(task == 0, 1.0, y)
    name = f"{wrapper}(LGBMClassifier)"
    small = {"min_child_samples": 3}
    if package == "sklearn":
        name = FORESTS.format(wrapper, "Classifier")
        small = {"n_estimators": 9, "random_state": 3}
    method = resolve(name)(**small)
    assert is_classifier(method)
    scores = method.fit(X, y, task).decision_function(X, task)
    assert scores.shape == y.shape
    np.testing.assert_array_equal(np.where(scores > 0, 1, -1), method.predict(X, task))
    if wrapper == "PerTask":  # a task of one class is of this class
        assert (scores[task == 0] > 0).all()
    elif package == "sklearn":
        told = np.hstack([X, np.eye(3)[task]])
        plain = RandomForestClassifier(**small).fit(told, y).predict_proba(told)
        np.testing.assert_allclose(scores, plain[:, 1] - 0.5)


@pytest.mark.parametrize("label", [-1.0, 1.0])
@pytest.mark.parametrize("wrapper", ["PerTask", "Pooled"])
@pytest.mark.parametrize(
    "name", ["sklearn.ensemble:RandomForestClassifier", "LGBMClassifier"]
)
def test_labels_that_are_all_the_same_are_predicted(wrapper, name, label, examples):
    if name.startswith("LGBM"):
        pytest.importorskip("lightgbm")
    X, *_, task = examples
    method = resolve(f"{wrapper}({name})")().fit(X, np.full(90, label), task)
    assert (method.decision_function(X, task) * label > 0).all()


def test_parameters_are_those_of_the_estimator_and_of_the_wrapper(examples):
    X, z, _, task = examples
    cls = resolve(FORESTS.format("Pooled", "Regressor"))
    copy = clone(cls(n_estimators=5)).set_params(random_state=3, task_feature=None)
    params = copy.get_params()
    assert params.keys() >= {"n_estimators", "max_features", "task_feature"}
    assert not params.keys() & {"estimator", "unseen", "alone"}
    assert copy.fit(X, z, task).estimator_.get_params()["n_estimators"] == 5
    assert not hasattr(copy, "decision_function")
    with pytest.raises(TypeError, match="n_tree"):
        cls(n_tree=5)
    with pytest.raises(ValueError, match="'max_features' parameter"):
        cls(max_features=1.5)._check_params()
    # LightGBM itself takes any keyword.
    with pytest.raises(TypeError, match="num_leafs"):
        resolve("PerTask(LGBMClassifier)")(num_leafs=3)


def test_a_category_needs_dense_inputs():
    method = resolve(FORESTS.format("Pooled", "Classifier"))
    assert get_tags(method()).input_tags.sparse
    assert not get_tags(method(task_feature="category")).input_tags.sparse
