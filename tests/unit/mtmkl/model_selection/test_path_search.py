"""Grid search along paths, against scikit-learn's search of separate fits."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, mean_absolute_error, r2_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from mtmkl.datasets import linear_synthetic, toy_tree
from mtmkl.methods import IndependentSVMClassifier, MultiTaskFeatureLearningRegressor
from mtmkl.model_selection import PathSearchCV, TaskKFold, TaskScorer, route_tasks
from mtmkl.wrappers import PerTask

GAMMAS = [1e-3, 1e-1, 10.0]


@pytest.fixture(scope="module")
def numbers():
    return linear_synthetic(n_irrelevant=1, n_tasks=6, n_train=10, n_test=5)


@pytest.fixture(scope="module")
def labels():
    return toy_tree(spread=4.0, dims=5, depth=2, flips=1, n_test=5, n_validation=1)


LEARNING = MultiTaskFeatureLearningRegressor()
both = pytest.mark.parametrize(
    ("model", "name"),
    [
        (LEARNING, "gamma"),
        (
            make_pipeline(StandardScaler(), LEARNING),
            "multitaskfeaturelearningregressor__gamma",
        ),
    ],
    ids=["alone", "in a pipeline"],
)


@both
def test_scores_are_those_of_separate_fits(numbers, model, name):
    data = numbers
    found = PathSearchCV(model, {name: GAMMAS}).fit(data.X, data.y, data.task)
    with config_context(enable_metadata_routing=True):
        separate = GridSearchCV(
            route_tasks(model), {name: GAMMAS}, cv=TaskKFold(5, shuffle=False)
        ).fit(data.X, data.y, task=data.task, groups=data.task)
    assert found.best_params_ == separate.best_params_
    assert found.best_index_ == separate.best_index_
    assert found.n_splits_ == separate.n_splits_ == 5
    for key, values in found.cv_results_.items():
        if "score" in key:
            np.testing.assert_allclose(values, separate.cv_results_[key], atol=1e-5)
    assert set(found.cv_results_) >= set(separate.cv_results_) - {
        "mean_score_time",
        "std_score_time",
    }
    np.testing.assert_allclose(
        found.predict(data.X, data.task),
        separate.best_estimator_.predict(data.X, task=data.task),
        atol=1e-4,
    )
    assert found.score(data.X, data.y, task=data.task) > 0.9


@both
def test_targets_in_columns(numbers, model, name):
    X = numbers.X[:30]
    Y = pd.DataFrame(X[:, :2] @ [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]], columns=[*"uvw"])
    found = PathSearchCV(model, {name: GAMMAS}, cv=KFold(3)).fit(X, Y)
    separate = GridSearchCV(model, {name: GAMMAS}, cv=KFold(3)).fit(X, Y)
    for key in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(
            found.cv_results_[key], separate.cv_results_[key], atol=1e-5
        )
    assert found.predict(X).shape == (30, 3)
    assert found.score(X, Y) == pytest.approx(separate.score(X, Y))
    # R² of columns is that of all their samples, as with a task for each.
    long = X[np.tile(np.arange(30), 3)], Y.to_numpy().ravel(order="F")
    task = np.repeat([0, 1, 2], 30)
    pooled = separate.best_estimator_.predict(X).ravel(order="F")
    assert found.score(X, Y) == pytest.approx(r2_score(long[1], pooled), rel=1e-6)
    folds = [
        tuple(np.concatenate([rows + 30 * t for t in range(3)]) for rows in fold)
        for fold in KFold(3).split(X)
    ]
    in_long_form = clone(found).set_params(cv=folds).fit(*long, task)
    np.testing.assert_allclose(
        found.cv_results_["mean_test_score"],
        in_long_form.cv_results_["mean_test_score"],
        atol=1e-5,
    )


class CentredByTask(BaseEstimator):
    def fit(self, X, y=None, task=None):
        self.means_ = {t: X[task == t].mean(axis=0) for t in np.unique(task)}
        return self

    def fit_transform(self, X, y=None, task=None):
        return self.fit(X, y, task).transform(X, task)

    def transform(self, X, task=None):
        return X - np.array([self.means_[t] for t in task])


def test_steps_before_the_last_are_given_the_tasks_that_they_request(numbers):
    model = make_pipeline(StandardScaler(), CentredByTask(), LEARNING)
    grid = {"multitaskfeaturelearningregressor__gamma": GAMMAS}
    X = numbers.X + numbers.task[:, None]
    found = PathSearchCV(model, grid).fit(X, numbers.y, numbers.task)
    with config_context(enable_metadata_routing=True):
        folds = TaskKFold(5, shuffle=False)
        separate = GridSearchCV(route_tasks(model), grid, cv=folds)
        separate.fit(X, numbers.y, task=numbers.task, groups=numbers.task)
    np.testing.assert_allclose(
        found.cv_results_["mean_test_score"],
        separate.cv_results_["mean_test_score"],
        atol=1e-5,
    )


def test_a_pipeline_of_one_step_is_the_step(numbers):
    method = MultiTaskFeatureLearningRegressor()
    one = make_pipeline(method)
    grid = {"multitaskfeaturelearningregressor__gamma": GAMMAS}
    data = numbers.X, numbers.y, numbers.task
    found = PathSearchCV(one, grid).fit(*data).cv_results_["mean_test_score"]
    alone = PathSearchCV(method, {"gamma": GAMMAS}).fit(*data)
    np.testing.assert_array_equal(found, alone.cv_results_["mean_test_score"])


def test_points_of_a_path_are_fitted_together(numbers, monkeypatch):
    asked = []
    own = MultiTaskFeatureLearningRegressor.fit_path

    def fit_path(self, *args, grid):
        asked.append(len(grid))
        return own(self, *args, grid=grid)

    monkeypatch.setattr(MultiTaskFeatureLearningRegressor, "fit_path", fit_path)
    search = PathSearchCV(LEARNING, {"gamma": GAMMAS}, cv=3)
    search.fit(numbers.X, numbers.y, numbers.task)
    assert asked == [3, 3, 3]


@pytest.mark.parametrize(
    "scoring", ["roc_auc", TaskScorer(roc_auc_score, response="decision_function")]
)
def test_scorers_reach_the_tasks(labels, scoring):
    """Names of scikit-learn pool the samples of all tasks, a TaskScorer does not."""
    folds = list(TaskKFold(3, shuffle=False).split(labels.X, groups=labels.task))
    search = PathSearchCV(
        IndependentSVMClassifier(), {"C": [0.1, 1.0]}, scoring=scoring, cv=3
    )
    search.fit(labels.X, labels.y, labels.task)
    model = IndependentSVMClassifier(C=1.0)
    for k, (train, test) in enumerate(folds):
        X, y, task = labels.X[train], labels.y[train], labels.task[train]
        values = model.fit(X, y, task).decision_function(
            labels.X[test], labels.task[test]
        )
        of_task = [
            roc_auc_score(labels.y[test][rows], values[rows])
            for rows in (labels.task[test] == t for t in range(4))
        ]
        pooled = roc_auc_score(labels.y[test], values)
        expected = pooled if scoring == "roc_auc" else np.mean(of_task)
        assert search.cv_results_[f"split{k}_test_score"][1] == pytest.approx(expected)


def test_tasks_that_were_left_out(numbers):
    X, y, task = numbers.X, numbers.y, numbers.task
    scorer = make_scorer(mean_absolute_error, greater_is_better=False)
    model = PerTask(Ridge(alpha=1.0), unseen="mean")
    search = PathSearchCV(
        model, {"estimator__alpha": [1.0]}, scoring=scorer, cv=GroupKFold(3)
    ).fit(X, y, task)
    train, test = next(GroupKFold(3).split(X, groups=task))
    predicted = model.fit(X[train], y[train], task[train]).predict(X[test], task[test])
    (found,) = search.cv_results_["split0_test_score"]
    assert -found == pytest.approx(mean_absolute_error(y[test], predicted))


def test_a_data_frame_in_parallel(numbers):
    X = pd.DataFrame(numbers.X, columns=list("abcdef"))
    searches = [
        PathSearchCV(LEARNING, {"gamma": GAMMAS}, n_jobs=n_jobs) for n_jobs in (None, 2)
    ]
    with parallel_config("threading"):
        one, two = (s.fit(X, numbers.y, numbers.task).cv_results_ for s in searches)
    np.testing.assert_allclose(one["mean_test_score"], two["mean_test_score"], 1e-12)
    assert list(searches[0].best_estimator_.feature_names_in_) == list("abcdef")


def test_without_refit_there_is_no_estimator(numbers):
    search = PathSearchCV(LEARNING, {"gamma": GAMMAS})
    search.fit(numbers.X, numbers.y, numbers.task).set_params(refit=False)
    search.fit(numbers.X, numbers.y, numbers.task)
    check_is_fitted(search)
    assert search.best_params_["gamma"] in GAMMAS
    with pytest.raises(AttributeError, match="no best_estimator_: fit it with refit"):
        search.predict(numbers.X, numbers.task)


def test_what_is_refused(numbers, labels):
    X, y, task = numbers.X, numbers.y, numbers.task
    for method, grid, message in (
        (LEARNING, {"gamma": []}, "Parameter grid for parameter 'gamma'"),
        (LEARNING, {"gamma": [-1.0]}, "gamma must be positive"),
        (LEARNING, {"gama": [1.0]}, "Invalid parameter 'gama'"),
        (Ridge(), {"alpha": [1.0]}, "nothing in Ridge"),
    ):
        with pytest.raises(ValueError, match=message):
            PathSearchCV(method, grid).fit(X, y, task)
    for options, message in (
        ({"cv": 2.5}, r"`cv` as an integer, .* Got 2\.5"),
        ({"scoring": ["accuracy"]}, r"'scoring' .* Got \['accuracy'\]"),
    ):
        with pytest.raises(ValueError, match=message):
            PathSearchCV(LEARNING, {"gamma": GAMMAS}, **options).fit(X, y, task)
    folds = [(np.arange(len(labels.y)), np.flatnonzero(labels.y > 0))]
    with (
        pytest.raises(ValueError, match="no point of the grid has a score"),
        pytest.warns(match="Only one class"),
    ):
        PathSearchCV(
            IndependentSVMClassifier(), {"C": [1.0]}, scoring="roc_auc", cv=folds
        ).fit(labels.X, labels.y, labels.task)
