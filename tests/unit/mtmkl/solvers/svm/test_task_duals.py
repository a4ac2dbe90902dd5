"""Duals of many tasks at fixed weights, against the conditions of their optima."""

import numpy as np
import pytest
from box_problems import assert_optimal, inputs, labels, problem
from dual_problems import Toy, dual_problem, stacked, unscaled

from mtmkl.solvers.med.med_squared import SquaredPath
from mtmkl.solvers.svm import smo, task_steps
from mtmkl.solvers.svm.task_duals import TaskDuals
from mtmkl.solvers.weights.mixed_norm import MixedNormPath

WEIGHTS = np.array([0.2, 1.0, 0.0, 0.5])


@pytest.mark.parametrize(
    "solve",
    [
        lambda tasks: TaskDuals(tasks, 2.0).solve(WEIGHTS + 0.1, 1e-9).q,
        lambda tasks: MixedNormPath(tasks, 2.0, tol=1e-6).solve(2.0).coef,
        lambda tasks: MixedNormPath(tasks, 6.0, tol=1e-6).solve(2.0).coef,
        lambda tasks: SquaredPath(tasks).solve(2.0, 1.0).coef,
    ],
    ids=["duals", "2-norm", "6-norm", "squared loss"],
)
def test_tasks_of_the_same_examples_may_share_their_matrices(solve):
    toy = Toy(sizes=(12,))
    grams = stacked(toy.gaussians)
    y = np.concatenate([np.sign(toy.X[0] @ v + 0.1) for v in np.eye(3)])
    assert np.all(np.ptp(y.reshape(3, 12), axis=1) == 2.0)
    apart = dual_problem(y, [12] * 3, grams=np.tile(grams, (3, 1)))
    shared = dual_problem(y, [12] * 3, grams=grams, entries=[0] * 3)
    np.testing.assert_allclose(solve(shared), solve(apart), rtol=1e-9, atol=1e-12)
    one = solve(dual_problem(y[12:24], [12], grams=grams))
    alone = solve(shared.task(1))
    np.testing.assert_allclose(alone, one, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_curvature_is_the_second_derivative(fit_intercept):
    toy = Toy(sizes=(20, 30))
    problem = toy.tasks(grams=stacked(toy.gaussians), fit_intercept=fit_intercept)
    duals = TaskDuals(problem, 5.0)
    duals.solve(WEIGHTS + 0.1, 1e-12)
    curvature, step = duals.curvature(WEIGHTS + 0.1), 1e-5
    close = {"rtol": 1e-3, "atol": 1e-3 * np.abs(curvature).max()}
    for d, change in enumerate(step * np.eye(4)):
        moved = (WEIGHTS + 0.1 + change, WEIGHTS + 0.1 - change)
        up, down = (TaskDuals(problem, 5.0).solve(w, 1e-12).q for w in moved)
        np.testing.assert_allclose(curvature[d], (down - up) / (2 * step), **close)


def test_without_intercepts_there_are_none_and_one_class_is_learned():
    toy = Toy()
    toy.y[1] = np.ones(toy.sizes[1])
    problem = toy.tasks(grams=stacked(toy.gaussians), fit_intercept=False)
    duals = TaskDuals(problem, 1.0)
    duals.solve(np.ones(4), 1e-8)
    np.testing.assert_array_equal(duals.intercept, 0.0)
    assert np.abs(duals.beta[toy.sizes[0] : sum(toy.sizes[:2])]).max() > 0.1


@pytest.mark.parametrize("epsilon", [None, 0.2])
def test_an_example_with_copies_equals_that_many_examples(epsilon):
    toy = Toy(n_features=4)
    targets = np.concatenate(toy.y if epsilon is None else toy.targets)
    copies = 1 + np.arange(targets.size) % 3
    X = np.vstack(toy.X)
    sizes = [part.sum() for part in np.split(copies, np.cumsum(toy.sizes)[:-1])]
    with_copies = {"features": X, "copies": copies, "epsilon": epsilon}
    once = TaskDuals(dual_problem(targets, toy.sizes, **with_copies), 0.3)
    every = {"features": np.repeat(X, copies, axis=0), "epsilon": epsilon}
    often = TaskDuals(dual_problem(np.repeat(targets, copies), sizes, **every), 0.3)
    values = [duals.solve(WEIGHTS, 1e-10) for duals in (once, often)]
    assert values[0].primal == pytest.approx(values[1].primal, rel=1e-9)
    assert values[0].dual == pytest.approx(values[1].dual, rel=1e-9)
    np.testing.assert_allclose(values[0].q, values[1].q, rtol=1e-5, atol=1e-9)
    summed = np.add.reduceat(often.beta, np.cumsum(copies) - copies)
    held = [duals.evaluate(WEIGHTS).primal for duals in (once, often)]
    assert held[0] == pytest.approx(held[1], rel=1e-9)
    assert np.abs(once.beta).max() > 0.3
    np.testing.assert_allclose(X.T @ once.beta, X.T @ summed, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("scale", [1e6, 1e9, 1e30])
def test_inner_solves_end_at_rounding_and_say_so(scale, fit_intercept):
    state = TaskDuals(unscaled(scale, fit_intercept=fit_intercept), 1.0)
    granted = state.work_left
    inner = state.solve(np.ones(5), 1e-6)
    assert "rounding" in inner.limit
    assert "standardize=True" in inner.limit
    squares = np.square(state.problem.blocks.features)
    assert f"{squares.sum(axis=1).max():.1g}" in inner.limit
    assert inner.dual <= inner.primal
    assert granted - state.work_left < 0.5 * granted
    within_reach = TaskDuals(unscaled(1.0, fit_intercept=fit_intercept), 1.0)
    assert within_reach.solve(np.ones(5), 1e-9).limit == ""
    assert granted - within_reach.work_left < 0.01 * granted


def test_without_work_the_point_at_hand_is_returned():
    state = TaskDuals(unscaled(1.0), 1.0)
    state.work_left = 0.0
    inner = state.solve(np.ones(5), 1e-6)
    np.testing.assert_array_equal(state.beta, 0.0)
    assert inner.dual == 0.0
    assert "bound on their work" in inner.limit
    state.renew()
    assert state.solve(np.ones(5), 1e-6).limit == ""


def test_long_inner_solves_return_to_python(monkeypatch):
    spent = []
    solve = task_steps.solve_tasks

    def watched(*args):
        before = args[-1][task_steps.WORK]
        finished = solve(*args)
        spent.append(before - args[-1][task_steps.WORK])
        return finished

    monkeypatch.setattr(task_steps, "solve_tasks", watched)
    state = TaskDuals(unscaled(1e6, n=600), 1e4)
    state.solve(np.ones(5), 1e-6)
    assert len(spent) > 3
    # One more round of kernel sums and steps than fit is the most there can be.
    assert max(spent) < 1.1 * smo.SLICE


# --- one classifier on its kernel matrix ----------------------------------------------


def classifier(K, y, C, accuracy=1e-6, **options):
    """Return the duals of one task at their solution, and their values."""
    one = dual_problem(y, [y.size], grams=K.reshape(-1, 1), **options)
    duals = TaskDuals(one, C)
    return duals, duals.solve(np.ones(1), accuracy)


def assert_classifies(K, y, C, duals, atol, fit_intercept=True):
    lo, hi = C * np.minimum(y, 0), C * np.maximum(y, 0)
    total = 0.0 if fit_intercept else None
    assert_optimal(K, y, lo, hi, duals.beta, total=total, atol=atol)


@pytest.mark.parametrize("kind", ["linear", "cubic", "gaussian", "narrow"])
@pytest.mark.parametrize("n", [3, 17, 150])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_classifiers_are_optimal_at_every_bound(kind, n, fit_intercept):
    K, y = problem(kind, n=n, seed=4)
    y[:2] = 1, -1
    warm = dual_problem(y, [n], grams=K.reshape(-1, 1), fit_intercept=fit_intercept)
    path = TaskDuals(warm, 2.0**-10)
    for C in [*2.0 ** np.arange(-10, 11, 2), 1.0, 2.0**-10]:
        cold, inner = classifier(K, y, C, fit_intercept=fit_intercept)
        assert inner.limit == ""
        assert_classifies(K, y, C, cold, 2e-6, fit_intercept)
        if C != path.C:
            path.rescale(C)
        assert path.solve(np.ones(1), 1e-6).limit == ""
        assert_classifies(K, y, C, path, 2e-6, fit_intercept)


def test_rounding_below_zero_in_the_spectrum_does_no_harm():
    X = inputs(60, 3, 0)
    y = labels(X, 0)
    noise = np.random.default_rng(0).standard_normal((60, 60)) * 1e-12
    K = X @ X.T + noise + noise.T
    assert np.linalg.eigvalsh(K)[0] < 0
    for C in (1.0, 1e3):
        _, noisy = classifier(K, y, C)
        _, clean = classifier(X @ X.T, y, C)
        assert noisy.limit == ""
        assert noisy.dual == pytest.approx(clean.dual, rel=1e-7)


def test_a_start_at_the_solution_is_done_at_once():
    K, y = problem("gaussian", n=80)
    for fit_intercept in (True, False):
        duals, _ = classifier(K, y, 4.0, 1e-8, fit_intercept=fit_intercept)
        solution, left = duals.beta.copy(), duals.work_left
        duals.refresh()
        duals.solve(np.ones(1), 1e-7)
        assert duals.work_left == left
        np.testing.assert_array_equal(duals.beta, solution)
