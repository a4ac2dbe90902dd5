"""The reduced data give the same losses as the samples."""

import numpy as np

from mtmkl.solvers.linear.task_decomposition import decompose


def test_repeated_columns_lower_the_rank_and_an_empty_task_has_none(make_problem):
    X, y, task = make_problem(3, 4, [6])
    X[:, 3] = X[:, 2]
    tasks = decompose(X, y, task, n_tasks=4)
    np.testing.assert_array_equal(np.diff(tasks.offsets), [3, 3, 3, 0])


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
