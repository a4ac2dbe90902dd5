"""The certificate of support vector machines is that of what is handed out."""

import warnings

import numpy as np
import pytest
from sklearn.base import is_regressor
from sklearn.exceptions import ConvergenceWarning

from mtmkl.kernels import basis
from mtmkl.kernels.base import Average, OnFeature
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


def fit(name, X, y, task, **params):
    """Return the fitted estimator and whether it warned of its gap."""
    estimator = REGISTRY[name](**params)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        estimator.fit(X, y, task)
    return estimator, any("duality gap" in str(each.message) for each in caught)


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
    model, is_warned = fit("MEDRegressor", X, y, task, kernels=kernels, **loss)
    assert not is_warned
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
        model, is_warned = fit(name, X, y, task)
        assert (model.objective_, model.dual_objective_) == (0.0, 0.0)
        assert model.duality_gap_ == 0.0
        assert not is_warned


CUBIC, NOT_FINITE = {"name": "polynomial", "degree": 3}, r"Polynomial\(.* not finite"


@pytest.mark.parametrize(
    ("name", "scale", "params", "message"),
    [
        ("MEDKernelSelectionClassifier", 1e80, {}, "of feature 0 has values up to 8e"),
        ("MEDRegressor", 1e100, {}, "of feature 0 has values up to"),
        ("PooledSVMClassifier", 1e80, {"kernels": ["linear"]}, r"of Linear\(.* up to"),
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


class Sigmoid:
    """A kernel that is not positive semi-definite, or with a slope not symmetric."""

    def __init__(self, slope):
        self.slope = slope

    def fit(self, X):
        return self

    def __call__(self, X, Z):
        return np.tanh(1.5 * X @ Z.T - 1.0) + self.slope * X[:, :1]

    def diagonal(self, X):
        return np.tanh(1.5 * np.sum(X**2, axis=1) - 1.0)


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
    for slope, message in (
        (0.0, r"not positive semi-definite: its least .* is -\d"),
        (1.0, "must be symmetric"),
    ):
        with pytest.raises(ValueError, match=f"(Sigmoid|mean).* {message}"):
            make(Sigmoid(slope)).fit(X, y, task)
