"""Tasks as a column of X, in the tools of scikit-learn that know nothing of tasks."""

import datetime

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import has_fit_parameter

from mtmkl.methods import (
    IndependentRidgeRegressor,
    IndependentSVMClassifier,
    MultiTaskMKLClassifier,
)
from mtmkl.model_selection import TaskColumn, TaskKFold
from mtmkl.wrappers import PerTask

N = 60
SCHOOL = np.repeat(["athens", "rome", "paris"], 20)  # in order, and not sorted
METHODS = {
    "regressor": IndependentRidgeRegressor(gamma=0.1),
    "classifier": IndependentSVMClassifier(C=1.0, kernels="linear"),
}
GRIDS = {
    "regressor": {"estimator__gamma": [1e4, 0.1]},
    "classifier": {"estimator__C": [1e-6, 1.0]},
}
both = pytest.mark.parametrize("kind", list(METHODS))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((N, 2))
    X = pd.DataFrame({"a": inputs[:, 0], "school": SCHOOL, "b": inputs[:, 1]})
    # The third task's slope has another sign: pooled, its samples are wrong.
    z = 2 * inputs[:, 0] * np.where(SCHOOL == "paris", -1, 1) + 0.1 * inputs[:, 1]
    return X, {"regressor": z, "classifier": np.where(z > 0, "up", "down")}


@pytest.fixture
def wrapped(kind):
    return TaskColumn(METHODS[kind], column="school")


@pytest.fixture
def direct(kind, data):
    X, y = data
    return clone(METHODS[kind]).fit(X[["a", "b"]], y[kind], task=X["school"])


@pytest.fixture
def y(kind, data):
    return data[1][kind]


def within_tasks(X):
    return TaskKFold(3, random_state=0).split(X, groups=X["school"])


@both
def test_it_predicts_what_the_estimator_predicts(kind, data, y, wrapped, direct):
    X, inputs, task = data[0], data[0][["a", "b"]], data[0]["school"]
    model = wrapped.fit(X, y)
    np.testing.assert_array_equal(model.predict(X), direct.predict(inputs, task))
    assert model.score(X, y) == direct.score(inputs, y, task=task) > 0.9
    weight = np.arange(N)
    found = model.score(X, y, sample_weight=weight)
    assert found == direct.score(inputs, y, task=task, sample_weight=weight)
    assert is_classifier(model) == hasattr(model, "decision_function")
    assert is_regressor(model) == (not hasattr(model, "classes_"))
    if kind == "classifier":
        np.testing.assert_array_equal(model.classes_, direct.classes_)
        found = model.decision_function(X)
        np.testing.assert_array_equal(found, direct.decision_function(inputs, task))
    assert list(model.tasks_) == ["athens", "paris", "rome"]
    assert list(model.feature_names_in_) == ["a", "school", "b"]
    assert model.n_features_in_ == 3
    assert list(model.estimator_.feature_names_in_) == ["a", "b"]


@both
@pytest.mark.parametrize("column", [1, -2])
@pytest.mark.parametrize(
    "make", [np.asarray, lambda X: X.to_numpy().tolist(), pd.DataFrame]
)
def test_a_column_may_be_a_position(kind, data, y, direct, column, make):
    X = data[0]
    table = make(X)
    model = TaskColumn(METHODS[kind], column=column).fit(table, y)
    expected = direct.predict(X[["a", "b"]], X["school"])
    np.testing.assert_array_equal(model.predict(table), expected)


def test_sparse_inputs(data):
    X, y = data
    task = np.repeat([0, 1, 2], 20)
    inputs = X[["a", "b"]].to_numpy()
    table = sparse.csr_array(np.column_stack([task, inputs]))
    model = TaskColumn(METHODS["classifier"], column=0).fit(table, y["classifier"])
    direct = clone(METHODS["classifier"]).fit(
        sparse.csr_array(inputs), y["classifier"], task
    )
    np.testing.assert_array_equal(
        model.decision_function(table),
        direct.decision_function(sparse.csr_array(inputs), task),
    )


