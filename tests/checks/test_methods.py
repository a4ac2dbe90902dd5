"""One suite over every registered method: the contract that all of them keep."""

import pickle
from functools import cache, partial

import numpy as np
import pytest
from method_cases import case_of, path_of
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.estimator_checks import check_estimator

from mtmkl.methods import REGISTRY
from mtmkl.methods.med_metric import MEDMetric
from mtmkl_suite.methods import resolve

ESTIMATORS = {**REGISTRY, "MEDMetric": MEDMetric}

TASK_LABELS = {
    "odd integers": [-7, 1000, 3, 12],
    "strings": ["paris", "rome", "athens", "a longer name"],
}


def cases(is_wanted):
    """Return (class, small settings) of the wanted methods, by an id each."""
    return {
        f"{name}, {label}" if label else name: (cls, params)
        for name, cls in ESTIMATORS.items()
        if is_wanted(cls())
        for label, params in case_of(name).settings.items()
    }


EVERY = cases(lambda method: True)
CLASSIFIERS = cases(is_classifier)
REGRESSORS = cases(is_regressor)
WITH_TASKS = CLASSIFIERS | REGRESSORS


def make(name, **params):
    cls, fixed = EVERY[name]
    return cls(**{**fixed, **params})


def having(*names):
    """Return the methods with tasks that have one of these parameters."""
    return [n for n in WITH_TASKS if set(names) & make(n).get_params().keys()]


# What they sample depends on the order of the tasks.
SAMPLING = set(having("n_samples"))
# Coefficients of linear regressions are unique; of other methods, only values are.
LINEAR_REGRESSIONS = REGRESSORS.keys() - set(having("kernels"))

task_methods = pytest.mark.parametrize("name", list(WITH_TASKS))
classifiers = pytest.mark.parametrize("name", list(CLASSIFIERS))


def make_tight(name, **params):
    """Return the method with a gap so small that predictions can be compared."""
    if "tol" in make(name).get_params():
        params["tol"] = 1e-11 if name in LINEAR_REGRESSIONS else 1e-8
    return make(name, **params)


def path_points(name):
    return path_of(EVERY[name][0].__name__)


def samples(name):
    """Return four tasks of 7 to 15 samples in mixed order, and the method's outputs."""
    rng = np.random.default_rng(0)
    task = rng.permutation(np.repeat(np.arange(4), [7, 9, 12, 15]))
    X = rng.standard_normal((task.size, 3))
    W = rng.standard_normal((3, 1)) + 0.5 * rng.standard_normal((3, 4))
    y = np.einsum("ij,ji->i", X, W[:, task]) + 0.3 * rng.standard_normal(task.size)
    if name not in REGRESSORS:
        y = np.where(y > np.median(y), 1.0, -1.0)
        for t in range(4):
            y[np.flatnonzero(task == t)[:2]] = 1.0, -1.0
    return X, y, task


data = pytest.fixture(samples)


@cache
def fitted(name):
    """Return the method fitted on its samples; no test changes it."""
    return make(name).fit(*samples(name))


def values(estimator, X, task):
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X, task)
    return estimator.predict(X, task)


