"""Support vector machines of many tasks on the sums of their kernels.

The problem of :mod:`mtmkl.solvers.svm.task_duals` with every weight 1. All C of a grid
are one compiled call, certificates included.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mtmkl.solvers.solution import Certificate, Solution, warn_if_stopped
from mtmkl.solvers.svm import task_steps as steps
from mtmkl.solvers.svm.inner import FINEST_ACCURACY, first_accuracy
from mtmkl.solvers.svm.task_duals import DualProblem, limit_of_accuracy, work_of


def solve_sum_kernel(
    problem: DualProblem, costs: Sequence[float], *, tol: float = 1e-6
) -> list[Solution]:
    """Solve for one C after the other, each started from the last.

    Parameters
    ----------
    problem : DualProblem
    costs : sequence of float
        Values of C, positive; quickest in rising order.
    tol : float
        Relative duality gap.

    Returns
    -------
    list of Solution
        ``coef`` and ``dual``: β (N,); ``intercept``: (T,), zeros without intercepts.
    """
    blocks, n_tasks, n_costs = problem.blocks, problem.n_tasks, len(costs)
    diagonal = blocks.diagonal()
    floor = problem.floor(1.0)
    betas = np.empty((n_costs, problem.c.size))
    intercepts = np.empty((n_costs, n_tasks))
    values = np.empty((n_costs, steps.N_VALUES))
    rounds = np.empty((n_costs, steps.MAX_ROUNDS))
    state = (
        np.zeros(problem.c.size),
        np.zeros((n_tasks, blocks.features.shape[1])),
        np.zeros((problem.c.size, blocks.grams.shape[1])),
        np.zeros(problem.n_weights),
        np.zeros((n_tasks, steps.N_STATISTICS)),
        np.zeros(steps.N_PROGRESS),
        np.zeros(steps.N_PLACE),
    )
    finished = False
    while not finished:  # back in Python, an interrupt is seen
        finished = steps.solve_path(
            *blocks.arrays,
            problem.weight,
            problem.c,
            problem.copies,
            problem.is_classification,
            problem.epsilon,
            problem.fit_intercept,
            diagonal,
            np.asarray(costs, dtype=np.float64),
            floor,
            tol,
            first_accuracy(tol),
            FINEST_ACCURACY,
            work_of(problem),
            *state,
            betas,
            intercepts,
            values,
            rounds,
        )
    found = []
    for k, C in enumerate(costs):
        primal, dual, error, work_left, n_rounds = values[k].tolist()
        certificate = Certificate(
            objective=primal,
            dual_objective=dual,
            n_iter=1,
            status="converged",
            history=rounds[k, : int(n_rounds)],
            floor=floor * C,
        )
        if certificate.duality_gap > tol:
            certificate = replace(certificate, status="stalled")
            limit = ""
            if error > 0.0:
                largest = float(diagonal.max())
                limit = limit_of_accuracy(error, largest, C, work_left)
            warn_if_stopped(
                certificate, f"support vector machines, C={C:g}", tol,
                steps="passes", limit=limit, stacklevel=4,
            )  # fmt: skip
        found.append(
            Solution(
                coef=betas[k],
                certificate=certificate,
                dual=betas[k],
                intercept=intercepts[k],
            )
        )
    return found
