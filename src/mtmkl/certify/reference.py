"""A fitted estimator beside the optimum of its problem.

What is taken from the estimator are its parameters, the kernels that these name, and
for ``relative_alpha`` the α that it found. What it solved, and how, is not looked at.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mtmkl.certify import kernel_problems, linear_problems
from mtmkl.certify.solving import Optimum, find_optimum
from mtmkl.methods import (
    CoClusClassifier,
    HierarchicalBayesRegressor,
    WhomClassifier,
)
from mtmkl.typing import FloatArray, IntArray

#: Relative error of an interior-point solver that is allowed for, beyond its own gap.
SLACK = 1e-7

#: The problems of all convex methods.
PROBLEMS = {**kernel_problems.PROBLEMS, **linear_problems.PROBLEMS}

#: The others, and why.
WITHOUT_OPTIMUM: Mapping[type, str] = {
    CoClusClassifier: "its problem is not convex: no solver certifies a minimum",
    HierarchicalBayesRegressor: "it draws from a posterior, and minimises nothing",
    WhomClassifier: "its problem, over partitions of the tasks, is not convex",
}


@dataclass(frozen=True)
class Judgement:
    """An estimator's objective, lower bound and relative gap beside the optimum."""

    objective: float
    bound: float
    gap: float
    optimum: Optimum

    @property
    def difference(self) -> float:
        """The objective less the optimum, relative to it."""
        least = max(abs(self.optimum.value), 1e-300)
        return (self.objective - self.optimum.value) / least

    @property
    def holds(self) -> bool:
        """True if the optimum lies between the two bounds, up to its accuracy."""
        value = self.optimum.value
        slack = (SLACK + self.optimum.accuracy) * abs(value)
        return self.bound - slack <= value <= self.objective + slack


def judge(model: Any, X: FloatArray, y: FloatArray, task: IntArray) -> Judgement:
    """Compare an estimator, fitted on these samples, with the optimum of its problem.

    A class that is not in the tables is taken to solve the problem of its base. Targets
    are numbers or ±1, tasks 0 … T − 1.

    Raises LookupError, which says why, if there is no optimum to compare with, and
    ReferenceSolverError if no interior-point solver comes near it.
    """
    method = type(model)
    if reason := why_not(method):
        raise LookupError(reason)
    order = np.argsort(task, kind="stable")
    problem = PROBLEMS[_known(method)](model, X[order], y[order], task[order])
    objective = float(model.objective_)
    return Judgement(
        objective,
        float(model.dual_objective_),
        float(model.duality_gap_),
        # Only rounding depends on the unit.
        find_optimum(problem, unit=max(abs(objective), 1e-12)),
    )


def why_not(method: type) -> str:
    """Return why a method has no optimum to compare with, or nothing."""
    known = _known(method)
    if known in PROBLEMS:
        return ""
    reason = WITHOUT_OPTIMUM.get(
        known, "no interior-point formulation of its problem is known here"
    )
    return f"{method.__name__}: {reason}"


def _known(method: type) -> type:
    """Return the nearest base of a class, or the class itself, that the tables have."""
    tables = PROBLEMS.keys() | WITHOUT_OPTIMUM.keys()
    return next((base for base in method.__mro__ if base in tables), object)
