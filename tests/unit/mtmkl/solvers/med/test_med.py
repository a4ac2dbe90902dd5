import numpy as np
import pytest
from bounds import assert_between
from dual_problems import Toy, dual_problem, solve_med, stacked, unscaled
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from mtmkl.certify.kernel_problems import kernel_selection
from mtmkl.solvers.med.med import MedPath, PerTaskPath


@pytest.mark.parametrize("log_alpha", [-np.inf, 0.0, 5.0])
@pytest.mark.parametrize("C", [1, 10])
@pytest.mark.parametrize("epsilon", [None, 0.3])
def test_against_the_printed_dual(epsilon, C, log_alpha):
    toy = Toy()
    targets = toy.y if epsilon is None else toy.targets
    options = {"grams": stacked(toy.gaussians), "epsilon": epsilon}
    tasks = dual_problem(np.concatenate(targets), toy.sizes, **options)
    solution = solve_med(tasks, C, log_alpha, tol=1e-9)
    stated = kernel_selection(targets, toy.gaussians, C, log_alpha, epsilon=epsilon)
    assert_between(solution.certificate, stated, 1e-9)
    q = stated.var_dict["q"].value
    np.testing.assert_allclose(solution.coef, expit(q - log_alpha), atol=1e-4)


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


def test_the_warning_of_a_search_that_was_cut_short_names_the_scales():
    with pytest.warns(ConvergenceWarning, match=r"1e\+13.*standardize=True.*max_iter"):
        solve_med(unscaled(1e6, n=400), 1.0, 2.0, max_iter=1, tol=1e-12)


def test_switches_per_task_are_one_problem_per_task():
    toy = Toy()
    grams = toy.gaussians
    tasks = toy.tasks(grams=stacked(grams))
    path = PerTaskPath(tasks, lambda one: MedPath(one, tol=1e-10))
    solution = path.solve(2.0, 1.0)
    alone = [
        kernel_selection([y], [own], 2.0, 1.0)
        for y, own in zip(toy.y, grams, strict=True)
    ]
    assert_between(solution.certificate, sum(alone))
    q = np.array([stated.var_dict["q"].value for stated in alone])
    np.testing.assert_allclose(solution.coef, expit(q - 1.0), atol=1e-4)
    shared = solve_med(tasks, 2.0, 1.0).certificate.objective
    assert shared != pytest.approx(solution.certificate.objective, rel=1e-3)
