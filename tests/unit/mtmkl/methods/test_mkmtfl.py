"""MK-MTFL as estimators."""

import numpy as np
import pytest
from method_cases import COSTS, FEW_KERNELS, MIXED, Case
from method_cases import KERNELS as THREE_KERNELS
from model_objectives import forms

from mtmkl.methods import (
    IndependentSVR,
    MKMTFLClassifier,
    MKMTFLRegressor,
    SharedMKL,
    SingleTaskMKL,
    SingleTaskMKLRegressor,
)
from mtmkl_suite.data import load, make_split

KERNELS = [
    "linear",
    {"name": "gaussian", "width": 1.0},
    {"name": "gaussian", "width": 4.0},
]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    task = rng.permutation(np.repeat(np.arange(4), [12, 20, 15, 9]))
    X = rng.standard_normal((56, 3)) + 0.4
    W = rng.standard_normal((3, 1)) + 0.3 * rng.standard_normal((3, 4))
    y = np.einsum("ij,ji->i", X, W[:, task]) + 0.3 * rng.standard_normal(56)
    return X, y, task


def labels(y):
    return np.where(y > 0, 1, -1)


def test_two_is_one_combination_for_all_tasks(data):
    X, y, task = data
    own = MKMTFLClassifier(2.0, 2.0, kernels=KERNELS).fit(X, labels(y), task)
    shared = SharedMKL(2.0, kernels=KERNELS, normalize="trace").fit(X, labels(y), task)
    assert (own.weights_ == shared.weights_).all()
    assert (own.lam_ == 1.0).all()
    np.testing.assert_array_equal(
        own.decision_function(X, task), shared.decision_function(X, task)
    )


@pytest.mark.parametrize("p", [2.0, 6.0])
def test_one_task_is_single_task_kernel_learning(data, p):
    X, y, _ = data
    one = MKMTFLClassifier(2.0, p, kernels=KERNELS, tol=1e-8).fit(X, labels(y))
    alone = SingleTaskMKL(2.0, kernels=KERNELS, normalize="trace", tol=1e-8)
    alone.fit(X, labels(y))
    assert one.objective_ == pytest.approx(alone.objective_, rel=1e-7)
    one_r = MKMTFLRegressor(2.0, p, kernels=KERNELS, tol=1e-8).fit(X, y)
    alone_r = SingleTaskMKLRegressor(2.0, kernels=KERNELS, normalize="trace", tol=1e-8)
    alone_r.fit(X, y)
    assert one_r.objective_ == pytest.approx(alone_r.objective_, rel=1e-7)


def test_one_kernel_and_two_are_independent_machines(data):
    X, y, task = data
    one = MKMTFLRegressor(
        2.0, 2.0, kernels=["linear"], normalize=None, epsilon=0.2, tol=1e-10
    ).fit(X, y, task)
    alone = IndependentSVR(2.0, kernels=["linear"], epsilon=0.2, tol=1e-10)
    alone.fit(X, y, task)
    assert one.objective_ == pytest.approx(alone.objective_, rel=1e-9)
    np.testing.assert_allclose(one.predict(X, task), alone.predict(X, task), atol=1e-5)


def test_the_larger_p_the_more_tasks_differ(data):
    X, y, task = data
    spread = []
    for p in (2.0, 3.0, 8.67):
        model = MKMTFLRegressor(1.0, p, kernels=KERNELS, tol=1e-6).fit(X, y, task)
        used = model.gamma_ > 1e-3
        spread.append(np.ptp(np.log(model.weights_[:, used]), axis=0).max())
    assert spread[0] == 0.0
    assert 0.0 < spread[1] < spread[2]


