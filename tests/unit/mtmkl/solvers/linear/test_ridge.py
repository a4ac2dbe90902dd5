"""Ridge regression in closed form; scikit-learn's is beside the estimators."""

import numpy as np
import pytest

from mtmkl.solvers.linear.ridge import solve_ridge
from mtmkl.solvers.linear.task_decomposition import decompose


def test_gamma_is_one_or_one_a_task():
    tasks = decompose(np.ones((2, 1)), np.ones(2), np.arange(2), n_tasks=2)
    with pytest.raises(ValueError, match=r"shape"):
        solve_ridge(tasks, np.ones(3))


def test_gap_is_zero_on_every_scale(make_problem):
    X, y, task = make_problem(3, 4, [7])
    for scale in (1e-8, 1.0, 1e8, 1e60):
        tasks = decompose(scale * X, y, task, n_tasks=3)
        assert solve_ridge(tasks, 1.0).certificate.duality_gap <= 1e-13
