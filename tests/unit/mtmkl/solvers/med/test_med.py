import numpy as np
import pytest
from dual_problems import Toy, dual_problem, solve_med, stacked, unscaled
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from mtmkl.certify.kernel_problems import kernel_selection
from mtmkl.certify.solving import find_optimum
from mtmkl.solvers.med.med import MedPath, PerTaskPath


def log_of(alpha):
    return np.log(alpha) if alpha > 0 else -np.inf


@pytest.mark.parametrize("alpha", [0, 1, 100])
@pytest.mark.parametrize("C", [1, 10])
@pytest.mark.parametrize("epsilon", [None, 0.3])
def test_against_the_printed_dual(epsilon, C, alpha):
    toy = Toy()
    targets = toy.y if epsilon is None else toy.targets
    stated = kernel_selection(targets, toy.gaussians, C, log_of(alpha), epsilon=epsilon)
    value, q = find_optimum(stated).value, stated.var_dict["q"].value
    grams = stacked(toy.gaussians)
    tasks = dual_problem(
        np.concatenate(targets), toy.sizes, grams=grams, epsilon=epsilon
    )
    solution = solve_med(tasks, C, log_of(alpha), tol=1e-9)
    certificate = solution.certificate
    assert certificate.status == "converged"
    assert certificate.duality_gap <= 1e-9
    assert certificate.objective == pytest.approx(value, rel=1e-6)
    assert certificate.dual_objective == pytest.approx(value, rel=1e-6)
    switches = np.ones(4) if alpha == 0 else expit(q - np.log(alpha))
    np.testing.assert_allclose(solution.coef, switches, atol=1e-4)


def test_features_equal_their_gram_matrices():
    toy = Toy(n_features=4)
    features = toy.tasks(features=np.vstack(toy.X), grams=stacked(toy.gaussians))
    grams = toy.tasks(grams=np.hstack([stacked(toy.rank_ones), stacked(toy.gaussians)]))
    first, second = (
        solve_med(tasks, 3.0, 2.0, tol=1e-10) for tasks in (features, grams)
    )
    assert first.certificate.objective == pytest.approx(
        second.certificate.objective, rel=1e-9
    )
    np.testing.assert_allclose(first.coef, second.coef, atol=1e-5)
    np.testing.assert_allclose(first.intercept, second.intercept, atol=1e-4)


def test_solution_without_bounds_is_found_again_for_a_larger_box():
    toy = Toy(sizes=(10, 12), n_features=8, seed=6)
    tasks = toy.tasks(features=np.vstack(toy.X))
    path = MedPath(tasks, tol=1e-6)
    for a in (-np.inf, 1.0, 3.0):
        path.solve(1e4, a)
    before = path.solve(1e4, 3.0)
    assert np.abs(before.dual).max() < 1e4
    for a in (-np.inf, 1.0, 3.0):
        again = path.solve(1e6, a)
        # Not one step over the switches is needed.
        assert again.certificate.n_iter == 1
    np.testing.assert_allclose(again.coef, before.coef, rtol=1e-12)
    assert again.certificate.objective == pytest.approx(
        before.certificate.objective, rel=1e-6
    )


def test_large_alpha_does_not_overflow():
    tasks = Toy().tasks(grams=30 * stacked(Toy().gaussians))
    solution = solve_med(tasks, 1e3, 2000.0)
    assert solution.certificate.duality_gap <= 1e-6
    assert np.all((solution.coef >= 0) & (solution.coef <= 1))
    assert np.all(np.isfinite(solution.extra["log_odds"]))


def test_float32_kernels_solve_the_rounded_problem():
    toy = Toy(sizes=(20, 20))
    grams = stacked(toy.gaussians)
    double, single = (
        solve_med(toy.tasks(grams=grams.astype(kind)), 2.0, 2.0, tol=1e-8)
        for kind in (np.float64, np.float32)
    )
    assert single.certificate.duality_gap <= 1e-8
    assert single.certificate.objective == pytest.approx(
        double.certificate.objective, rel=1e-5
    )


def test_the_warning_of_a_search_that_was_cut_short_names_the_scales():
    with pytest.warns(ConvergenceWarning, match=r"1e\+13.*standardize=True.*max_iter"):
        solve_med(unscaled(1e6, n=400), 1.0, 2.0, max_iter=1, tol=1e-12)


def test_switches_per_task_are_one_problem_per_task():
    toy = Toy()
    grams = toy.gaussians
    tasks = toy.tasks(grams=stacked(grams))
    path = PerTaskPath(tasks, lambda one: MedPath(one, tol=1e-10))
    solution = path.solve(2.0, 1.0)
    assert solution.coef.shape == (3, 4)
    total = 0.0
    for t in range(3):
        alone = kernel_selection([toy.y[t]], [grams[t]], 2.0, 1.0)
        total += find_optimum(alone).value
        q = alone.var_dict["q"].value
        np.testing.assert_allclose(solution.coef[t], expit(q - 1.0), atol=1e-4)
    assert solution.certificate.objective == pytest.approx(total, rel=1e-6)
    shared = solve_med(tasks, 2.0, 1.0).certificate.objective
    assert shared != pytest.approx(total, rel=1e-3)
