"""Duals of many tasks at fixed weights, against independent optima."""

import numpy as np
import pytest
from dual_problems import Toy, dual_problem, stacked, unscaled
from sklearn.svm import SVC, SVR

from mtmkl.solvers.med.med_squared import SquaredPath
from mtmkl.solvers.svm import smo, task_steps
from mtmkl.solvers.svm.task_duals import TaskDuals
from mtmkl.solvers.weights.mixed_norm import MixedNormPath


def weighted(grams, weights):
    return [np.tensordot(weights, np.stack(g), axes=1) for g in grams]


def optimum(kernels, targets, C, epsilon, fit_intercept):
    """Return the value of V by a solver for convex problems."""
    import cvxpy as cp

    value, constraints = 0.0, []
    for K, c in zip(kernels, targets, strict=True):
        beta = cp.Variable(c.size)
        root = np.linalg.cholesky(K + 1e-12 * np.eye(c.size))
        value += c @ beta - 0.5 * cp.sum_squares(root.T @ beta)
        if epsilon is None:
            constraints += [cp.multiply(c, beta) >= 0, cp.multiply(c, beta) <= C]
        else:
            value -= epsilon * cp.norm1(beta)
            constraints += [cp.abs(beta) <= C]
        if fit_intercept:
            constraints.append(cp.sum(beta) == 0)
    problem = cp.Problem(cp.Maximize(value), constraints)
    problem.solve(solver="CLARABEL")
    return problem.value


