import cvxpy as cp
import numpy as np
import pytest
from sklearn.decomposition import KernelPCA
from sklearn.preprocessing import StandardScaler

from mtmkl.kernels.terms import KernelTerms
from mtmkl.methods._base.kernel_machine import TEN_KERNELS
from mtmkl.methods.cmtl import CMTLClassifier
from mtmkl.methods.co_clus import CoClusClassifier
from mtmkl.methods.flex_clus import FlexClusClassifier
from mtmkl.methods.me_ta_g import MeTaGClassifier
from mtmkl.methods.whom import WhomClassifier
from mtmkl_suite.papers.yousefi2015 import baseline_readings as readings

BASELINES = ("CMTL", "Whom", "FlexClus", "CoClus", "MeTaG")
KERNEL = [getattr(readings, f"Kernel{name}") for name in BASELINES]
PLAIN = [getattr(readings, f"Plain{name}") for name in BASELINES]


@pytest.fixture
def rings():
    """Three tasks that only radii tell apart, with noise features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(180, 3))
    task = np.repeat([0, 1, 2], 60)
    y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 > 1.4, 1.0, -1.0)
    return X, y, task


@pytest.mark.parametrize("method", KERNEL)
def test_kernel_features_learn_what_linear_baselines_cannot(method, rings):
    X, y, task = rings
    linear = method.__mro__[2]().fit(X, y, task=task)
    kernel = method().fit(X, y, task=task)
    assert np.mean(linear.predict(X, task=task) == y) < 0.75
    assert np.mean(kernel.predict(X, task=task) == y) > 0.9


@pytest.mark.parametrize("n_samples", [180, 600])
def test_features_are_the_principal_components_of_the_mean_kernel(n_samples):
    X = np.random.default_rng(0).normal(size=(n_samples, 3))
    terms = KernelTerms.of(X, TEN_KERNELS, normalize="cosine", standardize=True)
    gram = terms.grams(terms.inputs(X), terms.inputs(X)).mean(axis=1)
    features = readings.Features.of(X)
    ours = features(X)
    n_kept = ours.shape[1]
    pca = KernelPCA(n_components=n_kept, kernel="precomputed").fit(gram)
    np.testing.assert_allclose(np.abs(ours), np.abs(pca.transform(gram)), atol=1e-8)
    new = np.random.default_rng(1).normal(size=(5, 3))
    cross = terms.grams(terms.inputs(new), terms.inputs(X)).mean(axis=1)
    expected = np.abs(pca.transform(cross))
    np.testing.assert_allclose(np.abs(features(new)), expected, atol=1e-8)


@pytest.mark.parametrize("method", PLAIN)
def test_without_offsets_the_score_of_the_mean_input_is_zero(method, rings):
    X, y, task = rings
    fitted = method().fit(X + 3.0, y, task=task)
    mean = np.tile((X + 3.0).mean(axis=0), (3, 1))
    scores = fitted.decision_function(mean, task=np.arange(3))
    np.testing.assert_allclose(scores, 0.0, atol=1e-8)


@pytest.mark.parametrize(
    ("stopped", "method", "params"),
    [
        (readings.StoppedMeTaG, MeTaGClassifier, {"lam": 2.0, "phi": 2.0}),
        (readings.StoppedCoClus, CoClusClassifier, {"lam_1": 2.0, "lam_2": 2.0}),
        (readings.StoppedCMTL, CMTLClassifier, {"lam": 2.0, "n_clusters": 2}),
        (readings.StoppedWhom, WhomClassifier, {"lam": 2.0, "n_groups": 2}),
        (readings.StoppedFlexClus, FlexClusClassifier, {"lam_1": 2.0}),
    ],
)
def test_many_steps_come_to_the_optimum_and_few_do_not(stopped, method, params, rings):
    X, _, task = rings
    y = np.where(X @ [1.0, -1.0, 0.5] + 0.4 * task > 0.2, 1.0, -1.0)
    best = method(**params).fit(X, y, task=task).coef_
    distances = [
        np.linalg.norm(stopped(**params, max_iter=n).fit(X, y, task=task).coef_ - best)
        for n in (3, 30, 3000)
    ]
    assert distances[0] > distances[1] > distances[2]
    assert distances[2] < 0.02 * np.linalg.norm(best)


def test_a_task_of_one_class_keeps_its_constant_score(rings):
    X, y, task = rings
    y = np.where(task == 1, 1.0, y)
    for method in (readings.KernelCMTL(), readings.PlainCMTL(), CMTLClassifier()):
        fitted = method.fit(X, y, task=task)
        assert set(fitted.predict(X[task == 1], task=task[task == 1])) == {1.0}


@pytest.fixture
def planes():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 4))
    task = np.repeat([0, 1, 2], 30)
    noise = 0.8 * rng.normal(size=90)
    return X, np.where(X[:, 0] + 0.3 * task + noise > 0.2, 1.0, -1.0), task


def test_squared_hinge_reaches_the_optimum_of_cvxpy(planes, monkeypatch):
    monkeypatch.setattr(readings, "HINGE_TOL", 1e-9)
    monkeypatch.setattr(readings, "HINGE_STEPS", 1000)
    X, y, task = planes
    weights = (0.5, 2.0, 3.0)
    names = ("lam_1", "lam_2", "lam_3")
    ours = readings.HingeFlexClus(**dict(zip(names, weights, strict=True)), tol=1e-8)
    ours.fit(X, y, task=task)
    Z = StandardScaler().fit_transform(X)
    U, V, b = cp.Variable((4, 3)), cp.Variable((4, 3)), cp.Variable(3)
    value = weights[1] * cp.sum_squares(U) + weights[2] * cp.sum_squares(V)
    value += weights[0] * sum(
        cp.norm1(U[:, s] - U[:, t]) for s, t in ((0, 1), (0, 2), (1, 2))
    )
    for t in range(3):
        own = task == t
        margin = cp.multiply(y[own], Z[own] @ (U[:, t] + V[:, t]) + b[t])
        value += cp.sum_squares(cp.pos(1 - margin))
    best = cp.Problem(cp.Minimize(value)).solve()
    assert ours.objective_ == pytest.approx(best, rel=1e-4)
    scores = (Z @ (U.value + V.value) + b.value)[np.arange(90), task]
    found = ours.decision_function(X, task=task)
    np.testing.assert_allclose(found, scores, atol=0.02)


@pytest.mark.parametrize(
    "method", [readings.HingeCMTL, readings.HingeFlexClus, readings.HingeMeTaG]
)
def test_every_step_of_the_squared_hinge_lowers_the_objective(method, planes):
    X, y, task = planes
    fitted = method().fit(X, y, task=task)
    assert len(fitted.history_) > 2
    # Each problem is solved to its own tolerance.
    assert (np.diff(fitted.history_) <= 1e-3 * fitted.history_[:-1]).all()
    squared = method.__mro__[2]().fit(X, y, task=task)
    assert fitted.history_[0] < squared.objective_
