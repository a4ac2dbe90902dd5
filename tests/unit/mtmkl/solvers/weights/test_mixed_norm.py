"""MK-MTFL: the problem with a p-norm over tasks and a sum over kernels."""

import gc
import weakref

import numpy as np
import pytest
from bounds import assert_between
from dual_problems import Toy, dual_problem, stacked
from sweeps import sweep

from mtmkl.certify.kernel_problems import mixed_norm
from mtmkl.solvers.weights.mixed_norm import MixedNormDuals, MixedNormPath

GAMMA = np.array([0.4, 0.3, 0.2, 0.1])
SIZES = (8, 11, 6, 9)
LOSSES = [None, 0.1]


def toy(epsilon=None, sizes=SIZES, seed=0):
    """Return targets, matrices and the problem."""
    data = Toy(sizes=sizes, seed=seed)
    targets, grams = (data.y if epsilon is None else data.targets), data.gaussians
    problem = dual_problem(
        np.concatenate(targets), sizes, grams=stacked(grams), epsilon=epsilon
    )
    return targets, grams, problem


@pytest.mark.parametrize("epsilon", LOSSES)
@pytest.mark.parametrize(
    "case", sweep([(2.0, 100.0), (8.67, 0.1)], [(2.0, 0.1), (6.0, 2.0), (8.67, 100.0)])
)
def test_optimum_of_a_general_solver_lies_between_the_bounds(case, epsilon):
    p, C = case
    targets, grams, problem = toy(epsilon)
    certificate = MixedNormPath(problem, p, tol=1e-7).solve(C).certificate
    assert_between(certificate, mixed_norm(targets, grams, C, p, epsilon), 1e-7)


def test_the_lambdas_are_those_of_the_norms():
    p, C = 5.0, 3.0
    _, grams, problem = toy(seed=2)
    solution = MixedNormPath(problem, p, tol=1e-9).solve(C)
    gamma, lam = solution.extra["gamma"], solution.extra["lam"]
    assert gamma.sum() == pytest.approx(1.0)
    assert gamma.min() >= 0.0
    np.testing.assert_allclose(np.sum(lam ** (p / (p - 2)), axis=0), 1.0, rtol=1e-6)
    parts = np.split(solution.dual, np.cumsum(SIZES)[:-1])
    forms = [[b @ K @ b for K in own] for b, own in zip(parts, grams, strict=True)]
    used = gamma > 1e-3
    norms = (np.sqrt(np.maximum(forms, 0.0)) * solution.coef)[:, used]
    expected = (norms / np.linalg.norm(norms, p, axis=0)) ** (p - 2)
    np.testing.assert_allclose(lam[:, used], expected, rtol=2e-3)


@pytest.mark.parametrize("p", [2.0, 6.0])
def test_kernels_of_low_rank_have_kinks(p):
    data = Toy(sizes=(12, 12, 12))
    features = np.concatenate(data.X)
    problem = dual_problem(
        np.concatenate(data.targets), data.sizes, features=features, epsilon=0.05
    )
    for C in (0.5, 50.0):
        certificate = MixedNormPath(problem, p, tol=1e-6).solve(C).certificate
        stated = mixed_norm(data.targets, data.rank_ones, C, p, 0.05)
        assert_between(certificate, stated, 1e-6)


def test_a_path_that_nobody_refers_to_is_freed_at_once():
    # Gram matrices of images are too large to wait for a search for cycles.
    problem = toy()[2]
    path = MixedNormPath(problem, 6.0)
    path.solve(1.0)
    freed = weakref.ref(problem)
    gc.disable()
    try:
        del path, problem
        assert freed() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("epsilon", LOSSES)
@pytest.mark.parametrize(("p", "C"), [(2.5, 100.0), (6.0, 0.1), (8.67, 2.0)])
def test_few_rounds_of_machines_close_the_gap(p, C, epsilon, monkeypatch):
    rounds, solve_at = [], MixedNormDuals._solve_at

    def counted(*args):
        rounds.append(args)
        return solve_at(*args)

    monkeypatch.setattr(MixedNormDuals, "_solve_at", counted)
    duals = MixedNormDuals(toy(epsilon)[2], C, p)
    inner = duals.solve(GAMMA, 1e-9)
    assert inner.primal - inner.dual <= 1e-7 * inner.primal
    assert len(rounds) <= 8


def test_a_task_that_a_kernel_does_not_see_keeps_its_machine():
    """Where a kernel is constant its q is 0, and its weight has no upper limit."""
    data = Toy(sizes=SIZES)
    grams = data.gaussians
    grams[0][1] = np.full((8, 8), 3.0)
    tasks = dual_problem(np.concatenate(data.y), SIZES, grams=stacked(grams))
    inner = MixedNormDuals(tasks, 2.0, 6.0).solve(GAMMA, 1e-9)
    assert not inner.limit
    assert inner.primal - inner.dual <= 1e-6 * inner.primal
