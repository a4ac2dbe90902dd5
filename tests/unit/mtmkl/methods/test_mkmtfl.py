"""MK-MTFL as estimators."""

import numpy as np
import pytest
from method_cases import COSTS, FEW_KERNELS, MIXED, Case
from method_cases import KERNELS as THREE_KERNELS
from model_objectives import forms

from mtmkl.methods import (
    IndependentSVMRegressor,
    MKMTFLClassifier,
    MKMTFLRegressor,
    SingleTaskMKLClassifier,
    SingleTaskMKLRegressor,
)


def test_one_task_is_single_task_kernel_learning(related):
    X, y, _ = related
    options = THREE_KERNELS | {"tol": 1e-8}
    for method, alone, targets in (
        (MKMTFLClassifier, SingleTaskMKLClassifier, np.where(y > 0, 1, -1)),
        (MKMTFLRegressor, SingleTaskMKLRegressor, y),
    ):
        one = method(2.0, 6.0, **options).fit(X, targets)
        single = alone(2.0, normalize="trace", **options).fit(X, targets)
        assert one.objective_ == pytest.approx(single.objective_, rel=1e-7)


def test_one_kernel_and_two_are_independent_machines(related):
    X, y, task = related
    one = MKMTFLRegressor(
        2.0, 2.0, kernels=["linear"], normalize=None, epsilon=0.2, tol=1e-10
    ).fit(X, y, task)
    alone = IndependentSVMRegressor(2.0, kernels=["linear"], epsilon=0.2, tol=1e-10)
    alone.fit(X, y, task)
    assert one.objective_ == pytest.approx(alone.objective_, rel=1e-9)
    np.testing.assert_allclose(one.predict(X, task), alone.predict(X, task), atol=1e-5)


def test_what_is_refused(related):
    X, y, task = related
    with pytest.raises(ValueError, match=r"p must be at least 2 and finite, got 1\.5"):
        MKMTFLRegressor(p=1.5).fit(X, y, task)
    with pytest.raises(ValueError, match="y holds text, and the targets"):
        MKMTFLRegressor().fit(X, y.astype(str), task)


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
