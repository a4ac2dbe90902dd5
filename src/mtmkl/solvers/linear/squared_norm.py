r"""Squared loss with a squared-norm penalty, by the alternating direction method.

Solves, for T tasks with coefficients W = [w_1 … w_T] (d × T),

    min_W  Σ_t ||y_t − X_t w_t||² + γ·Ω(W)²,

Ω the trace norm (problem (14) of Argyriou, Evgeniou and Pontil 2008), the trace norm of
the deviations from the tasks' mean, or the (2,1)-norm of the rows (their problem (5)),
as :mod:`mtmkl.solvers.linear.row_sets` has it.

The splitting W = Z alternates a step in W, which is diagonal in the singular vectors of
each X_t for every step size, and the exact proximal point of γΩ² in Z, whose zero
singular values or rows are exact. The certificate is taken at Z: for residuals r_t of
the W step, a_t = s·2r_t in the range of X_t (and 2y_t outside it) with the best scalar
s is dual feasible, and

    Σ_t (y_t'a_t − ¼||a_t||²) − Ω°([X_1'a_1 … X_T'a_T])²/(4γ)

is a lower bound on the minimum. For the deviations W = Z + w_0 1' with Z1 = 0, and the
W step is a joint step in the deviations and w_0: its residuals fulfil Σ_t X_t'a_t = 0,
without which the bound would be −∞, exactly.

The iteration is that of :mod:`mtmkl.solvers.linear.task_admm`, with a bound that makes
use of the square.

References
----------
A. Argyriou, T. Evgeniou and M. Pontil, Convex multi-task feature learning, Machine
Learning 73(3), 2008. S. Boyd et al., Distributed optimization and statistical learning
via the alternating direction method of multipliers, 2011, sections 3.3 and 3.4.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mtmkl.solvers.linear.penalties import PENALTIES, TRACE
from mtmkl.solvers.linear.squared_norm_admm import alternate
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition
from mtmkl.solvers.solution import Certificate, Solution, warn_if_stopped
from mtmkl.typing import FloatArray, IntArray

PenaltyName = Literal["trace", "deviations"]

# Start with a threshold of a tenth of the norm: ρ = 20γ makes it so at every scale.
STEP_OVER_GAMMA = 20.0


@dataclass(frozen=True)
class WarmStart:
    """Where a solve left off, for the next γ.

    Attributes
    ----------
    primal, multiplier : ndarray of shape (T, d)
        Z and the multiplier of W = Z, transposed.
    step_over_gamma : float
        ρ/γ that balanced the residuals.
    """

    primal: FloatArray
    multiplier: FloatArray
    step_over_gamma: float


def solve(
    tasks: TaskDecomposition,
    gamma: float,
    *,
    penalty: PenaltyName = "trace",
    tol: float = 1e-6,
    max_iter: int = 10_000,
    start: WarmStart | None = None,
) -> Solution:
    """Minimise Σ_t ||y_t − X_t w_t||² + γ·Ω(W)² to a relative duality gap.

    Parameters
    ----------
    tasks : TaskDecomposition
        The data, shared between all γ and penalties.
    gamma : float
        γ > 0.
    penalty : {"trace", "deviations"}
        Ω: trace norm, or trace norm of the deviations from the tasks' mean.
    tol : float
        Relative duality gap at which to stop.
    max_iter : int
        Maximum number of iterations.
    start : WarmStart, optional
        ``extra["warm_start"]`` of a solution for the same tasks at another γ.

    Returns
    -------
    Solution
        ``coef`` of shape (d, T), of exact rank ; ``dual`` of
        shape (n,), a dual feasible point in the order of the examples;
        ``extra["warm_start"]`` and ``extra["norm"]`` = Ω(W).

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` is reached before ``tol``; the message states the gap.
    """
    everyone = np.arange(tasks.n_tasks)
    code = PENALTIES[penalty]
    Z, mean, norm, certificate, reduced, end = solve_members(
        tasks, everyone, tasks.constant, gamma, code, tol, max_iter, start
    )
    if certificate.status != "converged":
        warn_if_stopped(certificate, f"squared {penalty} norm, gamma={gamma:g}", tol)
    return Solution(
        coef=(Z + mean).T,
        certificate=certificate,
        dual=tasks.expand(reduced),
        extra={"warm_start": end, "norm": norm, "mean": mean},
    )


@dataclass(frozen=True)
class GroupSolution:
    """What solves the problem of a group of tasks.

    Attributes
    ----------
    objective, bound : float
        Of the minimum.
    coef : ndarray of shape (T_g, d)
        Coefficients of the members, transposed.
    reduced : ndarray of shape (n_rows_g,)
        U_t'a_t of a dual point a, the members' rows stacked in their order.
    end : WarmStart
        Of the members.
    """

    objective: float
    bound: float
    coef: FloatArray
    reduced: FloatArray
    end: WarmStart


def solve_group(
    tasks: TaskDecomposition,
    members: IntArray,
    gamma: float,
    *,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    start: WarmStart | None = None,
    cutoff: float = np.inf,
) -> GroupSolution:
    """Minimise Σ_t ||y_t − X_t w_t||² + γ||W||_tr² over some of the tasks.

    It is what :func:`solve` does for these tasks alone, without a copy of the data.

    Parameters
    ----------
    tasks : TaskDecomposition
    members : ndarray of int of shape (T_g,)
        The tasks of the group.
    gamma : float
        γ > 0.
    tol, max_iter
        As for :func:`solve`.
    start : WarmStart, optional
        Of the members, in their order.
    cutoff : float
        End, too, where the minimum is at least this.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` is reached before ``tol``; the message states the gap.
    """
    constant = float(tasks.constants[members].sum())
    Z, _, _, certificate, reduced, end = solve_members(
        tasks, members, constant, gamma, TRACE, tol, max_iter, start, cutoff
    )
    bound = certificate.dual_objective
    if certificate.status != "converged" and bound < cutoff:
        warn_if_stopped(certificate, f"squared trace norm, gamma={gamma:g}", tol)
    return GroupSolution(certificate.objective, bound, Z, reduced, end)


def solve_members(
    tasks: TaskDecomposition,
    members: IntArray,
    constant: float,
    gamma: float,
    code: int,
    tol: float,
    max_iter: int,
    start: WarmStart | None,
    cutoff: float = np.inf,
) -> tuple[FloatArray, FloatArray, float, Certificate, FloatArray, WarmStart]:
    """Return Z, the mean, Ω, the certificate, a dual point (reduced), and the end."""
    if start is None:
        shape = (members.size, tasks.n_features)
        start = WarmStart(np.zeros(shape), np.zeros(shape), STEP_OVER_GAMMA)
    Z, mean, norm, primal, multiplier, step, *values, reduced = alternate(
        *tasks.arrays,
        members,
        constant,
        float(gamma),
        code,
        start.primal,
        start.multiplier,
        start.step_over_gamma * gamma,
        tol,
        max_iter,
        cutoff,
    )
    n_iter, objective, bound, history = values
    certificate = Certificate(
        objective=objective,
        dual_objective=bound,
        n_iter=n_iter,
        status="converged" if objective - bound <= tol * objective else "stopped",
        history=history,
    )
    end = WarmStart(primal, multiplier, step / gamma)
    return Z, mean, norm, certificate, reduced, end
