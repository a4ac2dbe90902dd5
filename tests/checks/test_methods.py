"""One suite over every registered regression: the contract that all of them keep.

Classifiers and estimators of graphs have theirs in test_classification_methods.py.
"""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.utils.estimator_checks import check_estimator

from mtmkl.methods import REGISTRY, resolve
from mtmkl.methods.base import MultiTaskEstimator

# Checks of scikit-learn that a method cannot pass, with the reason.
EXPECTED_FAILURES: dict[str, dict[str, str]] = {}

TASK_LABELS = {
    "integers": [0, 1, 2, 3],
    "odd integers": [-7, 1000, 3, 12],
    "strings": ["paris", "rome", "athens", "a longer name"],
}


def _params(name):
    return REGISTRY[name]().get_params()


def _make(name, **params):
    small = next(iter(REGISTRY[name].check_settings().values()))
    return REGISTRY[name](**{**small, **params})


def _make_exact(name, **params):
    """Return the method with a gap so small that the coefficients agree, too."""
    return _make(name, **({"tol": 1e-11} if "tol" in _params(name) else {}), **params)


@pytest.fixture(scope="module")
def data():
    """Four tasks of 3, 5, 8 and 12 examples in mixed order, with three inputs."""
    rng = np.random.default_rng(0)
    number = rng.permutation(np.repeat(np.arange(4), [3, 5, 8, 12]))
    X = rng.standard_normal((number.size, 3))
    W = rng.standard_normal((3, 1)) + 0.3 * rng.standard_normal((3, 4))
    y = np.einsum("ij,ji->i", X, W[:, number]) + 0.1 * rng.standard_normal(number.size)
    return X, y, number


REGRESSIONS = [name for name in REGISTRY if is_regressor(REGISTRY[name]())]
every_method = pytest.mark.parametrize("name", REGRESSIONS)
gamma_methods = pytest.mark.parametrize(
    "name", [name for name in REGRESSIONS if "gamma" in _params(name)]
)


@every_method
def test_scikit_learn_checks(name):
    # Inputs of these checks include some on which no solver can do well.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(
            _make(name),
            on_skip=None,
            expected_failed_checks=EXPECTED_FAILURES.get(name, {}),
        )


@every_method
def test_class_is_documented_and_resolvable(name):
    method = resolve(name)
    assert issubclass(method, MultiTaskEstimator)
    assert method.__name__ == name
    for parameter in _params(name):
        assert parameter in method.__doc__, f"{name}: {parameter} is not documented"


@every_method
@pytest.mark.parametrize("labels", TASK_LABELS)
def test_fit_and_predict_whatever_the_labels(name, labels, data):
    X, y, number = data
    task = np.array(TASK_LABELS[labels])[number]
    estimator = _make(name).fit(X, y, task)
    np.testing.assert_array_equal(estimator.tasks_, np.unique(task))
    predictions = estimator.predict(X, task)
    assert predictions.shape == y.shape
    assert predictions.dtype == np.float64
    assert np.all(np.isfinite(predictions))
    # The labels name the tasks and nothing else. Sampling depends on their order.
    if "random_state" not in _params(name):
        exact = _make_exact(name).fit(X, y, task).predict(X, task)
        reference = _make_exact(name).fit(X, y, number).predict(X, number)
        np.testing.assert_allclose(exact, reference, rtol=1e-4, atol=1e-5)
    if hasattr(estimator, "coef_"):
        assert estimator.coef_.shape == (3, 4)


@every_method
def test_coefficients_follow_the_order_of_tasks(name, data):
    X, y, number = data
    estimator = _make(name).fit(X, y, number)
    if not hasattr(estimator, "coef_"):
        pytest.skip(f"{name} has no coefficients")
    intercept = getattr(estimator, "intercept_", np.zeros(4))
    expected = np.einsum("ij,ji->i", X, estimator.coef_[:, number]) + intercept[number]
    np.testing.assert_allclose(estimator.predict(X, number), expected, rtol=1e-9)


@every_method
def test_subset_of_tasks_can_be_predicted_in_any_order(name, data):
    X, y, number = data
    estimator = _make(name).fit(X, y, number)
    rows = np.flatnonzero(number == 2)[::-1]
    np.testing.assert_allclose(
        estimator.predict(X[rows], number[rows]),
        estimator.predict(X, number)[rows],
        rtol=1e-12,
    )


@every_method
def test_unseen_task_is_an_error_that_names_it(name, data):
    X, y, number = data
    estimator = _make(name).fit(X, y, np.array(TASK_LABELS["strings"])[number])
    with pytest.raises(ValueError, match="not seen by fit: 'oslo'"):
        estimator.predict(X[:2], ["rome", "oslo"])
    with pytest.raises(ValueError, match=r"task is needed: .* 4 tasks"):
        estimator.predict(X[:2])


