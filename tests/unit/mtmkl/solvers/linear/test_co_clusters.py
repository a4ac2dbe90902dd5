"""CoClus's solver: its objective, its descent, its local minima, and known limits."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from mtmkl.solvers.linear import co_clusters
from mtmkl.solvers.linear.co_clusters import RIDGE
from mtmkl.solvers.linear.task_decomposition import decompose

WEIGHTS = [(1.0, 1.0), (0.1, 30.0), (50.0, 8.0)]


def solve(tasks, *arguments, rng=None, **options):
    """Return the local minimum of one start."""
    (solution,) = co_clusters.solve(tasks, *arguments, rngs=[rng], **options)
    return solution


def _split_objective(X, y, task, P, Q, lam_1, lam_2, k):
    W = P + Q
    loss = np.sum((y - np.einsum("ij,ji->i", X, W[:, task])) ** 2)
    trailing = np.linalg.svd(Q, compute_uv=False)[k:]
    deviations = P - P.mean(axis=1, keepdims=True)
    penalty = lam_1 * np.sum(deviations**2) + lam_2 * trailing @ trailing
    return loss + penalty + RIDGE * np.sum(W**2)


@pytest.fixture(scope="module")
def example(make_problem):
    X, y, task = make_problem(6, 4, [6, 9], rank=3, noise=0.5)
    return X, y, task, decompose(X, y, task, n_tasks=6)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_objective_is_that_of_the_split_and_never_rises(weights, problem):
    X, y, task, n_tasks = problem
    for k in {1, 2, n_tasks - 1, n_tasks}:
        solution = solve(decompose(X, y, task, n_tasks=n_tasks), *weights, k, tol=1e-5)
        Q, certificate = solution.extra["clustered"], solution.certificate
        value = _split_objective(X, y, task, solution.coef - Q, Q, *weights, k)
        history = certificate.history
        assert certificate.objective == pytest.approx(value, rel=1e-8, abs=1e-12)
        assert np.all(np.diff(history) <= 1e-10 * history[0])
        assert history[-1] == certificate.objective
        assert np.isnan(certificate.dual_objective)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_no_small_change_of_the_two_parts_lowers_the_objective(weights, example):
    """A quasi-Newton search over P and Q, from the solution, goes nowhere."""
    X, y, task, tasks = example
    solution = solve(tasks, *weights, 2, tol=1e-10)
    Q = solution.extra["clustered"]

    def value(both):
        P, Q = both.reshape(2, 4, 6)
        return _split_objective(X, y, task, P, Q, *weights, 2)

    at = np.stack([solution.coef - Q, Q]).ravel()
    found = minimize(value, at, method="L-BFGS-B", options={"maxfun": 20_000}).fun
    assert found >= solution.certificate.objective * (1 - 1e-6)


def test_only_the_parallel_sum_of_the_weights_matters(example):
    _, _, _, tasks = example
    coef = [solve(tasks, a, b, 2, tol=1e-12).coef for a, b in [(4.0, 4.0), (3.0, 6.0)]]
    np.testing.assert_allclose(coef[0], coef[1], rtol=1e-9, atol=1e-12)


def test_stopping_short_warns(example):
    with pytest.warns(ConvergenceWarning, match="after 2 alternations"):
        solve(example[3], 50.0, 50.0, 1, tol=1e-14, max_iter=2)