LABELS = {
    "integers": [7, -3, 1000],
    "whole floats": [7.0, -3.0, 1000.0],
    "fractions": [0.5, 1.0, 2.5],
    "truth values": [True, False, True],
    "dates": [datetime.date(2020, 1, day) for day in (3, 1, 2)],
    "time stamps": list(pd.to_datetime(["2020-01-03", "2020-01-01", "2020-01-02"])),
    "tuples": [(1, "a"), (1, "b"), (0, "a")],
}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("dtype", [None, "category", object])
def test_labels_of_any_type(data, labels, dtype):
    X, y = data
    number = np.repeat([0, 1, 2], 20)
    if labels == "truth values":
        number %= 2
    column = pd.Series([LABELS[labels][k] for k in number], dtype=dtype)
    table = X.assign(school=column)
    model = TaskColumn(METHODS["regressor"], column="school").fit(table, y["regressor"])
    direct = clone(METHODS["regressor"]).fit(X[["a", "b"]], y["regressor"], number)
    np.testing.assert_allclose(
        model.predict(table), direct.predict(X[["a", "b"]], number)
    )
    # A part has labels of one task alone, and they mean the same.
    one = table.iloc[20:40]
    np.testing.assert_allclose(model.predict(one), model.predict(table)[20:40])
    whole = labels in ("integers", "whole floats", "truth values")
    assert model.tasks_.dtype.kind == ("i" if whole else "U")


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA, pd.NaT, np.inf])
def test_a_missing_label_is_named(data, missing):
    X, y = data
    school = X["school"].astype(object)
    school[17] = missing
    model = TaskColumn(METHODS["regressor"], column="school")
    message = "column 'school' of X must hold a task for every example.* row 17, from 0"
    with pytest.raises(ValueError, match=message):
        model.fit(X.assign(school=school), y["regressor"])
    model.fit(X, y["regressor"])
    with pytest.raises(ValueError, match=message):
        model.predict(X.assign(school=school))


def test_refusals(data):
    X, y = data[0], data[1]["regressor"]
    mixed = X.assign(school=X["school"].astype(object).replace("rome", 3))
    for table, params, message in (
        (X, {"column": "shcool"}, "no column 'shcool'; columns: a, school, b"),
        (X.to_numpy(), {}, "no column 'school'; X has no names"),
        *((X, {"column": k}, f"no column {k}: n_features = 3")
          for k in (3, -4, None, 1.0)),
        (X[["school"]], {}, r"X has 1 feature\(s\), the tasks"),
        (X, {"unseen": "pool"}, "must be 'error' or 'mean', got 'pool'"),
        (mixed, {}, "column 'school' of X holds strings and"),
        (X, {"estimator": Ridge()}, "nothing in Ridge.* takes task"),
    ):  # fmt: skip
        usual = {"estimator": METHODS["regressor"], "column": "school"}
        with pytest.raises(ValueError, match=message):
            TaskColumn(**usual | params).fit(table, y)


@both
def test_weights_and_tasks_are_refused_by_name(kind, data, y, wrapped):
    for name in ("sample_weight", "task"):
        with pytest.raises(TypeError, match=f"got {name}: .* task is column 'school'"):
            wrapped.fit(data[0], y, **{name: np.ones(N)})
    assert not has_fit_parameter(wrapped, "sample_weight")


def test_probabilities_where_the_estimator_has_them(data):
    X, y = data
    hinge = TaskColumn(
        MultiTaskMKLClassifier([("linear", "each_task")]), column="school"
    )
    logistic = clone(hinge).set_params(estimator__loss="logistic")
    logistic.fit(X, y["classifier"])
    expected = logistic.estimator_.predict_proba(X[["a", "b"]], task=X["school"])
    np.testing.assert_array_equal(logistic.predict_proba(X), expected)
    assert not hasattr(hinge, "predict_proba")
    with pytest.raises(AttributeError) as refused:
        hinge.fit(X, y["classifier"]).predict_proba(X)
    assert "by CalibratedClassifierCV(TaskColumn(" in str(refused.value.__cause__)
    with pytest.raises(AttributeError) as refused:
        TaskColumn(METHODS["regressor"], column="school").predict_proba(X)
    assert (
        str(refused.value.__cause__) == "IndependentRidgeRegressor has no predict_proba"
    )


@both
def test_an_unseen_task_is_an_error_with_the_known_ones_and_the_remedies(
    kind, data, y, wrapped
):
    X = data[0]
    wrapped.fit(X, y)
    some = X.assign(school=["oslo"] * 5 + ["rome"] * (N - 5))
    with pytest.raises(ValueError, match="not in training") as refused:
        wrapped.predict(some)
    message = str(refused.value)
    assert "column 'school' of X holds tasks that were not in training: oslo" in message
    assert "known tasks: athens, paris, rome." in message
    for remedy in ("StratifiedKFold", "shuffle=True", "TaskKFold", "unseen='mean'"):
        assert remedy in message


