"""Regression with C and ε for targets of standard deviation 1."""

import numpy as np
import pytest
from sweeps import sweep

from mtmkl.methods import (
    IndependentSVMRegressor,
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
        lambda **more: IndependentSVMRegressor(kernels=KERNELS, tol=1e-8, **more),
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


def test_equal_targets_have_no_scale():
    X, _, task = problem()
    fitted = IndependentSVMRegressor(kernels=KERNELS, standardize_target=True)
    fitted.fit(X, np.full(60, 3.0), task)
    assert fitted.target_scale_ == 1.0
    np.testing.assert_allclose(fitted.predict(X, task), 3.0)


#: At ε = 0 a β of 0 lies between its bounds and on no kink.
NO_TUBE = {
    1: lambda **more: SingleTaskMKLRegressor(epsilon=0.0, **more),
    2: lambda **more: MKMTFLRegressor(p=2.0, epsilon=0.0, **more),
    3: lambda **more: MKMTSFLRegressor(q=1.5, epsilon=0.0, **more),
}
MORE = ["2-47", "2-55", "3-61", "3-130", "3-150", "3-184"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", sweep(["1-89", "2-13", "3-22"], MORE))
def test_random_problems_of_any_scale_without_a_tube(case):
    number, seed = map(int, case.split("-"))
    kernels = [{"name": "gaussian", "width": 2.0}, {"name": "linear"}]
    X, y, task, C = random_problem(seed)
    model = NO_TUBE[number](C=C, kernels=kernels)
    assert model.fit(X, y, task).duality_gap_ <= model.tol


def random_problem(seed):
    """Few samples, some twice, with targets of 0.1 to 100 and C from 1e-3 to 1e4."""
    rng = np.random.default_rng(seed)
    n_tasks = int(rng.integers(1, 4))
    task = np.repeat(np.arange(n_tasks), rng.integers(2, 9, n_tasks))
    n, d = task.size, int(rng.integers(1, 5))
    X = np.round(rng.standard_normal((n, d)), 1)
    if rng.random() < 0.5:
        X[1::2] = X[: 2 * (n // 2) : 2]
    if rng.random() < 0.3:
        X[:, -1] = 0.0
    y = np.round(rng.standard_normal(n) * 10.0 ** rng.integers(-1, 2), 1)
    if rng.random() < 0.2:
        y += 100.0
    return X, y, task, 10.0 ** rng.integers(-3, 5)
