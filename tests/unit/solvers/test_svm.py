"""Support vector solvers against independent optima, LIBSVM and their own gaps."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

from mtmkl.solvers import smo
from mtmkl.solvers.svm import (
    box_qp,
    box_qp_batch,
    svc,
    svc_batch,
    svr,
    svr_batch,
)

TIGHT = 1e-10
PATH = 2.0 ** np.arange(-10, 11, 2)


def inputs(n, d, seed):
    return np.random.default_rng(seed).standard_normal((n, d))


def gaussian(X, width=1.0, Z=None):
    Z = X if Z is None else Z
    squares = ((X[:, None] - Z[None]) ** 2).sum(-1)
    return np.exp(-squares / (2 * width**2))


def labels(X, seed, flip=0.15):
    rng = np.random.default_rng(seed + 1000)
    y = np.where(X[:, 0] + 0.5 * X[:, -1] ** 2 > 0.6, 1.0, -1.0)
    return np.where(rng.random(len(y)) < flip, -y, y)


def problem(kind, n=40, seed=0):
    X = inputs(n, 5, seed)
    y = labels(X, seed)
    K = {
        "linear": lambda: X @ X.T,
        "cubic": lambda: (X @ X.T / 5 + 1) ** 3,
        "gaussian": lambda: gaussian(X, 1.5),
        "narrow": lambda: gaussian(X, 0.2),
    }[kind]()
    return K, y


def factor(K):
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def cvxpy_optimum(K, c, lo, hi, *, kink=0.0, total=None):
    """Maximise c'b − kink |b| − b'Kb/2 in the box, by an interior-point method."""
    cp = pytest.importorskip("cvxpy")
    b = cp.Variable(len(c))
    constraints = [b >= lo, b <= hi]
    if total is not None:
        constraints.append(cp.sum(b) == total)
    objective = c @ b - kink * cp.norm1(b) - 0.5 * cp.sum_squares(factor(K).T @ b)
    task = cp.Problem(cp.Maximize(objective), constraints)
    task.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return task.value


def assert_optimal(K, c, lo, hi, beta, *, kink=0.0, total=None, atol):
    """Feasibility and the optimality conditions, from nothing but the definition."""
    assert (beta >= lo).all()
    assert (beta <= hi).all()
    v = c - K @ beta
    rise = np.where(beta < hi, v - np.where(beta >= 0, kink, -kink), -np.inf)
    sink = np.where(beta > lo, v - np.where(beta > 0, kink, -kink), np.inf)
    if total is None:
        assert rise.max() <= atol
        assert sink.min() >= -atol
    else:
        assert beta.sum() == pytest.approx(total, abs=1e-9 * np.abs(beta).sum() + 1e-12)
        assert rise.max() - sink.min() <= atol


# --- one classifier -----------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [2.0**-10, 0.3, 1.0, 50.0])
@pytest.mark.parametrize("kind", ["linear", "cubic", "gaussian", "narrow"])
def test_classifier_reaches_the_independent_optimum(kind, C, fit_intercept):
    K, y = problem(kind)
    solution = svc(K, y, C=C, fit_intercept=fit_intercept, tol=TIGHT)
    lo, hi = C * np.minimum(y, 0), C * np.maximum(y, 0)
    total = 0.0 if fit_intercept else None
    best = cvxpy_optimum(K, y, lo, hi, total=total)
    assert solution.certificate.objective == pytest.approx(best, rel=1e-6)
    assert solution.certificate.dual_objective == pytest.approx(best, rel=1e-6)
    assert solution.certificate.duality_gap < 1e-6
    assert solution.certificate.status == "converged"
    assert_optimal(K, y, lo, hi, solution.coef, total=total, atol=1e-9)


@pytest.mark.parametrize("kind", ["linear", "cubic", "gaussian"])
@pytest.mark.parametrize("n", [3, 17, 150])
def test_classifier_is_optimal_at_every_bound(kind, n):
    K, y = problem(kind, n=n, seed=4)
    y[:2] = 1, -1
    for C in PATH:
        for fit_intercept in (True, False):
            solution = svc(K, y, C=C, fit_intercept=fit_intercept)
            assert_optimal(
                K,
                y,
                C * np.minimum(y, 0),
                C * np.maximum(y, 0),
                solution.coef,
                total=0.0 if fit_intercept else None,
                atol=2e-6,
            )


def test_primal_and_dual_are_those_of_their_definitions():
    K, y = problem("gaussian")
    C = np.linspace(0.1, 3.0, len(y))
    solution = svc(K, y, C=C, tol=1e-3)
    f = K @ solution.coef
    hinge = np.maximum(0, 1 - y * (f + solution.intercept))
    primal = 0.5 * solution.coef @ f + C @ hinge
    dual = solution.dual.sum() - 0.5 * solution.coef @ f
    assert solution.certificate.objective == pytest.approx(primal, rel=1e-12)
    assert solution.certificate.dual_objective == pytest.approx(dual, rel=1e-12)
    assert dual <= primal
    np.testing.assert_array_equal(solution.dual, y * solution.coef)


@pytest.mark.parametrize("kind", ["linear", "cubic", "gaussian", "narrow"])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_classifier_agrees_with_libsvm(kind, C):
    K, y = problem(kind, n=60, seed=2)
    ours = svc(K, y, C=C, tol=1e-9)
    theirs = SVC(kernel="precomputed", C=C, tol=1e-9).fit(K, y)
    # LIBSVM caches its matrix in single precision: its outputs are off by so much
    atol = 10 * np.finfo(np.float32).eps * (np.abs(K) @ ours.dual).max()
    decision = theirs.decision_function(K)
    np.testing.assert_allclose(K @ ours.coef + ours.intercept, decision, atol=atol)
    np.testing.assert_allclose(ours.intercept, theirs.intercept_, atol=atol)
    if kind in ("gaussian", "narrow"):  # of full rank, so β is unique
        coef = np.zeros(len(y))
        coef[theirs.support_] = theirs.dual_coef_[0]
        np.testing.assert_allclose(ours.coef, coef, atol=1e-5 * C)


def test_intercept_is_the_middle_of_its_interval_if_no_multiplier_is_free():
    # Two classes apart, and a bound too small for any multiplier to be free.
    K, y = np.eye(4), np.array([1.0, 1.0, -1.0, -1.0])
    solution = svc(K, y, C=0.25)
    np.testing.assert_array_equal(solution.coef, 0.25 * y)
    # v = y − β = ±0.75: every b in [−0.75, 0.75] satisfies the conditions
    assert solution.intercept[0] == 0.0
    K[0, 0] = 2.0
    solution = svc(K, y, C=0.25)
    # now v = 0.5 for the first, and at their bounds: max over the class −1 is −0.75
    assert solution.intercept[0] == pytest.approx((0.5 - 0.75) / 2)


def test_a_multiplier_that_rounding_keeps_from_its_bound_is_not_free():
    K = np.diag([0.2, 0.2, 2.0])
    K[0, 2] = K[2, 0] = 0.5
    y = np.array([1.0, -1.0, 1.0])
    # At β = (1, −1, 0) are v = (0.8, −0.8, 0.5), and every b in [0.5, 0.8] optimal.
    start = np.array([1.0, -1.0, 8e-18])
    solution = svc(K, y, C=1.0, start=start)
    np.testing.assert_array_equal(solution.coef, start)
    assert solution.intercept[0] == pytest.approx(0.65)


def test_an_intercept_near_the_kink_is_the_middle_of_its_interval():
    lo, hi = -np.ones(3), np.ones(3)
    v = np.array([0.7, 0.1, -0.9])
    for rounding in (0.0, 1e-17, -1e-17):
        beta = np.array([1.0, rounding, -1.0])
        # up from the kink at 0.1 − 0.4 and from −1 at −0.5, down at 0.5 and from 1
        # at 0.3
        assert smo.intercept_at(v, beta, lo, hi, 0.4) == pytest.approx(0.0)


def test_a_small_multiplier_is_free_beside_small_ones():
    lo, hi, v = np.zeros(2), np.full(2, 1e8), np.array([0.3, 0.5])
    assert smo.intercept_at(v, np.array([1e-6, 0.0]), lo, hi, 0.0) == 0.3


def test_one_class_alone_predicts_itself():
    K, _ = problem("gaussian", n=10)
    for sign in (1.0, -1.0):
        solution = svc(K, np.full(10, sign), C=5.0)
        np.testing.assert_array_equal(solution.coef, 0.0)
        assert solution.intercept[0] == sign
        assert solution.certificate.objective == 0.0
        assert solution.certificate.duality_gap == 0.0
        assert solution.certificate.status == "converged"


def test_a_tiny_bound_puts_the_smaller_class_at_its_bound():
    K, y = problem("gaussian", n=31, seed=3)
    C = 1e-8
    solution = svc(K, y, C=C)
    rare = 1.0 if (y > 0).sum() < (y < 0).sum() else -1.0
    np.testing.assert_array_equal(solution.dual[y == rare], C)
    assert solution.coef.sum() == pytest.approx(0.0, abs=1e-20)


def test_separable_classes_get_the_hard_margin():
    X = np.concatenate([inputs(15, 2, 0) + 6, inputs(15, 2, 1) - 6])
    y = np.repeat([1.0, -1.0], 15)
    solution = svc(X @ X.T, y, C=1e6, tol=1e-9)
    margins = y * (X @ X.T @ solution.coef + solution.intercept)
    assert margins.min() == pytest.approx(1.0, abs=1e-8)
    np.testing.assert_allclose(margins[solution.dual > 0], 1.0, atol=1e-8)
    larger = svc(X @ X.T, y, C=1e9, tol=1e-9)
    np.testing.assert_allclose(larger.coef, solution.coef, rtol=1e-6, atol=1e-12)


def test_examples_with_both_labels_cancel():
    X = np.repeat(inputs(10, 3, 5), 2, axis=0)
    y = np.tile([1.0, -1.0], 10)
    for K in (X @ X.T, gaussian(X)):
        solution = svc(K, y, C=2.0)
        np.testing.assert_array_equal(solution.dual, 2.0)
        assert solution.certificate.dual_objective == pytest.approx(40.0, rel=1e-12)
        assert solution.certificate.objective == pytest.approx(40.0, rel=1e-12)


def test_rounding_below_zero_in_the_spectrum_does_no_harm():
    rng = np.random.default_rng(0)
    X = inputs(60, 3, 0)
    y = labels(X, 0)
    noise = rng.standard_normal((60, 60)) * 1e-12
    K = X @ X.T + noise + noise.T
    assert np.linalg.eigvalsh(K)[0] < 0
    for C in (1.0, 1e3):
        solution = svc(K, y, C=C)
        clean = svc(X @ X.T, y, C=C)
        assert solution.certificate.status == "converged"
        assert solution.certificate.dual_objective == pytest.approx(
            clean.certificate.dual_objective, rel=1e-7
        )


def test_an_indefinite_matrix_ends_at_a_stationary_point():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((30, 30))
    y = np.where(np.arange(30) % 2, 1.0, -1.0)
    K = A + A.T
    solution = svc(K, y, C=10.0)
    lo, hi = 10 * np.minimum(y, 0), 10 * np.maximum(y, 0)
    assert_optimal(K, y, lo, hi, solution.coef, total=0.0, atol=2e-6)
    assert solution.certificate.dual_objective > 0


def test_a_zero_matrix_is_solved():
    y = np.array([1.0, -1.0, -1.0])
    solution = svc(np.zeros((3, 3)), y, C=2.0)
    assert solution.certificate.dual_objective == 4.0
    assert solution.certificate.objective == 4.0
    assert svc(np.zeros((3, 3)), y, fit_intercept=False).coef.tolist() == [1, -1, -1]


def test_single_precision_storage_gives_the_solution_of_its_values():
    K, y = problem("gaussian")
    short = K.astype(np.float32)
    one = svc(short, y, C=3.0, tol=1e-9)
    other = svc(short.astype(np.float64), y, C=3.0, tol=1e-9)
    assert one.certificate.dual_objective == pytest.approx(
        other.certificate.dual_objective, rel=1e-9
    )
    np.testing.assert_allclose(K @ one.coef, K @ other.coef, atol=1e-7)


# --- regression ---------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("C", "epsilon"), [(0.1, 0.1), (1.0, 0.0), (20.0, 0.4)])
@pytest.mark.parametrize("kind", ["linear", "gaussian"])
def test_regression_reaches_the_independent_optimum(kind, C, epsilon, fit_intercept):
    K, _ = problem(kind, seed=6)
    target = 3.0 + np.sin(3 * inputs(40, 5, 6)[:, 0]) + 0.3 * inputs(40, 1, 7)[:, 0]
    solution = svr(
        K, target, C=C, epsilon=epsilon, fit_intercept=fit_intercept, tol=TIGHT
    )
    box = np.full(40, C)
    total = 0.0 if fit_intercept else None
    best = cvxpy_optimum(K, target, -box, box, kink=epsilon, total=total)
    assert solution.certificate.objective == pytest.approx(best, rel=1e-6)
    assert solution.certificate.dual_objective == pytest.approx(best, rel=1e-6)
    assert_optimal(
        K, target, -box, box, solution.coef, kink=epsilon, total=total, atol=1e-9
    )
    f = K @ solution.coef
    if fit_intercept:
        f = f + solution.intercept
    loss = np.maximum(0, np.abs(target - f) - epsilon)
    primal = 0.5 * solution.coef @ K @ solution.coef + C * loss.sum()
    assert solution.certificate.objective == pytest.approx(primal, rel=1e-10)
    alpha, alpha_star = solution.dual
    np.testing.assert_array_equal(alpha - alpha_star, solution.coef)
    assert (alpha * alpha_star == 0).all()


def test_regression_agrees_with_libsvm():
    X = inputs(70, 4, 8)
    target = np.sin(2 * X[:, 0]) + 0.1 * X[:, 1]
    K = gaussian(X, 1.2)
    for C, epsilon in ((0.5, 0.05), (10.0, 0.3)):
        ours = svr(K, target, C=C, epsilon=epsilon, tol=1e-9)
        theirs = SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=1e-9)
        theirs.fit(K, target)
        np.testing.assert_allclose(ours.intercept, theirs.intercept_, atol=1e-6)
        np.testing.assert_allclose(
            K @ ours.coef + ours.intercept, theirs.predict(K), atol=1e-6
        )


def test_a_tube_wider_than_the_targets_leaves_nothing():
    K, _ = problem("gaussian", n=12)
    target = np.linspace(2.0, 3.0, 12)
    solution = svr(K, target, epsilon=0.75)
    np.testing.assert_array_equal(solution.coef, 0.0)
    assert solution.intercept[0] == pytest.approx(2.5)  # of all in [2.25, 2.75]
    assert solution.certificate.objective == 0.0


def test_a_large_offset_of_the_targets_goes_into_the_intercept():
    # 1e6 takes the digits in which a working pair is chosen; not those of the answer
    X = inputs(60, 4, 14)
    target = np.sin(2 * X[:, 0])
    K = gaussian(X, 1.2)
    plain = svr(K, target, C=5.0, epsilon=0.05, tol=1e-8)
    moved = svr(K, target + 1e6, C=5.0, epsilon=0.05, tol=1e-8)
    assert moved.extra["violation"] < 2e-8
    np.testing.assert_allclose(K @ moved.coef, K @ plain.coef, atol=1e-7)
    assert moved.intercept[0] - 1e6 == pytest.approx(plain.intercept[0], abs=1e-7)


def test_bounds_of_different_sizes_are_met_exactly():
    rng = np.random.default_rng(15)
    X = inputs(50, 6, 15)
    K = X @ X.T
    c = 10 * rng.standard_normal(50)
    upper = 10.0 ** rng.uniform(-6, 6, 50)
    lower = -(10.0 ** rng.uniform(-6, 6, 50))
    solution = box_qp(K, -c, lower, upper, total=0.0, l1=0.5, tol=1e-4)
    assert_optimal(K, c, lower, upper, solution.coef, kink=0.5, total=0.0, atol=1.1e-4)
    near = np.minimum(upper - solution.coef, solution.coef - lower)
    assert ((near == 0) | (near > 1e-9 * (upper - lower))).all()
    assert (near == 0).sum() > 20


# --- the general problem ------------------------------------------------------------


@pytest.mark.parametrize("total", [None, 0.0, 1.3])
@pytest.mark.parametrize("l1", [0.0, 0.4])
@pytest.mark.parametrize("signed", [False, True])
def test_box_problem_reaches_the_independent_optimum(total, l1, signed):
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(9)
    n = 25
    A = rng.standard_normal((n, 8))
    Q, p = A @ A.T, 2.0 * rng.standard_normal(n)
    lower, upper = -rng.random(n), 2.0 * rng.random(n)
    lower[:3], upper[:3] = 0.1, 0.5  # without zero
    lower[3] = upper[3] = 0.2  # fixed
    lower[4], upper[4] = -0.6, -0.2
    signs = rng.choice([-1.0, 1.0], n) if signed else None
    row = np.ones(n) if signs is None else signs
    solution = box_qp(Q, p, lower, upper, l1=l1, signs=signs, total=total, tol=TIGHT)
    x = cp.Variable(n)
    constraints = [x >= lower, x <= upper]
    if total is not None:
        constraints.append(row @ x == total)
    task = cp.Problem(
        cp.Minimize(0.5 * cp.sum_squares(A.T @ x) + p @ x + l1 * cp.norm1(x)),
        constraints,
    )
    task.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    assert solution.certificate.objective == pytest.approx(task.value, rel=1e-6)
    assert solution.certificate.dual_objective == pytest.approx(task.value, rel=1e-6)
    value = solution.coef
    printed = 0.5 * value @ Q @ value + p @ value + l1 * np.abs(value).sum()
    assert solution.certificate.objective == pytest.approx(printed, rel=1e-12)
    assert (value >= lower).all()
    assert (value <= upper).all()
    if total is None:
        assert solution.intercept is None
    else:
        assert row @ value == pytest.approx(total, abs=1e-10)
        free = (value > lower) & (value < upper) & ((l1 == 0) | (value != 0))
        residual = Q @ value + p + l1 * np.sign(value) + solution.intercept * row
        assert free.any()
        np.testing.assert_allclose(residual[free], 0.0, atol=1e-8)


def test_the_quadratic_step_of_maximum_entropy_discrimination():
    # One task's bound: a rank-one term a kernel, a linear term of the last point.
    rng = np.random.default_rng(10)
    n, C = 30, 2.0
    X = inputs(n, 4, 11)
    y = labels(X, 11)
    kernels = np.stack([gaussian(X, w) for w in (0.5, 1.0, 3.0)])
    last = C * rng.random(n) * y
    outputs = kernels @ last
    curvature, switches = rng.random(3) / 4, rng.random(3)
    H = np.empty((n, n))
    smo.add_rank_one(kernels.sum(0), curvature, outputs, H)
    np.testing.assert_allclose(
        H, kernels.sum(0) + np.einsum("d,di,dj->ij", curvature, outputs, outputs)
    )
    linear = y - switches @ outputs + H @ last
    lo, hi = C * np.minimum(y, 0), C * np.maximum(y, 0)
    solution = box_qp(H, -linear, lo, hi, total=0.0, start=last, tol=TIGHT)
    best = cvxpy_optimum(H, linear, lo, hi, total=0.0)
    assert -solution.certificate.objective == pytest.approx(best, rel=1e-6)
    batch = box_qp_batch([H, H], [-linear, -2 * linear], *np.tile([lo, hi], 2))
    np.testing.assert_allclose(
        batch.objective[0, 0], solution.certificate.objective, rtol=1e-6
    )
    assert batch.objective[0, 1] < 2 * batch.objective[0, 0]
    assert (batch.duality_gap < 1e-5).all()


# --- starts, paths, batches ---------------------------------------------------------


def test_a_start_at_the_solution_is_done_at_once():
    K, y = problem("gaussian", n=80)
    for fit_intercept in (True, False):
        cold = svc(K, y, C=4.0, fit_intercept=fit_intercept, tol=1e-8)
        warm = svc(K, y, C=4.0, fit_intercept=fit_intercept, start=cold.coef, tol=1e-7)
        assert cold.certificate.n_iter > 20
        assert warm.certificate.n_iter == 0
        np.testing.assert_array_equal(warm.coef, cold.coef)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_any_start_ends_at_the_optimum(fit_intercept):
    rng = np.random.default_rng(12)
    K, y = problem("gaussian", n=40)
    cold = svc(K, y, C=1.5, fit_intercept=fit_intercept, tol=TIGHT)
    for start in (10 * rng.standard_normal(40), np.full(40, 7.0), -cold.coef, -9.0 * y):
        warm = svc(K, y, C=1.5, fit_intercept=fit_intercept, start=start, tol=TIGHT)
        np.testing.assert_allclose(warm.coef, cold.coef, atol=1e-8)


def test_make_feasible_keeps_zeros_where_it_can():
    lo, hi = np.array([0.0, 0, -1, -1, 0]), np.array([1.0, 1, 0, 0, 1])
    beta = np.array([0.9, 0.6, -0.5, 0.0, 0.0])
    smo.make_feasible(beta, lo, hi, 0.0, True)
    assert beta.sum() == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_array_equal(beta[2:], [-0.5, 0.0, 0.0])
    beta = np.array([5.0, 5, 5, 5, 5])
    smo.make_feasible(beta, lo, hi, -1.5, True)
    assert beta.sum() == pytest.approx(-1.5, abs=1e-15)
    assert ((beta >= lo) & (beta <= hi)).all()
    lo, hi = np.array([0.5, -2.0]), np.array([1.0, -1.0])
    beta = np.zeros(2)
    smo.make_feasible(beta, lo, hi, 0.0, True)
    assert beta.sum() == pytest.approx(0.0, abs=1e-15)
    assert ((beta >= lo) & (beta <= hi)).all()


@pytest.mark.parametrize("kind", ["linear", "cubic", "gaussian"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_warm_path_equals_cold_solves_up_and_down(kind, fit_intercept):
    K, y = problem(kind, n=70, seed=13)
    for path in (PATH, PATH[::-1], np.array([1.0, 300.0, 0.01, 300.0])):
        options = {"C": path, "fit_intercept": fit_intercept, "tol": 1e-8}
        warm = svc_batch([K], y, warm=True, **options)
        cold = svc_batch([K], y, warm=False, **options)
        np.testing.assert_allclose(warm.dual_objective, cold.dual_objective, rtol=1e-7)
        np.testing.assert_allclose(warm.coef @ K, cold.coef @ K, atol=1e-5, rtol=1e-5)
        for p, C in enumerate(path):
            assert_optimal(
                K,
                y,
                C * np.minimum(y, 0),
                C * np.maximum(y, 0),
                warm.coef[p],
                total=0.0 if fit_intercept else None,
                atol=2e-8,
            )
        if path is PATH:
            assert warm.n_iter.sum() < cold.n_iter.sum()


def test_a_batch_of_ragged_tasks_equals_single_solves():
    sizes = [5, 30, 1, 17, 0, 64]
    Ks, ys = [], []
    for t, n in enumerate(sizes):
        K, y = problem("gaussian", n=max(n, 2), seed=20 + t)
        Ks.append(K[:n, :n])
        ys.append(y[:n])
    ys[0][:] = 1.0  # one class alone
    for fit_intercept in (True, False):
        batch = svc_batch(Ks, ys, C=PATH[3:8], fit_intercept=fit_intercept, warm=False)
        assert batch.coef.shape == (5, sum(sizes))
        assert batch.converged.all()
        for t, (K, y) in enumerate(zip(Ks, ys, strict=True)):
            if not len(y):
                assert batch.coef_of(t).shape == (5, 0)
                assert (batch.objective[:, t] == 0).all()
                continue
            for p, C in enumerate(PATH[3:8]):
                single = svc(K, y, C=C, fit_intercept=fit_intercept)
                np.testing.assert_array_equal(batch.coef_of(t)[p], single.coef)
                assert batch.objective[p, t] == single.certificate.objective
                assert batch.dual_objective[p, t] == single.certificate.dual_objective
                assert batch.n_iter[p, t] == single.certificate.n_iter
                assert batch.duality_gap[p, t] == pytest.approx(
                    single.certificate.duality_gap
                )
                if fit_intercept:
                    assert batch.intercept[p, t] == single.intercept[0]
                else:
                    assert batch.intercept[p, t] == 0.0


def test_forms_of_a_batch_agree():
    X = inputs(20, 3, 30)
    y = labels(X, 30)
    stack = np.stack([gaussian(X, w) for w in (0.5, 1.0, 2.0)])
    expected = svc_batch(list(stack), [y, y, y], C=2.0)
    sizes = [20, 20, 20]
    for other in (
        svc_batch(stack, y, C=2.0),
        svc_batch(stack, np.tile(y, 3), C=[2.0]),
        svc_batch(stack.reshape(-1), np.tile(y, 3), sizes=sizes, C=2.0),
        svc_batch(stack, [y, y, y], C=1.0, weights=np.full(60, 2.0)),
    ):
        np.testing.assert_array_equal(other.coef, expected.coef)
        np.testing.assert_array_equal(other.sizes, sizes)
    stack.flags.writeable = False
    np.testing.assert_array_equal(svc_batch(stack, y, C=2.0).coef, expected.coef)
    weights = np.linspace(0.5, 2.0, 60)
    weighted = svc_batch(stack, y, C=2.0, weights=weights, tol=1e-9)
    single = svc(stack[1], y, C=2.0 * weights[20:40], tol=1e-9)
    np.testing.assert_allclose(weighted.coef_of(1)[0], single.coef, atol=1e-9)


def test_a_batch_begins_at_its_start():
    X = inputs(50, 3, 31)
    y = labels(X, 31)
    stack = np.stack([gaussian(X, w) for w in (0.5, 1.0)])
    cold = svc_batch(stack, y, C=2.0)
    again = svc_batch(stack, y, C=2.0, start=cold.coef[0], tol=1e-5)
    assert (cold.n_iter > 0).all()
    assert (again.n_iter == 0).all()
    np.testing.assert_array_equal(again.coef, cold.coef)


def test_a_batch_of_regressions_equals_single_solves():
    X = inputs(30, 3, 32)
    target = X[:, 0] ** 2
    K = [gaussian(X, 1.0), gaussian(X[:12], 2.0)]
    batch = svr_batch(K, [target, target[:12]], C=[0.5, 5.0], epsilon=0.2, tol=1e-9)
    for t, n in enumerate((30, 12)):
        for p, C in enumerate((0.5, 5.0)):
            single = svr(K[t], target[:n], C=C, epsilon=0.2, tol=1e-9)
            np.testing.assert_allclose(batch.coef_of(t)[p], single.coef, atol=1e-7)
            assert batch.intercept[p, t] == pytest.approx(single.intercept[0], abs=1e-7)
            assert batch.objective[p, t] == pytest.approx(
                single.certificate.objective, rel=1e-7
            )


def test_the_compiled_solver_works_in_place():
    K, y = problem("gaussian", n=30)
    lo, hi = 2 * np.minimum(y, 0), 2 * np.maximum(y, 0)
    beta, v = np.zeros(30), np.empty(30)
    smo.negative_gradient(K, y, beta, v)
    n_iter = smo.minimise_box(
        K, y, lo, hi, 0.0, True, beta, v, *smo.workspace(30), 1e-8, 10_000
    )
    assert n_iter > 0
    np.testing.assert_allclose(v, y - K @ beta, atol=1e-12)
    assert_optimal(K, y, lo, hi, beta, total=0.0, atol=2e-8)


# --- errors and warnings ------------------------------------------------------------


def test_stopping_short_warns_with_the_gap():
    K, y = problem("linear", n=60)
    with pytest.warns(ConvergenceWarning, match=r"1 of 1 .* after 3 steps .* gap of"):
        solution = svc(K, y, C=100.0, max_iter=3)
    assert solution.certificate.status == "stopped"
    assert solution.certificate.n_iter == 3
    assert solution.certificate.duality_gap > 0.01
    assert solution.extra["violation"] > 1e-6
    with pytest.warns(ConvergenceWarning, match="2 of 2"):
        batch = svc_batch([K, K], np.tile(y, 2), C=100.0, max_iter=3)
    assert not batch.converged.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svc(K, y, C=100.0)


def raw(scale, n=120):
    """Return a linear kernel with one feature on another scale, and labels."""
    X = inputs(n, 5, 0)
    y = labels(X, 0)
    X[:, 0] *= scale
    return X @ X.T, y


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("scale", [1e6, 1e9, 1e20])
def test_a_solve_ends_at_the_rounding_errors_of_its_scale(scale, fit_intercept):
    K, y = raw(scale)
    with pytest.warns(ConvergenceWarning, match=r"rounding .*standardize=True"):
        solution = svc(K, y, C=1.0, fit_intercept=fit_intercept)
    assert solution.certificate.status == "stopped"
    assert solution.certificate.n_iter < 4000 * y.size
    root = np.sqrt(K.diagonal())
    error = np.finfo(float).eps * root.max() * (root @ np.abs(solution.coef))
    assert 1e-6 < solution.extra["violation"] <= 2 * smo.LAST_SHARE * error


def test_rounding_errors_below_the_tolerance_do_not_end_a_solve():
    K, y = problem("gaussian", n=300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = svc(K, y, C=1e4)
    assert solution.certificate.n_iter > 16 * y.size
    assert solution.extra["violation"] <= 1.01e-6


def test_long_work_returns_to_python_and_goes_on(monkeypatch):
    K, y = problem("gaussian", n=300)
    path = [1e2, 1e3, 1e4]
    expected = [svc(K, y, C=C).certificate.objective for C in path]
    returned = []
    solve = smo.solve_paths

    def watched(*args):
        returned.append(solve(*args))
        return returned[-1]

    monkeypatch.setattr(smo, "solve_paths", watched)
    batch = svc_batch([K] * 40, np.tile(y, 40), C=path)
    assert returned[-1] == smo.FINISHED
    assert any(status >= 0 for status in returned[:-1])
    assert batch.converged.all()
    np.testing.assert_allclose(batch.objective, np.tile(expected, (40, 1)).T, rtol=1e-7)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [1.0, 0.5, -1.0]}, r"y must be \+1 or -1, got .*0.5"),
        ({"y": [[1.0], [1.0], [-1.0]]}, "y must be a vector"),
        ({"y": [1.0, -1.0]}, "the matrix has shape"),
        ({"K": np.ones((3, 2))}, "must be square"),
        ({"K": np.full((3, 3), np.nan)}, "not finite"),
        ({"C": 0.0}, "C must be positive and finite"),
        ({"C": np.inf}, "C must be positive and finite"),
        ({"C": np.nan}, "C must be positive and finite"),
        ({"C": [1.0, -1.0, 1.0]}, "C must be positive"),
        ({"C": [1.0, 1.0]}, "C has 2 entries, expected 3"),
        ({"tol": 0.0}, "tol must be positive"),
        ({"max_iter": -1}, "max_iter"),
        ({"start": [0.0]}, "start has 1 entries"),
        ({"start": [0.0, np.nan, 0.0]}, "start has entries that are not finite"),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {"K": np.eye(3), "y": [1.0, 1.0, -1.0], **change}
    with pytest.raises(ValueError, match=message):
        svc(**arguments)


def test_bad_input_of_the_other_forms_is_named():
    eye, y = np.eye(2), np.array([1.0, -1.0])
    with pytest.raises(ValueError, match="no example"):
        svc(np.empty((0, 0)), [])
    with pytest.raises(ValueError, match="epsilon"):
        svr(eye, y, epsilon=-0.1)
    with pytest.raises(ValueError, match="y has entries that are not finite"):
        svr(eye, [1.0, np.nan])
    with pytest.raises(ValueError, match=r"lower\[1\] = .* exceeds"):
        box_qp(eye, y, [0.0, 1.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="upper has entries that are not finite"):
        box_qp(eye, y, [0.0, 0.0], [1.0, np.inf])
    with pytest.raises(ValueError, match="no point of the box has the total 3"):
        box_qp(eye, y, [0.0, 0.0], [1.0, 1.0], total=3.0)
    with pytest.raises(ValueError, match="boxes that contain zero"):
        box_qp_batch([eye], [y], [0.5, 0.5], [1.0, 1.0])
    with pytest.raises(ValueError, match="need their sizes"):
        svc_batch(eye.reshape(-1), y)
    with pytest.raises(ValueError, match="are not the matrices of sizes"):
        svc_batch(eye.reshape(-1), y, sizes=[1, 1])
    with pytest.raises(ValueError, match="of a problem of 2 examples has shape"):
        svc_batch([eye, eye], [y, y[:1]])
    with pytest.raises(ValueError, match="y has shape"):
        svc_batch([eye, np.eye(3)], y)
    with pytest.raises(ValueError, match="C must be positive"):
        svc_batch([eye], y, C=[1.0, 0.0])
    with pytest.raises(ValueError, match="weights must be positive"):
        svc_batch([eye], y, weights=[1.0, 0.0])
    with pytest.raises(ValueError, match="sizes go with flat"):
        svc_batch([eye], y, sizes=[2])
