"""One suite over the classifiers, and the regressions on weighed kernels."""

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from mtmkl.methods import REGISTRY
from mtmkl.methods._linear_classifier import RestartedClassifier
from mtmkl.methods.med_metric import MEDMetric


def cases(names):
    """Return (class, small settings) of some methods, by an id each."""
    return {
        f"{name}, {label}" if label else name: (ESTIMATORS[name], params)
        for name in names
        for label, params in settings(ESTIMATORS[name]).items()
    }


def settings(cls):
    return cls.check_settings() if hasattr(cls, "check_settings") else {"": {}}


ESTIMATORS = {**REGISTRY, "MEDMetric": MEDMetric}
CLASSIFIERS = cases(n for n in REGISTRY if is_classifier(REGISTRY[n]()))
# Regressions on weighed kernels; the linear ones have their suite in test_methods.py.
REGRESSORS = cases(
    n
    for n in REGISTRY
    if is_regressor(REGISTRY[n]()) and "kernels" in REGISTRY[n]().get_params()
)
OTHERS = cases(
    n
    for n, cls in ESTIMATORS.items()
    if not (is_classifier(cls()) or is_regressor(cls()))
)
WITH_TASKS = CLASSIFIERS | REGRESSORS
EVERY = WITH_TASKS | OTHERS
# Of problems that are not convex: no bound on their minimum.
NOT_CONVEX = {
    name
    for name, (cls, _) in CLASSIFIERS.items()
    if issubclass(cls, RestartedClassifier)
}


def test_settings_are_what_the_constructor_takes():
    for name, (cls, params) in EVERY.items():
        assert params.keys() <= cls().get_params().keys(), name


def make(name, **params):
    cls, fixed = EVERY[name]
    return cls(**{**fixed, **params})


def path_points(name):
    return EVERY[name][0].check_path()


def two_points(name):
    """Return two values of the first parameter of the path."""
    parameter = next(iter(path_points(name)[0]))
    values = sorted({point[parameter] for point in path_points(name)})
    return {parameter: [values[0], values[-1]]}


@pytest.fixture(scope="module")
def data():
    """Four tasks of 7 to 15 examples in mixed order, with three inputs and a label."""
    rng = np.random.default_rng(0)
    task = rng.permutation(np.repeat(np.arange(4), [7, 9, 12, 15]))
    X = rng.standard_normal((task.size, 3))
    W = rng.standard_normal((3, 1)) + 0.5 * rng.standard_normal((3, 4))
    z = np.einsum("ij,ji->i", X, W[:, task]) + 0.3 * rng.standard_normal(task.size)
    y = np.where(z > np.median(z), 1.0, -1.0)
    for t in range(4):
        y[np.flatnonzero(task == t)[:2]] = 1.0, -1.0
    return X, {"classifier": y, "regressor": z}, task


def target(name, y):
    return y["regressor" if name in REGRESSORS else "classifier"]


def values(estimator, X, task):
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X, task)
    return estimator.predict(X, task)


every_method = pytest.mark.parametrize("name", list(EVERY))
task_methods = pytest.mark.parametrize("name", list(WITH_TASKS))
classifiers = pytest.mark.parametrize("name", list(CLASSIFIERS))


@every_method
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks(name):
    check_estimator(make(name), on_skip=None)


@every_method
def test_parameters_are_documented(name):
    estimator = make(name)
    for parameter in estimator.get_params():
        assert parameter in type(estimator).__doc__, f"{parameter} is not documented"


@task_methods
def test_kind_of_estimator(name):
    assert is_classifier(make(name)) == (name in CLASSIFIERS)
    assert is_regressor(make(name)) == (name in REGRESSORS)


@task_methods
@pytest.mark.parametrize(
    "labels", [[-7, 1000, 3, 12], ["paris", "rome", "athens", "a longer name"]]
)
def test_labels_name_the_tasks_and_nothing_else(name, labels, data):
    X, y, number = data
    y, task = target(name, y), np.array(labels)[number]
    named = make(name, tol=1e-8).fit(X, y, task)
    np.testing.assert_array_equal(named.tasks_, np.unique(task))
    plain = make(name, tol=1e-8).fit(X, y, number)
    np.testing.assert_allclose(
        values(named, X, task), values(plain, X, number), atol=2e-3
    )


