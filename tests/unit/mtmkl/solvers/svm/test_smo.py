"""The compiled minimisers on boxes of any kind, with and without the equality."""

import numpy as np
import pytest
from box_problems import assert_optimal, gaussian, inputs, problem

from mtmkl.solvers.svm import smo

TIGHT = 1e-10


def minimise(K, c, lo, hi, *, epsilon=0.0, equality=True, tol=TIGHT):
    """Return β and v = c − Kβ, from β = 0."""
    beta, v = np.zeros(c.size), np.empty(c.size)
    smo.negative_gradient(K, c, beta, v)
    work, index = smo.workspace(c.size)
    work[smo.DIAGONAL] = K.diagonal()
    solve = smo.pair_steps if equality else smo.single_steps
    dual = smo.Dual(c, lo, hi, epsilon, beta, v)
    n_iter, reached, _ = solve(K, dual, work, index, tol, 1_000_000, 0.0)
    assert n_iter < 1_000_000
    assert reached == tol
    return beta, v


def intercept_at(v, beta, lo, hi, epsilon):
    return smo.intercept_at(smo.Dual(v, lo, hi, epsilon, beta, v))


def test_a_tube_wider_than_the_targets_leaves_nothing():
    K, _ = problem("gaussian", n=12)
    target, box = np.linspace(2.0, 3.0, 12), np.ones(12)
    beta, v = minimise(K, target, -box, box, epsilon=0.75)
    np.testing.assert_array_equal(beta, 0.0)
    # Of all in [2.25, 2.75].
    assert intercept_at(v, beta, -box, box, 0.75) == pytest.approx(2.5)


def test_a_large_offset_of_the_targets_goes_into_the_intercept():
    # 1e6 takes the digits in which a working pair is chosen; not those of the answer
    X = inputs(60, 4, 14)
    target, box = np.sin(2 * X[:, 0]), np.full(60, 5.0)
    K = gaussian(X, 1.2)
    plain, v = minimise(K, target, -box, box, epsilon=0.05, tol=1e-8)
    moved, w = minimise(K, target + 1e6, -box, box, epsilon=0.05, tol=1e-8)
    np.testing.assert_allclose(K @ moved, K @ plain, atol=1e-7)
    shift = intercept_at(w, moved, -box, box, 0.05) - 1e6
    assert shift == pytest.approx(intercept_at(v, plain, -box, box, 0.05), abs=1e-7)


@pytest.mark.parametrize("equality", [True, False])
def test_bounds_of_different_sizes_are_met_exactly(equality):
    rng = np.random.default_rng(15)
    X = inputs(50, 6, 15)
    K = X @ X.T
    c = 10 * rng.standard_normal(50)
    upper = 10.0 ** rng.uniform(-6, 6, 50)
    lower = -(10.0 ** rng.uniform(-6, 6, 50))
    beta, v = minimise(K, c, lower, upper, epsilon=0.5, equality=equality, tol=1e-4)
    np.testing.assert_allclose(v, c - K @ beta, rtol=1e-9, atol=1e-7)
    total = 0.0 if equality else None
    assert_optimal(K, c, lower, upper, beta, epsilon=0.5, total=total, atol=1.1e-4)
    near = np.minimum(upper - beta, beta - lower)
    assert ((near == 0) | (near > 1e-9 * (upper - lower))).all()
    assert (near == 0).sum() > 20


def test_an_intercept_near_the_kink_is_the_middle_of_its_interval():
    lo, hi = -np.ones(3), np.ones(3)
    v = np.array([0.7, 0.1, -0.9])
    for rounding in (0.0, 1e-17, -1e-17):
        beta = np.array([1.0, rounding, -1.0])
        # up from the kink at 0.1 − 0.4 and from −1 at −0.5, down at 0.5 and from 1
        # at 0.3
        assert intercept_at(v, beta, lo, hi, 0.4) == pytest.approx(0.0)


def test_a_multiplier_that_rounding_keeps_from_its_bound_is_not_free():
    lo, hi = np.array([0.0, -1.0, 0.0]), np.array([1.0, 0.0, 1.0])
    beta, v = np.array([1.0, -1.0, 8e-18]), np.array([0.8, -0.8, 0.5])
    # Every b in [0.5, 0.8] is optimal.
    assert intercept_at(v, beta, lo, hi, 0.0) == pytest.approx(0.65)


def test_a_small_multiplier_is_free_beside_small_ones():
    lo, hi, v = np.zeros(2), np.full(2, 1e8), np.array([0.3, 0.5])
    assert intercept_at(v, np.array([1e-6, 0.0]), lo, hi, 0.0) == 0.3
