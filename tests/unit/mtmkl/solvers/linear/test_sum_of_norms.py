"""Two norms, each of its part: an interior point, the certificate, known limits."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from mtmkl.certify.linear_problems import sum_of_norms
from mtmkl.certify.solving import find_optimum
from mtmkl.solvers.linear.penalties import (
    ENTRIES,
    ROW_MAXIMA,
    ROWS,
    TASKS,
    dual_norm,
    norm,
    prox,
)
from mtmkl.solvers.linear.sum_of_norms import solve
from mtmkl.solvers.linear.task_decomposition import decompose

MODELS = ["dirty", "robust"]
CODES = [ROW_MAXIMA, ROWS, ENTRIES, TASKS]
#: Both parts in use, one of the two, small ones, and none.
WEIGHTS = [(3.0, 1.5), (1.0, 8.0), (8.0, 0.2), (0.02, 0.01), (1e4, 1e4)]

NORMS = {
    "dirty": (lambda P: np.abs(P).max(axis=1).sum(), lambda Q: np.abs(Q).sum()),
    "robust": (
        lambda P: np.linalg.norm(P, axis=1).sum(),
        lambda Q: np.linalg.norm(Q, axis=0).sum(),
    ),
}
DUAL_NORMS = {
    "dirty": (lambda M: np.abs(M).sum(axis=1).max(), lambda M: np.abs(M).max()),
    "robust": (
        lambda M: np.linalg.norm(M, axis=1).max(),
        lambda M: np.linalg.norm(M, axis=0).max(),
    ),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("model", MODELS)
def test_reaches_the_optimum_of_an_independent_solver(model, weights, problem):
    X, y, task, n_tasks = problem
    tasks = decompose(X, y, task, n_tasks=n_tasks)
    solution = solve(tasks, *weights, model=model, tol=1e-8)
    P, Q = solution.extra["parts"]
    np.testing.assert_array_equal(solution.coef, P + Q)
    reached = np.sum((y - np.einsum("ij,ji->i", X, (P + Q)[:, task])) ** 2)
    for weight, size, part in zip(weights, NORMS[model], (P, Q), strict=True):
        reached += weight * size(part)
    assert solution.certificate.objective == pytest.approx(reached, rel=1e-9)
    optimum = find_optimum(sum_of_norms(X, y, task, weights, model)).value
    assert reached == pytest.approx(optimum, rel=1e-6)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("model", MODELS)
def test_certificate_is_what_the_dual_point_is_worth(model, weights, problem):
    X, y, task, n_tasks = problem
    tasks = decompose(X, y, task, n_tasks=n_tasks)
    solution = solve(tasks, *weights, model=model)
    a, certificate = solution.dual, solution.certificate
    M = np.array([X[task == t].T @ a[task == t] for t in range(n_tasks)]).T
    for weight, size in zip(weights, DUAL_NORMS[model], strict=True):
        assert size(M) <= weight * (1 + 1e-9)
    assert certificate.status == "converged"
    assert certificate.dual_objective == pytest.approx(y @ a - a @ a / 4, rel=1e-9)
    assert certificate.duality_gap <= 1e-6


@pytest.mark.parametrize("code", CODES)
def test_proximal_points_are_where_the_conjugate_says(code):
    """Z = prox V where V − Z is dual feasible, and tight with Z (Moreau)."""
    rng = np.random.default_rng(0)
    V = rng.standard_normal((7, 5))
    for level in (0.1, 1.0, 2.0, 50.0):
        Z = np.empty_like(V)
        prox(V, level, code, Z)
        rest = V - Z
        assert dual_norm(rest, code) <= level * (1 + 1e-12)
        assert np.sum(rest * Z) == pytest.approx(level * norm(Z, code), abs=1e-12)
        assert Z.any() == (dual_norm(V, code) > level)


@pytest.mark.parametrize("code", CODES)
def test_dual_norms_are_suprema(code):
    rng = np.random.default_rng(1)
    M = rng.standard_normal((6, 4))
    sizes = []
    for other in rng.standard_normal((50, 6, 4)):
        assert np.sum(M * other) <= dual_norm(M, code) * norm(other, code)
        Z = np.empty_like(M)
        # What little is left of M above a high level attains the supremum.
        prox(M, (1 - 1e-7) * dual_norm(M, code), code, Z)
        sizes.append(np.sum(M * Z) / norm(Z, code))
    np.testing.assert_allclose(sizes, dual_norm(M, code), rtol=1e-6)


@pytest.mark.parametrize("lam", [0.3, 3.0])
def test_dear_row_maxima_leave_the_lasso_of_each_task(lam, problem):
    X, y, task, n_tasks = problem
    tasks = decompose(X, y, task, n_tasks=n_tasks)
    solution = solve(tasks, 1e6, lam, model="dirty", tol=1e-10)
    np.testing.assert_array_equal(solution.extra["parts"][0], 0.0)
    value = 0.0
    for t in range(n_tasks):
        A, b = X[task == t], y[task == t]
        lasso = Lasso(
            lam / (2 * b.size), fit_intercept=False, tol=1e-12, max_iter=10**6
        )
        w = lasso.fit(A, b).coef_
        value += np.sum((b - A @ w) ** 2) + lam * np.abs(w).sum()
    assert solution.certificate.objective == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("model", MODELS)
def test_a_dear_part_is_zero_and_does_not_matter(model, problem):
    X, y, task, n_tasks = problem
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


@pytest.mark.parametrize("model", MODELS)
def test_targets_and_weights_of_another_unit(model, problem):
    X, y, task, n_tasks = problem
    tasks = decompose(X, y, task, n_tasks=n_tasks)
    plain = solve(tasks, 3.0, 1.5, model=model, tol=1e-9)
    for unit in (1e-5, 1e5):
        scaled = decompose(X, unit * y, task, n_tasks=n_tasks)
        other = solve(scaled, 3.0 * unit, 1.5 * unit, model=model, tol=1e-9)
        np.testing.assert_allclose(other.coef, unit * plain.coef, atol=1e-3 * unit)
        assert other.certificate.objective == pytest.approx(
            unit**2 * plain.certificate.objective, rel=3e-9
        )


@pytest.mark.parametrize("model", MODELS)
def test_a_path_in_any_order_reaches_the_single_optima(model, problem):
    X, y, task, n_tasks = problem
    tasks, start = decompose(X, y, task, n_tasks=n_tasks), None
    for weights in (*WEIGHTS, (1e-3, 1e3), WEIGHTS[0]):
        warm = solve(tasks, *weights, model=model, start=start, tol=1e-7)
        start = warm.extra["warm_start"]
        cold = solve(tasks, *weights, model=model, tol=1e-7)
        assert warm.certificate.objective == pytest.approx(
            cold.certificate.objective, rel=2e-7
        )


@pytest.mark.parametrize("model", MODELS)
def test_stopping_short_warns_with_the_gap_and_keeps_the_bound_valid(
    model, make_problem
):
    X, y, task = make_problem(6, 5, [4])
    tasks = decompose(X, y, task, n_tasks=6)
    with pytest.warns(ConvergenceWarning, match="relative duality gap of"):
        short = solve(tasks, 0.2, 0.1, model=model, max_iter=3).certificate
    assert (short.status, short.n_iter) == ("stopped", 3)
    optimum = solve(tasks, 0.2, 0.1, model=model, tol=1e-9).certificate
    assert short.dual_objective <= optimum.objective
    assert short.objective >= optimum.dual_objective


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
