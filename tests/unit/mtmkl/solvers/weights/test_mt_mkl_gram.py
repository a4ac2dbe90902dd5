"""The Gram solver against general solvers and the feature-space solver; its limits."""

import warnings
from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
from mt_mkl_problems import KERNELS, LOSSES, matrices, on_one_map, optimum, problem
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from mtmkl.certify.kernel_problems import square_root
from mtmkl.kernels.gram import GramBlocks
from mtmkl.kernels.task_kernels import single_task, union
from mtmkl.solvers.weights import mt_mkl_features
from mtmkl.solvers.weights.mt_mkl_gram import GramPath
from mtmkl.solvers.weights.norm_weights import dual_norm


def path(grams, y, *, tol=1e-9, seed=0, max_iter=5000, **options):
    layout = np.stack(grams, axis=-1).reshape(-1, len(grams))
    blocks = GramBlocks.of([y.size], grams=layout)
    rng = np.random.default_rng(seed)
    return GramPath(blocks, y, tol=tol, max_iter=max_iter, rng=rng, **options)


def solve(grams, y, *, C, **options):
    return path(grams, y, **options).solve(C)


def primal(grams, y, theta, beta, C, loss, intercept=0.0):
    K = np.tensordot(theta, grams, axes=1)
    margins = y * (K @ beta + intercept)
    losses = np.maximum(1 - margins, 0)
    if loss == "logistic":
        losses = np.logaddexp(0, -margins)
    return 0.5 * beta @ K @ beta + C * losses.sum()


def lower_bound(grams, y, beta, C, p, loss):
    forms = np.array([beta @ K @ beta for K in grams])
    gain = np.abs(beta).sum()
    if loss == "logistic":
        share = np.abs(beta) / C
        gain = -C * (share * np.log(share) + (1 - share) * np.log1p(-share)).sum()
    return gain - 0.5 * dual_norm(forms, p)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("p", [1, 2, 3])
def test_optimum_of_four_task_kernels(p, C, loss):
    X, y, task = problem()
    terms = on_one_map(KERNELS)
    value, theta = optimum([X], y, task, terms, C, p, loss)
    grams = matrices([X], task, terms)
    solution = solve(grams, y, C=C, p=p, loss=loss)
    assert solution.certificate.objective == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(solution.coef, theta, atol=1e-4)
    assert solution.certificate.status == "converged"
    assert solution.certificate.duality_gap <= 1e-9


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("p", [1, 1.5, np.inf])
def test_optimum_with_several_kernels(p, loss):
    X, y, task = problem(seed=1)
    maps = [X[:, :2], np.abs(X), X[:, 2:] ** 2]
    terms = [(0, KERNELS[0]), (2, KERNELS[3]), (1, KERNELS[1]), (0, KERNELS[2])]
    value, theta = optimum(maps, y, task, terms, 1.0, p, loss)
    solution = solve(matrices(maps, task, terms), y, C=1.0, p=p, loss=loss)
    assert solution.certificate.objective == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(solution.coef, theta, atol=1e-4)


@pytest.mark.parametrize("p", [1, 2, np.inf])
def test_one_intercept_for_all_tasks(p):
    X, y, task = problem(seed=2)
    X, terms = X + 1.0, on_one_map(KERNELS[1:])
    grams = matrices([X], task, terms)
    value, theta = optimum([X], y, task, terms, 0.3, p, fit_intercept=True)
    solution = solve(grams, y, C=0.3, p=p, fit_intercept=True)
    assert solution.certificate.objective == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(solution.coef, theta, atol=1e-4)
    assert abs(solution.dual.sum()) < 1e-9
    assert solution.intercept[0] != 0.0
    value = primal(
        grams, y, solution.coef, solution.dual, 0.3, "hinge", solution.intercept[0]
    )
    assert solution.certificate.objective == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("p", [1, 2, np.inf])
