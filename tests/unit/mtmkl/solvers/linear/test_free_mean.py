"""The mean that all tasks share: its steps, and the dual points that agree with it."""

import numpy as np
import pytest

from mtmkl.solvers.linear.free_mean import FreeMean
from mtmkl.solvers.linear.task_admm import pull_back
from mtmkl.solvers.linear.task_decomposition import decompose


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_both_steps_are_least_squares(ridge, make_problem):
    X, y, task = make_problem(4, 3, [2, 7])
    tasks = decompose(X, y, task, n_tasks=4)
    mean = FreeMean(tasks, ridge)
    Z = np.random.default_rng(0).standard_normal((4, 3))
    left = y - np.einsum("ij,ij->i", X, Z[task])
    total = 4 * ridge * np.eye(3)
    expected = np.linalg.solve(X.T @ X + total, X.T @ left)
    np.testing.assert_allclose(mean.best(Z), expected)
    for step in (0.7, 50.0):
        # What deviations at a price of ρ/2 leave of the loss: r'(I + 2XX'/ρ)⁻¹r.
        K = 2.0 / step * X @ X.T * (task[:, None] == task)
        weighted = np.linalg.solve(np.eye(y.size) + K, X)
        expected = np.linalg.solve(X.T @ weighted + total, weighted.T @ left)
        inverse, *rest = mean.system(step)
        found = inverse @ pull_back(*tasks.arrays[:3], Z[None], *rest)[0].sum(axis=0)
        np.testing.assert_allclose(found, expected)


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
