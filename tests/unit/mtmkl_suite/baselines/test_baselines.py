"""The contract of all baselines, and each beside the plain call of its library."""

import pickle
import sys

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.base import clone, is_classifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LogisticRegression, Ridge

from mtmkl_suite.baselines.gaussian_process import (
    TaskGaussian,
    TaskGaussianProcessRegressor,
)
from mtmkl_suite.baselines.linear import (
    TaskInteractionClassifier,
    TaskInteractionRegressor,
)
from mtmkl_suite.baselines.random_effects import LinearMixedRegressor
from mtmkl_suite.methods import resolve

SMALL = {"n_rounds": 8, "learning_rate": 0.5, "max_leaves": 4, "min_in_leaf": 3}
SETTINGS = {
    "TaskInteraction": {}, "LinearMixed": {"n_components": 4}, "GPBoost": SMALL,
    "TaskGaussianProcess": {},
}  # fmt: skip
BASELINES = [
    resolve(name + kind)(**settings)
    for name, settings in SETTINGS.items()
    for kind in ("Classifier", "Regressor")
]


@pytest.fixture
def baseline(request):
    if type(request.param).__module__.endswith("random_effects"):
        pytest.importorskip("gpboost")
    return request.param


every_baseline = pytest.mark.parametrize(
    "baseline", BASELINES, indirect=True, ids=lambda r: f"{r!r}".replace("\n", "")
)


@pytest.fixture(scope="module")
def examples():
    """Three tasks of 20, 30 and 40 samples in mixed order; numbers and labels."""
    rng = np.random.default_rng(0)
    task = rng.permutation(np.repeat(["a", "b", "c"], [20, 30, 40]))
    X = rng.standard_normal((task.size, 4)) * [1.0, 5.0, 0.2, 1.0] + 3.0
    W = {"a": [1, 0.2, 0, 0], "b": [1, -0.2, 0, 1], "c": [1, 0, 3, 0]}
    z = np.array([x @ W[t] for x, t in zip(X - 3, task, strict=True)])
    z += 0.3 * rng.standard_normal(task.size)
    return X, z, np.where(z > 0.1, "yes", "no"), task


def targets(baseline, examples):
    return examples[2] if is_classifier(baseline) else examples[1]


def values(baseline, X, task):
    if is_classifier(baseline):
        return baseline.decision_function(X, task)
    return baseline.predict(X, task)


@every_baseline
def test_contract(baseline, examples):
    X, *_, task = examples
    y = targets(baseline, examples)
    fitted = clone(baseline).fit(X, y, task)
    assert clone(fitted).get_params() == baseline.get_params()
    found = values(fitted, X, task)
    assert found.shape == (task.size,)
    assert np.isfinite(found).all()
    # It has learned something, on the samples it has seen.
    assert fitted.score(X, y, task=task) > 0.6
    # Rows are predicted one by one.
    rows = np.flatnonzero(task == "b")[::-1]
    np.testing.assert_allclose(values(fitted, X[rows], task[rows]), found[rows])
    again = pickle.loads(pickle.dumps(clone(baseline).fit(X, y, task)))
    np.testing.assert_array_equal(values(again, X, task), found)
    with pytest.raises(ValueError, match="not seen by fit: 'd'; known: 'a', 'b', 'c'"):
        fitted.predict(X[:1], ["d"])
    with pytest.raises(ValueError, match="task is needed"):
        fitted.predict(X)


@every_baseline
def test_no_task_is_one_task(baseline, examples):
    X = examples[0]
    y = targets(baseline, examples)
    without = clone(baseline).fit(X, y).predict(X)
    one = clone(baseline).fit(X, y, np.full(len(X), 7)).predict(X, np.full(len(X), 7))
    np.testing.assert_array_equal(without, one)


@every_baseline
def test_one_class_or_value_is_predicted(baseline, examples):
    X, *_, task = examples
    value = "no" if is_classifier(baseline) else 2.5
    found = clone(baseline).fit(X, np.full(len(X), value), task).predict(X, task)
    if is_classifier(baseline):
        assert set(found) == {value}
    else:
        np.testing.assert_allclose(found, value, atol=1e-6)


def test_points_of_a_path_are_single_fits(examples):
    X, z, _, task = examples
    grid = [{"lam": lam, "ratio": r} for lam in (0.1, 30.0, 1.0) for r in (0.3, 2.0)]
    path = TaskInteractionRegressor().fit_path(X, z, task, grid=grid)
    for point, on_path in zip(grid, path, strict=True):
        expected = TaskInteractionRegressor(**point).fit(X, z, task).predict(X, task)
        np.testing.assert_allclose(on_path.predict(X, task), expected, atol=1e-9)


