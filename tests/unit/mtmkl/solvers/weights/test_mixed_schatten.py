"""MK-MTSFL: trace norms over the tasks and a q-norm over kernels."""

import numpy as np
import pytest
from bounds import assert_between
from schatten_problems import SIZES, TASK, dual, primal, toy
from sweeps import sweep

from mtmkl.certify.kernel_problems import mixed_schatten, square_root
from mtmkl.solvers.svm import task_steps as steps
from mtmkl.solvers.weights import mixed_schatten as mixed_schatten_solver
from mtmkl.solvers.weights.mixed_schatten import MixedSchattenPath, SchattenProblem


@pytest.mark.parametrize(("C", "epsilon"), [(0.1, None), (2.0, 0.1), (50.0, None)])
@pytest.mark.parametrize("q", sweep([1.0, 1.5, 2.0], [1.01, 1.99]))
def test_optimum_of_a_general_solver_and_values_by_definition(q, C, epsilon):
    targets, grams, problem = toy(q, epsilon)
    factors = [square_root(K) for K in grams]
    solution = MixedSchattenPath(problem, tol=1e-5).solve(C)
    certificate = solution.certificate
    printed = mixed_schatten(targets, factors, TASK, C, q, epsilon)
    assert_between(certificate, printed, 1e-5)
    assert certificate.objective == pytest.approx(primal(problem, solution, C))
    assert certificate.dual_objective == pytest.approx(dual(problem, solution.dual))
    assert certificate.history[-1] == certificate.objective
    sums = np.bincount(TASK, solution.dual)
    np.testing.assert_allclose(sums, 0.0, atol=1e-9 * C)
    assert np.abs(solution.dual).max() <= C * (1 + 1e-12)


@pytest.mark.parametrize(("q", "epsilon"), [(1.0, None), (1.5, 0.1), (2.0, None)])
def test_models_of_many_tasks_are_found_in_few_directions(q, epsilon, monkeypatch):
    rng = np.random.default_rng(7)
    n_tasks, n, d = 40, 6, 90
    task = np.repeat(np.arange(n_tasks), n)
    factors = [rng.normal(size=(task.size, d)) for _ in range(2)]
    models = rng.normal(size=(n_tasks, 2)) @ rng.normal(size=(2, d))
    y = np.sum(factors[0] * models[task], axis=1)
    y = y / y.std() if epsilon else np.sign(y)
    sizes = np.full(n_tasks, n)
    problem = SchattenProblem.of(factors, y, sizes, q, epsilon=epsilon)
    few = MixedSchattenPath(problem)
    monkeypatch.setattr(mixed_schatten_solver, "_MANY_TASKS", n_tasks + 1)
    whole = MixedSchattenPath(problem)
    for C in (1e-3, 3e-3, 1e-2):
        solution, other = few.solve(C), whole.solve(C)
        certificate = solution.certificate
        assert certificate.duality_gap <= 1e-4
        assert certificate.objective == pytest.approx(
            primal(problem, solution, C, task)
        )
        assert certificate.dual_objective == pytest.approx(
            dual(problem, solution.dual, task)
        )
        assert other.certificate.objective >= certificate.dual_objective
    assert few._directions.S.shape[1] <= problem.factors.shape[1] // 2


def test_iterations_count_where_directions_do_not_suffice(monkeypatch):
    found = []
    run = mixed_schatten_solver._Search.run

    def recorded(search, max_iter):
        found.append(run(search, max_iter))
        return found[-1]

    monkeypatch.setattr(mixed_schatten_solver._Search, "run", recorded)
    monkeypatch.setattr(mixed_schatten_solver, "_MANY_TASKS", 1)
    monkeypatch.setattr(mixed_schatten_solver, "_MOST_ROUNDS", 1)
    solution = MixedSchattenPath(toy(1.5, None)[2]).solve(2.0)
    numbers = [each.certificate.n_iter for each, _ in found]
    assert len(numbers) == 2
    assert solution.certificate.n_iter == sum(numbers)


def test_a_large_cost_on_flexible_kernels_takes_few_iterations():
    """Where no slack is left, plain iterations have many slow components: 390."""
    rng = np.random.default_rng(0)
    n_tasks, n = 8, 16
    task = np.repeat(np.arange(n_tasks), n)
    X = rng.normal(size=(task.size, 6))
    y = X[:, 0] + 0.5 * X[:, 1] * rng.normal(size=n_tasks)[task]
    y = np.sign(y + 0.3 * rng.normal(size=task.size))
    distances = np.sum((X[:, None] - X) ** 2, axis=2)
    gaussians = [square_root(np.exp(-distances / w)) for w in (1.0, 4.0, 16.0)]
    problem = SchattenProblem.of([X, *gaussians], y, np.full(n_tasks, n), 1.5)
    certificate = MixedSchattenPath(problem, tol=1e-5).solve(100.0).certificate
    assert certificate.duality_gap <= 1e-5
    assert certificate.n_iter <= 250


@pytest.mark.parametrize("q", [1.0, 1.5, 2.0])
def test_targets_within_the_tube_cost_nothing(q):
    _, _, problem = toy(q, epsilon=100.0)
    solution = MixedSchattenPath(problem).solve(1.0)
    assert solution.certificate.objective == 0.0
    assert not solution.coef.any()


def test_a_kernel_without_coordinates_has_no_models():
    targets, _, problem = toy(1.5, 0.1, n_kernels=1)
    empty = np.zeros((problem.factors.shape[0], 0))
    padded = SchattenProblem.of(
        [empty, problem.factors], targets, SIZES, 1.5, epsilon=0.1
    )
    with_it = MixedSchattenPath(padded, tol=1e-6).solve(2.0)
    without = MixedSchattenPath(problem, tol=1e-6).solve(2.0)
    assert with_it.extra["norms"][0] == 0.0
    assert with_it.certificate.objective == pytest.approx(
        without.certificate.objective, rel=2e-6
    )


def test_what_rounding_leaves_of_a_dual_does_not_stop_the_next_solution():
    # As once on MNIST: β of one sample 1 or 2 ulp of C from 0, K β rounded away.
    _, _, problem = toy(1.0, None)
    path = MixedSchattenPath(problem)
    path.solve(1.0)
    duals = path._duals
    duals.beta[TASK == 0] = 0.0
    duals.beta[0] = 2e-16 * problem.tasks.c[0]
    duals._statistics[0, [steps.LINEAR, steps.QUADRATIC]] = -2e-16, 0.0
    objective = path.solve(2.0).certificate.objective
    alone = MixedSchattenPath(problem).solve(2.0).certificate.objective
    assert objective == pytest.approx(alone, rel=2e-4)
