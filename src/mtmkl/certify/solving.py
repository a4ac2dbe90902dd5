"""The optimum of a convex problem stated in cvxpy, by cvxopt or Clarabel."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

#: In the order in which they are tried: cvxopt has no exponential cones. Gaps, relative
#: and absolute, and violations of constraints are those asked for.
SOLVERS: dict[str, dict[str, float]] = {
    "CVXOPT": {
        "abstol": 1e-9, "reltol": 1e-9, "feastol": 1e-9, "maxiters": 200,
        "refinement": 2,
    },
    "CLARABEL": {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9},
}  # fmt: skip
#: Accuracy with which nothing else is tried.
ENOUGH = 1e-8
#: Accuracy beyond which a solution is none.
WORST = 1e-4


class RefereeError(ValueError):
    """No interior point has come near an optimum."""

    def __init__(self, solvers: Iterable[str], accuracy: float) -> None:
        super().__init__(
            f"no interior point ({', '.join(solvers)}) finds the optimum of this "
            f"problem, but for a relative gap of {accuracy:.1e}; inputs of unit scale "
            "(standardize, normalize), a smaller C or fewer examples may help"
        )


@dataclass(frozen=True)
class Optimum:
    """The value of a problem.

    Attributes
    ----------
    value : float
    accuracy : float
        Relative distance between the interior point's own two bounds.
    """

    value: float
    accuracy: float


def find_optimum(
    problem: cp.Problem, unit: float = 1.0, solvers: Iterable[str] = tuple(SOLVERS)
) -> Optimum:
    """Return the optimum, and leave the solution in the problem's variables.

    Parameters
    ----------
    problem : cvxpy.Problem
        Convex.
    unit : float
        Size of the optimum, as far as it is known. Solvers see the objective in this
        unit, since they work to about nine digits of one, and then in others near it.
    solvers : iterable of str
        Names in :data:`SOLVERS`, in the order to try.

    Raises
    ------
    RefereeError
        If none comes within :data:`WORST` of an optimum.
    """
    best = Optimum(np.nan, np.inf)
    for factor in (1.0, 0.1, 10.0):
        for solver in solvers:
            try:
                found = _in_unit(problem, factor * unit, solver)
            except (cp.SolverError, ArithmeticError, ValueError):
                continue  # its cones are others, or it fails
            if found.accuracy < best.accuracy:
                best = found
            if best.accuracy <= ENOUGH:
                return best
    if not best.accuracy <= WORST:
        raise RefereeError(solvers, best.accuracy)
    return best


def _in_unit(problem: cp.Problem, unit: float, solver: str) -> Optimum:
    """Return what one solver finds."""
    scaled = cp.Problem(problem.objective / unit, problem.constraints)
    options = SOLVERS[solver]
    with warnings.catch_warnings():
        # An accuracy that is missed is part of the answer.
        warnings.simplefilter("ignore")
        data, chain, inverse = scaled.get_problem_data(solver, solver_opts=options)
        sides = data["b"], data.get("h")
        raw: Any = chain.solve_via_data(scaled, data, solver_opts=dict(options))
        scaled.unpack_results(raw, chain, inverse)
    value = float(scaled.value)
    if solver == "CLARABEL":
        gap = raw.obj_val - raw.obj_val_dual
    else:
        gap = raw["value"]
        for side, dual in zip(sides, ("eq_dual", "ineq_dual"), strict=True):
            if side is not None:
                gap += float(np.dot(side, np.ravel(raw[dual])))
    return Optimum(unit * value, abs(gap) / max(abs(value), 1e-300))
