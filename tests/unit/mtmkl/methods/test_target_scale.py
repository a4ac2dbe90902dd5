"""Regression with C and ε for targets of standard deviation 1."""

import numpy as np
import pytest

from mtmkl.methods import (
    IndependentSVR,
    MKMTFLRegressor,
    MKMTSFLRegressor,
    SingleTaskMKLRegressor,
)

KERNELS = [{"name": "linear"}, {"name": "gaussian", "width": 1.0}]


def problem():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    task = np.arange(60) % 3
    y = 40.0 + 15.0 * (X[:, 0] + 0.3 * task + 0.2 * rng.normal(size=60))
    return X, y, task


@pytest.mark.parametrize(
    "method",
    [
        lambda **more: IndependentSVR(kernels=KERNELS, tol=1e-8, **more),
        lambda **more: SingleTaskMKLRegressor(kernels=KERNELS, tol=1e-8, **more),
        lambda **more: MKMTFLRegressor(kernels=KERNELS, p=6.0, tol=1e-8, **more),
        lambda **more: MKMTSFLRegressor(
            kernels=KERNELS, tol=1e-7, basis_tol=0.0, **more
        ),
    ],
)
def test_it_is_the_fit_on_standardised_targets(method):
    X, y, task = problem()
    mean, scale = y.mean(), y.std()
    relative = method(C=0.7, epsilon=0.1, standardize_target=True).fit(X, y, task)
    assert relative.target_scale_ == pytest.approx(scale)
    apart = method(C=0.7, epsilon=0.1).fit(X, (y - mean) / scale, task)
    assert apart.target_scale_ == 1.0
    np.testing.assert_allclose(
        relative.predict(X, task), mean + scale * apart.predict(X, task), rtol=1e-4
    )
    assert relative.objective_ == pytest.approx(scale**2 * apart.objective_, rel=1e-6)


def test_points_of_a_path_know_the_scale():
    X, y, task = problem()
    base = IndependentSVR(kernels=KERNELS, epsilon=0.1, standardize_target=True)
    path = base.fit_path(X, y, task, grid=[{"C": C} for C in (0.1, 1.0)])
    for C, fitted in zip((0.1, 1.0), path, strict=True):
        assert fitted.target_scale_ == pytest.approx(y.std())
        single = IndependentSVR(
            C, kernels=KERNELS, epsilon=0.1, standardize_target=True
        )
        np.testing.assert_allclose(
            fitted.predict(X, task), single.fit(X, y, task).predict(X, task), rtol=1e-5
        )


def test_equal_targets_have_no_scale():
    X, _, task = problem()
    fitted = IndependentSVR(kernels=KERNELS, standardize_target=True)
    fitted.fit(X, np.full(60, 3.0), task)
    assert fitted.target_scale_ == 1.0
    np.testing.assert_allclose(fitted.predict(X, task), 3.0)


def test_a_wrong_flag_is_refused():
    X, y, task = problem()
    with pytest.raises(ValueError, match="standardize_target"):
        IndependentSVR(standardize_target="yes").fit(X, y, task)
