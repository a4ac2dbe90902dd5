import itertools
import math

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize

from mtmkl_suite.papers.yousefi2015.rademacher import (
    complexity_draws,
    sum_of_roots,
    theorem_1_bound,
)


def draw(n_tasks, n_kernels, seed=0):
    rng = np.random.default_rng([seed, n_tasks, n_kernels])
    return rng.gamma(1.0, size=(n_tasks, n_kernels))


def largest(u, gamma):
    """Return the largest sum of roots, and its weights."""
    problem, terms, theta = sum_of_roots(*u.shape, gamma)
    terms.value = u
    return problem.solve(solver="CLARABEL"), theta.value


def spread(theta):
    return sum(
        np.square(theta[t] - theta[s]).sum()
        for t, s in itertools.combinations(range(len(theta)), 2)
    )


@pytest.mark.parametrize("gamma", [1e-3, 0.1, 1.0])
@pytest.mark.parametrize(("n_tasks", "n_kernels"), [(2, 2), (4, 3)])
def test_the_optimum_is_that_of_another_solver(n_tasks, n_kernels, gamma):
    u = draw(n_tasks, n_kernels)

    def shaped(flat):
        return flat.reshape(u.shape)

    other = minimize(
        lambda flat: -np.sqrt((shaped(flat) * u).sum(axis=1)).sum(),
        np.full(u.size, 0.9 / n_kernels),
        method="SLSQP",
        bounds=[(0, 1)] * u.size,
        constraints=[
            {"type": "ineq", "fun": lambda flat: 1 - shaped(flat).sum(axis=1)},
            {"type": "ineq", "fun": lambda flat: 1 - spread(shaped(flat)) / gamma**2},
        ],
        options={"ftol": 1e-10, "maxiter": 500},
    )
    value, theta = largest(u, gamma)
    assert value == pytest.approx(-other.fun, rel=1e-6)
    assert spread(theta) <= gamma**2 * (1 + 1e-6)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 2.0])
def test_tasks_with_a_kernel_each_share_weight_up_to_gamma(gamma):
    n = 4
    own = 1 / n + (1 - 1 / n) * gamma / math.sqrt(n * (n - 1))
    assert largest(np.eye(n), gamma)[0] == pytest.approx(n * math.sqrt(own), rel=1e-6)


def test_equal_weights_of_tasks_with_a_kernel_each():
    # By Cauchy and Schwarz, Σ √(θ_t u_t) ≤ √(Σ u_t).
    u = draw(5, 1)[:, 0]
    assert largest(np.diag(u), 0.0)[0] == pytest.approx(math.sqrt(u.sum()), rel=1e-6)


def test_a_gamma_that_binds_nothing_gives_each_task_its_best_kernel():
    u = draw(5, 4)
    best = np.sqrt(u.max(axis=1)).sum()
    assert largest(u, 5.0)[0] == pytest.approx(best, rel=1e-6)


def grams(n_tasks, n, n_kernels=4, seed=3):
    """Return Gaussian kernels of several widths, with ones on the diagonal."""
    rng = np.random.default_rng([seed, n_tasks, n])
    x = rng.normal(size=(n_tasks, n, 3))
    squares = np.square(x[:, :, None] - x[:, None]).sum(axis=-1)
    widths = 2.0 ** np.arange(n_kernels)
    return np.exp(-squares[:, None] / (2 * widths[:, None, None] ** 2))


def estimate(kernels, gamma, n_draws=20):
    rng = np.random.default_rng(0)
    return complexity_draws(kernels, gamma, n_draws=n_draws, rng=rng)


def test_supremum_over_functions_is_that_over_dual_coefficients():
    kernels = grams(2, 4, n_kernels=2)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(2, 4))
    suprema, _ = estimate(kernels, 0.2, n_draws=1)
    # At the best weights, over the coefficients of a function of norm 1.
    u = np.einsum("ti,tmij,tj->tm", signs, kernels, signs)
    _, theta = largest(u / u.max(), 0.2)
    total = 0.0
    for t in range(2):
        kernel = np.einsum("m,mij->ij", theta[t], kernels[t])
        root = np.linalg.cholesky(kernel + 1e-12 * np.eye(4)).T
        alpha = cp.Variable(4)
        problem = cp.Problem(
            cp.Maximize(signs[t] @ kernel @ alpha), [cp.norm(root @ alpha) <= 1]
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
    bound = theorem_1_bound(n_tasks=3, n_kernels=10, n=20, gamma=0.5)
    assert bound == pytest.approx(math.sqrt(math.sqrt(3) * 0.5 * 10 / (20 * 3)))
