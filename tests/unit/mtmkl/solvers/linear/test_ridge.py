"""Ridge regression in closed form against scikit-learn's."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from mtmkl.solvers.linear.ridge import solve_ridge
from mtmkl.solvers.linear.task_decomposition import decompose


def test_agrees_with_scikit_learn_task_by_task(problem):
    X, y, task, n_tasks = problem
    gamma = np.geomspace(0.01, 10, n_tasks)
    solution = solve_ridge(decompose(X, y, task, n_tasks=n_tasks), gamma)
    objective = 0.0
    for t in range(n_tasks):
        X_t, y_t = X[task == t], y[task == t]
        w = Ridge(alpha=gamma[t], fit_intercept=False).fit(X_t, y_t).coef_
        np.testing.assert_allclose(solution.coef[:, t], w, rtol=1e-7, atol=1e-10)
        objective += np.sum((y_t - X_t @ w) ** 2) + gamma[t] * w @ w
    certificate = solution.certificate
    assert certificate.objective == pytest.approx(objective, rel=1e-9)
    assert certificate.duality_gap < 1e-12


def test_gamma_is_one_or_one_a_task():
    tasks = decompose(np.ones((2, 1)), np.ones(2), np.arange(2), n_tasks=2)
    with pytest.raises(ValueError, match=r"shape"):
        solve_ridge(tasks, np.ones(3))


def test_gap_is_zero_on_every_scale(make_problem):
    X, y, task = make_problem(3, 4, [7])
    for scale in (1e-8, 1.0, 1e8, 1e60):
        tasks = decompose(scale * X, y, task, n_tasks=3)
        assert solve_ridge(tasks, 1.0).certificate.duality_gap <= 1e-13
