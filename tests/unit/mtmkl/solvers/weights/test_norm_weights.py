"""Weights in the ball of a p-norm."""

import numpy as np
import pytest

from mtmkl.solvers.weights.norm_weights import dual_norm, equal_weights, next_weights

NORMS = [1, 1.0001, 1.5, 2, 7, np.inf]
Q = np.array([0.5, 2.0, 0.0, 1.5])


@pytest.mark.parametrize("p", NORMS)
def test_dual_norm_bounds_every_product_and_is_met(p):
    rng = np.random.default_rng(0)
    theta = rng.random((2000, 4))
    theta /= np.linalg.norm(theta, p, axis=1)[:, None]
    assert (theta @ Q).max() <= dual_norm(Q, p) * (1 + 1e-12)
    best = (Q.max() == Q) * 1.0
    if p > 1:
        best = (Q / Q.max()) ** (1 / (p - 1))
    assert best @ Q / np.linalg.norm(best, p) == pytest.approx(dual_norm(Q, p))


@pytest.mark.parametrize("p", NORMS)
def test_next_weights_minimise_the_penalty_of_models_as_they_stand(p):
    theta = equal_weights(4, p)
    assert np.linalg.norm(theta, p) == pytest.approx(1.0)
    squares = theta**2 * Q
    best = next_weights(theta, Q, p)
    assert np.linalg.norm(best, p) == pytest.approx(1.0)
    kept = Q > 0
    value = (squares[kept] / best[kept]).sum()
    others = np.random.default_rng(0).random((2000, 4)) + 1e-3
    others /= np.linalg.norm(others, p, axis=1)[:, None]
    assert value <= (squares[kept] / others[:, kept]).sum(axis=1).min() * (1 + 1e-9)


def test_weights_of_no_models_stay():
    theta = equal_weights(3, 2)
    np.testing.assert_array_equal(next_weights(theta, np.zeros(3), 2), theta)
    assert dual_norm(np.zeros(3), 2) == 0.0


def test_weights_of_models_that_vanish_but_for_rounding_are_small_and_return():
    q = np.array([1.0, -1e-20, 0.0])
    weights = next_weights(equal_weights(3, 2), q, 2)
    assert np.isfinite(weights).all()
    assert (weights > 0.0).all()
    assert weights[1:].max() < 1e-9
    for _ in range(24):
        weights = next_weights(weights, np.array([1.0, 1.0, 0.0]), 2)
    assert weights[1] == pytest.approx(weights[0], rel=0.01)


@pytest.mark.parametrize("p", [1.01, 2.0])
def test_long_steps_leave_no_weight_at_zero(p):
    theta = np.array([1.0, 0.01])
    for _ in range(3):
        theta = next_weights(theta, np.array([1.0, 0.0]), p, 50.0)
        assert (theta > 0.0).all()
    least = theta[1]
    for _ in range(40):
        theta = next_weights(theta, np.ones(2), p)
    assert theta[1] > 10.0 * least
