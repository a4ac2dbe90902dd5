"""Results of solvers: a point, and a certificate of how good it is."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mtmkl.typing import FloatArray

#: The least objective, as a share of that of the model that is zero, to which a gap is
#: taken relative in regression: below, rounding of the targets is all there is.
LEAST_SHARE = 1e-9

Status = Literal["converged", "stopped", "stalled"]


@dataclass(frozen=True)
class Certificate:
    """Evidence for the quality of a solution."""

    #: Value of the stated objective at the returned point, constants included.
    objective: float
    #: Value of a feasible dual point, a lower bound on the minimum; ``nan`` for a
    #: problem without a computable dual (non-convex methods).
    dual_objective: float
    n_iter: int
    #: "stopped" if the iteration limit came before the tolerance, "stalled" if rounding
    #: did: no further step is of any use.
    status: Status
    #: Objective at each check, the last one being ``objective``.
    history: FloatArray
    #: As for :func:`relative_gap`.
    floor: float = 0.0

    @property
    def duality_gap(self) -> float:
        """The gap as :func:`relative_gap` defines it, at least 0."""
        return relative_gap(self.objective, self.dual_objective, self.floor)


@dataclass(frozen=True)
class Solution:
    """A solver's answer."""

    #: The primal variables; their shape is the solver's to state.
    coef: FloatArray
    certificate: Certificate
    #: The feasible dual variables behind ``certificate.dual_objective``, and intercepts
    #: without a penalty, one per task; empty where the problem has none.
    dual: FloatArray = field(default_factory=lambda: np.empty(0))
    intercept: FloatArray = field(default_factory=lambda: np.empty(0))
    #: Further variables by name, as the solver states.
    extra: Mapping[str, Any] = field(default_factory=dict)


def certified(
    history: Sequence[float],
    bound: float,
    n_iter: int,
    status: Status,
    floor: float = 0.0,
) -> Certificate:
    """Return the certificate of the last objective, with a bound of the minimum."""
    return Certificate(history[-1], bound, n_iter, status, np.array(history), floor)


def relative_gap(objective: float, dual_objective: float, floor: float = 0.0) -> float:
    """Return ``max(objective - dual_objective, 0) / max(|objective|, floor)``.

    Parameters
    ----------
    objective, dual_objective : float
    floor : float
        The least that an objective counts for, where the optimum may be zero up to
        rounding: ``LEAST_SHARE`` of the objective of the zero model. At an objective
        and a floor of zero a gap of zero is zero.
    """
    size = max(abs(objective), floor, 1e-300)
    return max(objective - dual_objective, 0.0) / size


def warn_if_stopped(
    certificate: Certificate,
    problem: str,
    tol: float,
    *,
    steps: str = "iterations",
    remedy: str = "raise max_iter or tol",
    limit: str = "",
    stacklevel: int = 3,
) -> None:
    """Warn of a solve that stopped above its tolerance, for any reason.

    ``problem`` is what was being solved, with the parameters that tell it from others;
    ``tol`` the relative duality gap asked for, 0 if none is; ``steps`` what the
    certificate's ``n_iter`` counts; ``remedy`` what to do about it, unless the solve
    stalled; ``limit`` why it stalled and what to do about that, where more is known
    than that rounding is all that is left.
    """
    is_missed = tol > 0.0 and certificate.duality_gap > tol
    if certificate.status != "converged" or is_missed:
        if certificate.status == "stalled":
            remedy = limit or (
                "rounding is all that is left: bring the features to a smaller scale "
                "(standardize=True), lower C, or raise tol"
            )
        warnings.warn(
            f"{problem}: stopped after {certificate.n_iter} {steps} at a relative "
            f"duality gap of {certificate.duality_gap:.1e} (tol={tol:g}); {remedy}",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
