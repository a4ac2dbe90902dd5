import numpy as np
import pytest
from method_cases import FEW_KERNELS, MIXED, SWITCHED, Case
from method_cases import KERNELS as THREE_KERNELS
from model_objectives import forms, switched

from mtmkl.methods.med_kernel_selection import MEDKernelSelectionClassifier

KERNELS = ["features", {"name": "gaussian", "median_factor": 1.0}, "linear"]


def test_coefficients_are_those_of_the_raw_inputs(labelled):
    X, y, task = labelled
    for options in ({}, {"standardize": True}, {"normalize": "trace"}):
        model = MEDKernelSelectionClassifier(alpha=20.0, **options).fit(X, y, task)
        assert model.coef_.shape == (3, 4)
        expected = np.einsum("ij,ji->i", X, model.coef_[:, task])
        np.testing.assert_allclose(
            model.decision_function(X, task), expected + model.intercept_[task]
        )


def test_kernels_in_any_order(labelled):
    kwargs = {"alpha": 30.0, "normalize": "trace", "tol": 1e-9}
    model, turned = (
        MEDKernelSelectionClassifier(kernels=kernels, **kwargs).fit(*labelled)
        for kernels in (KERNELS, KERNELS[::-1])
    )
    assert model.kernel_names_[:3] == ("feature 0", "feature 1", "feature 2")
    order = [4, 3, 0, 1, 2]
    assert turned.kernel_names_ == tuple(model.kernel_names_[k] for k in order)
    np.testing.assert_allclose(turned.switches_, model.switches_[order], atol=1e-5)


def test_relative_alpha_is_a_share_of_the_largest_q(labelled):
    X, y, task = labelled
    kwargs = {"kernels": KERNELS, "normalize": "trace", "tol": 1e-9}
    grid = [{"relative_alpha": a, "C": C} for C in (0.1, 3.0) for a in (0.0, 0.3, 2)]
    path = MEDKernelSelectionClassifier(**kwargs).fit_path(X, y, task, grid=grid)
    for model in path:
        on = MEDKernelSelectionClassifier(model.C, alpha=0.0, **kwargs).fit(X, y, task)
        q = 0.5 * forms(on, X, task, 1.0).sum(axis=0)
        expected = np.expm1(model.relative_alpha * q.max())
        assert model.alpha_ == pytest.approx(expected, rel=1e-5)
        if model.relative_alpha == 0:
            assert model.log_alpha_ == -np.inf


CASES = {
    "MEDKernelSelectionClassifier": Case(
        settings={
            "features": {},
            "kernels": MIXED | {"kernels": FEW_KERNELS},
            "independent": {"kernels": FEW_KERNELS, "switches": "per_task"},
        },
        penalty=switched,
        variants=[{}, MIXED, THREE_KERNELS | {"switches": "per_task"}],
        grid=SWITCHED,
    )
}


def test_switches_that_all_go_off_take_few_steps():
    """Ratios of switches below what any tolerance shows choose β: 117 steps by luck."""
    rng = np.random.default_rng(3)
    task = np.repeat(np.arange(12), 30)
    X = rng.normal(size=(task.size, 4))
    y = np.where(X[:, 0] + 1.5 * rng.normal(size=task.size) > 0.5, 1.0, -1.0)
    widths = [{"name": "gaussian", "median_factor": 2.0**k} for k in range(-4, 5)]
    model = MEDKernelSelectionClassifier(
        0.6, kernels=["features", *widths], normalize="trace", standardize=True
    )
    grid = [{"relative_alpha": 2.0**k} for k in range(6)]
    for point in model.fit_path(X, y, task, grid=grid):
        assert point.duality_gap_ <= 1e-6
        assert point.n_iter_ <= 30
    assert point.switches_.max() < 1e-6
