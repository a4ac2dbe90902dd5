"""Support vector machines on sums of kernels, to a duality gap."""

import numpy as np
import pytest
from dual_problems import Toy, stacked
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from mtmkl.solvers.med.med import MedPath
from mtmkl.solvers.svm.sum_kernel import solve_sum_kernel


def test_machines_are_those_of_libsvm():
    toy = Toy(sizes=(20, 30), seed=4)
    problem = toy.tasks(grams=stacked(toy.gaussians))
    (solution,) = solve_sum_kernel(problem, [2.0], tol=1e-10)
    for t, y in enumerate(toy.y):
        machine = SVC(C=2.0, kernel="precomputed", tol=1e-10)
        machine.fit(sum(toy.gaussians[t]), y)
        rows = slice(problem.offsets[t], problem.offsets[t + 1])
        expected = np.zeros(y.size)
        expected[machine.support_] = machine.dual_coef_[0]
        np.testing.assert_allclose(solution.dual[rows], expected, atol=1e-6)
        assert solution.intercept[t] == pytest.approx(machine.intercept_[0], abs=1e-6)


def test_they_are_the_limit_of_certain_switches():
    toy = Toy(sizes=(20, 30), seed=4)
    problem = toy.tasks(grams=stacked(toy.gaussians), features=np.vstack(toy.X))
    costs = (0.1, 2.0, 50.0)
    limit = MedPath(problem)
    for C, one in zip(costs, solve_sum_kernel(problem, costs), strict=True):
        other = limit.solve(C, -np.inf)
        assert one.certificate.objective == pytest.approx(
            other.certificate.objective, rel=1e-9
        )


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_path_equals_single_solutions_up_and_down(fit_intercept):
    toy = Toy(sizes=(20, 30))
    problem = toy.tasks(grams=stacked(toy.gaussians), fit_intercept=fit_intercept)
    costs = (0.1, 1.0, 1e4, 1e6, 3.0)
    path = solve_sum_kernel(problem, costs, tol=1e-8)
    for C, solution in zip(costs, path, strict=True):
        (single,) = solve_sum_kernel(problem, [C], tol=1e-8)
        assert solution.certificate.status == "converged"
        assert solution.certificate.duality_gap <= 1e-8
        assert solution.certificate.objective == pytest.approx(
            single.certificate.objective, rel=1e-7
        )


def test_a_gap_out_of_reach_is_said_with_the_remedy():
    toy = Toy(sizes=(20, 20), seed=7)
    problem = toy.tasks(grams=1e9 * stacked(toy.gaussians))
    with pytest.warns(ConvergenceWarning, match="bring the features to one scale"):
        (solution,) = solve_sum_kernel(problem, [1e3], tol=1e-15)
    assert solution.certificate.status == "stalled"
