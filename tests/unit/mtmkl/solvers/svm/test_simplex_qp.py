"""Quadratic programs on the simplex."""

import cvxpy as cp
import numpy as np
import pytest

from mtmkl.solvers.svm.simplex_qp import (
    Program,
    minimise_on_simplex,
    minimise_with_cuts,
)


def program(n, rank, size=1.0, n_cuts=0):
    rng = np.random.default_rng(0)
    root = rng.normal(size=(rank, n))
    center = rng.dirichlet(np.ones(n))
    g, H = size * rng.normal(size=n), size * root.T @ root
    rng = np.random.default_rng(100)
    offsets = -0.3 * size * np.abs(rng.normal(size=n_cuts))
    return Program(g, H, center, offsets, 2.0 * size * rng.normal(size=(n_cuts, n)))


def optimum(problem, size=1.0):
    g, H, center, a, B = problem
    x = cp.Variable(g.size, nonneg=True)
    change = x - center
    value = g / size @ change + 0.5 * cp.quad_form(change, cp.psd_wrap(H / size))
    if a.size:
        value += cp.maximum(0, cp.max(a / size + B / size @ change))
    stated = cp.Problem(cp.Minimize(value), [cp.sum(x) == 1])
    return size * stated.solve(solver="CLARABEL")


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (5, 0), (5, 5), (40, 3), (60, 60)])
def test_equals_the_optimum_of_a_general_solver(n, rank):
    for size in (1e-6, 1.0, 1e6):
        problem = program(n, rank, size=size)
        x = problem.center.copy()
        value, gap, _ = minimise_on_simplex(problem, 1e-9 * size, 1000, x)
        assert gap <= 1e-9 * size, size
        expected = optimum(problem, size)
        assert value == pytest.approx(expected, rel=1e-5, abs=1e-6 * size), size
        assert x.min() >= 0.0
        assert x.sum() == pytest.approx(1.0)


def test_many_weights_need_not_become_zero_one_by_one():
    problem = program(150, 20)
    x = problem.center.copy()
    _, gap, n_systems = minimise_on_simplex(problem, 1e-9, 1000, x)
    n_removed = np.sum((problem.center > 0.0) & (x == 0.0))
    assert gap <= 1e-9
    assert n_removed > 100
    assert n_systems < 0.5 * n_removed


def test_the_gap_bounds_the_distance_from_the_optimum():
    problem = program(40, 40)
    least = optimum(problem)
    for limit in (0, 1, 3, 10):
        x = problem.center.copy()
        value, gap, n_iter = minimise_on_simplex(problem, 1e-9, limit, x)
        assert n_iter <= limit
        assert value - gap <= least + 1e-7
        assert least <= value + 1e-7


@pytest.mark.parametrize("size", [1e-6, 1e6])
@pytest.mark.parametrize("n_cuts", [1, 8])
@pytest.mark.parametrize(("n", "rank"), [(1, 1), (5, 0), (30, 3), (60, 60)])
def test_with_cuts_equals_the_optimum_of_a_general_solver(n, rank, n_cuts, size):
    problem = program(n, rank, size=size, n_cuts=n_cuts)
    x, mu = problem.center.copy(), np.empty(n_cuts)
    value, gap, _ = minimise_with_cuts(problem, 1e-8 * size, 200, x, mu)
    assert gap <= 2e-8 * size
    expected = optimum(problem, size)
    assert value == pytest.approx(expected, rel=1e-5, abs=1e-6 * size)
    assert x.min() >= 0.0
    assert x.sum() == pytest.approx(1.0)
    assert mu.min() >= 0.0
    assert mu.sum() <= 1.0 + 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_large_curvature_does_not_spoil_the_gap(seed):
    # A weight of 1e-7 less is nothing, and times such a curvature it is much.
    rng = np.random.default_rng(seed)
    n, n_cuts = 20, 5
    root = rng.normal(size=(3, n)) * [[1e5], [1e3], [1.0]]
    g, center = -rng.uniform(2.0, 20.0, n), rng.dirichlet(np.full(n, 0.2))
    offsets, slopes = -rng.uniform(0.0, 1e-3, n_cuts), rng.normal(size=(n_cuts, n))
    x, mu = center.copy(), np.empty(n_cuts)
    problem = Program(g, root.T @ root, center, offsets, slopes)
    assert minimise_with_cuts(problem, 1e-3, 2000, x, mu)[1] <= 1e-3


@pytest.mark.parametrize("seed", [2, 7])
def test_rounding_ends_the_search(seed):
    # Far below what rounding allows, the systems become singular.
    rng = np.random.default_rng(seed)
    n, n_cuts = 14, 8
    scale = np.array([[2e4], [1e3], [300.0]]) * rng.choice([1e-2, 1.0], size=n)
    root = rng.normal(size=(3, n)) * scale
    g = -rng.uniform(0.0, 4e7, n) * rng.choice([1e-6, 1.0], size=n)
    center = rng.dirichlet(np.full(n, 0.2))
    offsets = -rng.uniform(0.1, 0.7, n_cuts)
    slopes = rng.normal(size=(n_cuts, n)) - g
    x, mu = center.copy(), np.empty(n_cuts)
    problem = Program(g, root.T @ root, center, offsets, slopes)
    _, gap, n_iter = minimise_with_cuts(problem, 2e-3, 20_000, x, mu)
    assert n_iter < 1000
    assert 0.0 <= gap <= 1e-6 * np.abs(g).max()
    assert x.min() >= 0.0
    assert x.sum() == pytest.approx(1.0)
