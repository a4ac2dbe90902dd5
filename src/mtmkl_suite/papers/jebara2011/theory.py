r"""Bounds on the dual of maximum entropy discrimination, and its penalty on weights.

**Bounds along a segment.** At λ̃ the concave dual J is sandwiched by quadratics that
touch it: L_i from Theorem 1, by which the paper's algorithm moves, and U_i from
Jensen's inequality, by which Theorem 2 measures the progress. Along λ̃ + τδ both need
q̃_d = ½ λ̃'H_dλ̃, r_d = λ̃'H_dδ and w_d = ½ δ'H_dδ only.

**The penalty.** For one feature with dual output v = Σ_t λ_t x_t the dual has the term
φ(v) = log((α + exp(v²/2)) / (1 + α)), and the weight is w = φ'(v) = s·v with
s = expit(v²/2 − log α). Two functions of w come from it:

* the penalty of the primal is the conjugate φ*(w) = w·v − φ(v), also
  min over s of KL(Bern(s) ‖ Bern(1/(1 + α))) + w²/(2s). It is convex, close to
  |w|·√(2 log α) below √(2 log α) and to w²/2 above;
* the paper plots h(w) = φ(v), the term of the dual expressed by w. It has the same
  limits but is not convex for large α, and differs from φ* unless α = 0. Its implicit
  equation for h, with a plus, has h shifted by log(1 + 1/α), its value at w = 0.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize.elementwise import find_root
from scipy.special import expit

from mtmkl.solvers.med.switches import switch_costs
from mtmkl.typing import FloatArray
from mtmkl_suite.papers.jebara2011.med_sqp import bound_curvature


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
    """Return L, J and U at points of a segment, each of the shape of ``tau``."""
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


def primal_penalty(w: ArrayLike, log_alpha: float) -> FloatArray:
    """Return φ*(w), the penalty that the primal problem has."""
    size = np.abs(np.asarray(w, dtype=float))
    v = dual_output(size, log_alpha)
    return size * v - switch_costs(0.5 * v**2, log_alpha)


def implicit_penalty(w: ArrayLike, log_alpha: float) -> FloatArray:
    """Return h(w), the paper's penalty with its value at 0 subtracted."""
    v = dual_output(np.abs(np.asarray(w, dtype=float)), log_alpha)
    return switch_costs(0.5 * v**2, log_alpha)


def dual_output(w: ArrayLike, log_alpha: float) -> FloatArray:
    """Return the v with v·expit(v²/2 − log α) = w, for w ≥ 0."""
    target = np.asarray(w, dtype=float)
    # At `high` the switch is above 0.88, and for large w it is all but 1.
    high = target + np.sqrt(2.0 * max(log_alpha, 0.0)) + 2.0

    def excess(v: FloatArray, target: FloatArray) -> FloatArray:
        switched: FloatArray = v * expit(0.5 * v**2 - log_alpha)
        return switched - target

    root: FloatArray = find_root(excess, (target, high), args=(target,)).x
    return root


def scaled(
    penalty: Callable[[ArrayLike, float], FloatArray], w: ArrayLike, log_alpha: float
) -> FloatArray:
    """Return a penalty divided by its value at w = 1."""
    return penalty(w, log_alpha) / penalty(1.0, log_alpha)
