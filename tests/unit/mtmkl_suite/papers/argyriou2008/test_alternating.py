"""Algorithm 1 as printed: monotone, convergent for ε > 0, and short of it for ε = 0."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mtmkl.methods import MultiTaskFeatureLearningRegressor
from mtmkl.solvers.linear.squared_norm import solve
from mtmkl.solvers.linear.task_decomposition import decompose
from mtmkl_suite.papers.argyriou2008.alternating import (
    AlternatingFeatureLearning,
    solve_alternating,
)


def _equation_13(W, epsilon):
    values, vectors = np.linalg.eigh(W @ W.T + epsilon * np.eye(len(W)))
    root = (vectors * np.sqrt(values)) @ vectors.T
    return root / np.trace(root)


def _perturbed_objective(X, y, task, W, D, gamma, epsilon):
    loss = np.sum((y - np.einsum("ij,ji->i", X, W[:, task])) ** 2)
    inverse = np.linalg.inv(D)
    return loss + gamma * np.trace(inverse @ (W @ W.T + epsilon * np.eye(len(D))))


@pytest.mark.filterwarnings("ignore:alternating minimisation")
def test_the_printed_perturbed_objective_decreases(problem):
    X, y, task, n_tasks = problem
    tasks = decompose(X, y, task, n_tasks=n_tasks)
    gamma, epsilon, values = 0.5, 1e-2, []
    for n in range(1, 25):
        W = solve_alternating(tasks, gamma, epsilon=epsilon, tol=0.0, max_iter=n).coef
        D = _equation_13(W, epsilon)
        values.append(_perturbed_objective(X, y, task, W, D, gamma, epsilon))
    assert np.all(np.diff(values) <= 1e-12 * values[0])


def test_second_iterate_is_ridge_with_the_matrix_of_equation_13(make_problem):
    X, y, task = make_problem(4, 5, [7])
    tasks = decompose(X, y, task, n_tasks=4)
    with pytest.warns(ConvergenceWarning):
        first, second = (
            solve_alternating(tasks, 0.3, epsilon=0.1, max_iter=n).coef for n in (1, 2)
        )
    inverse = np.linalg.inv(_equation_13(first, 0.1))
    for t in range(4):
        X_t, y_t = X[task == t], y[task == t]
        expected = np.linalg.solve(X_t.T @ X_t + 0.3 * inverse, X_t.T @ y_t)
        np.testing.assert_allclose(second[:, t], expected, atol=1e-9)


def test_epsilon_falls_only_once_w_has_stabilised(make_problem):
    X, y, task = make_problem(4, 5, [7])
    tasks = decompose(X, y, task, n_tasks=4)
    options = {"epsilon": 2**-4, "tol": 1e-6, "max_iter": 5000}
    held = solve_alternating(tasks, 1.0, epsilon_decay=1.0, **options)
    driven = solve_alternating(
        tasks, 1.0, epsilon_decay=0.25, epsilon_min=2**-12, **options
    )
    until = held.certificate.history[:-1]
    after = driven.certificate.history
    np.testing.assert_array_equal(after[: until.size], until)
    # A smaller ε changes D, and with it the next W.
    assert until[-1] - after[until.size + 2] > 100 * (until[-2] - until[-1])


@pytest.mark.parametrize("seed", range(4))
def test_without_perturbation_it_stops_above_the_optimum_when_tasks_are_few(seed):
    """The paper reports that ε = 0 converges in practice; with T < d it need not.

    After the first step D has the range of W, of rank at most T, and no later step
    leaves it. Driven to zero, ε leads to the optimum from the same data.
    """
    rng = np.random.default_rng(seed)
    n_tasks, d, n = 2, 8, 6
    task = np.repeat(np.arange(n_tasks), n)
    W = rng.standard_normal((d, 1)) + 0.3 * rng.standard_normal((d, n_tasks))
    X = rng.standard_normal((task.size, d))
    y = np.einsum("ij,ji->i", X, W[:, task]) + 0.1 * rng.standard_normal(task.size)
    tasks = decompose(X, y, task, n_tasks=n_tasks)
    optimum = solve(tasks, 0.1, tol=1e-9).certificate.objective
    plain = solve_alternating(tasks, 0.1, epsilon=0.0, tol=1e-10, max_iter=20_000)
    driven = solve_alternating(tasks, 0.1, tol=1e-5, max_iter=20_000)
    assert plain.certificate.objective > 1.05 * optimum
    assert plain.certificate.duality_gap > 0.04
    assert driven.certificate.objective < 1.001 * optimum


@pytest.mark.parametrize("kernel", [None, {"name": "gaussian", "width": 1.5}])
def test_the_estimator_agrees_to_its_certified_gap(make_problem, kernel):
    X, y, task = make_problem(9, 4, [7])
    best = MultiTaskFeatureLearningRegressor(0.3, kernel=kernel).fit(X, y, task)
    printed = AlternatingFeatureLearning(0.3, kernel=kernel, tol=1e-5, max_iter=5000)
    excess = printed.fit(X, y, task).objective_ / best.objective_ - 1
    assert -1e-6 < excess <= printed.duality_gap_ < 1e-3
