"""The reduced data give the same losses as the samples."""

import numpy as np
import pytest

from mtmkl.solvers.linear.task_decomposition import decompose


def test_loss_is_that_of_the_examples(problem):
    X, y, task, n_tasks = problem
    tasks = decompose(X, y, task, n_tasks=n_tasks)
    W = np.random.default_rng(1).standard_normal((X.shape[1], n_tasks))
    loss = tasks.constant
    for t in range(n_tasks):
        rows = slice(tasks.offsets[t], tasks.offsets[t + 1])
        fit = tasks.singular[rows] * (tasks.right[rows] @ W[:, t])
        loss += np.sum((tasks.target[rows] - fit) ** 2)
    expected = np.sum((y - np.einsum("ij,ji->i", X, W[:, task])) ** 2)
    assert loss == pytest.approx(expected, rel=1e-12)


def test_expand_returns_twice_the_residual_for_the_residual(make_problem):
    X, y, task = make_problem(4, 3, [2, 6])
    tasks = decompose(X, y, task, n_tasks=4)
    a = tasks.expand(2 * tasks.target)
    np.testing.assert_allclose(a, 2 * y, atol=1e-12)


def test_repeated_columns_lower_the_rank_and_an_empty_task_has_none(make_problem):
    X, y, task = make_problem(3, 4, [6])
    X[:, 3] = X[:, 2]
    tasks = decompose(X, y, task, n_tasks=4)
    np.testing.assert_array_equal(np.diff(tasks.offsets), [3, 3, 3, 0])


def test_inputs_of_zero():
    tasks = decompose(np.zeros((4, 2)), np.ones(4), np.zeros(4, np.intp), n_tasks=1)
    assert tasks.constant == 4.0
    assert tasks.singular.size == 0


def test_pooled_spectrum_is_that_of_all_examples(problem):
    X, y, task, n_tasks = problem
    values, vectors = decompose(X, y, task, n_tasks=n_tasks).pooled_spectrum
    np.testing.assert_allclose((vectors * values) @ vectors.T, X.T @ X, atol=1e-9)
    assert values.size == np.linalg.matrix_rank(X)


def test_tasks_with_the_same_inputs_share_a_decomposition(make_problem, monkeypatch):
    X, _, _ = make_problem(1, 4, [7])
    inputs = np.concatenate([X, X, X + 1.0])
    y, task = np.random.default_rng(2).standard_normal(21), np.repeat([0, 1, 2], 7)
    alone = [decompose(inputs[task == t], y[task == t], 0 * task[:7], n_tasks=1)
             for t in range(3)]  # fmt: skip
    decomposed, svd = [], np.linalg.svd
    monkeypatch.setattr(
        np.linalg, "svd", lambda *a, **k: decomposed.append(a) or svd(*a, **k)
    )
    tasks = decompose(inputs, y, task, n_tasks=3)
    assert len(decomposed) == 2
    for name in ("right", "singular", "target", "orthogonal"):
        together = np.concatenate([getattr(each, name) for each in alone])
        np.testing.assert_array_equal(getattr(tasks, name), together)
