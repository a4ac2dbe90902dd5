"""The optimum of a convex problem stated in cvxpy, by cvxopt or Clarabel."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import cvxpy as cp
import numpy as np

#: In the order in which they are tried: gaps and violations of constraints asked for.
#: cvxopt has no exponential cones.
SOLVERS: dict[str, dict[str, float]] = {
    "CVXOPT": {"abstol": 1e-9, "reltol": 1e-9, "feastol": 1e-9, "refinement": 2},
    "CLARABEL": {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10},
}
#: Accuracy with which nothing else is tried.
ENOUGH = 1e-8
#: Accuracy beyond which a solution is none.
WORST = 1e-4
# On badly scaled problems the last digit of a unit decides whether a solver fails.
_UNITS = (1.0, 10.0, 3.0, 30.0, 0.1)


class ReferenceSolverError(ValueError):
    """No interior-point solver has come near an optimum."""

    def __init__(self, solvers: Sequence[str], accuracy: float) -> None:
        super().__init__(
            f"{' and '.join(solvers)} find no optimum of this problem, but for a "
            f"relative accuracy of {accuracy:.1e}; features of unit scale "
            "(standardize, normalize), a smaller C or fewer samples may help"
        )


@dataclass(frozen=True)
class Optimum:
    """The value of a problem."""

    value: float
    #: Relative distance between the solver's own two bounds, and what its violations of
    #: constraints, primal and dual, are worth.
    accuracy: float


def find_optimum(
    problem: cp.Problem, unit: float = 1.0, solvers: Sequence[str] = tuple(SOLVERS)
) -> Optimum:
    """Return the optimum, and leave a solution in the problem's variables.

    Raises ReferenceSolverError if none of the ``solvers``, tried in this order, comes
    within :data:`WORST` of it. They see the objective in the ``unit``, the size of the
    optimum as far as it is known, since they work to about nine digits of one, and then
    in others near it.
    """
    best = Optimum(np.nan, np.inf)
    for factor, solver in product(_UNITS, solvers):
        try:
            found = _by(solver, problem, factor * unit)
        except (cp.SolverError, ArithmeticError, ValueError):
            continue  # its cones are others, or it fails
        if found.accuracy < best.accuracy:
            best = found
        if best.accuracy <= ENOUGH:
            return best
    if not best.accuracy <= WORST:
        raise ReferenceSolverError(solvers, best.accuracy)
    return best


def _by(solver: str, problem: cp.Problem, unit: float) -> Optimum:
    """Return what one solver finds, with the objective in a unit.

    It is min ½x'Px + c'x with Ax + s = b, s in a cone, to the solver.
    """
    scaled = cp.Problem(problem.objective / unit, problem.constraints)
    options = SOLVERS[solver]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an accuracy that is missed is returned
        data, chain, inverse = scaled.get_problem_data(solver, solver_opts=options)
        raw = chain.solve_via_data(scaled, dict(data), solver_opts=dict(options))
        found = chain.invert(raw, inverse)
        scaled.unpack(found)
    if scaled.status not in cp.settings.SOLUTION_PRESENT:
        raise cp.SolverError(scaled.status)
    if solver == "CLARABEL":
        x, duals = np.array(raw.x), {("A", "b"): np.array(raw.z)}
    else:
        keys = ("A", "b", "eq_dual"), ("G", "h", "ineq_dual")
        duals = {(A, b): np.ravel(raw[z]) for A, b, z in keys if data[A] is not None}
        x = np.ravel(raw["primal"])
    slope = data["c"] + (data["P"] @ x if "P" in data else 0.0)
    gap = slope @ x + sum(data[b] @ z for (_, b), z in duals.items())
    slope = slope + sum(data[A].T @ z for (A, _), z in duals.items())
    violated = sum(
        np.linalg.norm(each.dual_value) * np.linalg.norm(each.violation())
        for each in scaled.constraints
    )
    # To first order, with a margin.
    error = abs(gap) + np.abs(slope) @ np.abs(x) + 2.0 * violated
    error += abs(scaled.value - found.opt_val)
    value = float(scaled.value)
    return Optimum(value * unit, float(error) / max(abs(value), 1e-300))
