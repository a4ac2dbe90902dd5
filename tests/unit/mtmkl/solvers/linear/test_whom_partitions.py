"""Whom's solver against all partitions of a few tasks, and its convex parts."""

import functools

import numpy as np
import pytest

from mtmkl.certify import linear_problems
from mtmkl.certify.solving import find_optimum
from mtmkl.solvers.linear import squared_norm, whom_partitions
from mtmkl.solvers.linear.task_decomposition import decompose
from mtmkl.solvers.linear.whom_partitions import (
    _renew_costs,
    move_tasks,
    partitions,
    solve,
)


def _best_of_all(tasks, gamma, n_groups):
    """Return the least objective over all partitions into at most n_groups groups."""

    @functools.cache
    def cost(members):
        group = np.array(members)
        found = squared_norm.solve_group(tasks, group, gamma, tol=1e-7)
        return found.certificate.objective

    return min(
        sum(cost(tuple(group)) for group in each)
        for n in range(1, n_groups + 1)
        for each in partitions(tasks.n_tasks, n)
    )


def _solutions(tasks, gamma, n_groups, n_starts, **options):
    rngs = [np.random.default_rng([5, seed]) for seed in range(n_starts)]
    return solve(tasks, gamma, n_groups, rngs=rngs, **options)


def _random_problem(seed, n_tasks):
    """Return tasks along a few random directions, γ and a number of groups."""
    rng = np.random.default_rng([11, seed])
    task = np.repeat(np.arange(n_tasks), 8)
    X = rng.standard_normal((task.size, 5))
    directions = rng.standard_normal((5, 3))
    W = directions @ rng.standard_normal((3, n_tasks))
    W += 0.3 * rng.standard_normal(W.shape)
    y = np.einsum("ij,ji->i", X, W[:, task]) + rng.standard_normal(task.size)
    gamma = 10 ** rng.uniform(-1, 1)
    n_groups = int(rng.integers(2, max(n_tasks // 2, 2) + 1))
    return decompose(X, y, task, n_tasks=n_tasks), gamma, n_groups


def test_partitions_are_all_of_them_once():
    for n_tasks, counts in ((4, [1, 7, 6, 1]), (6, [1, 31, 90, 65, 15, 1])):
        for n_groups, count in enumerate(counts, start=1):
            found = list(partitions(n_tasks, n_groups))
            assert len(found) == len({frozenset(each) for each in found}) == count
            for each in found:
                assert sorted(t for group in each for t in group) == [*range(n_tasks)]
                assert [group[0] for group in each] == sorted(g[0] for g in each)


@pytest.mark.parametrize("n_tasks", [3, 4, 6])
@pytest.mark.parametrize("seed", range(5))
def test_random_problems_of_up_to_six_tasks(seed, n_tasks):
    """benchmarks/whom_partitions.py has the same over many more problems."""
    tasks, gamma, n_groups = _random_problem(seed, n_tasks)
    found = _solutions(tasks, gamma, n_groups, 3, tol=1e-6)
    best = _best_of_all(tasks, gamma, n_groups)
    reached = min(each.certificate.objective for each in found)
    assert reached == pytest.approx(best, rel=1e-5)


def test_search_with_swaps_finds_most_best_partitions(monkeypatch):
    """The search that more tasks get, on few enough to know the best partition."""
    monkeypatch.setattr(whom_partitions, "_FEW_TASKS", 0)
    n_found = 0
    for seed in range(20):
        tasks, gamma, n_groups = _random_problem(seed, 6)
        found = _solutions(tasks, gamma, n_groups, 3, tol=1e-6)
        reached = min(each.certificate.objective for each in found)
        n_found += reached <= _best_of_all(tasks, gamma, n_groups) * (1 + 1e-4)
    assert n_found >= 19


@pytest.mark.parametrize("gamma", [0.1, 3.0])
def test_coefficients_are_the_optimum_for_their_groups(gamma, problem):
    X, y, task, n_tasks = problem
    tasks = decompose(X, y, task, n_tasks=n_tasks)
    (solution,) = _solutions(tasks, gamma, min(2, n_tasks), 1, tol=1e-8)
    groups, a = solution.extra["groups"], solution.dual
    optimum, bound = 0.0, y @ a - a @ a / 4
    for g in np.unique(groups):
        mine = groups[task] == g
        number = np.searchsorted(np.flatnonzero(groups == g), task[mine])
        own = X[mine], y[mine], number
        stated = linear_problems.squared_norm(own, gamma, "trace")
        optimum += find_optimum(stated).value
        M = [X[task == t].T @ a[task == t] for t in np.flatnonzero(groups == g)]
        bound -= np.linalg.norm(M, 2) ** 2 / (4 * gamma)
    assert solution.certificate.objective == pytest.approx(optimum, rel=1e-6)
    assert np.all(np.diff(solution.certificate.history) < 0)
    # The dual point bounds the problem of these groups.
    assert optimum * (1 - 1e-6) <= bound <= optimum * (1 + 1e-6)


def test_moves_end_where_no_single_one_lowers_the_penalty():
    rng = np.random.default_rng(3)
    W = rng.standard_normal((4, 9))
    gram = W.T @ W
    for n_groups in (2, 4):
        start = rng.integers(n_groups, size=9)
        costs, changed = np.empty(n_groups), np.empty((9, n_groups))
        _renew_costs(gram, start, np.ones(n_groups, dtype=bool), costs, changed)
        groups = move_tasks(gram, start, costs, changed)

        def penalty(groups):
            return sum(
                np.linalg.svd(W[:, groups == g], compute_uv=False).sum() ** 2
                for g in np.unique(groups)
            )

        assert penalty(groups) <= penalty(start)
        for t in range(9):
            for g in range(n_groups):
                moved = groups.copy()
                moved[t] = g
                assert penalty(moved) >= penalty(groups) * (1 - 1e-7)
