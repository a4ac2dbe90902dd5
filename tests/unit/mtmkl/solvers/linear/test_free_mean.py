"""The mean that all tasks share: its steps, and the dual points that agree with it."""

import numpy as np

from mtmkl.solvers.linear.free_mean import FreeMean
from mtmkl.solvers.linear.task_decomposition import decompose


def test_agreeing_dual_points_sum_to_the_gradient_of_the_ridge(make_problem):
    X, y, task = make_problem(4, 3, [2, 7])
    tasks = decompose(X, y, task, n_tasks=4)
    rng = np.random.default_rng(1)
    given, m = rng.standard_normal(tasks.target.size), rng.standard_normal(3)
    a, pull = FreeMean(tasks, 0.3).agreeing(given, m)
    np.testing.assert_allclose(pull.sum(axis=0), 2.0 * 0.3 * 4 * m)
    np.testing.assert_allclose(X.T @ tasks.expand(a), 2.0 * 0.3 * 4 * m)
    # The nearest: the change is in the range of what the sum is of.
    rows = tasks.singular[:, None] * tasks.right
    change = a - given
    np.testing.assert_allclose(rows @ np.linalg.lstsq(rows, change)[0], change)
