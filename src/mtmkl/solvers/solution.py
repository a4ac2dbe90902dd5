"""What every solver returns: a point, and a certificate of how good it is."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Certificate:
    """Evidence for the quality of a solution.

    Attributes
    ----------
    objective : float
        Value of the stated objective at the returned point, constants included.
    dual_objective : float
        Value of a feasible dual point, a lower bound on the minimum; ``nan`` for a
        problem without a computable dual (non-convex methods).
    n_iter : int
        Iterations done.
    status : {"converged", "stopped"}
        "stopped" if the iteration limit came before the tolerance.
    history : ndarray of shape (n_checks,)
        Objective at each check, the last entry being ``objective``.
    """

    objective: float
    dual_objective: float
    n_iter: int
    status: Literal["converged", "stopped"]
    history: FloatArray

    @property
    def duality_gap(self) -> float:
        """Relative gap ``(objective - dual_objective) / |objective|``, at least 0."""
        return relative_gap(self.objective, self.dual_objective)


@dataclass(frozen=True)
class Solution:
    """A solver's answer.

    Attributes
    ----------
    coef : ndarray
        The primal variables; their shape is the solver's to state.
    certificate : Certificate
    dual : ndarray or None
        The feasible dual variables behind ``certificate.dual_objective``.
    intercept : ndarray or None
        Unpenalised offsets, one a task, where the problem has them.
    extra : mapping
        Further variables by name, as the solver states.
    """

    coef: FloatArray
    certificate: Certificate
    dual: FloatArray | None = None
    intercept: FloatArray | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def relative_gap(objective: float, dual_objective: float) -> float:
    """Return ``max(objective - dual_objective, 0) / |objective|``.

    An objective of zero counts as 1e-300, so that a zero gap there is zero.
    """
    return max(objective - dual_objective, 0.0) / max(abs(objective), 1e-300)


def warn_if_stopped(
    certificate: Certificate,
    problem: str,
    tol: float,
    *,
    steps: str = "iterations",
    stacklevel: int = 3,
) -> None:
    """Warn of a solve that was stopped short of its tolerance.

    Parameters
    ----------
    certificate : Certificate
    problem : str
        What was being solved, with the parameters that tell it from others.
    tol : float
        The relative duality gap asked for.
    steps : str
        What ``certificate.n_iter`` counts.
    stacklevel : int
        As for :func:`warnings.warn`.
    """
    if certificate.status == "stopped":
        warnings.warn(
            f"{problem}: stopped after {certificate.n_iter} {steps} at a relative "
            f"duality gap of {certificate.duality_gap:.1e} (tol={tol:g}); raise "
            "max_iter or tol",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
