"""General solvers as baselines, on the problems that `mtmkl certify` states."""

import importlib
from collections.abc import Callable
from typing import Any

from measuring import Outcome, Solver, processor_seconds

ACCURACIES = {
    "CLARABEL": (1.0, 0.1, 1e-3),
    "SCS": (1.0, 0.1, 0.01, 1e-3),
    "CVXOPT": (1.0, 0.01, 1e-4),
}
NAMES = {"CLARABEL": "Clarabel", "SCS": "SCS", "CVXOPT": "cvxopt"}


def by_cvxpy(
    state: Callable[[Any, Any], Any],
    *,
    largest: float,
    largest_cvxopt: float = 0,
    module: str = "kernel_problems",
) -> list[Solver]:
    """Return Clarabel, SCS and, up to a size of its own, cvxopt.

    ``state`` takes a module of `mtmkl.certify` and the problem of the series, and
    returns that of cvxpy. What cvxpy takes to write the cones down counts, as a user
    waits for it; the time of the solver alone is kept, too.
    """

    def solve(problem: Any, solver: str, accuracy: float) -> Outcome:
        stated = state(importlib.import_module(f"mtmkl.certify.{module}"), problem)
        options = _options(solver, accuracy)
        data, chain, inverse = stated.get_problem_data(solver, solver_opts=options)
        seconds, found = processor_seconds(
            lambda: chain.solve_via_data(stated, data, solver_opts=options)
        )
        stated.unpack_results(found, chain, inverse)
        return Outcome(float(stated.value), alone=seconds)

    def baseline(solver: str, up_to: float) -> Solver:
        return Solver(
            f"cvxpy, {NAMES[solver]}",
            lambda problem, accuracy: solve(problem, solver, accuracy),
            accuracies=ACCURACIES[solver],
            package=f"cvxopt cvxpy {solver.lower()}",
            largest=up_to,
        )

    baselines = [baseline("CLARABEL", largest), baseline("SCS", largest)]
    return (
        [*baselines, baseline("CVXOPT", largest_cvxopt)]
        if largest_cvxopt
        else baselines
    )


def _options(solver: str, a: float) -> dict[str, float]:
    if solver == "CLARABEL":
        return {"tol_gap_rel": a, "tol_gap_abs": a, "tol_feas": min(a, 1e-6)}
    if solver == "SCS":
        return {"eps_rel": a, "eps_abs": a, "max_iters": 20_000}
    return {"abstol": a, "reltol": a, "feastol": a}
