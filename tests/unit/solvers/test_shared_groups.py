"""Whom's solver against all partitions of four tasks, and its convex parts."""

import cvxpy as cp
import numpy as np
import pytest

from mtmkl.solvers import squared_norm
from mtmkl.solvers.penalties import PENALTIES
from mtmkl.solvers.ridge import solve_ridge
from mtmkl.solvers.shared_groups import move_tasks, solve, squared_trace_norm
from mtmkl.solvers.task_decomposition import decompose


def _partitions(n_tasks, n_groups):
    """Return all assignments to at most n_groups groups, numbered as they appear."""
    labels = [(0,)]
    for _ in range(n_tasks - 1):
        labels = [
            (*each, g) for each in labels for g in range(min(max(each) + 2, n_groups))
        ]
    return [np.array(each) for each in labels]


def _starts(tasks, gamma, n_groups, n_starts, **options):
    return [
        solve(tasks, gamma, n_groups, rng=np.random.default_rng([5, seed]), **options)
        for seed in range(n_starts)
    ]


def _value(X, y, task, W, groups, gamma):
    loss = np.sum((y - np.einsum("ij,ji->i", X, W[:, task])) ** 2)
    norms = [PENALTIES["trace"].value(W[:, groups == g]) for g in np.unique(groups)]
    return loss + gamma * np.sum(np.square(norms))


def test_there_are_as_many_partitions_as_bell_and_stirling_say():
    assert [len(_partitions(4, g)) for g in (1, 2, 3, 4)] == [1, 8, 14, 15]


@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("gamma", [0.05, 0.5, 5.0])
@pytest.mark.parametrize("seed", range(4))
def test_best_start_is_the_best_of_all_partitions(seed, gamma, n_groups, make_problem):
    X, y, task = make_problem(4, 5, [6, 9], seed=seed)
    tasks = decompose(X, y, task, n_tasks=4)
    solved = {}

    def cost(members):
        if members not in solved:
            some = tasks.subset(np.array(members))
            found = squared_norm.solve(some, gamma, tol=1e-7)
            solved[members] = found.certificate.objective
        return solved[members]

    best = min(
        sum(cost(tuple(np.flatnonzero(each == g))) for g in range(each.max() + 1))
        for each in _partitions(4, n_groups)
    )
    starts = _starts(tasks, gamma, n_groups, 5, tol=1e-7)
    reached = min(each.certificate.objective for each in starts)
    assert reached == pytest.approx(best, rel=1e-6)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("gamma", [0.1, 3.0])
def test_coefficients_are_the_optimum_for_their_groups(gamma, problem):
    X, y, task, n_tasks = problem
    tasks = decompose(X, y, task, n_tasks=n_tasks)
    (solution,) = _starts(tasks, gamma, 2, 1, tol=1e-8)
    groups = solution.extra["groups"]
    W = cp.Variable((X.shape[1], n_tasks))
    value = sum(
        cp.sum_squares(y[task == t] - X[task == t] @ W[:, t]) for t in range(n_tasks)
    )
    for g in np.unique(groups):
        chosen = np.eye(n_tasks)[:, groups == g]
        value += gamma * cp.square(cp.normNuc(W @ chosen))
    optimum = cp.Problem(cp.Minimize(value)).solve(solver=cp.CLARABEL)
    certificate = solution.certificate
    assert certificate.objective == pytest.approx(optimum, rel=1e-6)
    reached = _value(X, y, task, solution.coef, groups, gamma)
    assert certificate.objective == pytest.approx(reached, rel=1e-8)
    assert np.all(np.diff(certificate.history) < 0)
    # The dual point bounds the problem of these groups.
    a = solution.dual
    dual = y @ a - a @ a / 4
    for g in np.unique(groups):
        members = np.flatnonzero(groups == g)
        M = np.column_stack([X[task == t].T @ a[task == t] for t in members])
        dual -= PENALTIES["trace"].dual_norm(M) ** 2 / (4 * gamma)
    assert reached * (1 - 2e-8) <= dual <= reached * (1 + 1e-9)


