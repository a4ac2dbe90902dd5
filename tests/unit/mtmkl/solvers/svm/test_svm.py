"""Support vector solver against independent optima, LIBSVM and its own gap."""

import warnings

import numpy as np
import pytest
from box_problems import (
    assert_optimal,
    cvxpy_optimum,
    gaussian,
    inputs,
    labels,
    problem,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from mtmkl.solvers.svm import smo
from mtmkl.solvers.svm.svm import svc

TIGHT = 1e-10


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
    for C in 2.0 ** np.arange(-10, 11, 2):
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
    K, y = problem("gaussian", seed=5)
    solution = svc(K, y, C=1.3, tol=1e-3)
    f = K @ solution.coef + solution.intercept
    quadratic = solution.coef @ K @ solution.coef
    primal = 0.5 * quadratic + 1.3 * np.maximum(0, 1 - y * f).sum()
    dual = solution.dual.sum() - 0.5 * quadratic
    assert solution.certificate.objective == pytest.approx(primal, rel=1e-12)
    assert solution.certificate.dual_objective == pytest.approx(dual, rel=1e-12)
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


# --- starts -------------------------------------------------------------------------


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


@pytest.mark.parametrize("kind", ["linear", "cubic", "gaussian"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_warm_path_equals_cold_solves_up_and_down(kind, fit_intercept):
    K, y = problem(kind, n=70, seed=13)
    up = 2.0 ** np.arange(-10, 11, 2)
    for path in (up, up[::-1], np.array([1.0, 300.0, 0.01, 300.0])):
        start = None
        for C in path:
            options = {"C": C, "fit_intercept": fit_intercept, "tol": 1e-8}
            cold, warm = svc(K, y, **options), svc(K, y, start=start, **options)
            start = warm.coef
            assert warm.certificate.dual_objective == pytest.approx(
                cold.certificate.dual_objective, rel=1e-7
            )
            assert_optimal(
                K,
                y,
                C * np.minimum(y, 0),
                C * np.maximum(y, 0),
                warm.coef,
                total=0.0 if fit_intercept else None,
                atol=2e-8,
            )


# --- errors and warnings ------------------------------------------------------------


def test_stopping_short_warns_with_the_gap():
    K, y = problem("linear", n=60)
    with pytest.warns(ConvergenceWarning, match=r"after 3 steps .* gap of"):
        solution = svc(K, y, C=100.0, max_iter=3)
    assert solution.certificate.status == "stopped"
    assert solution.certificate.n_iter == 3
    assert solution.certificate.duality_gap > 0.01
    assert solution.extra["violation"] > 1e-6
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
    K, y = problem("gaussian", n=1200)
    returned = []
    solve = smo.solve_box

    def watched(*args):
        returned.append(solve(*args))
        return returned[-1]

    monkeypatch.setattr(smo, "solve_box", watched)
    solution = svc(K, y, C=1e5)
    assert returned[0] == smo.UNFINISHED
    assert returned[-1] == smo.FINISHED
    assert solution.certificate.status == "converged"
    assert solution.extra["violation"] <= 1.01e-6


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
        ({"tol": 0.0}, "tol must be positive"),
        ({"max_iter": -1}, "max_iter"),
        ({"start": [0.0]}, r"start has shape \(1,\)"),
        ({"start": [0.0, np.nan, 0.0]}, "start has entries that are not finite"),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {"K": np.eye(3), "y": [1.0, 1.0, -1.0], **change}
    with pytest.raises(ValueError, match=message):
        svc(**arguments)


def test_no_example_is_named():
    with pytest.raises(ValueError, match="no example"):
        svc(np.empty((0, 0)), [])
