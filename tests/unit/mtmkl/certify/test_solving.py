"""Optima of problems that are known, and accuracies that do not flatter."""

import cvxpy as cp
import numpy as np
import pytest

from mtmkl.certify import solving
from mtmkl.certify.solving import ReferenceSolverError, find_optimum


def projection(scale=1.0):
    """State the squared distance from a point to the half-space x ≥ 1: scale²·9/2."""
    x = cp.Variable(3, name="x")
    value = 0.5 * cp.sum_squares(x - scale * np.array([-2.0, 2.0, 3.0]))
    return cp.Problem(cp.Minimize(value), [x >= scale])


def softest():
    """State max −log Σ exp x over the simplex, which has an exponential cone."""
    x = cp.Variable(4, nonneg=True)
    return cp.Problem(cp.Maximize(-cp.log_sum_exp(x)), [cp.sum(x) == 1])


@pytest.mark.parametrize("scale", [1e-4, 1e-2, 1.0, 1e2])
def test_the_optimum_in_its_unit(scale):
    found = find_optimum(projection(scale), 4.5 * scale**2)
    assert found.value == pytest.approx(4.5 * scale**2, rel=1e-8)
    assert found.accuracy <= 1e-8


@pytest.mark.parametrize("solver", solving.SOLVERS)
def test_either_solver_finds_it(solver):
    found = find_optimum(projection(), 4.5, [solver])
    assert found.value == pytest.approx(4.5, rel=1e-8)


def test_cones_that_one_solver_does_not_have():
    assert find_optimum(softest()).value == pytest.approx(-0.25 - np.log(4), rel=1e-8)
    with pytest.raises(ReferenceSolverError, match="CVXOPT find no optimum"):
        find_optimum(softest(), solvers=["CVXOPT"])


def test_an_infeasible_problem_has_no_optimum():
    x = cp.Variable()
    with pytest.raises(ReferenceSolverError):
        find_optimum(cp.Problem(cp.Minimize(x), [x >= 1, x <= 0]))


@pytest.mark.parametrize("unit", [1.0, 10.0])
def test_the_accuracy_does_not_flatter(unit, monkeypatch):
    """Variables of 10⁴ are far from what tolerances are made for: it stops early."""
    monkeypatch.setattr(solving, "ENOUGH", 1.0)
    optimum = 4.5e8
    found = find_optimum(projection(1e4), unit * optimum, ["CLARABEL"])
    error = abs(found.value - optimum) / optimum
    assert 1e-6 < error <= found.accuracy
