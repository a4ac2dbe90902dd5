import itertools
import math

import cvxpy as cp
import numpy as np
import pytest

from mtmkl_suite.papers.yousefi2015.rademacher import (
    complexity_draws,
    largest_sum_of_roots,
    theorem_1_bound,
)

CASES = [
    (tasks, kernels, gamma)
    for tasks, kernels in ((2, 2), (4, 3), (6, 5))
    for gamma in (0.0, 1e-3, 0.1, 1.0, 2.5)
]


def draw(n_tasks, n_kernels, seed=0):
    rng = np.random.default_rng([seed, n_tasks, n_kernels])
    return rng.gamma(1.0, 20.0, size=(n_tasks, n_kernels))


def reference(u, gamma):
    n_tasks, n_kernels = u.shape
    theta = cp.Variable((n_tasks, n_kernels), nonneg=True)
    sums = [cp.sum(theta, axis=1) <= 1]
    pairs = [theta[t] - theta[s] for t, s in itertools.combinations(range(n_tasks), 2)]
    if gamma == 0:
        sums += [pair == 0 for pair in pairs]
    else:
        sums.append(cp.norm(cp.hstack(pairs)) <= gamma)
    some = np.flatnonzero(u.any(axis=1))
    roots = cp.sqrt(cp.sum(cp.multiply(theta[some], u[some]), axis=1))
    problem = cp.Problem(cp.Maximize(cp.sum(roots)), sums)
    problem.solve(solver=cp.CLARABEL)
    return problem.value


def spread(theta):
    return sum(
        np.square(theta[t] - theta[s]).sum()
        for t, s in itertools.combinations(range(len(theta)), 2)
    )


@pytest.mark.parametrize(("tasks", "kernels", "gamma"), CASES)
def test_reaches_an_independent_optimum_within_its_own_gap(tasks, kernels, gamma):
    u = draw(tasks, kernels)
    solution = largest_sum_of_roots(u, gamma, tol=1e-7)
    certificate = solution.certificate
    assert certificate.status == "converged"
    assert certificate.duality_gap <= 1e-7
    assert -certificate.objective == pytest.approx(reference(u, gamma), rel=1e-6)
    theta = solution.coef
    roots = np.sqrt((theta * u).sum(axis=1)).sum()
    assert -certificate.objective == pytest.approx(roots, rel=1e-12)
    assert (theta >= 0).all()
    assert (theta.sum(axis=1) <= 1 + 1e-12).all()
    assert spread(theta) <= gamma**2 * (1 + 1e-9)


def test_the_bound_holds_when_stopped_early():
    u = draw(6, 5)
    optimum = reference(u, 0.5)
    certificate = largest_sum_of_roots(u, 0.5, max_iter=2).certificate
    assert certificate.status == "stopped"
    assert certificate.dual_objective <= -optimum * (1 - 1e-7)
    assert certificate.objective >= -optimum * (1 + 1e-7)
    assert certificate.duality_gap > 1e-6


def test_a_gamma_that_binds_nothing_gives_each_task_its_best_kernel():
    u = draw(5, 4)
    solution = largest_sum_of_roots(u, 5.0)
    assert -solution.certificate.objective == np.sqrt(u.max(axis=1)).sum()
    assert solution.certificate.duality_gap == 0


def test_kernels_without_signal_and_tasks_without_kernels():
    u = draw(4, 3)
    u[0] = 0.0
    u[1, 1] = 0.0
    solution = largest_sum_of_roots(u, 0.3)
    assert solution.certificate.status == "converged"
    assert -solution.certificate.objective == pytest.approx(reference(u, 0.3), rel=2e-6)
    assert largest_sum_of_roots(np.zeros((2, 2)), 0.3).certificate.objective == 0


def grams(n_tasks, n, n_kernels=4, seed=3):
    """Return Gaussian kernels of several widths, with ones on the diagonal."""
    rng = np.random.default_rng([seed, n_tasks, n])
    x = rng.normal(size=(n_tasks, n, 3))
    squares = np.square(x[:, :, None] - x[:, None]).sum(axis=-1)
    widths = 2.0 ** np.arange(n_kernels)
    return np.exp(-squares[:, None] / (2 * widths[:, None, None] ** 2))


def estimate(kernels, gamma, n_draws=20, **options):
    rng = np.random.default_rng(0)
    return complexity_draws(kernels, gamma, n_draws=n_draws, rng=rng, **options)


def test_supremum_over_functions_is_that_over_dual_coefficients():
    kernels = grams(2, 4, n_kernels=2)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(2, 4))
    suprema, _ = estimate(kernels, 0.2, n_draws=1, radius=2.0)
    # At the best weights, over the coefficients of a function of squared norm 2.
    u = np.einsum("ti,tmij,tj->tm", signs, kernels, signs)
    theta = largest_sum_of_roots(u, 0.2).coef
    total = 0.0
    for t in range(2):
        kernel = np.einsum("m,mij->ij", theta[t], kernels[t])
        root = np.linalg.cholesky(kernel + 1e-12 * np.eye(4)).T
        alpha = cp.Variable(4)
        problem = cp.Problem(
            cp.Maximize(signs[t] @ kernel @ alpha), [cp.norm(root @ alpha) <= 2**0.5]
        )
        problem.solve(solver=cp.CLARABEL)
        total += problem.value
    assert suprema[0] == pytest.approx(total / 8, rel=1e-4)


@pytest.mark.parametrize("gamma", [0.0, 0.1, 1.0])
def test_the_proofs_bound_with_the_dropped_term_holds_in_every_draw(gamma):
    suprema, bounds = estimate(grams(4, 6), gamma)
    assert (suprema <= bounds * (1 + 1e-9)).all()


def test_theorem_1_fails_for_similar_weights():
    kernels = grams(4, 6)
    shape = {"n_tasks": 4, "n_kernels": 4, "n": 6}
    suprema, _ = estimate(kernels, 0.0)
    assert theorem_1_bound(**shape, gamma=0.0) == 0
    assert suprema.min() > 0.1
    suprema, _ = estimate(kernels, 0.05)
    assert suprema.mean() > 2 * theorem_1_bound(**shape, gamma=0.05)


def test_theorem_1_fails_for_many_tasks():
    shape = {"n_kernels": 4, "n": 6, "gamma": 1.0}
    means = {T: estimate(grams(T, 6), 1.0, n_draws=8)[0].mean() for T in (2, 8, 32)}
    bounds = {T: theorem_1_bound(n_tasks=T, **shape) for T in means}
    assert means[2] < bounds[2]
    assert means[32] > 1.1 * bounds[32]
    # The complexity does not fall with T as the bound does: each task has a function.
    assert means[32] > 0.8 * means[8]
    assert bounds[32] == pytest.approx(bounds[8] / 2)


def test_bound_is_the_printed_formula():
    bound = theorem_1_bound(n_tasks=3, n_kernels=10, n=20, gamma=0.5, radius=2.0)
    assert bound == pytest.approx(math.sqrt(math.sqrt(3) * 0.5 * 2 * 10 / (20 * 3)))