@pytest.mark.parametrize("name", sorted(WITH_TASKS.keys() - NOT_CONVEX))
def test_certificate(name, data):
    X, y, task = data
    for point in path_points(name):
        estimator = make(name, **point).fit(X, target(name, y), task)
        assert 0 <= estimator.duality_gap_ <= estimator.tol <= 1e-4
        assert estimator.objective_ >= estimator.dual_objective_ * (1 - 1e-12)
        assert estimator.n_iter_ >= 1


@task_methods
def test_path_equals_single_fits(name, data):
    X, y, task = data
    y = target(name, y)
    grid = path_points(name)
    path = list(make(name, tol=1e-8).fit_path(X, y, task, grid=grid))
    assert len(path) == len(grid)
    for point, fitted in zip(grid, path, strict=True):
        single = make(name, tol=1e-8, **point).fit(X, y, task)
        assert fitted.get_params() == single.get_params()
        assert fitted.objective_ == pytest.approx(single.objective_, rel=3e-8)
        # Twice, since a path keeps the kernel values of the last inputs.
        for rows in (slice(None), slice(9), slice(None)):
            difference = values(fitted, X[rows], task[rows])
            difference -= values(single, X[rows], task[rows])
            # Where no multiplier is free, an interval of offsets is optimal.
            for t in np.unique(task[rows]):
                assert np.ptp(difference[task[rows] == t]) <= 5e-3


@task_methods
def test_subset_of_tasks_can_be_predicted_in_any_order(name, data):
    X, y, task = data
    estimator = make(name).fit(X, target(name, y), task)
    rows = np.flatnonzero(task == 2)[::-1]
    np.testing.assert_allclose(
        values(estimator, X[rows], task[rows]),
        values(estimator, X, task)[rows],
        rtol=1e-9,
        atol=1e-12,
    )


@task_methods
def test_pickle_clone_and_repeat(name, data):
    X, y, task = data
    y = target(name, y)
    estimator = make(name).fit(X, y, task)
    restored = pickle.loads(pickle.dumps(estimator))
    expected = values(estimator, X, task)
    np.testing.assert_array_equal(values(restored, X, task), expected)
    fresh = clone(estimator)
    assert not hasattr(fresh, "tasks_")
    np.testing.assert_array_equal(values(fresh.fit(X, y, task), X, task), expected)


@task_methods
def test_no_task_is_one_task(name, data):
    X, y, _ = data
    y = target(name, y)
    without = make(name).fit(X, y)
    one = make(name).fit(X, y, np.full(len(X), 9))
    np.testing.assert_array_equal(without.predict(X), one.predict(X, [9] * len(X)))


@task_methods
def test_bad_input(name, data):
    X, y, task = data
    y = target(name, y)
    estimator = make(name)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        estimator.fit(X, y[:-1], task)
    with pytest.raises(ValueError, match="one label for each of the 43 examples"):
        estimator.fit(X, y, task[:-1])
    for parameter in path_points(name)[0]:
        with pytest.raises(ValueError, match=f"{parameter} must be"):
            make(name, **{parameter: -1.0}).fit(X, y, task)
    with pytest.raises(ValueError, match="tol must be positive"):
        make(name, tol=-1.0).fit(X, y, task)
    if "alpha" in estimator.get_params():
        with pytest.raises(ValueError, match="alpha must be at least 0"):
            make(name, alpha=-1.0).fit(X, y, task)
        with pytest.raises(ValueError, match="relative_alpha must be at least 0"):
            make(name, relative_alpha=-1.0).fit(X, y, task)
    if "lam" in estimator.get_params():
        with pytest.raises(ValueError, match="lam must be"):
            make(name, lam=-1.0).fit(X, y, task)
    if "kernels" in estimator.get_params():
        with pytest.raises(ValueError, match="unknown kernel 'no such'"):
            estimator.set_params(kernels=["no such"]).fit(X, y, task)
    estimator = make(name).fit(X, y, np.array(["a", "b", "c", "d"])[task])
    with pytest.raises(ValueError, match="not seen by fit: 'e'"):
        estimator.predict(X[:2], ["a", "e"])


