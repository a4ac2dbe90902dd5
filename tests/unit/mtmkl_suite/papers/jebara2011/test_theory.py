import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit

from mtmkl.solvers.med.switches import divergence
from mtmkl_suite.papers.jebara2011.theory import (
    bounds_along,
    dual_output,
    implicit_penalty,
    primal_penalty,
)


def section(rng, n=6, n_kernels=3):
    """Return what bounds_along needs of random kernels, a point and a direction."""
    roots = rng.normal(size=(n_kernels, n, 2))
    H = np.einsum("dik,djk->dij", roots, roots)
    point, direction = rng.random(n), rng.normal(size=n)
    return {
        "q": 0.5 * np.einsum("i,dij,j->d", point, H, point),
        "r": np.einsum("i,dij,j->d", point, H, direction),
        "w": 0.5 * np.einsum("i,dij,j->d", direction, H, direction),
        "linear": point.sum(),
        "slope": direction.sum(),
    }, (H, point, direction)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 30.0])
def test_bounds_hold_and_touch(alpha):
    tau = np.linspace(-2, 2, 81)
    for seed in range(10):
        numbers, (H, point, direction) = section(np.random.default_rng(seed))
        lower, J, upper = bounds_along(tau, **numbers, log_alpha=np.log(alpha))
        for k in (0, 40, 63):
            at = point + tau[k] * direction
            q = 0.5 * np.einsum("i,dij,j->d", at, H, at)
            cost = np.sum(np.log((alpha + np.exp(q)) / (1 + alpha)))
            assert J[k] == pytest.approx(at.sum() - cost, rel=1e-10)
        assert np.all(lower <= J + 1e-9 * np.abs(J))
        assert np.all(upper >= J - 1e-9 * np.abs(J))
        touching = tau == 0
        np.testing.assert_allclose(lower[touching], J[touching])
        np.testing.assert_allclose(upper[touching], J[touching])
        # Both have the slope of J at the point.
        h = 1e-5
        near = [
            np.diff(each)[0] / (2 * h)
            for each in bounds_along([-h, h], **numbers, log_alpha=np.log(alpha))
        ]
        np.testing.assert_allclose(near[0], near[1], rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(near[2], near[1], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("log_alpha", [-1.0, 0.0, 2.0, 9.0])
def test_primal_penalty_is_the_least_over_the_switch(log_alpha):
    for w in (0.05, 0.5, 2.0, 6.0):

        def cost(u, w=w):
            prior = divergence(np.array([u]), np.array([-log_alpha]))
            return prior + 0.5 * w**2 / expit(u)

        found = minimize_scalar(cost, bounds=(-30, 30), method="bounded")
        assert primal_penalty(w, log_alpha) == pytest.approx(found.fun, rel=1e-6)


def test_dual_output_inverts_the_weight():
    for log_alpha in (-3.0, 0.0, 5.0, 60.0):
        v = np.array([0.0, 0.3, 2.0, 11.0, 40.0])
        w = v * expit(0.5 * v**2 - log_alpha)
        found = dual_output(w, log_alpha)
        np.testing.assert_allclose(
            found * expit(0.5 * found**2 - log_alpha), w, rtol=1e-12
        )


@pytest.mark.parametrize("penalty", [primal_penalty, implicit_penalty])
def test_no_prior_doubt_is_half_the_square(penalty):
    w = np.array([-2.0, 0.0, 0.5, 7.0])
    np.testing.assert_allclose(penalty(w, -np.inf), 0.5 * w**2, rtol=1e-9)


def test_printed_function_is_not_convex():
    # h(½) > ½h(1) for α = 100, which no convex function with h(0) = 0 allows.
    h = implicit_penalty(np.array([0.0, 0.25, 0.5]), np.log(100.0))
    assert h[0] == 0.0
    assert h[1] > 0.5 * h[2] * (1 + 1e-3)


@pytest.mark.parametrize("alpha", [0.5, 2.0, 100.0])
def test_implicit_equation_needs_a_plus(alpha):
    w = np.array([0.3, 1.0, 4.0])
    # In the printed equation h is shifted by its value at zero, log(1 + 1/α).
    ratio = np.exp(implicit_penalty(w, np.log(alpha)) + np.log1p(1 / alpha)) - 1
    numerator = 2 * np.log(alpha) + 2 * np.log(ratio)
    np.testing.assert_allclose(numerator / (1 + 1 / ratio) ** 2, w**2, rtol=1e-7)
    printed = numerator / (1 - 1 / ratio) ** 2
    assert not np.allclose(printed, w**2, rtol=0.1)