@both
@pytest.mark.parametrize("n_new", [5, N])
def test_an_unseen_task_is_pooled(kind, data, y, wrapped, direct, n_new):
    X, inputs = data[0], data[0][["a", "b"]]
    new = np.arange(N) < n_new
    some = X.assign(school=np.where(new, "oslo", SCHOOL))
    model = wrapped.set_params(unseen="mean").fit(X, y)
    response = "decision_function" if kind == "classifier" else "predict"
    ask = getattr(direct, response)
    mean = np.mean([ask(inputs, np.repeat(t, N)) for t in direct.tasks_], axis=0)
    expected = np.where(new, mean, ask(inputs, SCHOOL))
    np.testing.assert_allclose(getattr(model, response)(some), expected)
    if kind == "classifier":
        labels = np.where(expected > 0, "up", "down")
        np.testing.assert_array_equal(model.predict(some), labels)
        assert (labels != direct.predict(inputs, SCHOOL)).any() == new[-1]
    # Where all tasks are known, nothing is pooled.
    np.testing.assert_array_equal(model.predict(X), direct.predict(inputs, SCHOOL))


@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), RandomForestClassifier(5, random_state=0)]
)
def test_an_unseen_task_has_the_class_of_the_largest_mean(data, estimator):
    X, inputs = data[0], data[0][["a", "b"]]
    y = np.digitize(X["a"], [-0.5, 0.5])
    model = TaskColumn(PerTask(estimator), column="school", unseen="mean").fit(X, y)
    direct = PerTask(estimator).fit(inputs, y, SCHOOL)
    scored = isinstance(estimator, LogisticRegression)
    ask = direct.decision_function if scored else direct.predict_proba
    mean = np.mean([ask(inputs, np.repeat(t, N)) for t in direct.tasks_], axis=0)
    new = np.arange(N) < 5
    expected = np.where(new, mean.argmax(axis=1), direct.predict(inputs, SCHOOL))
    some = X.assign(school=np.where(new, "oslo", SCHOOL))
    np.testing.assert_array_equal(model.predict(some), expected)
    np.testing.assert_array_equal(model.predict(X)[5:], expected[5:])


@both
def test_a_search_that_holds_out_tasks_says_so(kind, data, y, wrapped):
    X, ordered = data[0], KFold(3)
    search = GridSearchCV(wrapped, GRIDS[kind], cv=ordered, error_score="raise")
    with pytest.raises(ValueError, match=r"not in training: athens; .*shuffle=True"):
        search.fit(X, y)
    search.set_params(estimator__unseen="mean").fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    for folds in (KFold(3, shuffle=True, random_state=0), StratifiedKFold(3)):
        search = GridSearchCV(wrapped, GRIDS[kind], cv=folds.split(X, SCHOOL))
        assert search.fit(X, y).best_score_ > 0.7


def test_calibration_gives_probabilities(data):
    X, y = data[0], data[1]["classifier"]
    model = TaskColumn(METHODS["classifier"], column="school")
    calibrated = CalibratedClassifierCV(model, cv=list(within_tasks(X))).fit(X, y)
    probabilities = calibrated.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert np.mean(probabilities[np.arange(N), (y == "up").astype(int)]) > 0.7
    # What cannot weigh samples is fitted without weights, and the user is told.
    with pytest.warns(UserWarning, match="sample weights will only be used for the"):
        calibrated.fit(X, y, sample_weight=np.ones(N))


def test_a_pipeline_within_sees_the_other_columns_by_name(data):
    X, y = data[0].assign(sex=np.resize(["f", "m"], N)), data[1]["classifier"]
    hot = ColumnTransformer(
        [("sex", OneHotEncoder(), ["sex"])], remainder="passthrough"
    )
    steps = make_pipeline(hot, StandardScaler(), METHODS["classifier"])
    model = TaskColumn(steps, column="school").fit(X, y)
    inputs = StandardScaler().fit_transform(hot.fit_transform(X[["a", "b", "sex"]]))
    direct = clone(METHODS["classifier"]).fit(inputs, y, SCHOOL)
    found = model.decision_function(X)
    np.testing.assert_allclose(found, direct.decision_function(inputs, SCHOOL))
    grid = {"estimator__independentsvmclassifier__C": [1e-6, 1.0]}
    search = GridSearchCV(model, grid, cv=within_tasks(X), error_score="raise")
    assert search.fit(X, y).best_params_ == dict.fromkeys(grid, 1.0)


ALONE = "every sample of the check is a task of its own, and later ones are new"
CHECKED = {
    "mean": {},
    "error": {"check_fit_idempotent": ALONE, "check_classifiers_one_label": ALONE},
}


@both
@pytest.mark.parametrize("unseen", list(CHECKED))
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks(kind, unseen):
    # Column 0 of these checks holds random numbers.
    model = TaskColumn(METHODS[kind], column=0, unseen=unseen)
    check_estimator(model, expected_failed_checks=CHECKED[unseen], on_skip=None)