WEIGHTS = np.array([0.2, 1.0, 0.0, 0.5])


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("epsilon", [None, 0.0, 0.3])
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_every_form_reaches_the_independent_optimum(C, epsilon, fit_intercept):
    toy = Toy()
    targets = toy.y if epsilon is None else toy.targets
    problem = dual_problem(
        np.concatenate(targets),
        toy.sizes,
        grams=stacked(toy.gaussians),
        epsilon=epsilon,
        fit_intercept=fit_intercept,
    )
    inner = TaskDuals(problem, C).solve(WEIGHTS, 1e-9)
    value = optimum(
        weighted(toy.gaussians, WEIGHTS), targets, C, epsilon, fit_intercept
    )
    assert inner.dual == pytest.approx(value, rel=1e-6)
    assert inner.primal == pytest.approx(value, rel=1e-6)
    assert inner.primal >= inner.dual * (1 - 1e-14)
    assert inner.limit == ""


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
def test_features_equal_their_gram_matrices(fit_intercept):
    toy = Toy(n_features=4)
    options = {"fit_intercept": fit_intercept}
    thin = TaskDuals(toy.tasks(features=np.vstack(toy.X), **options), 2.0)
    full = TaskDuals(toy.tasks(grams=stacked(toy.rank_ones), **options), 2.0)
    values = [duals.solve(WEIGHTS, 1e-10) for duals in (thin, full)]
    assert values[0].dual == pytest.approx(values[1].dual, rel=1e-9)
    np.testing.assert_allclose(values[0].q, values[1].q, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_warm_solutions_equal_cold_ones_along_weights_and_boxes(fit_intercept):
    toy = Toy(sizes=(20, 30))
    problem = toy.tasks(grams=stacked(toy.gaussians), fit_intercept=fit_intercept)
    warm = TaskDuals(problem, 0.1)
    rng = np.random.default_rng(0)
    for C in (0.1, 1.0, 30.0, 2.0, 1e4, 0.01):
        if C != warm.C:
            warm.enter(C)
        for _ in range(3):
            weights = rng.random(4)
            cold = TaskDuals(problem, C).solve(weights, 1e-9)
            again = warm.solve(weights, 1e-9)
            assert again.dual == pytest.approx(cold.dual, rel=1e-7)
            assert again.primal == pytest.approx(cold.primal, rel=1e-7)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_curvature_is_the_second_derivative(fit_intercept):
    toy = Toy(sizes=(20, 30))
    problem = toy.tasks(grams=stacked(toy.gaussians), fit_intercept=fit_intercept)
    duals = TaskDuals(problem, 5.0)
    duals.solve(WEIGHTS + 0.1, 1e-12)
    curvature = duals.curvature(WEIGHTS + 0.1)
    step = 1e-5
    for d in range(4):
        ends = [
            TaskDuals(problem, 5.0)
            .solve(WEIGHTS + 0.1 + sign * step * np.eye(4)[d], 1e-12)
            .q
            for sign in (1, -1)
        ]
        slope = -(ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(
            curvature[d], slope, rtol=1e-3, atol=1e-3 * np.abs(curvature).max()
        )


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_evaluation_computes_all_sums_anew_and_leaves_the_state_alone(fit_intercept):
    toy = Toy()
    problem = toy.tasks(
        features=np.vstack(toy.X),
        grams=stacked(toy.gaussians),
        fit_intercept=fit_intercept,
    )
    weights = np.ones(7)
    duals = TaskDuals(problem, 2.0)
    inner = duals.solve(weights, 1e-8)
    beta = duals.beta.copy()
    again = duals.evaluate(weights)
    np.testing.assert_array_equal(duals.beta, beta)
    assert again.primal == pytest.approx(inner.primal, rel=1e-12)
    assert duals.at(0.5 * beta).beta is not duals.beta
    np.testing.assert_array_equal(duals.beta, beta)
    quadratic = sum(
        b @ (X @ X.T + sum(K)) @ b
        for b, X, K in zip(
            np.split(beta, np.cumsum(toy.sizes)[:-1]),
            toy.X,
            toy.gaussians,
            strict=True,
        )
    )
    assert again.dual == pytest.approx(again.linear - 0.5 * quadratic, rel=1e-10)


def test_machines_are_those_of_libsvm():
    toy = Toy(sizes=(20, 30), seed=4)
    for epsilon in (None, 0.2):
        targets = toy.y if epsilon is None else toy.targets
        problem = dual_problem(
            np.concatenate(targets),
            toy.sizes,
            grams=stacked(toy.gaussians),
            epsilon=epsilon,
        )
        duals = TaskDuals(problem, 2.0)
        duals.solve(WEIGHTS, 1e-10)
        kernels = weighted(toy.gaussians, WEIGHTS)
        for t, (K, c) in enumerate(zip(kernels, targets, strict=True)):
            machine = SVC(C=2.0, kernel="precomputed", tol=1e-10)
            if epsilon is not None:
                machine = SVR(C=2.0, kernel="precomputed", tol=1e-10, epsilon=epsilon)
            machine.fit(K, c)
            rows = slice(problem.offsets[t], problem.offsets[t + 1])
            expected = np.zeros(c.size)
            expected[machine.support_] = machine.dual_coef_[0]
            np.testing.assert_allclose(duals.beta[rows], expected, atol=1e-6)
            assert duals.intercept[t] == pytest.approx(machine.intercept_[0], abs=1e-6)


def test_without_intercepts_there_are_none_and_one_class_is_learned():
    toy = Toy()
    toy.y[1] = np.ones(toy.sizes[1])
    problem = toy.tasks(grams=stacked(toy.gaussians), fit_intercept=False)
    duals = TaskDuals(problem, 1.0)
    duals.solve(np.ones(4), 1e-8)
    np.testing.assert_array_equal(duals.intercept, 0.0)
    assert np.abs(duals.beta[toy.sizes[0] : sum(toy.sizes[:2])]).max() > 0.1


def test_a_task_by_itself_has_the_solution_that_it_has_among_others():
    toy = Toy()
    problem = toy.tasks(features=np.vstack(toy.X), grams=stacked(toy.gaussians))
    weights = np.linspace(0.1, 1.0, 7)
    together = TaskDuals(problem, 2.0)
    value = together.solve(weights, 1e-9).dual
    alone = [TaskDuals(problem.task(t), 2.0) for t in range(3)]
    total = sum(each.solve(weights, 1e-9).dual for each in alone)
    assert total == pytest.approx(value, rel=1e-9)
    betas = np.concatenate([each.beta for each in alone])
    np.testing.assert_allclose(betas, together.beta, atol=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("scale", [1e6, 1e9, 1e30])
def test_inner_solves_end_at_rounding_and_say_so(scale, fit_intercept):
    state = TaskDuals(unscaled(scale, fit_intercept=fit_intercept), 1.0)
    granted = state.work_left
    inner = state.solve(np.ones(5), 1e-6)
    assert "rounding" in inner.limit
    assert "standardize=True" in inner.limit
    assert f"{state.problem.blocks.diagonal().max():.1g}" in inner.limit
    assert inner.dual <= inner.primal
    assert granted - state.work_left < 0.5 * granted


def test_an_accuracy_within_reach_has_no_limit():
    state = TaskDuals(unscaled(1.0), 1.0)
    granted = state.work_left
    assert state.solve(np.ones(5), 1e-9).limit == ""
    assert granted - state.work_left < 0.01 * granted


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
