"""MK-MTFL: the problem with a p-norm over tasks and a sum over kernels."""

import gc
import weakref

import numpy as np
import pytest
from dual_problems import Toy, dual_problem, stacked
from sklearn.exceptions import ConvergenceWarning

from mtmkl.certify.kernel_problems import group_sharing, mixed_norm
from mtmkl.certify.solving import find_optimum
from mtmkl.solvers.weights.mixed_norm import MixedNormDuals, MixedNormPath
from mtmkl.solvers.weights.pairwise_sharing import PairwiseSharingPath

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
    ("p", "C"), [(2.0, 0.1), (2.0, 100.0), (6.0, 2.0), (8.67, 0.1), (8.67, 100.0)]
)
def test_optimum_of_a_general_solver_lies_between_the_bounds(p, C, epsilon):
    targets, grams, problem = toy(epsilon)
    optimum = find_optimum(mixed_norm(targets, grams, C, p, epsilon)).value
    certificate = MixedNormPath(problem, p, tol=1e-7).solve(C).certificate
    assert certificate.objective == pytest.approx(optimum, rel=1e-5)
    assert certificate.dual_objective <= optimum * (1 + 1e-7)
    assert optimum <= certificate.objective * (1 + 1e-7)
    assert certificate.duality_gap <= 1e-7


def test_the_lambdas_are_those_of_the_norms():
    p, C = 5.0, 3.0
    _, grams, problem = toy(seed=2)
    solution = MixedNormPath(problem, p, tol=1e-9).solve(C)
    gamma, lam = solution.extra["gamma"], solution.extra["lam"]
    assert gamma.sum() == pytest.approx(1.0)
    assert gamma.min() >= 0.0
    np.testing.assert_allclose(np.sum(lam ** (p / (p - 2)), axis=0), 1.0, rtol=1e-6)
    parts = np.split(solution.dual, np.cumsum(SIZES)[:-1])
    norms = np.array(
        [
            [np.sqrt(max(b @ K @ b, 0.0)) for K in own]
            for b, own in zip(parts, grams, strict=True)
        ]
    )
    norms = norms * solution.coef
    used = gamma > 1e-3
    norms = norms[:, used]
    expected = (norms / np.linalg.norm(norms, p, axis=0)) ** (p - 2)
    np.testing.assert_allclose(lam[:, used], expected, rtol=2e-3)


def test_at_two_every_lambda_is_one_and_tasks_share_their_weights():
    _, _, problem = toy()
    path = MixedNormPath(problem, 2.0, tol=1e-8)
    solution = path.solve(4.0)
    shared = PairwiseSharingPath(problem, tol=1e-8).solve(4.0, 0.0)
    assert (solution.extra["lam"] == 1.0).all()
    assert (solution.coef == shared.coef).all()


def test_one_task_is_kernel_learning_on_the_simplex():
    targets, grams, problem = toy(sizes=(14,))
    solution = MixedNormPath(problem, 6.0, tol=1e-8).solve(5.0)
    printed = group_sharing(targets, grams, 5.0, 0.0)
    expected = find_optimum(printed).value
    assert solution.certificate.objective == pytest.approx(expected, rel=1e-6)
    theta = printed.var_dict["theta"].value
    np.testing.assert_allclose(solution.coef, theta, atol=2e-3)


def test_equal_kernels_have_equal_weights():
    targets, grams, _ = toy()
    same = [[own[1]] * 3 for own in grams]
    problem = dual_problem(np.concatenate(targets), SIZES, grams=stacked(same))
    solution = MixedNormPath(problem, 6.0).solve(2.0)
    np.testing.assert_allclose(solution.extra["gamma"], 1.0 / 3.0, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:.*inaccurate")
@pytest.mark.parametrize("p", [2.0, 6.0])
def test_kernels_of_low_rank_have_kinks(p):
    data = Toy(sizes=(12, 12, 12))
    features = np.concatenate(data.X)
    problem = dual_problem(
        np.concatenate(data.targets), data.sizes, features=features, epsilon=0.05
    )
    for C in (0.5, 50.0):
        printed = mixed_norm(data.targets, data.rank_ones, C, p, 0.05)
        expected = find_optimum(printed).value
        certificate = MixedNormPath(problem, p, tol=1e-6).solve(C).certificate
        assert certificate.objective == pytest.approx(expected, rel=1e-5)
        assert certificate.duality_gap <= 1e-6


def test_a_warning_names_the_mixed_norms():
    _, _, problem = toy()
    path = MixedNormPath(problem, 6.0, tol=1e-12, max_iter=1)
    with pytest.warns(ConvergenceWarning, match=r"^mixed norms, C=20, p=6: "):
        path.solve(20.0)


def test_paths_end_where_single_solutions_do():
    problem = toy(0.1)[2]
    path = MixedNormPath(problem, 6.0, tol=1e-6)
    for C in (0.1, 1.0, 30.0, 1.0):
        along = path.solve(C).certificate
        alone = MixedNormPath(problem, 6.0, tol=1e-6).solve(C).certificate
        assert along.objective == pytest.approx(alone.objective, rel=2e-6), C
        assert along.duality_gap <= 1e-6


def test_targets_within_the_tube_cost_nothing():
    for p in (2.0, 6.0):
        solution = MixedNormPath(toy(epsilon=100.0)[2], p).solve(1.0)
        assert solution.certificate.objective == 0.0
        assert not solution.dual.any()


def test_a_path_that_nobody_refers_to_is_freed_at_once():
    # Gram matrices of images are too large to wait for a search for cycles.
    problem = toy()[2]
    path = MixedNormPath(problem, 6.0)
    path.solve(1.0)
    freed = weakref.ref(problem)
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        del path, problem
        assert freed() is None
    finally:
        if was_enabled:
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


def test_curvature_is_the_second_derivative():
    step = 1e-6
    for p in (2.5, 8.67):

        def solved(gamma, p=p):
            duals = MixedNormDuals(toy()[2], 2.0, p)
            return duals, duals.solve(gamma, 1e-12).q

        for gamma in (GAMMA, np.array([0.6, 0.4, 0.0, 0.0])):
            duals, q = solved(gamma)
            moved = [solved(gamma + step * e)[1] for e in np.eye(4)]
            # From a weight of 0 the λ of its kernel jumps; what it does to q is of the
            # second order along the others.
            used = np.ix_(gamma > 0.0, gamma > 0.0)
            numeric = ((q - moved) / step)[used]
            np.testing.assert_allclose(
                duals.curvature(gamma)[used], numeric, atol=1e-3 * np.abs(numeric).max()
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