def test_one_group_is_multi_task_feature_learning(make_problem):
    X, y, task = make_problem(6, 4, [5])
    tasks = decompose(X, y, task, n_tasks=6)
    (solution,) = _starts(tasks, 0.7, 1, 1, tol=1e-8)
    together = squared_norm.solve(tasks, 0.7, tol=1e-8).certificate.objective
    assert solution.certificate.objective == pytest.approx(together, rel=2e-8)
    np.testing.assert_array_equal(solution.extra["groups"], 0)


def test_as_many_groups_as_tasks_reach_independent_ridge(make_problem):
    """Σ ||w_t||² is at most Σ_g ||W_g||_tr², so no grouping is better."""
    X, y, task = make_problem(5, 4, [6])
    tasks = decompose(X, y, task, n_tasks=5)
    best = min(
        each.certificate.objective for each in _starts(tasks, 2.0, 5, 5, tol=1e-8)
    )
    ridge = solve_ridge(tasks, 2.0).certificate.objective
    assert best == pytest.approx(ridge, rel=1e-6)


def test_two_kinds_of_task_are_found():
    """Two sets of tasks along orthogonal directions: each is a group."""
    rng = np.random.default_rng(0)
    task = np.repeat(np.arange(8), 20)
    kind = np.arange(8) % 2
    X = rng.standard_normal((task.size, 6))
    W = np.zeros((6, 8))
    W[kind, np.arange(8)] = rng.choice([-2.0, -1.0, 1.0, 2.0], 8)
    y = np.einsum("ij,ji->i", X, W[:, task]) + 0.1 * rng.standard_normal(task.size)
    tasks = decompose(X, y, task, n_tasks=8)
    starts = _starts(tasks, 1.0, 2, 3)
    best = min(starts, key=lambda each: each.certificate.objective)
    np.testing.assert_array_equal(best.extra["groups"], kind)


def test_trials_can_only_help(make_problem):
    X, y, task = make_problem(8, 5, [6])
    tasks = decompose(X, y, task, n_tasks=8)
    for seed in range(3):
        without, few, many = (
            solve(
                tasks, 1.0, 3, rng=np.random.default_rng(seed), n_trials=n, tol=1e-7
            ).certificate.objective
            for n in (0, 2, 30)
        )
        assert without >= few * (1 - 1e-6)
        assert few >= many * (1 - 1e-6)


def test_moves_end_where_no_single_one_lowers_the_penalty():
    rng = np.random.default_rng(3)
    W = rng.standard_normal((4, 9))
    gram = W.T @ W
    for n_groups in (2, 4):
        start = rng.integers(n_groups, size=9)
        groups = move_tasks(gram, start, n_groups)

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


def test_squared_trace_norm_is_that_of_the_columns():
    W = np.random.default_rng(4).standard_normal((3, 6))
    for n_inside in range(7):
        inside = np.arange(6) < n_inside
        expected = np.linalg.svd(W[:, inside], compute_uv=False).sum() ** 2
        found = squared_trace_norm(W.T @ W, inside)
        # A Gram matrix of more columns than rows has eigenvalues of 0 ± 1e-16.
        assert found == pytest.approx(expected, rel=1e-6)


def test_same_seed_same_groups(make_problem):
    X, y, task = make_problem(6, 4, [5])
    tasks = decompose(X, y, task, n_tasks=6)
    first, second = (_starts(tasks, 0.7, 3, 1)[0] for _ in range(2))
    np.testing.assert_array_equal(first.coef, second.coef)
    np.testing.assert_array_equal(first.extra["groups"], second.extra["groups"])


@pytest.mark.parametrize(
    ("gamma", "n_groups", "message"),
    [
        (0.0, 1, "gamma must be positive"),
        (1.0, 0, "n_groups must be from 1 to 3, got 0"),
        (1.0, 4, "n_groups must be from 1 to 3, got 4"),
    ],
)
def test_parameters_out_of_range(gamma, n_groups, message, make_problem):
    X, y, task = make_problem(3, 2, [4])
    tasks = decompose(X, y, task, n_tasks=3)
    with pytest.raises(ValueError, match=message):
        solve(tasks, gamma, n_groups, rng=np.random.default_rng(0))
