"""Any estimator for each task, or for all with the task as a feature."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from mtmkl.model_selection import PathSearchCV, TaskColumn
from mtmkl.wrappers import PerTask, Pooled


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    X, task = rng.normal(size=(60, 3)), np.repeat(["rome", "athens", "oslo"], 20)
    shift = {"rome": 0.0, "athens": 2.0, "oslo": -2.0}
    y = X[:, 0] + np.array([shift[t] for t in task]) + 0.1 * rng.normal(size=60)
    return X, y, task


def test_each_task_has_its_own_estimator(samples):
    X, y, task = samples
    model = PerTask(Ridge()).fit(X, y, task)
    for name in model.tasks_:
        rows = task == name
        alone = Ridge().fit(X[rows], y[rows])
        np.testing.assert_array_equal(
            model.predict(X[rows], task[rows]), alone.predict(X[rows])
        )
    mixed = np.random.default_rng(1).permutation(60)
    np.testing.assert_array_equal(
        model.predict(X[mixed], task[mixed]), model.predict(X, task)[mixed]
    )
    assert model.score(X, y, task=task) > 0.9


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array, lambda X: pd.DataFrame(X, columns=[*"abc"])]
)
def test_dummies_of_tasks_are_further_features(samples, form):
    X, y, task = samples
    dummies = (task[:, None] == np.unique(task)).astype(float)
    columns = form(X)
    expected = Ridge().fit(np.hstack([X, dummies]), y).predict(np.hstack([X, dummies]))
    model = Pooled(Ridge()).fit(columns, y, task)
    np.testing.assert_allclose(model.predict(columns, task), expected, rtol=1e-10)
    # An unseen task is the mean of dummies, so that no task is preferred.
    mean = Pooled(LinearRegression(), unseen="mean").fit(X, y, task)
    of_tasks = [mean.predict(X, np.repeat(t, 60)) for t in mean.tasks_]
    np.testing.assert_allclose(
        mean.predict(X, np.repeat("bern", 60)), np.mean(of_tasks, axis=0)
    )


@pytest.mark.parametrize("feature", ["onehot", "category"])
def test_names_of_a_data_frame(samples, feature):
    X, y, task = samples
    model = Pooled(Ridge(), task_feature=feature)
    numbered = pd.DataFrame(X)
    np.testing.assert_allclose(
        model.fit(numbered, y, task).predict(numbered, task),
        model.fit(X, y, task).predict(X, task),
    )
    taken = pd.DataFrame(X, columns=["a", "task", "task_oslo"])
    with pytest.raises(ValueError, match=r"as the task's will be: task.*; rename"):
        model.fit(taken, y, task)


@pytest.mark.parametrize("frame", [False, True])
def test_a_category_tells_the_tasks_apart(samples, frame):
    X, y, task = samples
    X = pd.DataFrame(X, columns=list("abc")) if frame else X
    told = "from_dtype" if frame else [3]
    trees = HistGradientBoostingRegressor(
        categorical_features=told, max_iter=20, max_leaf_nodes=4
    )
    with_task = Pooled(trees, task_feature="category", unseen="mean").fit(X, y, task)
    without = Pooled(clone(trees).set_params(categorical_features=None),
                     task_feature=None).fit(X, y, task)  # fmt: skip
    errors = [
        np.mean((y - model.predict(X, task)) ** 2) for model in (with_task, without)
    ]
    assert errors[0] < 0.5 * errors[1]
    assert np.isfinite(with_task.predict(X, np.repeat("bern", 60))).all()


def test_without_a_task_feature_any_task_has_the_one_model(samples):
    X, y, task = samples
    model = Pooled(Ridge(), task_feature=None).fit(X, y, task)
    np.testing.assert_array_equal(
        model.predict(X, np.repeat("bern", 60)), Ridge().fit(X, y).predict(X)
    )


@pytest.mark.parametrize("estimator", [LogisticRegression(), RidgeClassifier(), SVC()])
def test_classes_of_all_tasks(samples, estimator):
    """One task lacks a class, one has a single class."""
    X, value, task = samples
    y = np.digitize(value, [-0.5, 0.5]) * 10
    y[task == "athens"] = 20
    y[(task == "oslo") & (y == 10)] = 0
    model = PerTask(estimator, unseen="mean").fit(X, y, task)
    assert is_classifier(model)
    assert list(model.classes_) == [0, 10, 20]
    assert (model.predict(X, task)[task == "athens"] == 20).all()
    for response in ("decision_function", "predict_proba"):
        if hasattr(model, response):
            values = getattr(model, response)(X, task)
            assert values.shape == (60, 3)
            best = model.classes_[values.argmax(axis=1)]
            assert np.mean(best == model.predict(X, task)) > 0.9
    unseen = model.predict(X, np.repeat("bern", 60))
    assert set(unseen) <= {0, 10, 20}


class Against(ClassifierMixin, BaseEstimator):
    """A classifier that is against all classes, and least against the first."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.tile(-2.0 - np.arange(self.classes_.size), (len(X), 1))

    def predict(self, X):
        return self.classes_[self.decision_function(X).argmax(axis=1)]


