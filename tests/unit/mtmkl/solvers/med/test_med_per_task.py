import numpy as np
import pytest
from dual_problems import Toy, solve_med, stacked
from scipy.special import expit

from mtmkl.certify.kernel_problems import kernel_selection
from mtmkl.certify.solving import find_optimum
from mtmkl.solvers.med.med import MedPath
from mtmkl.solvers.med.med_per_task import PerTaskPath


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
