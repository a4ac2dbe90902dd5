"""The feature-space solver, against general solvers, its own gap, and its limits."""

import tracemalloc
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from mt_mkl_problems import (
    CHAIN,
    KERNELS,
    LOSSES,
    assert_optimal,
    gram,
    on_one_map,
    problem,
    problem_1,
)
from scipy.sparse import csr_array, random_array
from sklearn.exceptions import ConvergenceWarning

from mtmkl.certify.kernel_problems import square_root
from mtmkl.certify.solving import find_optimum
from mtmkl.kernels.task_kernels import single_task, union
from mtmkl.solvers.weights import mt_mkl_features


def solve(maps, y, task, terms, *, seed=0, tol=1e-9, max_iter=50_000, p=2, **options):
    rng = np.random.default_rng(seed)
    options |= {"p": p, "rng": rng, "tol": tol, "max_iter": max_iter}
    return mt_mkl_features.solve(maps, y, task, terms, **options)


def scores_of(solution, maps, task):
    return np.einsum("ij,ij->i", np.hstack(maps), solution.coef[task])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("p", "C"), [(1, 0.1), (1, 10.0), (2, 1.0), (3, 10.0)])
def test_optimum_of_four_task_kernels(p, C, loss):
    X, y, task = problem()
    terms = on_one_map(KERNELS)
    solution = solve([X], y, task, terms, C=C, p=p, loss=loss)
    theta = solution.extra["theta"]
    stated = problem_1([X], y, task, terms, C, p, loss)
    assert_optimal(solution.certificate, theta, stated)
    # Outputs by W are those by α, and θ is of norm one.
    assert np.linalg.norm(theta, p) == pytest.approx(1.0)
    expected = gram([X], task, terms, theta) @ (y * solution.dual)
    np.testing.assert_allclose(scores_of(solution, [X], task), expected, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("p", [1.5, np.inf])
def test_optimum_with_several_maps(p, loss):
    X, y, task = problem(seed=1)
    maps = [X[:, :2], np.abs(X), X[:, 2:] ** 2]
    terms = [(0, KERNELS[0]), (2, KERNELS[3]), (1, KERNELS[1]), (0, KERNELS[2])]
    solution = solve(maps, y, task, terms, C=1.0, p=p, loss=loss)
    stated = problem_1(maps, y, task, terms, 1.0, p, loss)
    assert_optimal(solution.certificate, solution.extra["theta"], stated)


def test_features_stay_true_to_the_dual_over_many_epochs():
    # One task of weight 0, and one of which u could not be read off v to all digits.
    X, y, task = problem(seed=3)
    scale = np.array([0.0, 1.0, 1e-4, 1.0])
    terms = [(0, scale[:, None] * KERNELS[3] * scale), (0, 1e-12 * KERNELS[0])]
    solution = solve([X], y, task, terms, C=10.0, tol=1e-13)
    assert solution.certificate.n_iter > 200
    expected = gram([X], task, terms, solution.extra["theta"]) @ (y * solution.dual)
    np.testing.assert_allclose(scores_of(solution, [X], task), expected, atol=1e-10)


def test_a_weight_may_decay_beyond_the_range_of_numbers():
    # At p = 1 the second map is of no use: its weight falls by 1e-8 an epoch.
    X, y, task = problem(seed=4)
    maps = [X, 1e-8 * X**2]
    terms = [(0, KERNELS[3]), (1, KERNELS[0])]
    solution = solve(maps, y, task, terms, C=1.0, p=1)
    assert solution.certificate.n_iter > 50
    assert solution.extra["theta"].tolist() == [1.0, 0.0]
    alone = solve(maps[:1], y, task, terms[:1], C=1.0, p=1)
    np.testing.assert_allclose(solution.coef[:, :5], alone.coef, atol=1e-3)
    assert not solution.coef[:, 5:].any()


@pytest.mark.parametrize("loss", LOSSES)
def test_extreme_margins_are_finite(loss):
    X, y, task = problem(seed=9)
    X = 1e3 * X
    X[0] = 0.0
    terms = on_one_map(KERNELS)
    with pytest.warns(ConvergenceWarning, match="after 40 epochs"):
        solution = solve([X], y, task, terms, C=1e4, loss=loss, max_iter=40)
    certificate = solution.certificate
    assert np.isfinite([certificate.objective, certificate.dual_objective]).all()
    assert certificate.dual_objective <= certificate.objective
    assert np.isfinite(solution.coef).all()
    assert solution.dual.min() >= 0
    assert solution.dual.max() <= 1e4
    # An example of zeros has margin 0 whatever W is.
    expected = 1e4 if loss == "hinge" else 5e3
    assert solution.dual[0] == pytest.approx(expected)


def test_printed_step_24_misses_the_optimum():
    """As printed, (24) takes θ_m ⟨w_m, φ_m⟩ though w_m holds θ_m by (4)."""
    X, y, task = problem()
    C, p = 1.0, 2
    terms = on_one_map(KERNELS)
    stated = problem_1([X], y, task, terms, C, p)
    value, theta = find_optimum(stated).value, stated.var_dict["theta"].value

    def ascend(power):
        """Return the dual objective at θ* where steps of (24) come to rest.

        ``power`` of θ_m multiplies ⟨w_m, φ_m⟩: 1 as printed, 0 as derived.
        """
        grams = [gram([X], task, [term], [1.0]) for term in terms]
        K = np.tensordot(theta, grams, axes=1)
        printed = np.tensordot(theta ** (1 + power), grams, axes=1)
        alpha = np.zeros(y.size)
        for _ in range(1000):
            for i in range(y.size):
                slope = 1 - y[i] * (printed[i] @ (y * alpha))
                alpha[i] = np.clip(alpha[i] + slope / K[i, i], 0, C)
        beta = y * alpha
        return alpha.sum() - 0.5 * beta @ K @ beta

    assert ascend(power=0) == pytest.approx(value, rel=1e-6)
    assert ascend(power=1) < value * (1 - 1e-2)


def test_printed_pseudo_inverse_19_misses_the_optimum():
    """As printed, (19) has the eigenvalues of L where their inverses belong."""
    X, y, task = problem()
    C = 1.0
    laplacian = np.diag(CHAIN.sum(axis=0)) - CHAIN
    # (17) with L alone: ½ tr(W L W') over W whose tasks sum to 0.
    W = cp.Variable((X.shape[1], 4))
    L_root = square_root(laplacian)
    losses = cp.pos(1 - cp.multiply(y, cp.sum(cp.multiply(X, W.T[task]), axis=1)))
    value = cp.Problem(
        cp.Minimize(0.5 * cp.sum_squares(W @ L_root) + C * cp.sum(losses)),
        [cp.sum(W, axis=1) == 0],
    ).solve("CLARABEL")

    values, vectors = np.linalg.eigh(laplacian)
    values, vectors = values[1:], vectors[:, 1:]

    def reached(eigenvalues):
        R = (vectors * eigenvalues) @ vectors.T
        V = solve([X], y, task, [(0, R)], C=C).coef.T
        hinge = np.maximum(1 - y * np.einsum("ij,ji->i", X, V[:, task]), 0)
        return 0.5 * np.trace(V @ laplacian @ V.T) + C * hinge.sum()

    assert reached(1 / values) == pytest.approx(value, rel=1e-6)
    assert reached(values) > value * (1 + 1e-2)


def test_warm_start_revives_a_weight_that_had_vanished():
    X, y, task = problem(seed=4)
    terms = on_one_map([KERNELS[3], KERNELS[0]])
    cold = solve([X], y, task, terms, C=1.0, p=1, tol=1e-7)
    assert cold.extra["theta"].min() > 0.05
    for theta in ([1.0, 0.0], [0.0, 1.0]):
        start = replace(cold, extra={"theta": np.array(theta), "C": 1.0})
        warm = solve([X], y, task, terms, C=1.0, p=1, tol=1e-7, start=start)
        np.testing.assert_allclose(warm.extra["theta"], cold.extra["theta"], atol=1e-2)


@pytest.mark.parametrize("loss", LOSSES)
def test_sparse_features_give_the_same_and_are_not_changed(loss):
    X, y, task = problem(sizes=(30, 30, 30, 30), d=40)
    X[np.random.default_rng(0).random(X.shape) < 0.8] = 0.0
    sparse, terms = csr_array(X), on_one_map(KERNELS)
    dense, solution = (
        solve([features], y, task, terms, C=1.0, loss=loss, tol=1e-6)
        for features in (X, sparse)
    )
    np.testing.assert_allclose(solution.coef, dense.coef, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(sparse.toarray(), X)


def test_a_task_without_examples_learns_from_its_neighbours():
    X, y, task = problem(sizes=(20, 0, 20, 20))
    solution = solve([X], y, task, [(0, KERNELS[1])], C=1.0)
    beta = y * solution.dual
    expected = KERNELS[1][1][task] * beta @ X
    np.testing.assert_allclose(solution.coef[1], expected, atol=1e-12)


def test_memory_beside_the_data():
    n_tasks, d, n = 13, 40_000, 300
    rng = np.random.default_rng(0)
    X = random_array((n, d), density=0.01, format="csr", rng=rng)
    X.sum_duplicates()
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    task = rng.integers(n_tasks, size=n)
    terms = on_one_map([single_task(n_tasks), union(n_tasks)])
    solve([X], y, task, terms, C=1.0, tol=1e-2)  # compiles
    tracemalloc.start()
    solve([X], y, task, terms, C=1.0, tol=1e-2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    compiled = d * 8  # v, which the trace does not see
    rest = 48 * n + 100_000
    assert peak + compiled <= 2 * n_tasks * len(terms) * d * 8
    assert peak <= 2 * n_tasks * d * 8 + rest
