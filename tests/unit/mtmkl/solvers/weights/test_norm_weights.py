"""Weights in the ball of a p-norm."""

import numpy as np
import pytest

from mtmkl.solvers.weights.norm_weights import dual_norm, equal_weights, next_weights


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