@every_method
def test_no_task_is_one_task(name, data):
    X, y, _ = data
    without = _make(name).fit(X, y)
    one = _make(name).fit(X, y, np.full(y.size, 9))
    np.testing.assert_array_equal(without.predict(X), one.predict(X, [9] * y.size))
    assert one.tasks_.tolist() == [9]


@every_method
def test_pickle_and_clone(name, data):
    X, y, number = data
    estimator = _make(name).fit(X, y, number)
    restored = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(
        restored.predict(X, number), estimator.predict(X, number)
    )
    fresh = clone(estimator)
    assert fresh.get_params() == estimator.get_params()
    assert not hasattr(fresh, "tasks_")


@every_method
def test_same_fit_twice_is_the_same_to_the_bit(name, data):
    X, y, number = data
    first, second = (_make(name).fit(X, y, number) for _ in range(2))
    np.testing.assert_array_equal(first.predict(X, number), second.predict(X, number))


@every_method
def test_inputs_are_left_alone(name, data):
    X, y, number = (array.copy() for array in data)
    estimator = _make(name).fit(X, y, number)
    estimator.predict(X, number)
    for array, original in zip((X, y, number), data, strict=True):
        np.testing.assert_array_equal(array, original)


@every_method
def test_score_is_r_squared(name, data):
    X, y, number = data
    estimator = _make(name).fit(X, y, number)
    residual = y - estimator.predict(X, number)
    expected = 1 - residual @ residual / np.sum((y - y.mean()) ** 2)
    assert estimator.score(X, y, number) == pytest.approx(expected)


@every_method
def test_path_equals_single_fits(name, data):
    X, y, number = data
    if "gamma" in _params(name):
        grid = [{"gamma": gamma} for gamma in (1.0, 100.0, 1e-4, 1.0)]
    else:
        grid = [{}, {}]
    path = list(_make_exact(name).fit_path(X, y, number, grid=grid))
    assert len(path) == len(grid)
    for point, fitted in zip(grid, path, strict=True):
        single = _make_exact(name, **point).fit(X, y, number)
        assert fitted.get_params() == single.get_params()
        assert fitted.n_features_in_ == 3
        if hasattr(single, "duality_gap_"):
            assert fitted.objective_ == pytest.approx(single.objective_, rel=1e-10)
        np.testing.assert_allclose(
            fitted.predict(X, number), single.predict(X, number), rtol=1e-4, atol=1e-5
        )


@gamma_methods
def test_certificate(name, data):
    X, y, number = data
    for gamma in (1e-6, 1e-2, 1.0, 1e3):
        estimator = _make(name, gamma=gamma).fit(X, y, number)
        assert 0 <= estimator.duality_gap_ <= 1e-6
        assert estimator.objective_ > 0
        assert estimator.n_iter_ >= 1
        assert np.sum((y - estimator.predict(X, number)) ** 2) <= (
            estimator.objective_ * (1 + 1e-9)
        )


@gamma_methods
@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan, np.inf, "strong"])
def test_gamma_must_be_positive(name, gamma, data):
    X, y, number = data
    with pytest.raises(ValueError, match="gamma must be positive"):
        _make(name, gamma=gamma).fit(X, y, number)
    with pytest.raises(ValueError, match="gamma must be positive"):
        list(_make(name).fit_path(X, y, number, grid=[{"gamma": gamma}]))


@every_method
def test_bad_input(name, data):
    X, y, number = data
    estimator = _make(name)
    with_nan = y.copy()
    with_nan[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        estimator.fit(X, with_nan, number)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        estimator.fit(X, y[:-1], number)
    with pytest.raises(ValueError, match="one label for each of the 28 examples"):
        estimator.fit(X, y, number[:-1])
    with pytest.raises(ValueError, match="integers or strings"):
        estimator.fit(X, y, number + 0.5)
    estimator.fit(X, y, number)
    with pytest.raises(ValueError, match="one label for each of the 2 examples"):
        estimator.predict(X[:2], number)
    with pytest.raises(ValueError, match="3 features"):
        estimator.predict(X[:, :2], number)


@every_method
def test_task_of_one_example(name, data):
    X, y, number = data
    keep = np.r_[np.flatnonzero(number == 0)[:1], np.flatnonzero(number != 0)]
    estimator = _make(name).fit(X[keep], y[keep], number[keep])
    assert np.all(np.isfinite(estimator.predict(X, number)))