@task_methods
def test_counts_are_whole_numbers(name, data):
    X, y, task = data
    counts = {"max_iter", "n_restarts", "n_levels"} & set(make(name).get_params())
    for parameter in counts:
        for value in (2.5, 0, True, "x"):
            with pytest.raises(ValueError, match=f"{parameter} must be a whole number"):
                make(name).set_params(**{parameter: value}).fit(
                    X, target(name, y), task
                )


@pytest.mark.parametrize(
    "name", [n for n in WITH_TASKS if "kernels" in make(n).get_params()]
)
def test_refitting_with_other_kernels_forgets_the_first(name, data):
    X, y, task = data
    y = target(name, y)
    params = {"normalize": "trace"} if "normalize" in make(name).get_params() else {}
    features = make(name).set_params(kernels="features", **params)
    gaussian = {"kernels": [{"name": "gaussian", "width": 0.7}]}
    again = clone(features).fit(X, y, task).set_params(**gaussian).fit(X, y, task)
    fresh = clone(features).set_params(**gaussian).fit(X, y, task)
    np.testing.assert_array_equal(values(again, X, task), values(fresh, X, task))
    back = again.set_params(kernels="features").fit(X, y, task)
    expected = values(features.fit(X, y, task), X, task)
    np.testing.assert_array_equal(values(back, X, task), expected)


@pytest.mark.parametrize("name", sorted(NOT_CONVEX))
def test_seeds_of_restarts(name, data):
    X, y, task = data
    for seed in (-1, "a", np.random.RandomState(0)):
        with pytest.raises(ValueError, match="random_state must be a whole number"):
            make(name, random_state=seed).fit(X, y["classifier"], task)
    make(name, random_state=None).fit(X, y["classifier"], task)


def test_kernels_must_be_a_list(data):
    X, y, task = data
    for kernels in (None, 3):
        with pytest.raises(ValueError, match=f"must be a list .* got {kernels}"):
            make("SharedMKL", kernels=kernels).fit(X, y["classifier"], task)
    with pytest.raises(ValueError, match='empty: give at least one, such as "linear"'):
        make("SharedMKL", kernels=[]).fit(X, y["classifier"], task)


@classifiers
def test_any_two_labels(name, data):
    X, y, task = data
    words = np.where(y["classifier"] > 0, "yes", "no")
    estimator = make(name).fit(X, words, task)
    assert estimator.classes_.tolist() == ["no", "yes"]
    scores = estimator.decision_function(X, task)
    np.testing.assert_array_equal(
        estimator.predict(X, task), np.where(scores > 0, "yes", "no")
    )
    expected = np.mean(estimator.predict(X, task) == words)
    assert estimator.score(X, words, task) == pytest.approx(expected)
    signs = make(name).fit(X, y["classifier"], task)
    np.testing.assert_array_equal(signs.decision_function(X, task), scores)


@classifiers
def test_more_than_two_labels_are_refused(name, data):
    X, _, task = data
    with pytest.raises(ValueError, match=r"Only binary .* classes are 0, 1, 2: make"):
        make(name).fit(X, np.arange(len(X)) % 3, task)


@classifiers
def test_tasks_of_one_class_or_one_example(name, data):
    X, y, task = data
    y = y["classifier"].copy()
    y[task == 1] = -1.0
    keep = (task != 3) | (np.cumsum(task == 3) == 1)
    estimator = make(name).fit(X[keep], y[keep], task[keep])
    assert np.all(np.isfinite(estimator.decision_function(X, task)))
    # Methods that pool tasks, or have no offset, give such a task no constant.
    if "Pool" not in name and "MultiTaskMKL" not in name:
        alone = estimator.decision_function(X, task)[task == 1]
        np.testing.assert_array_equal(alone, -1.0)


@classifiers
def test_grid_search_with_routed_tasks(name, data):
    X, y, task = data
    with config_context(enable_metadata_routing=True):
        estimator = make(name)
        for request in ("set_fit_request", "set_score_request"):
            estimator = getattr(estimator, request)(task=True)
        search = GridSearchCV(
            make_pipeline(StandardScaler(), estimator),
            {
                f"{type(estimator).__name__.lower()}__{parameter}": values
                for parameter, values in two_points(name).items()
            },
            cv=3,
        ).fit(X, y["classifier"], task=task)
    assert search.best_score_ > 0.5
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
