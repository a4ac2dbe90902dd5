import numpy as np
import pytest
from bounds import assert_between
from scipy.special import expit

from mtmkl.certify.linear_problems import sparse_logistic
from mtmkl.solvers.linear.l1_logistic import solve_l1_logistic


def draw(binary=True):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    if binary:
        X = (X > 0).astype(float)
    z = X @ np.array([2.0, -1.5, 0.0, 0.0, 0.5]) - 0.2
    return X, (rng.random(40) < expit(z)).astype(float)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("alpha", [0.01, 0.5, 3.0, 30.0])
def test_equals_the_optimum_of_an_interior_point(alpha, binary):
    X, y = draw(binary=binary)
    solution = solve_l1_logistic(X, y, alpha, tol=1e-10)
    stated = sparse_logistic(X, y, alpha)
    assert_between(solution.certificate, stated, 1e-10)
    found = stated.var_dict
    np.testing.assert_allclose(solution.coef, found["w"].value, atol=1e-3)
    assert solution.intercept[0] == pytest.approx(found["b"].value, abs=1e-3)


def test_large_penalty_leaves_the_offset_alone():
    X, y = draw()
    rate = y.mean()
    residual = y - rate
    largest = np.abs(X.T @ residual).max()
    solution = solve_l1_logistic(X, y, 1.001 * largest)
    np.testing.assert_array_equal(solution.coef, 0.0)
    assert solution.intercept[0] == pytest.approx(np.log(rate / (1 - rate)))
    smaller = solve_l1_logistic(X, y, 0.95 * largest)
    assert np.any(smaller.coef != 0)


def test_separable_classes():
    X = np.array([[0.0], [0.1], [0.9], [1.0]])
    solution = solve_l1_logistic(X, [0, 0, 1, 1], 1e-3, tol=1e-8)
    assert solution.certificate.duality_gap <= 1e-8
    assert solution.coef[0] > 10


def test_constant_label():
    for label, offset in ((0.0, -np.inf), (1.0, np.inf)):
        solution = solve_l1_logistic(np.eye(3), np.full(3, label), 0.1)
        assert solution.intercept[0] == offset
        np.testing.assert_array_equal(solution.coef, 0.0)
        assert solution.certificate.objective == 0.0
