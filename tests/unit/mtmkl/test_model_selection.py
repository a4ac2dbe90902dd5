"""Folds within tasks, and methods inside scikit-learn's Pipeline and GridSearchCV."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.metrics import accuracy_score, mean_squared_error, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mtmkl.methods import (
    IndependentRidgeRegressor,
    IndependentSVMClassifier,
)
from mtmkl.model_selection import TaskColumn, TaskKFold, TaskScorer, route_tasks


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    task = rng.permutation(np.repeat(["a", "b", "c"], [2, 7, 11]))
    X = rng.standard_normal((20, 2))
    y = X[:, 0] * (1 + (task == "b")) + 0.1 * rng.standard_normal(20)
    return X, y, task


@pytest.mark.parametrize("shuffle", [True, False])
def test_folds_are_a_partition_even_within_tasks(data, shuffle):
    X, y, task = data
    folds = TaskKFold(4, shuffle=shuffle, random_state=0 if shuffle else None)
    assert folds.get_n_splits() == 4
    tests = []
    for train, test in folds.split(X, y, task):
        assert np.intersect1d(train, test).size == 0
        assert train.size + test.size == 20
        assert set(task[train]) == {"a", "b", "c"}
        tests.append(test)
    np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.arange(20))
    for label, n in (("a", 2), ("b", 7), ("c", 11)):
        counts = [np.sum(task[test] == label) for test in tests]
        assert max(counts) - min(counts) <= 1
        assert sum(counts) == n
    assert max(map(len, tests)) - min(map(len, tests)) <= 1


def test_same_seed_same_folds(data):
    X, y, task = data
    first, again, other = (
        [test.tolist() for _, test in TaskKFold(3, random_state=s).split(X, y, task)]
        for s in (0, 0, 1)
    )
    assert first == again != other


def test_without_groups_all_are_one_task(data):
    X, y, _ = data
    assert [len(test) for _, test in TaskKFold(4).split(X, y)] == [5, 5, 5, 5]


def test_bad_input(data):
    X, y, _ = data
    for n_splits in (1, 2.0, "3", None):
        with pytest.raises(ValueError, match="n_splits must be a whole number of at"):
            TaskKFold(n_splits)
    with pytest.raises(ValueError, match=r"task .*7.* has one sample"):
        list(TaskKFold(2).split(X, y, np.r_[np.zeros(19), 7]))
    with pytest.raises(ValueError, match="2 samples are fewer than 3 folds"):
        list(TaskKFold(3).split(X[:2], y[:2], [0, 0]))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([0, 1] * 9, r"inconsistent numbers of samples: \[20, 20, 18\]"),
        (np.zeros((20, 2)), r"shape \(20,\), got \(20, 2\)"),
        ([None] * 20, "groups must hold a task .* row 0, from 0, has None"),
        (["a", 1] * 10, "groups holds strings and other labels"),
        ([date(2020, 1, 1), 1] * 10, "groups holds labels without an order"),
    ],
)
def test_groups_that_are_no_tasks_are_refused(data, groups, message):
    X, y, _ = data
    with pytest.raises(ValueError, match=message):
        list(TaskKFold(2).split(X, y, groups))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        list(TaskKFold(2).split(X, y[:-1], groups))


def test_folds_are_those_of_the_labels_in_any_form(data):
    X, _, task = data
    forms = [task, list(task), task[:, None], pd.Categorical(task, list("abcd"))]
    first, *others = (
        [test.tolist() for _, test in TaskKFold(3, random_state=0).split(X, groups=g)]
        for g in forms
    )
    assert others == [first] * 3


def test_routing_leaves_the_given_estimator_alone(data):
    X, y, task = data
    method = IndependentRidgeRegressor(gamma=3.0).fit(X, y, task)
    routed = route_tasks(method)
    assert routed.get_params() == method.get_params()
    assert not hasattr(routed, "coef_")
    assert "task=True" not in str(method.get_metadata_routing())
    for name in ("fit", "predict", "score"):
        requests = getattr(routed.get_metadata_routing(), name).requests
        assert requests["task"] is True


def test_a_routed_search_is_routed_within(data):
    X, y, task = data
    search = GridSearchCV(
        make_pipeline(StandardScaler(), IndependentRidgeRegressor()),
        {"independentridgeregressor__gamma": [0.1, 1e4]},
        cv=TaskKFold(3, random_state=0),
    )
    with config_context(enable_metadata_routing=True):
        routed = route_tasks(search).fit(X, y, task=task, groups=task)
    assert routed.best_params_ == {"independentridgeregressor__gamma": 0.1}


def test_nothing_to_route_is_an_error():
    with pytest.raises(ValueError, match=r"nothing in Pipeline.* takes task: give"):
        route_tasks(make_pipeline(StandardScaler()))


@pytest.mark.parametrize("prefix", ["", "independentridgeregressor__"])
def test_a_search_without_routing_is_told_the_remedy(data, prefix):
    X, y, task = data
    method = IndependentRidgeRegressor()
    model = make_pipeline(StandardScaler(), method) if prefix else method
    grid = {f"{prefix}gamma": [1.0, 2.0, 3.0]}
    search = GridSearchCV(model, grid, cv=TaskKFold(4))
    with pytest.raises(ValueError, match=r"(?s)12 fits failed.*take .*PathSearchCV"):
        search.fit(X, y, **{f"{prefix}task": task}, groups=task)


def test_searches_of_one_task_need_no_routing(data):
    X, y, _ = data
    search = GridSearchCV(IndependentRidgeRegressor(), {"gamma": [0.1, 1e4]}, cv=3)
    assert search.fit(X, y).best_params_ == {"gamma": 0.1}
    assert search.fit(X, y, task=np.ones(20, int)).best_params_ == {"gamma": 0.1}


@pytest.mark.parametrize(("count", "more"), [(20, ";"), (21, " and 1 more;")])
def test_twenty_unseen_tasks_are_named(count, more):
    X = np.column_stack([np.zeros(4), np.arange(4.0)])
    wrapped = TaskColumn(IndependentRidgeRegressor(), column=0).fit(X, X[:, 1])
    names = np.arange(1.0, count + 1)
    with pytest.raises(ValueError, match=rf"not in training: 1\.0, .*20\.0{more}"):
        wrapped.predict(np.column_stack([names, names]))


def test_a_task_scorer_is_the_mean_over_tasks(data):
    X, y, task = data
    method = IndependentRidgeRegressor(gamma=1.0).fit(X, y, task)
    scorer = TaskScorer(mean_squared_error)
    predicted = method.predict(X, task)
    errors = [np.mean((y - predicted)[task == name] ** 2) for name in np.unique(task)]
    assert scorer(method, X, y, task=task) == pytest.approx(np.mean(errors))
    alone = IndependentRidgeRegressor(gamma=1.0).fit(X, y)
    expected = np.mean((y - alone.predict(X)) ** 2)
    assert scorer(alone, X, y) == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_a_task_without_a_value_does_not_count(data):
    X, y, task = data
    sign = np.where(y > 0, 1, -1)
    sign[task == "a"] = 1
    method = IndependentSVMClassifier(C=1.0).fit(X, sign, task)
    scorer = TaskScorer(roc_auc_score, response="decision_function")
    scores = method.decision_function(X, task)
    areas = [
        roc_auc_score(sign[task == name], scores[task == name]) for name in ("b", "c")
    ]
    assert scorer(method, X, sign, task=task) == pytest.approx(np.mean(areas))
    only = task == "a"
    assert np.isnan(scorer(method, X[only], sign[only], task=task[only]))


def test_a_task_scorer_refuses_another_response(data):
    X, y, task = data
    with pytest.raises(ValueError, match=r"response must be .* got 'transform'"):
        TaskScorer(mean_squared_error, response="transform")(None, X, y, task=task)
    with pytest.raises(TypeError, match="positional"):  # where scorers have weights
        TaskScorer(mean_squared_error)(None, X, y, task)
    alone = IndependentRidgeRegressor().fit(X, y)
    with pytest.raises(ValueError, match=r"numbers of samples: \[20, 19\]"):
        TaskScorer(mean_squared_error)(alone, X, y[1:])


@pytest.mark.parametrize(
    ("metric", "response"),
    [(accuracy_score, "predict"), (roc_auc_score, "decision_function")],
)
def test_grid_search_by_a_task_scorer(data, metric, response):
    X, y, task = data
    sign = np.where(y > 0, 1, -1)
    keep = task != "a"  # too few to be in every fold with both labels
    X, sign, task = X[keep], sign[keep], task[keep]
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            route_tasks(make_pipeline(StandardScaler(), IndependentSVMClassifier())),
            {"independentsvmclassifier__C": [0.01, 1.0]},
            cv=TaskKFold(2, random_state=0),
            scoring=TaskScorer(metric, response=response),
            error_score="raise",
        ).fit(X, sign, task=task, groups=task)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