def test_certificate_is_that_of_the_point_returned(p, loss):
    # Stopped early, so that the gap is a number to compare.
    X, y, task = problem(seed=2)
    grams = matrices([X], task, on_one_map(KERNELS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = solve(grams, y, C=2.0, p=p, loss=loss, max_iter=2)
    certificate = solution.certificate
    assert certificate.duality_gap > 1e-7 or p == np.inf
    assert np.linalg.norm(solution.coef, p) == pytest.approx(1.0)
    assert certificate.objective == pytest.approx(
        primal(grams, y, solution.coef, solution.dual, 2.0, loss), rel=1e-12
    )
    # For p = 1 the bound is the best of those met, not only that of these duals.
    bound = lower_bound(grams, y, solution.dual, 2.0, p, loss)
    assert certificate.dual_objective >= bound * (1 - 1e-12)
    if p > 1:
        assert certificate.dual_objective == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("p", [1, 1.2, 2, np.inf])
def test_both_solvers_agree_to_their_gaps(p, loss):
    X, y, task = problem(seed=3, sizes=(30, 25, 40, 20))
    terms = on_one_map(KERNELS)
    by_features = mt_mkl_features.solve(
        [X], y, task, terms, C=0.5, p=p, loss=loss, rng=np.random.default_rng(0),
        tol=1e-6, max_iter=20_000,
    ).certificate  # fmt: skip
    grams = matrices([X], task, terms)
    by_gram = solve(grams, y, C=0.5, p=p, loss=loss, tol=1e-6).certificate
    assert max(by_features.duality_gap, by_gram.duality_gap) <= 1e-6
    assert by_features.dual_objective <= by_gram.objective
    assert by_gram.dual_objective <= by_features.objective


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("p", [1, 2])
def test_a_path_in_any_order_equals_single_solutions(p, loss):
    X, y, task = problem(seed=4)
    grams = matrices([X], task, on_one_map(KERNELS))
    walked = path(grams, y, p=p, loss=loss, tol=1e-8)
    for C in (1.0, 10.0, 0.01, 1.0):
        alone = solve(grams, y, C=C, p=p, loss=loss, tol=1e-8).certificate
        certificate = walked.solve(C).certificate
        assert certificate.objective == pytest.approx(alone.objective, rel=2e-8)
        assert certificate.duality_gap <= 1e-8


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_one_task_and_one_kernel_is_a_support_vector_machine(C, fit_intercept):
    X, y, _ = problem()
    K = np.exp(-0.1 * np.sum((X[:, None] - X) ** 2, axis=2))
    solution = solve([K], y, C=C, p=2, fit_intercept=fit_intercept)
    assert solution.coef.tolist() == [1.0]
    if fit_intercept:
        machine = SVC(C=C, kernel="precomputed", tol=1e-9).fit(K, y)
        scores = K @ solution.dual + solution.intercept
        np.testing.assert_allclose(scores, machine.decision_function(K), atol=1e-5)
        return
    alpha = cp.Variable(y.size)
    dual = cp.sum(alpha) - 0.5 * cp.sum_squares(
        square_root(K).T @ cp.multiply(y, alpha)
    )
    value = cp.Problem(cp.Maximize(dual), [alpha >= 0, alpha <= C]).solve("CLARABEL")
    assert solution.certificate.objective == pytest.approx(value, rel=1e-6)


def test_union_is_a_pooled_machine_and_the_identity_independent_ones():
    X, y, task = problem(seed=6)
    K = X @ X.T
    union_of_tasks, apart = matrices([X], task, on_one_map([union(4), single_task(4)]))
    np.testing.assert_allclose(union_of_tasks, K)
    joint = solve([apart], y, C=1.0, p=2).certificate.objective
    alone = 0.0
    for t in range(4):
        own = task == t
        machine = solve([K[np.ix_(own, own)]], y[own], C=1.0, p=2)
        alone += machine.certificate.objective
    assert joint == pytest.approx(alone, rel=1e-8)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_logistic_with_one_kernel_is_logistic_regression(C):
    X, y, _ = problem(seed=7)
    solution = solve([X @ X.T], y, C=C, p=2, loss="logistic")
    machine = LogisticRegression(C=C, fit_intercept=False, tol=1e-12, max_iter=10_000)
    coef = machine.fit(X, y).coef_[0]
    value = 0.5 * coef @ coef + C * np.logaddexp(0, -y * (X @ coef)).sum()
    assert solution.certificate.objective == pytest.approx(value, rel=1e-7)
    np.testing.assert_allclose(X.T @ solution.dual, coef, rtol=1e-3, atol=1e-4)


def test_logistic_weights_against_a_generic_optimiser():
    # θ eliminated: ½ (Σ_m ||W_m||^{2p/(p+1)})^{(p+1)/p} + loss, by BFGS over f = Kβ.
    X, y, task = problem(seed=8)
    p, C = 2, 1.0
    roots = [square_root(K) for K in matrices([X], task, on_one_map(KERNELS))]
    ends = np.cumsum([0] + [R.shape[1] for R in roots])

    def value(w):
        parts = [w[lo:hi] for lo, hi in pairwise(ends)]
        norms = np.array([part @ part for part in parts])
        scores = sum(R @ part for R, part in zip(roots, parts, strict=True))
        penalty = (norms ** (p / (p + 1))).sum() ** ((p + 1) / p)
        return 0.5 * penalty + C * np.logaddexp(0, -y * scores).sum()

    start = 0.1 * np.random.default_rng(0).standard_normal(ends[-1])
    best = minimize(value, start, method="BFGS", options={"maxiter": 2000})
    grams = [R @ R.T for R in roots]
    solution = solve(grams, y, C=C, p=p, loss="logistic")
    assert solution.certificate.objective == pytest.approx(best.fun, rel=1e-6)


def test_a_kernel_of_zeros_gets_no_weight():
    X, y, task = problem()
    grams = [*matrices([X], task, on_one_map(KERNELS[:2])), np.zeros((y.size, y.size))]
    for p in (1, 2):
        solution = solve(grams, y, C=1.0, p=p)
        fewer = solve(grams[:2], y, C=1.0, p=p)
        assert solution.coef[2] == pytest.approx(0.0, abs=1e-9)
        np.testing.assert_allclose(solution.coef[:2], fewer.coef, atol=1e-5)


def test_nothing_but_kernels_of_zeros():
    y = np.array([1.0, -1.0, 1.0])
    for loss, value in (("hinge", 1.0), ("logistic", np.log(2))):
        solution = solve([np.zeros((3, 3))], y, C=2.0, p=2, loss=loss)
        assert solution.certificate.objective == pytest.approx(6.0 * value)
        assert solution.certificate.status == "converged"


@pytest.mark.parametrize("loss", LOSSES)
def test_a_gap_out_of_reach_ends_with_a_warning(loss):
    X, y, task = problem()
    grams = matrices([X], task, on_one_map(KERNELS))
    with pytest.warns(ConvergenceWarning, match="visited weights at a relative") as got:
        solution = solve(grams, y, C=1.0, p=2, loss=loss, tol=1e-18)
    assert f"gap of {solution.certificate.duality_gap:.1e}" in str(got[0].message)
    assert solution.certificate.duality_gap < 1e-12
    with pytest.warns(ConvergenceWarning, match="after 3 visited .* raise max_iter"):
        solve(grams, y, C=1.0, p=2, loss=loss, max_iter=3)


def test_a_warning_names_the_problem_of_a_sum_of_norms():
    X, y, task = problem()
    grams = matrices([X], task, on_one_map(KERNELS))
    with pytest.warns(ConvergenceWarning, match="^multi-task kernel learning, hinge"):
        solve(grams, y, C=1.0, p=1, loss="hinge", tol=1e-15, max_iter=1)


def test_the_logistic_loss_has_no_intercept():
    with pytest.raises(ValueError, match="without intercept"):
        path(
            [np.eye(2)], np.array([1.0, -1.0]), p=2, loss="logistic", fit_intercept=True
        )


def test_labels_that_cancel_out_over_the_tasks():
    """Two tasks with the same examples and opposite labels: pooled, all is rounding."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 4))
    y = np.where(rng.random(9) < 0.5, -1.0, 1.0)
    task = np.repeat([0, 1], 9)
    K = np.tile(X @ X.T, (2, 2))
    same = (task[:, None] == task).astype(float)
    grams = np.stack([same * K, K], axis=-1)
    blocks = GramBlocks.of([18], grams=grams.reshape(18 * 18, 2))
    path = GramPath(blocks, np.concatenate([y, -y]), p=2.0, fit_intercept=True, rng=rng)
    for C in 2.0 ** np.arange(-10, 6):
        solution = path.solve(C)
        assert solution.certificate.duality_gap <= 1e-4
        assert (solution.coef > 0.0).all()
