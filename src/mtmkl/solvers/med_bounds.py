r"""Bounds on the dual of maximum entropy discrimination, along a segment.

At λ̃ the concave dual J is sandwiched by quadratics that touch it: L_i from Theorem 1 of
the paper, by which its algorithm moves, and U_i from Jensen's inequality, by which
Theorem 2 measures the progress. Along λ̃ + τδ both need q̃_d = ½ λ̃'H_dλ̃,
r_d = λ̃'H_dδ and w_d = ½ δ'H_dδ only.

References
----------
T. Jebara, Multitask sparsity via maximum entropy discrimination, Journal of Machine
Learning Research 12, 2011, appendices A and B.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from mtmkl.solvers.med_sqp import bound_curvature
from mtmkl.solvers.switches import switch_costs

FloatArray = NDArray[np.float64]


def bounds_along(
    tau: ArrayLike,
    *,
    q: ArrayLike,
    r: ArrayLike,
    w: ArrayLike,
    linear: float,
    slope: float,
    log_alpha: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return L, J and U at points of a segment, each of the shape of ``tau``.

    Parameters
    ----------
    tau : array-like of shape (m,)
        Positions τ; the bounds touch J at 0.
    q, r, w : array-like of shape (D,)
        As above.
    linear, slope : float
        λ̃'1 and δ'1.
    log_alpha : float
        log α, finite.
    """
    t = np.asarray(tau, dtype=float)
    q0, first, second = (np.asarray(a, dtype=float) for a in (q, r, w))
    s = expit(q0 - log_alpha)
    curvature = bound_curvature(log_alpha - q0)
    q_along = q0 + np.outer(t, first) + np.outer(t**2, second)
    J = linear + t * slope - switch_costs(q_along, log_alpha).sum(axis=1)
    base = linear - float(switch_costs(q0, log_alpha).sum())
    lower = (
        base
        + t * (slope - s @ first)
        - t**2 * float(0.5 * curvature @ first**2 + second.sum())
    )
    upper = base + t * (slope - s @ first) - t**2 * float(s @ second)
    return lower, J, upper


def iteration_bound(alpha: float, epsilon: float) -> int:
    """Return the iterations after which J ≥ (1 − ε) max J by Theorem 2.

    The theorem is about joint steps of all tasks, from λ = 0.

    Parameters
    ----------
    alpha : float
        At least 0.
    epsilon : float
        In (0, 1).
    """
    growth = np.log(2.0) if alpha <= 1 else np.log1p(1.0 / alpha)
    return int(np.ceil(-np.log(epsilon) / growth))