def test_predictions_are_those_of_the_combined_kernels(data):
    X, y, task = data
    model = MKMTFLRegressor(
        2.0, 6.0, kernels=KERNELS, normalize=None, epsilon=0.05
    ).fit(X, y, task)
    square = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    grams = [X @ X.T, np.exp(-square / 2), np.exp(-square / 32)]
    for t in range(4):
        rows = task == t
        K = sum(
            w * G[np.ix_(rows, rows)]
            for w, G in zip(model.weights_[t], grams, strict=True)
        )
        np.testing.assert_allclose(
            model.predict(X[rows], task[rows]),
            K @ model.dual_coef_[rows] + model.intercept_[t],
            atol=1e-10,
        )


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"p": 1.5}, "p must be at least 2, got 1.5"),
        ({"p": np.inf}, "p must be a finite number"),
    ],
)
def test_bad_parameters_are_refused(data, params, said):
    X, y, task = data
    with pytest.raises(ValueError, match=said):
        MKMTFLRegressor(**params).fit(X, y, task)


def test_targets_that_are_text_are_refused(data):
    X, y, task = data
    with pytest.raises(ValueError, match="y holds text, and the targets"):
        MKMTFLRegressor().fit(X, y.astype(str), task)


@pytest.mark.parametrize(("p", "C"), [(6.0, 500.0), (8.67, 0.5)])
def test_gaps_close_on_kernels_of_single_features_of_patients(data_mirror, p, C):
    # Correlated features, and an objective with kinks: steps become tiny long before
    # the gap does.
    data = load("parkinsons_telemonitoring", mirror=data_mirror)
    protocol = {"kind": "per_task", "train_sizes": [15], "repeats": 1, "folds": 3}
    split = make_split(
        data, {"id": "fifteen", **protocol}, 20081, train_size=15, repeat=0
    )
    train = data.subset(split.train)
    kernels = [{"name": "linear", "feature": "each"}]
    kernels += [
        {"name": "gaussian", "width": float(width), "feature": "each"}
        for width in np.geomspace(1e-2, 1e3, 6)
    ]
    method = MKMTFLRegressor(
        C, p, kernels=kernels, epsilon=0.1, standardize=True, standardize_target=True
    )
    method.fit(train.X, train.y, train.task)
    assert method.duality_gap_ <= method.tol


def penalty(model, X, task):
    weights, p = model.weights_, float(model.p)
    assert (model.gamma_ >= 0).all()
    gamma = model.gamma_ / max(model.gamma_.sum(), 1.0)
    norms = weights * np.sqrt(forms(model, X, task, weights))
    used = gamma > 0
    assert not norms[:, ~used].any()
    return 0.5 * np.sum(np.linalg.norm(norms[:, used], p, axis=0) ** 2 / gamma[used])


SETTINGS = {
    "": {},
    "kernels": {"kernels": FEW_KERNELS, "p": 6.0, "standardize": True},
    "as they are": {"kernels": FEW_KERNELS[1:], "p": 3.0, "normalize": None},
}
CASES = {
    "MKMTFLClassifier": Case(
        settings=SETTINGS,
        penalty=penalty,
        variants=[
            THREE_KERNELS | {"p": 2.0},
            MIXED | {"p": 2.5},
            THREE_KERNELS | {"p": 8.67},
        ],
        grid=COSTS,
    ),
    "MKMTFLRegressor": Case(
        settings=SETTINGS,
        penalty=penalty,
        variants=[
            THREE_KERNELS | {"p": 12.0},
            MIXED | {"p": 6.0, "standardize_target": True},
        ],
        grid=COSTS,
    ),
}


def test_weights_are_factors_of_the_models():
    """The docstring's reading: outputs are sums of duals times weights."""
    rng = np.random.default_rng(1)
    X, task = rng.normal(size=(60, 4)), np.repeat([0, 1, 2], 20)
    y = np.where(X[:, 0] * (task - 1) + X[:, 1] > 0.2 * rng.normal(size=60), 1, -1)
    model = MKMTFLClassifier(1.0, 40.0, kernels="features").fit(X, y, task=task)
    assert model.weights_.max() > 1.0  # no share
    np.testing.assert_array_equal(model.weights_[:, model.gamma_ == 0], 0.0)
    scale = np.mean(X**2, axis=0)
    beta = model.dual_coef_
    for t in range(3):
        own = task == t
        coef = model.weights_[t] * (beta[own] @ X[own]) / scale
        np.testing.assert_allclose(model.coef_[:, t], coef, rtol=1e-6, atol=1e-9)