def test_a_class_that_a_task_lacks_is_its_last_choice(samples):
    X, _, task = samples
    y = np.arange(60) % 4
    y[(task == "oslo") & (y == 3)] = 0
    model = PerTask(Against(), unseen="mean").fit(X, y, task)
    values = model.decision_function(X, task)
    np.testing.assert_array_equal(values.argmax(axis=1), model.predict(X, task))
    assert (model.predict(X, np.repeat("bern", 60)) == 0).all()
    own = values[task == "oslo"]
    np.testing.assert_array_equal(own[:, 3], own.min(axis=1))


@pytest.mark.parametrize("n_classes", [3, 4])
def test_scores_of_pairs_of_classes_are_refused(samples, n_classes):
    X, _, task = samples
    y = np.arange(60) % n_classes
    model = PerTask(make_pipeline(SVC(decision_function_shape="ovo"))).fit(X, y, task)
    with pytest.raises(ValueError, match=f"each of its {n_classes} classes: .*'ovr'"):
        model.decision_function(X, task)


def test_two_classes_have_one_decision_value(samples):
    X, value, task = samples
    y = np.where(value > 0, "up", "down")
    y[task == "athens"] = "up"
    model = PerTask(LogisticRegression()).fit(X, y, task)
    values = model.decision_function(X, task)
    np.testing.assert_array_equal(
        np.where(values > 0, "up", "down"), model.predict(X, task)
    )
    assert (values[task == "athens"] > 0).all()


@pytest.mark.parametrize("wrapper", [PerTask, Pooled])
def test_what_is_refused(samples, wrapper):
    X, y, task = samples
    model = wrapper(Ridge()).fit(X, y, task)
    with pytest.raises(ValueError, match="not seen by fit: 'bern'; known: 'athens', '"):
        model.predict(X, np.repeat("bern", 60))
    with pytest.raises(ValueError, match="task is needed"):
        model.predict(X)
    with pytest.raises(ValueError, match="got 'pool'"):
        wrapper(Ridge(), unseen="pool").fit(X, y, task)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        wrapper(Ridge()).fit(X, y[1:], task)
    with pytest.raises(TypeError, match="positional arguments"):
        model.score(X, y, task)
    with pytest.raises(AttributeError, match="predict_proba"):
        _ = model.predict_proba


@pytest.mark.parametrize("wrap", [Pooled, lambda ridge: TaskColumn(ridge, column=0)])
def test_a_refit_that_fails_leaves_no_model_of_other_tasks(samples, wrap):
    X, y, task = samples
    model = wrap(Pooled(Ridge()) if wrap is not Pooled else Ridge())
    inputs = (X, y, task) if wrap is Pooled else (np.column_stack([task, X]), y)
    inner = "estimator__alpha" if wrap is Pooled else "estimator__estimator__alpha"
    model.fit(*inputs).set_params(**{inner: -1.0})
    with pytest.raises(ValueError, match="alpha"):
        model.fit(*inputs)
    with pytest.raises(AttributeError):
        model.predict(*inputs[::2])


def test_a_search_over_the_inner_estimator(samples):
    X, y, task = samples
    for wrapper in (PerTask(Ridge()), Pooled(Ridge())):
        search = PathSearchCV(wrapper, {"estimator__alpha": [1e-3, 1e3]})
        assert search.fit(X, y, task).best_params_ == {"estimator__alpha": 1e-3}