def design(X, task, ratio):
    """Return standardised features, and dummies and products over √ratio."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    dummies = np.unique(task)[None, :] == task[:, None]
    products = dummies[:, :, None] * np.column_stack([Z, np.ones(len(Z))])[:, None, :]
    return np.hstack([Z, products.reshape(len(Z), -1) / np.sqrt(ratio)])


@pytest.mark.parametrize(("lam", "ratio"), [(1.0, 1.0), (0.1, 10.0), (20.0, 0.2)])
def test_interactions_are_the_library_on_the_same_design(lam, ratio, examples):
    X, z, _, task = examples
    A = design(X, task, ratio)
    found = TaskInteractionRegressor(lam, ratio).fit(X, z, task)
    expected = Ridge(lam).fit(A, z).predict(A)
    np.testing.assert_allclose(found.predict(X, task), expected, atol=1e-8)


@pytest.mark.parametrize("ratio", [1.0, 10.0, 0.2])
def test_logistic_interactions_reach_the_optimum(ratio, examples):
    X, _, y, task = examples
    A, labels = design(X, task, ratio), np.where(y == "yes", 1.0, -1.0)
    grid = [{"lam": lam} for lam in (0.3, 20.0, 1.0)]
    path = TaskInteractionClassifier(ratio=ratio).fit_path(X, y, task, grid=grid)
    for point, found in zip(grid, path, strict=True):
        lam = point["lam"]
        tight = LogisticRegression(C=1 / lam, tol=1e-10, max_iter=10_000).fit(A, y)
        optimum = loss(labels, tight.decision_function(A))
        optimum += lam / 2 * np.sum(tight.coef_**2)
        # The best split of models into a common and own parts, in closed form.
        W = found.coef_ * X.std(axis=0)[:, None]
        b = found.intercept_ + X.mean(axis=0) @ found.coef_
        common = W.sum(axis=1, keepdims=True) * ratio / (1 + 3 * ratio)
        penalty = np.sum(common**2) + ratio * np.sum((W - common) ** 2)
        penalty += ratio * np.sum((b - b.mean()) ** 2)
        reached = loss(labels, found.decision_function(X, task)) + lam / 2 * penalty
        assert optimum - 1e-8 <= reached <= optimum * (1 + 1e-4)


def loss(y, scores):
    return np.logaddexp(0, -y * scores).sum()


def test_limits_of_the_ratio_are_one_model_and_tasks_alone(examples):
    X, z, _, task = examples
    pooled = TaskInteractionRegressor(1.0, 1e9).fit(X, z, task)
    np.testing.assert_allclose(np.ptp(pooled.coef_, axis=1), 0, atol=1e-6)
    alone = TaskInteractionRegressor(1.0, 1e-9).fit(X, z, task)
    for t in ("a", "b", "c"):
        rows = task == t
        B = np.column_stack([X[rows], np.ones(rows.sum())])
        expected = B @ np.linalg.lstsq(B, z[rows], rcond=None)[0]
        found = alone.predict(X[rows], task[rows])
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_random_effects_pull_tasks_towards_a_common_model():
    pytest.importorskip("gpboost")
    # Balanced one-way layout: the best linear predictor is known in closed form.
    rng = np.random.default_rng(0)
    effects, n = rng.standard_normal(200) * 2.0, 5
    task = np.repeat(np.arange(200), n)
    X = rng.standard_normal((task.size, 1))
    y = 1.0 + X[:, 0] + effects[task] + rng.standard_normal(task.size)
    found = LinearMixedRegressor(n_components=1).fit(X, y, task)
    zero = found.predict(np.zeros((200, 1)), np.arange(200))
    residual = (y - X[:, 0]).reshape(200, n).mean(axis=1)
    shrunken = 1.0 + 4.0 / (4.0 + 1.0 / n) * (residual - 1.0)
    # Of estimated variances and slopes, so not exactly.
    assert np.abs(zero - shrunken).max() < 0.25
    assert np.ptp(zero) < np.ptp(residual)


@pytest.mark.parametrize(("scale", "correlation"), [(1.5, 0.3), (4.0, 0.9)])
def test_gradient_of_the_kernel_of_tasks(scale, correlation):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((9, 2)), np.arange(9) % 3])
    kernel = TaskGaussian(scale, correlation)
    K, gradient = kernel(X, eval_gradient=True)
    np.testing.assert_allclose(np.diag(K), kernel.diag(X))
    np.testing.assert_allclose(kernel(X, X[:4]), K[:, :4])

    def at(theta):
        return kernel.clone_with_theta(theta)(X).ravel()

    numeric = approx_fprime(kernel.theta, at, 1e-7)
    np.testing.assert_allclose(gradient.reshape(81, 2), numeric, atol=1e-6)


def test_process_with_equal_tasks_is_that_of_all_examples(examples):
    X, z, _, task = examples
    found = TaskGaussianProcessRegressor().fit(X, z, task)
    fixed = clone(found.process_.kernel_)
    fixed.set_params(k1__k2__correlation=1.0)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    rows = np.column_stack([Z, np.unique(task, return_inverse=True)[1]])
    one = np.column_stack([Z, np.zeros(len(Z))])
    process = GaussianProcessRegressor(fixed, optimizer=None, normalize_y=True)
    alike, same = (process.fit(each, z).predict(each) for each in (rows, one))
    np.testing.assert_allclose(alike, same, atol=1e-8)
    # The tasks of the samples are alike, and not equal.
    assert 0.05 < found.correlation_ < 0.999


@pytest.mark.parametrize(
    ("name", "package"),
    [("Pooled(LGBMClassifier)", "lightgbm"), ("GPBoostRegressor", "gpboost")],
)
def test_a_missing_package_is_named_with_its_remedy(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    reason = resolve(name).unsupported(None)
    assert reason == f'{package} is not installed: pip install "mtmkl[baselines]"'