@pytest.mark.parametrize(
    "name", {cls: name for name, (cls, _) in EVERY.items()}.values()
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks(name):
    # Features of these checks include some on which no solver can do well.
    check_estimator(make(name), on_skip=None)


def test_classes_bear_their_names_and_document_their_parameters():
    for name, cls in ESTIMATORS.items():
        assert name == "MEDMetric" or resolve(name).__name__ == name
        assert [p for p in cls().get_params() if p not in cls.__doc__] == [], name


@task_methods
def test_labels_name_the_tasks_and_nothing_else(name, data):
    X, y, number = data
    expected = values(make_tight(name).fit(X, y, number), X, number)
    rtol, atol = (1e-4, 1e-5) if name in LINEAR_REGRESSIONS else (0, 2e-3)
    for labels in TASK_LABELS.values():
        task = np.array(labels)[number]
        named = make_tight(name).fit(X, y, task)
        np.testing.assert_array_equal(named.tasks_, np.unique(task))
        found = values(named, X, task)
        assert found.shape == y.shape
        assert found.dtype == np.float64
        assert np.all(np.isfinite(found))
        if name not in SAMPLING:
            np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


@task_methods
def test_coefficients_follow_the_order_of_tasks(name, data):
    (X, _, task), estimator = data, fitted(name)
    if not hasattr(estimator, "coef_"):
        assert {"kernel", "kernels", "terms"} & set(estimator.get_params())
        return
    assert estimator.coef_.shape == (3, 4)
    intercept = getattr(estimator, "intercept_", np.zeros(4))
    expected = np.einsum("ij,ji->i", X, estimator.coef_[:, task]) + intercept[task]
    np.testing.assert_allclose(values(estimator, X, task), expected, rtol=1e-9)


@task_methods
def test_subset_of_tasks_can_be_predicted_in_any_order(name, data):
    X, _, task = data
    rows = np.flatnonzero(task == 2)[::-1]
    expected = values(fitted(name), X, task)[rows]
    found = values(fitted(name), X[rows], task[rows])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@task_methods
def test_unseen_task_is_an_error_that_names_it(name, data):
    X, y, task = data
    estimator = make(name).fit(X, y, np.array(TASK_LABELS["strings"])[task])
    with pytest.raises(ValueError, match="not seen by fit: 'oslo'; known: '"):
        estimator.predict(X[:2], ["rome", "oslo"])
    with pytest.raises(ValueError, match=r"task is needed: .* 4 tasks"):
        estimator.predict(X[:2])


@task_methods
def test_no_task_is_one_task(name, data):
    X, y, _ = data
    without = make(name).fit(X, y)
    one = make(name).fit(X, y, np.full(y.size, 9))
    np.testing.assert_array_equal(without.predict(X), one.predict(X, [9] * y.size))
    assert one.tasks_.tolist() == [9]


@task_methods
def test_pickle_clone_and_repeat(name, data):
    X, y, task = (array.copy() for array in data)
    estimator = make(name).fit(X, y, task)
    expected = values(estimator, X, task)
    for array, original in zip((X, y, task), data, strict=True):
        np.testing.assert_array_equal(array, original)
    restored = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(values(restored, X, task), expected)
    fresh = clone(estimator)
    assert fresh.get_params() == estimator.get_params()
    assert not hasattr(fresh, "tasks_")
    np.testing.assert_array_equal(values(fresh.fit(X, y, task), X, task), expected)


@pytest.mark.parametrize("name", list(REGRESSORS))
def test_score_is_r_squared(name, data):
    (X, y, task), estimator = data, fitted(name)
    residual = y - estimator.predict(X, task)
    expected = 1 - residual @ residual / np.sum((y - y.mean()) ** 2)
    assert estimator.score(X, y, task=task) == pytest.approx(expected)
    weight = np.arange(1.0, y.size + 1)
    spread = weight @ (y - np.average(y, weights=weight)) ** 2
    expected = 1 - weight @ residual**2 / spread
    found = estimator.score(X, y, task=task, sample_weight=weight)
    assert found == pytest.approx(expected)


@task_methods
def test_path_equals_single_fits(name, data):
    X, y, task = data
    grid = path_points(name)
    path = list(make_tight(name).fit_path(X, y, task, grid=grid))
    for point, fitted in zip(grid, path, strict=True):
        single = make_tight(name, **point).fit(X, y, task)
        assert fitted.get_params() == single.get_params()
        assert fitted.n_features_in_ == 3
        if hasattr(single, "objective_"):
            rel = 1e-10 if name in LINEAR_REGRESSIONS else 3e-8
            assert fitted.objective_ == pytest.approx(single.objective_, rel=rel)
        # Twice, since a path keeps the kernel values of the last features.
        for rows in (slice(None), slice(9), slice(None)):
            found = values(fitted, X[rows], task[rows])
            expected = values(single, X[rows], task[rows])
            if name in LINEAR_REGRESSIONS:
                np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
                continue
            # Where no multiplier is free, an interval of offsets is optimal.
            for t in np.unique(task[rows]):
                assert np.ptp((found - expected)[task[rows] == t]) <= 5e-3


@task_methods
def test_bad_input(name, data):
    X, y, task = data
    estimator = make(name)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        estimator.fit(X, y[:-1], task)
    with pytest.raises(ValueError, match="one label for each of the 43 samples"):
        estimator.fit(X, y, task[:-1])
    with pytest.raises(ValueError, match="integers or strings"):
        estimator.fit(X, y, task + 0.5)
    with pytest.raises(ValueError, match="one label for each of the 2 samples"):
        fitted(name).predict(X[:2], task)


@pytest.mark.parametrize("name", having("kernels", "terms"))
def test_refitting_with_other_kernels_forgets_the_first(name, data):
    X, y, task = data
    params = {"normalize": "trace"} if "normalize" in make(name).get_params() else {}
    gaussian = {"name": "gaussian", "width": 0.7}
    if "terms" in make(name).get_params():
        first, other = ({"terms": [(k, "union")]} for k in ("linear", gaussian))
    else:
        first, other = {"kernels": "features"}, {"kernels": [gaussian]}
    features = make(name).set_params(**first, **params)
    again = clone(features).fit(X, y, task).set_params(**other).fit(X, y, task)
    fresh = clone(features).set_params(**other).fit(X, y, task)
    np.testing.assert_array_equal(values(again, X, task), values(fresh, X, task))
    back = again.set_params(**first).fit(X, y, task)
    expected = values(features.fit(X, y, task), X, task)
    np.testing.assert_array_equal(values(back, X, task), expected)


@classifiers
def test_any_two_labels(name, data):
    X, y, task = data
    words = np.where(y > 0, "yes", "no")
    estimator = make(name).fit(X, words, task)
    assert estimator.classes_.tolist() == ["no", "yes"]
    scores = estimator.decision_function(X, task)
    np.testing.assert_array_equal(
        estimator.predict(X, task), np.where(scores > 0, "yes", "no")
    )
    hits, weight = estimator.predict(X, task) == words, np.arange(1.0, y.size + 1)
    assert estimator.score(X, words, task=task) == pytest.approx(np.mean(hits))
    expected = np.average(hits, weights=weight)
    found = estimator.score(X, words, task=task, sample_weight=weight)
    assert found == pytest.approx(expected)
    signs = fitted(name).decision_function(X, task)
    np.testing.assert_array_equal(signs, scores)


@classifiers
def test_more_than_two_labels_are_refused(name, data):
    X, _, task = data
    with pytest.raises(ValueError, match=r"Only binary .* classes are 0, 1, 2: make"):
        make(name).fit(X, np.arange(len(X)) % 3, task)


@task_methods
def test_tasks_of_one_class_or_one_example(name, data):
    X, y, task = data
    y = np.where(task == 1, -1.0, y)
    keep = (task != 3) | (np.cumsum(task == 3) == 1)
    found = values(make(name).fit(X[keep], y[keep], task[keep]), X, task)
    assert np.all(np.isfinite(found))
    # Methods that pool tasks, or have no offset, give such a task no constant.
    pools = "Pool" in name or "MultiTaskMKLClassifier" in name
    if name in CLASSIFIERS and not pools:
        np.testing.assert_array_equal(found[task == 1], -1.0)


@pytest.mark.parametrize("name", WITH_TASKS)
def test_columns_of_targets_are_tasks_with_samples_in_common(name):
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(20, 4)), rng.normal(size=(20, 3))
    Y = X @ rng.normal(size=(4, 3)) + 0.1 * noise
    assert_same = partial(np.testing.assert_allclose, rtol=1e-10)
    if name in CLASSIFIERS:
        Y, assert_same = np.where(Y > 0, "yes", "no"), np.testing.assert_array_equal
    fixed = {"random_state": 0} if "random_state" in make(name).get_params() else {}
    wide = make(name, **fixed).fit(X, Y)
    rows, task = np.tile(np.arange(20), 3), np.repeat([0, 1, 2], 20)
    long = make(name, **fixed).fit(X[rows], Y.T.ravel(), task)
    expected = long.predict(X[rows], task).reshape(3, 20).T
    assert_same(wide.predict(X), expected)
    weight = np.arange(1.0, 21.0)
    score = wide.score(X, Y, sample_weight=weight)
    long_score = long.score(
        X[rows], Y.T.ravel(), task=task, sample_weight=np.tile(weight, 3)
    )
    assert score == pytest.approx(long_score)
    for name in ("coef_", "intercept_", "objective_", "duality_gap_"):
        if hasattr(long, name):
            np.testing.assert_array_equal(getattr(wide, name), getattr(long, name))
    # A task by name gives one column.
    assert_same(wide.predict(X, np.repeat(1, 20)), expected[:, 1])
