"""Quadratic programs on the simplex."""

import cvxpy as cp
import numpy as np
import pytest

from mtmkl.solvers.group_sharing_weights import minimise_weights
from mtmkl.solvers.simplex_qp import minimise_on_simplex


def program(n, rank, seed=0, size=1.0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(rank, n))
    center = rng.dirichlet(np.ones(n))
    return size * rng.normal(size=n), size * root.T @ root, center


def optimum(g, H, center):
    x = cp.Variable(g.size, nonneg=True)
    change = x - center
    value = g @ change + 0.5 * cp.quad_form(change, cp.psd_wrap(H))
    problem = cp.Problem(cp.Minimize(value), [cp.sum(x) == 1])
    return problem.solve(solver="CLARABEL")


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("n", "rank"), [(1, 1), (5, 0), (5, 5), (40, 3), (60, 60)])
def test_equals_the_optimum_of_a_general_solver(n, rank, size):
    g, H, center = program(n, rank, size=size)
    x = center.copy()
    value, gap, _ = minimise_on_simplex(g, H, center, 1e-9 * size, 1000, x)
    assert gap <= 1e-9 * size
    expected = size * optimum(g / size, H / size, center)
    assert value == pytest.approx(expected, rel=1e-5, abs=1e-6 * size)
    assert x.min() >= 0.0
    assert x.sum() == pytest.approx(1.0)


def test_the_gap_bounds_the_distance_from_the_optimum():
    g, H, center = program(40, 40)
    least = optimum(g, H, center)
    for limit in (0, 1, 3, 10):
        x = center.copy()
        value, gap, n_iter = minimise_on_simplex(g, H, center, 1e-9, limit, x)
        assert n_iter <= limit
        assert value - gap <= least + 1e-7
        assert least <= value + 1e-7


def test_weights_of_many_kernels_are_programs_of_their_tasks():
    parts = [program(40, 6, seed) for seed in range(3)]
    g, H, center = (np.stack(each) for each in zip(*parts, strict=True))
    weights = minimise_weights(g, H, center, 0.0, start=center, tol=1e-8)
    expected = sum(optimum(*part) for part in parts)
    assert weights.objective == pytest.approx(expected, abs=1e-6)
    assert weights.gap <= 1e-8
