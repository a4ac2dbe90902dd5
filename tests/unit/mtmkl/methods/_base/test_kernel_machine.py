"""The certificate of support vector machines is that of what is handed out."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy.special import rel_entr
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
from mtmkl.solvers.med.switches import switch_cost


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


def handed_out(estimator, X, y, task, loss):
    """Return the primal value of coef_ and intercept_, with sums in long double."""
    X, s = X.astype(np.longdouble), estimator.switches_
    outputs = np.einsum("ij,ji->i", X, estimator.coef_[:, task])
    value = estimator.C * np.sum(loss(y, outputs + estimator.intercept_[task]))
    value += np.sum(estimator.coef_.astype(np.longdouble) ** 2 / s[:, None]) / 2
    prior = 1 / (1 + estimator.alpha)
    return value + np.sum(rel_entr(s, prior) + rel_entr(1 - s, 1 - prior))


def bound(estimator, X, y, task, epsilon):
    """Return the dual value of dual_coef_, with sums in long double."""
    beta = estimator.dual_coef_.astype(np.longdouble)
    weights = np.array([X[task == t].T @ beta[task == t] for t in range(3)])
    q = np.sum(weights**2, axis=0).astype(float) / 2
    linear = y @ beta - epsilon * np.abs(beta).sum()
    return linear - switch_cost(q, estimator.log_alpha_)


@pytest.mark.parametrize("scale", [1.0, 3e4])
def test_certificate_of_regression_is_that_of_its_coefficients(scale, data):
    X, z, task = data
    X = scale * X
    model, is_warned = fit("MEDRegressor", X, z, task)
    upper = handed_out(
        model, X, z, task, lambda y, f: np.maximum(np.abs(y - f) - model.epsilon, 0)
    )
    lower = bound(model, X, z, task, model.epsilon)
    true = float((upper - lower) / upper)
    assert true <= model.duality_gap_ * (1 + 1e-3) + 1e-13
    assert model.duality_gap_ <= model.tol or is_warned


TARGETS = {
    "constant": np.full(60, 7.3),
    "zero": np.zeros(60),
    "constant in each task": np.repeat([7.3, -1.1, 1e5], 20),
    "constant to the last bit": 7.3 + np.spacing(7.3) * (np.arange(60) % 2),
}
GAUSSIAN = ["features", {"name": "gaussian", "median_factor": 1.0}]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"epsilon": 0.0},
        {"epsilon": 0.0, "kernels": GAUSSIAN},
        {"loss": "squared"},
        {"loss": "squared", "kernels": GAUSSIAN},
    ],
    ids=str,
)
def test_no_alarm_at_an_optimum_of_zero(params, target, data):
    X, _, task = data
    y = TARGETS[target]
    model, is_warned = fit("MEDRegressor", X, y, task, **params)
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


CUBIC = {"name": "polynomial", "degree": 3}


@pytest.mark.parametrize(
    ("name", "scale", "params", "message"),
    [
        ("MEDKernelSelectionClassifier", 1e80, {}, "of feature 0 has values up to 8e"),
        ("MEDRegressor", 1e100, {}, "of feature 0 has values up to"),
        ("PooledSVMClassifier", 1e80, {"kernels": ["linear"]}, r"of Linear\(.* up to"),
        (
            "IndependentSVMClassifier",
            1e110,
            {"kernels": [CUBIC]},
            r"Polynomial\(.* not finite",
        ),
        (
            "GroupFeatureSharingClassifier",
            1e110,
            {"kernels": [CUBIC]},
            r"Polynomial\(.* not finite",
        ),
        (
            "MEDAdaptivePoolingClassifier",
            1e110,
            {"kernel": CUBIC},
            r"Polynomial\(.* not finite",
        ),
        (
            "MultiTaskFeatureLearningRegressor",
            1e110,
            {"kernel": CUBIC},
            r"Polynomial\(.* not finite",
        ),
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


UNSCALED = {
    "MEDKernelSelectionClassifier": {"max_iter": 1},
    "IndependentSVMClassifier": {},
    "PooledSVMClassifier": {},
    "MEDRegressor": {},
    "MEDAdaptivePoolingClassifier": {},
    "GroupFeatureSharingClassifier": {
        "kernels": "features",
        "normalize": None,
        "max_iter": 3,
    },
    "SingleTaskMKLClassifier": {
        "kernels": "features",
        "normalize": None,
        "max_iter": 3,
    },
}
FIT_UNSCALED = """
import json, sys, warnings
import numpy as np
from mtmkl.methods import REGISTRY

rng = np.random.default_rng(0)
X = rng.standard_normal((120, 5))
z = X @ rng.standard_normal(5) + 0.5 * rng.standard_normal(120)
X[:, 0] *= 1e6
for name, params in json.loads(sys.argv[1]).items():
    y = z if name == "MEDRegressor" else np.sign(z)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        REGISTRY[name](**params).fit(X, y, task=np.repeat(np.arange(3), 40))
    print(json.dumps([name, [str(each.message) for each in caught]]), flush=True)
"""


@pytest.fixture(scope="module")
def unscaled():
    """Return the warnings of fits with a feature × 10⁶: in a process that can be ended,
    since compiled code that does not return cannot be."""
    command = [sys.executable, "-c", FIT_UNSCALED, json.dumps(UNSCALED)]
    try:
        lines = subprocess.run(
            command, stdout=subprocess.PIPE, timeout=300, check=True
        ).stdout
    except subprocess.TimeoutExpired as expired:
        lines = expired.stdout or b""
    return dict(json.loads(line) for line in lines.splitlines())


@pytest.mark.parametrize("name", UNSCALED)
def test_a_feature_on_another_scale_does_not_hold_up_a_fit(name, unscaled):
    assert name in unscaled, "the fit did not end"
    message = " ".join(unscaled[name])
    assert "gap" in message
    assert "standardize=True" in message
    assert "+12" in message or "+13" in message


class Sigmoid:
    """A kernel that is not positive semi-definite, or with a slope not symmetric."""

    def __init__(self, slope=0.0):
        self.slope = slope

    def __repr__(self):
        return "Sigmoid"

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
    for kernel, message in (
        (
            Sigmoid(),
            r"(Sigmoid|mean).* not positive semi-definite: its least .* is -\d",
        ),
        (Sigmoid(slope=1.0), r"(Sigmoid|mean).* must be symmetric"),
    ):
        with pytest.raises(ValueError, match=message):
            make(kernel).fit(X, y, task)
