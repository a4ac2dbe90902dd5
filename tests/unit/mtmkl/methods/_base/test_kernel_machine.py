"""The certificate of support vector machines is that of what is handed out."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import is_regressor
from warned_fits import said_by_fit

from mtmkl.kernels import basis
from mtmkl.kernels.base import Average, OnFeature, from_spec
from mtmkl.methods import (
    REGISTRY,
    IndependentSVMClassifier,
    MEDAdaptivePoolingClassifier,
    MultiTaskFeatureLearningRegressor,
    MultiTaskMKLClassifier,
    PooledSVMClassifier,
    med_adaptive_pooling,
)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    z = X @ rng.standard_normal(5) + 0.5 * rng.standard_normal(60)
    return X, z, np.repeat(np.arange(3), 20)


TARGETS = {
    "constant": np.full(60, 7.3),
    "zero": np.zeros(60),
    "constant in each task": np.repeat([7.3, -1.1, 1e5], 20),
    "constant to the last bit": 7.3 + np.spacing(7.3) * (np.arange(60) % 2),
}
GAUSSIAN = ["features", {"name": "gaussian", "median_factor": 1.0}]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernels", ["features", GAUSSIAN], ids=str)
@pytest.mark.parametrize("loss", [{}, {"epsilon": 0.0}, {"loss": "squared"}], ids=str)
def test_no_alarm_at_an_optimum_of_zero(loss, kernels, target, data):
    X, _, task = data
    y = TARGETS[target]
    model = REGISTRY["MEDRegressor"](kernels=kernels, **loss)
    assert said_by_fit(model, X, y, task) == ""
    assert model.duality_gap_ <= model.tol
    np.testing.assert_allclose(model.predict(X, task), y, rtol=1e-9)


def test_tasks_of_one_class_leave_nothing_to_optimise(data):
    X, _, task = data
    y = np.where(task == 1, 1.0, -1.0)
    for name in (
        "MEDKernelSelectionClassifier",
        "IndependentSVMClassifier",
        "SingleTaskMKLClassifier",
    ):
        model = REGISTRY[name]()
        assert said_by_fit(model, X, y, task) == ""
        assert (model.objective_, model.dual_objective_) == (0.0, 0.0)
        assert model.duality_gap_ == 0.0


CUBIC, NOT_FINITE = {"name": "polynomial", "degree": 3}, r"Polynomial\(.* not finite"


@pytest.mark.parametrize(
    ("name", "scale", "params", "message"),
    [
        ("MEDKernelSelectionClassifier", 1e80, {}, "of feature 0 has values up to 8e"),
        ("MEDRegressor", 1e100, {}, "of feature 0 has values up to"),
        (
            "PooledSVMClassifier",
            1e80,
            {"kernels": ["linear"]},
            r"Linear\(.*dize=True",
        ),
        ("IndependentSVMClassifier", 1e110, {"kernels": [CUBIC]}, NOT_FINITE),
        ("MEDAdaptivePoolingClassifier", 1e110, {"kernel": CUBIC}, NOT_FINITE),
        ("MultiTaskFeatureLearningRegressor", 1e110, {"kernel": CUBIC}, NOT_FINITE),
        ("MultiTaskFeatureLearningRegressor", 1e200, {}, "^X has values up to .* squa"),
        ("FlexClusClassifier", 1e200, {}, "^X has values up to .* whose squares overf"),
    ],
)
@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered")
def test_kernels_that_overflow_are_refused_by_name(name, scale, params, message, data):
    X, z, task = data
    y = z if is_regressor(REGISTRY[name]()) else np.sign(z)
    with pytest.raises(ValueError, match=message):
        REGISTRY[name](**params).fit(scale * X, y, task)


def test_targets_that_overflow_are_refused(data):
    X, z, task = data
    with pytest.raises(ValueError, match=r"^y has values up to .* squares overflow"):
        REGISTRY["MultiTaskFeatureLearningRegressor"]().fit(X, 1e200 * z, task)


def sigmoid(X, Z, slope=0.0):
    """Return no positive semi-definite matrix, and with a slope no symmetric one."""
    return np.tanh(1.5 * X @ Z.T - 1.0) + slope * X[:, :1]


@pytest.mark.parametrize(
    "make",
    [
        lambda kernel: IndependentSVMClassifier(kernels=[kernel]),
        lambda kernel: PooledSVMClassifier(kernels=[Average([kernel])]),
        lambda kernel: IndependentSVMClassifier(kernels=[OnFeature(kernel, 0)]),
        lambda kernel: MultiTaskMKLClassifier([(kernel, "union")]),
        lambda kernel: MEDAdaptivePoolingClassifier(kernel=kernel),
        lambda kernel: MultiTaskFeatureLearningRegressor(kernel=kernel),
    ],
)
def test_a_kernel_of_ones_own_is_checked_where_it_is_trained(make, monkeypatch):
    X = np.random.default_rng(0).normal(size=(48, 2))
    y, task = np.where(X[:, 0] > 0, 1, -1), np.arange(48) % 2
    # Of many samples a Cholesky factor of some columns would do.
    monkeypatch.setattr(med_adaptive_pooling, "_MANY_OF_OTHERS", 10)
    monkeypatch.setattr(basis, "_WHOLE", 10)
    for function, message in (
        (sigmoid, r"not positive semi-definite: its least .* is -\d"),
        (partial(sigmoid, slope=1.0), "must be symmetric"),
    ):
        with pytest.raises(ValueError, match=f"(sigmoid|mean).* {message}"):
            make(from_spec(function)).fit(X, y, task)
