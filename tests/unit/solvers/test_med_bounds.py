import numpy as np
import pytest

from mtmkl.solvers.med_bounds import bounds_along, iteration_bound


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


def test_iteration_bound_is_the_printed_one():
    for alpha in (0.5, 1.0, 3.0, 100.0):
        expected = np.ceil(np.log(1 / 0.01) / np.log(min(1 + 1 / alpha, 2)))
        assert iteration_bound(alpha, 0.01) == expected
    assert iteration_bound(0.0, 0.01) == 7
