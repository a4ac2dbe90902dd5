"""The duals of machines whose shares of each kernel have a p-norm."""

import numpy as np
import pytest
from dual_problems import Toy, dual_problem, stacked

from mtmkl.solvers.svm.task_duals import TaskDuals
from mtmkl.solvers.weights.mixed_norm_duals import MixedNormDuals

GAMMA = np.array([0.4, 0.3, 0.2, 0.1])
SIZES = (8, 11, 6, 9)


def problem(epsilon=None):
    data = Toy(sizes=SIZES)
    targets = data.y if epsilon is None else data.targets
    return dual_problem(
        np.concatenate(targets), SIZES, grams=stacked(data.gaussians), epsilon=epsilon
    )


def values(gamma, p, C=2.0, epsilon=None):
    """Return the gradient at the optimum for γ."""
    return MixedNormDuals(problem(epsilon), C, p).solve(gamma, 1e-12)


@pytest.mark.parametrize("epsilon", [None, 0.1])
@pytest.mark.parametrize("C", [0.1, 2.0, 100.0])
@pytest.mark.parametrize("p", [2.5, 6.0, 8.67])
def test_few_rounds_of_machines_close_the_gap(p, C, epsilon, monkeypatch):
    rounds, solve_at = [], MixedNormDuals._solve_at

    def counted(*args):
        rounds.append(args)
        return solve_at(*args)

    monkeypatch.setattr(MixedNormDuals, "_solve_at", counted)
    duals = MixedNormDuals(problem(epsilon), C, p)
    inner = duals.solve(GAMMA, 1e-9)
    assert inner.primal - inner.dual <= 1e-7 * inner.primal
    assert len(rounds) <= 8


@pytest.mark.parametrize("p", [2.5, 6.0, 8.67])
def test_q_is_the_gradient(p):
    step = 1e-5
    for j in range(4):
        change = step * np.eye(4)[j]
        up, down = values(GAMMA + change, p), values(GAMMA - change, p)
        slope = (up.dual - down.dual) / (2 * step)
        assert -values(GAMMA, p).q[j] == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("p", [2.5, 6.0, 8.67])
@pytest.mark.parametrize("gamma", [GAMMA, np.array([0.6, 0.4, 0.0, 0.0])])
def test_curvature_is_the_second_derivative(p, gamma):
    duals = MixedNormDuals(problem(), 2.0, p)
    duals.solve(gamma, 1e-12)
    curvature = duals.curvature(gamma)
    step = 1e-6
    numeric = np.array(
        [
            (values(gamma + step * e, p).q - values(gamma, p).q) / -step
            for e in np.eye(4)
        ]
    )
    # From a weight of 0 the λ of its kernel jumps; what it does to q is of the second
    # order along the others.
    used = gamma > 0.0
    scale = np.abs(numeric[np.ix_(used, used)]).max()
    np.testing.assert_allclose(
        curvature[np.ix_(used, used)], numeric[np.ix_(used, used)], atol=1e-3 * scale
    )


def test_a_task_that_a_kernel_does_not_see_keeps_its_machine():
    """Where a kernel is constant its q is 0, and its weight has no upper limit."""
    data = Toy(sizes=SIZES)
    grams = data.gaussians
    grams[0][1] = np.full((8, 8), 3.0)
    tasks = dual_problem(np.concatenate(data.y), SIZES, grams=stacked(grams))
    inner = MixedNormDuals(tasks, 2.0, 6.0).solve(GAMMA, 1e-9)
    assert not inner.limit
    assert inner.primal - inner.dual <= 1e-6 * inner.primal


def test_weights_above_one_are_weights():
    tasks = problem()
    small = TaskDuals(tasks, 2.0).solve(GAMMA, 1e-10)
    scaled = dual_problem(
        tasks.c, SIZES, grams=1e-3 * tasks.blocks.grams, weight=tasks.weight
    )
    large = TaskDuals(scaled, 2.0).solve(1e3 * GAMMA, 1e-10)
    assert large.dual == pytest.approx(small.dual, rel=1e-9)
