"""Support vector machines on sums of kernels, to a duality gap."""

import numpy as np
import pytest
from dual_problems import Toy, stacked
from sklearn.svm import SVC

from mtmkl.solvers.svm.sum_kernel import SumKernelPath


def test_machines_are_those_of_libsvm():
    toy = Toy(sizes=(20, 30), seed=4)
    problem = toy.tasks(grams=stacked(toy.gaussians))
    solution = SumKernelPath(problem, tol=1e-10).solve(2.0)
    for t, y in enumerate(toy.y):
        machine = SVC(C=2.0, kernel="precomputed", tol=1e-10)
        machine.fit(sum(toy.gaussians[t]), y)
        rows = slice(problem.offsets[t], problem.offsets[t + 1])
        expected = np.zeros(y.size)
        expected[machine.support_] = machine.dual_coef_[0]
        np.testing.assert_allclose(solution.dual[rows], expected, atol=1e-6)
        assert solution.intercept[t] == pytest.approx(machine.intercept_[0], abs=1e-6)
