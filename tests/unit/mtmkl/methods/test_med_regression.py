import numpy as np
import pytest
from method_cases import FEW_KERNELS, KERNELS, MIXED, SWITCHED, Case
from model_objectives import switched
from sklearn.svm import SVR

from mtmkl.methods.med_regression import MEDRegressor


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(3)
    task = np.repeat(np.arange(3), [20, 15, 25])
    X = rng.standard_normal((60, 5))
    W = np.zeros((5, 3))
    W[:2] = rng.standard_normal((2, 3)) * 2
    y = np.einsum("ij,ji->i", X, W[:, task]) + task + 0.1 * rng.standard_normal(60)
    return X, y, task


def test_no_prior_doubt_is_support_vector_regression(problem):
    X, y, task = problem
    model = MEDRegressor(C=2.0, alpha=0.0, epsilon=0.2, tol=1e-7).fit(X, y, task)
    for t in range(3):
        mine = task == t
        machine = SVR(kernel="linear", C=2.0, epsilon=0.2, tol=1e-8).fit(
            X[mine], y[mine]
        )
        np.testing.assert_allclose(
            model.predict(X[mine], task[mine]), machine.predict(X[mine]), atol=1e-3
        )


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared"])
def test_relevant_features_are_switched_on(loss, problem):
    X, y, task = problem
    model = MEDRegressor(C=5.0, alpha=1e3, loss=loss).fit(X, y, task)
    assert model.switches_[:2].min() > 0.8
    assert model.switches_[2:].max() < 0.1
    assert model.score(X, y, task=task) > 0.98


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared"])
def test_shift_of_the_target_moves_the_offsets_alone(loss, problem):
    X, y, task = problem
    shift = np.array([10.0, -20.0, 0.0])
    first, second = (
        MEDRegressor(alpha=5.0, loss=loss, tol=1e-8).fit(X, target, task)
        for target in (y, y + shift[task])
    )
    np.testing.assert_allclose(second.coef_, first.coef_, atol=1e-3)
    np.testing.assert_allclose(second.intercept_, first.intercept_ + shift, atol=1e-3)


CASES = {
    "MEDRegressor": Case(
        settings={"tube": {"kernels": FEW_KERNELS}, "squared": {"loss": "squared"}},
        penalty=switched,
        variants=[{}, MIXED, {"loss": "squared"}, KERNELS | {"loss": "squared"}],
        grid=SWITCHED,
    )
}
