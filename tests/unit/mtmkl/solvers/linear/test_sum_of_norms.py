"""Two norms, each of its part: an interior point, the certificate, known limits."""

import numpy as np
import pytest
from bounds import assert_between

from mtmkl.certify.linear_problems import sum_of_norms
from mtmkl.solvers.linear.sum_of_norms import solve
from mtmkl.solvers.linear.task_decomposition import decompose

MODELS = ["dirty", "robust"]
#: Both parts in use, one of the two, small ones, and none.
WEIGHTS = [(3.0, 1.5), (1.0, 8.0), (8.0, 0.2), (0.02, 0.01), (1e4, 1e4)]

DUAL_NORMS = {
    "dirty": (lambda M: np.abs(M).sum(axis=1).max(), lambda M: np.abs(M).max()),
    "robust": (
        lambda M: np.linalg.norm(M, axis=1).max(),
        lambda M: np.linalg.norm(M, axis=0).max(),
    ),
}


@pytest.mark.parametrize("model", MODELS)
def test_optimum_of_an_independent_solver_lies_between_the_bounds(model, problem):
    X, y, task, n_tasks = problem
    tasks = decompose(X, y, task, n_tasks=n_tasks)
    for weights in WEIGHTS:
        solution = solve(tasks, *weights, model=model, tol=1e-8)
        np.testing.assert_array_equal(solution.coef, np.add(*solution.extra["parts"]))
        stated = sum_of_norms((X, y, task), weights, model)
        assert_between(solution.certificate, stated)


@pytest.mark.parametrize("model", MODELS)
def test_a_dear_part_is_zero_and_does_not_matter(model, problem):
    X, y, task, n_tasks = problem
    if n_tasks == 1:
        pytest.skip("the parts of a single task cost the same")
    tasks = decompose(X, y, task, n_tasks=n_tasks)
    d = X.shape[1]
    limits = {"dirty": (n_tasks, 1.0), "robust": (n_tasks**0.5, d**0.5)}[model]
    for part, limit in enumerate(limits):
        values = []
        # From the limit on, and just below, where both parts may be in use.
        for factor in (1e6, 1.0, 1.0 - 1e-9):
            weights = [2.0, 2.0]
            weights[part] *= factor * limit
            found = solve(tasks, *weights, model=model, tol=1e-8)
            values.append(found.certificate.objective)
            if factor >= 1.0:
                assert not found.extra["parts"][part].any()
        np.testing.assert_allclose(values, values[0], rtol=3e-8)


@pytest.mark.parametrize("model", MODELS)
def test_zero_is_found_at_once_exactly_where_it_is_the_optimum(model, problem):
    X, y, task, n_tasks = problem
    tasks = decompose(X, y, task, n_tasks=n_tasks)
    M = np.array([2 * X[task == t].T @ y[task == t] for t in range(n_tasks)]).T
    weights = [size(M) * (1 + 1e-9) for size in DUAL_NORMS[model]]
    zero = solve(tasks, *weights, model=model)
    assert zero.certificate.n_iter == 1
    np.testing.assert_array_equal(zero.coef, 0.0)
    for part in range(2):
        less = [*weights]
        less[part] *= 0.98
        assert solve(tasks, *less, model=model, tol=1e-9).coef.any()


@pytest.mark.parametrize("weights", [(1e-3, 1.0), (1.0, 1e-3), (3e-3, 1e-3)])
def test_small_weights_and_features_of_different_scales_take_newton_steps(weights):
    """Alternating steps alone take 300 to 600."""
    rng = np.random.default_rng(3)
    task = np.repeat(np.arange(20), 14)
    turn = np.linalg.qr(rng.standard_normal((19, 19)))[0]
    X = rng.standard_normal((task.size, 19)) * np.logspace(0, -6, 19) @ turn
    y = X.sum(axis=1) + rng.standard_normal(task.size)
    tasks = decompose(X, y, task, n_tasks=20)
    found = solve(tasks, *weights, model="dirty", max_iter=200)
    assert found.certificate.status == "converged"


@pytest.mark.parametrize("seed", [0, 4])
@pytest.mark.parametrize("max_iter", [80, 95, 300])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_bound_is_one_where_features_have_other_scales(seed, max_iter):
    rng = np.random.default_rng(seed)
    X, task = rng.normal(size=(60, 4)), np.arange(60) % 3
    y = X[:, 0] + task * X[:, 1] + 0.5 * rng.normal(size=60)
    X, y = X * [1e4, 1.0, 1e-4, 0.0], 1e4 * y
    tasks = decompose(X, y, task, n_tasks=3)
    found = solve(tasks, 1e5, 1.0, model="dirty", tol=1e-12, max_iter=max_iter)
    M = np.array([X[task == t].T @ found.dual[task == t] for t in range(3)]).T
    # Rounding of 1e4·1e4·60 in units of λ and μ.
    for size, weight in zip(DUAL_NORMS["dirty"], (1e5, 1.0), strict=True):
        assert size(M) <= weight * (1 + 1e-5)
    value = found.certificate.objective
    assert found.certificate.dual_objective <= value * (1 + 1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_nothing_to_learn_is_solved_by_zero(model, make_problem):
    X, y, task = make_problem(3, 4, [5])
    for inputs, targets in ((X, 0 * y), (0 * X, y)):
        tasks, start = decompose(inputs, targets, task, n_tasks=3), None
        for weight in (1e-300, 1.0):
            found = solve(tasks, weight, weight, model=model, start=start)
            start = found.extra["warm_start"]
            np.testing.assert_array_equal(found.coef, 0.0)
            assert found.certificate.duality_gap == 0.0
