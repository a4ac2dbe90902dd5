"""General solvers as rivals: cvxpy with Clarabel and SCS, and cvxopt."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measuring import Outcome, Rival, processor_seconds

# The problems in cvxpy are those that tests hold the methods to.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

SCS_ACCURACIES = (1.0, 0.1, 0.01, 1e-3)


def by_cvxpy(build: Callable[[Any, Any], Any], *, largest: float) -> list[Rival]:
    """Return Clarabel and SCS on a problem of ``tests/support/printed_problems.py``.

    ``build`` takes that module and the problem of the series, and calls a function of
    it. What cvxpy takes to write the cones down counts, as a user waits for it; the
    time of the solver alone is kept, too.
    """

    def solve(problem: Any, solver: str, **options: Any) -> Outcome:
        import printed_problems as printed

        spent = []

        def minimise(objective: Any, constraints: Any = (), unit: float = 1.0) -> Any:
            import cvxpy as cp

            task = cp.Problem(cp.Minimize(objective / unit), list(constraints))
            data, chain, inverse = task.get_problem_data(solver, solver_opts=options)
            seconds, found = processor_seconds(
                lambda: chain.solve_via_data(task, data, solver_opts=options)
            )
            task.unpack_results(found, chain, inverse)
            spent.append(seconds)
            return task.value * unit

        before, printed._solve = printed._solve, minimise
        try:
            found = build(printed, problem)
        finally:
            printed._solve = before
        value = found[0] if isinstance(found, tuple) else found
        return Outcome(float(value), alone=sum(spent))

    return [
        Rival(
            "cvxpy, Clarabel",
            lambda problem, a: solve(
                problem, "CLARABEL", tol_gap_rel=a, tol_gap_abs=a, tol_feas=min(a, 1e-6)
            ),
            accuracies=(1.0, 0.1, 1e-3),
            package="cvxpy clarabel",
            largest=largest,
        ),
        Rival(
            "cvxpy, SCS",
            lambda problem, a: solve(
                problem, "SCS", eps_rel=a, eps_abs=a, max_iters=20_000
            ),
            accuracies=SCS_ACCURACIES,
            package="cvxpy scs",
            largest=largest,
        ),
    ]


def by_cvxopt(solve: Callable[[Any], float], *, largest: float) -> Rival:
    """Return cvxopt on a formulation of `mtmkl.certify`."""

    def at(problem: Any, accuracy: float) -> Outcome:
        from mtmkl.certify import cones

        before, cones.TOL = cones.TOL, accuracy
        try:
            seconds, value = processor_seconds(lambda: solve(problem))
        finally:
            cones.TOL = before
        return Outcome(value, seconds=seconds)

    return Rival(
        "cvxopt", at, accuracies=(1.0, 0.01, 1e-4), package="cvxopt", largest=largest
    )
