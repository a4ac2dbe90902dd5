import numpy as np
import pytest

from mtmkl.methods import IndependentRidgeRegressor
from mtmkl_suite.papers.jawanpuria2011.squared_loss import SquaredMKL, SquaredMKMTFL

WIDE = {"name": "gaussian", "width": 1.5}
SEVERAL = [{"name": "linear"}, WIDE, {"name": "gaussian", "width": 0.3}]


@pytest.fixture
def rows(small_data):
    return small_data.X, small_data.y, small_data.task


@pytest.mark.parametrize("method", [SquaredMKL, SquaredMKMTFL])
def test_one_kernel_is_ridge_regression(rows, method):
    X, y, task = rows
    ridge = IndependentRidgeRegressor(0.25, kernel=WIDE, basis_tol=1e-12)
    found, expected = (
        each.fit(X, y, task=task).predict(X, task=task)
        for each in (method(2.0, kernels=[WIDE]), ridge)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("method", "settings"),
    [(SquaredMKL, {}), (SquaredMKMTFL, {"p": 2.0}), (SquaredMKMTFL, {"p": 8.67})],
)
def test_the_gap_closes(rows, method, settings):
    X, y, task = rows
    model = method(0.5, kernels=SEVERAL, **settings).fit(X, y, task=task)
    assert 0 <= model.duality_gap_ <= 1e-3
    assert model.dual_objective_ <= model.objective_
    residual = y - model.predict(X, task=task)
    assert 0.5 * np.sum(residual**2) <= model.objective_ * (1 + 1e-9)
