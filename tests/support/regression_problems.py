"""Seeded multi-task regression problems of several shapes."""

import numpy as np
import pytest

SHAPES = {
    "T<d": (3, 6, [8]), "T>d": (9, 4, [7]), "n_t<d": (5, 6, [3]),
    "ragged": (6, 5, [1, 4, 9]), "one feature": (4, 1, [5]),
    "one task": (1, 4, [9]),
}  # fmt: skip


def _make_problem(n_tasks, d, sizes, *, seed=0, rank=2, noise=0.3):
    rng = np.random.default_rng(seed)
    counts = [sizes[t % len(sizes)] for t in range(n_tasks)]
    task = np.repeat(np.arange(n_tasks), counts)
    W = rng.standard_normal((d, rank)) @ rng.standard_normal((rank, n_tasks))
    X = rng.standard_normal((task.size, d)) * np.linspace(0.5, 2.0, d)
    y = np.einsum("ij,ji->i", X, W[:, task]) + noise * rng.standard_normal(task.size)
    order = rng.permutation(task.size)
    return X[order], y[order], task[order]


@pytest.fixture(scope="session")
def make_problem():
    """Return a function of (n_tasks, d, sizes, …) that makes X, y and task.

    ``sizes`` are dealt to the tasks cyclically.
    """
    return _make_problem


@pytest.fixture(scope="session", params=SHAPES)
def problem(request):
    """X, y, task and the number of tasks, for each shape."""
    X, y, task = _make_problem(*SHAPES[request.param])
    return X, y, task, task.max() + 1
