"""Mirror descent for MK-MTFL, against Newton's method."""

import numpy as np
import pytest
from dual_problems import Toy, dual_problem, stacked
from sklearn.exceptions import ConvergenceWarning

from mtmkl.methods import MKMTFLRegressor
from mtmkl.solvers.weights.mixed_norm import MixedNormPath
from mtmkl_suite.papers.jawanpuria2011.mixed_norm_descent import (
    MirrorDescentMKMTFL,
    MixedNormDescent,
)

SIZES = (8, 11, 6, 9)


def toy(epsilon=None):
    data = Toy(sizes=SIZES)
    targets = np.concatenate(data.y if epsilon is None else data.targets)
    grams = stacked(data.gaussians)
    return dual_problem(targets, SIZES, grams=grams, epsilon=epsilon)


@pytest.mark.parametrize("epsilon", [None, 0.1])
@pytest.mark.parametrize("C", [0.1, 100.0])
@pytest.mark.parametrize("p", [2.0, 8.67])
def test_it_has_the_optimum_of_newtons_method(p, C, epsilon):
    problem = toy(epsilon)
    best = MixedNormPath(problem, p, tol=1e-8).solve(C).certificate
    certificate = MixedNormDescent(problem, p, tol=1e-5).solve(C).certificate
    assert certificate.objective == pytest.approx(best.objective, rel=1e-5)
    assert certificate.dual_objective <= best.objective
    assert best.dual_objective <= certificate.objective
    assert certificate.duality_gap <= 1e-5


def test_a_small_fixed_step_stops_far_from_the_optimum():
    """As the paper leaves it: a step is not said, and nothing tells when to stop."""
    problem = toy()
    C, p = 20.0, 6.0
    best = MixedNormPath(problem, p).solve(C)
    path = MixedNormDescent(problem, p, step=1e-6, max_iter=60)
    with pytest.warns(ConvergenceWarning, match="stopped after 60 iterations"):
        fixed = path.solve(C)
    history = fixed.certificate.history
    # By the change of the objective it would have ended at once, ...
    assert abs(history[-1] - history[-2]) < 1e-4 * history[-1]
    # ... with the weights still about equal.
    assert np.ptp(fixed.extra["gamma"]) < 0.1 < np.ptp(best.extra["gamma"])
    assert fixed.certificate.objective > 1.02 * best.certificate.objective
    assert fixed.certificate.duality_gap > 0.02


def test_the_estimator_has_the_optimum_of_newtons_method():
    data = Toy(sizes=SIZES)
    X, y = np.concatenate(data.X), np.concatenate(data.targets)
    task = np.repeat(np.arange(4), SIZES)
    kernels = ["linear", {"name": "gaussian", "width": 1.5}]
    newton = MKMTFLRegressor(2.0, 6.0, kernels=kernels, tol=1e-6).fit(X, y, task)
    mirror = MirrorDescentMKMTFL(2.0, 6.0, kernels=kernels, tol=1e-5).fit(X, y, task)
    assert mirror.objective_ == pytest.approx(newton.objective_, rel=1.1e-5)
    assert mirror.objective_ != newton.objective_
