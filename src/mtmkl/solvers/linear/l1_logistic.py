r"""Logistic regression with an L1 penalty and a free intercept, by proximal Newton.

Minimises over w and b

    Σ_i [log(1 + exp z_i) − y_i z_i] + ν ‖w‖₁,    z = Xw + b,   y_i ∈ {0, 1}.

Each step minimises the second-order model of the loss plus the penalty by coordinate
descent, followed by a line search. For the residuals r = y − expit(z), which sum to
zero at the best intercept, and c = min(1, ν/‖X'r‖_∞), the dual point c·r is feasible
and

    Σ_i H(y_i − c r_i),    H the entropy of a Bernoulli variable,

is a lower bound on the minimum.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, xlogy

from mtmkl.compiled import add_scaled, compiled, dot, routine, total
from mtmkl.solvers.solution import (
    Solution,
    Status,
    certified,
    relative_gap,
    warn_if_stopped,
)
from mtmkl.typing import FloatArray

_LEAST_WEIGHT = 1e-10
_MAX_PASSES = 1000
_ROUNDING = 1e-14


def solve_l1_logistic(
    X: ArrayLike,
    y: ArrayLike,
    alpha: float,
    *,
    tol: float = 1e-8,
    max_iter: int = 200,
) -> Solution:
    """Minimise to a relative duality gap.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Labels 0 and 1.
    alpha : float
        ν > 0.
    tol : float
        Relative duality gap.
    max_iter : int
        Limit on proximal Newton steps.

    Returns
    -------
    Solution
        ``coef``: w (d,); ``intercept``: (1,), infinite if y is constant; ``dual``: c·r
        (n,).
    """
    X_array = np.ascontiguousarray(X, dtype=np.float64)
    labels = np.asarray(y, dtype=np.float64)
    n, d = X_array.shape
    if labels.min() == labels.max():
        certificate = certified([0.0], 0.0, 0, "converged")
        intercept = np.array([np.inf if labels[0] > 0 else -np.inf])
        return Solution(np.zeros(d), certificate, dual=np.zeros(n), intercept=intercept)
    columns = np.ascontiguousarray(X_array.T)
    coef, b = np.zeros(d), float(logit(labels.mean()))
    history: list[float] = []
    n_iter = 0
    while True:
        b = _best_offset(X_array @ coef, labels, b)
        objective, bound, dual = _objectives(X_array, labels, alpha, coef, b)
        history.append(objective)
        is_done = relative_gap(objective, bound) <= tol
        if is_done or n_iter >= max_iter:
            break
        coef, b = _newton_step(columns, labels, alpha, coef, b, 1e-3 * tol)
        n_iter += 1
    status: Status = "converged" if is_done else "stopped"
    certificate = certified(history, bound, n_iter, status)
    problem = f"logistic regression, alpha={alpha:g}"
    warn_if_stopped(certificate, problem, tol, steps="proximal Newton steps")
    return Solution(coef, certificate, dual=dual, intercept=np.array([b]))


def _objectives(
    X: FloatArray, y: FloatArray, alpha: float, coef: FloatArray, b: float
) -> tuple[float, float, FloatArray]:
    """Return the value and a lower bound with its dual point, at the best intercept."""
    z = X @ coef + b
    objective = float(np.sum(np.logaddexp(0.0, z) - y * z))
    objective += alpha * float(np.abs(coef).sum())
    residual = y - expit(z)
    slope = float(np.abs(X.T @ residual).max(initial=0.0))
    dual = residual * min(1.0, alpha / slope) if slope > 0 else residual
    p = y - dual
    bound = -float(np.sum(xlogy(p, p) + xlogy(1.0 - p, 1.0 - p)))
    return objective, bound, dual


def _best_offset(z: FloatArray, y: FloatArray, b: float) -> float:
    """Return the b at which Σ(y − expit(z + b)) is zero, by safeguarded Newton."""
    low, high = b, b
    step = 1.0
    while np.sum(y - expit(z + low)) < 0:
        low -= step
        step *= 2.0
    step = 1.0
    while np.sum(y - expit(z + high)) > 0:
        high += step
        step *= 2.0
    for _ in range(100):
        p = expit(z + b)
        excess = float(np.sum(y - p))
        if excess > 0:
            low = b
        else:
            high = b
        if excess == 0.0 or high - low <= 1e-15 * max(1.0, abs(b)):
            break
        slope = float(np.sum(p * (1.0 - p)))
        new = b + excess / slope if slope > 0 else np.inf
        new = new if low < new < high else 0.5 * (low + high)
        if new == b:
            break
        b = new
    return b


@compiled
def _newton_step(
    columns: FloatArray,
    y: FloatArray,
    alpha: float,
    coef: FloatArray,
    b: float,
    tol: float,
) -> tuple[FloatArray, float]:
    """Return coefficients and intercept after one proximal Newton step."""
    z = _scores(columns, coef, b)
    new, intercept = _coordinate_descent(columns, y, z, alpha, coef, b, tol)
    new_z = _scores(columns, new, intercept)
    before = _value(y, z, alpha, coef)
    step = 1.0
    for _ in range(40):
        trial, trial_z = coef + step * (new - coef), z + step * (new_z - z)
        if _value(y, trial_z, alpha, trial) <= before + _ROUNDING * abs(before):
            return trial, b + step * (intercept - b)
        step *= 0.5
    return coef, b


@routine
def _scores(columns: FloatArray, coef: FloatArray, b: float) -> FloatArray:
    z = np.full(columns.shape[1], b)
    for k in range(coef.size):
        if coef[k] != 0.0:
            add_scaled(z, coef[k], columns[k])
    return z


@routine
def _value(y: FloatArray, z: FloatArray, alpha: float, coef: FloatArray) -> float:
    value = 0.0
    for i in range(y.size):
        value += max(z[i], 0.0) + np.log1p(np.exp(-abs(z[i]))) - y[i] * z[i]
    for k in range(coef.size):
        value += alpha * abs(coef[k])
    return value


@routine
def _coordinate_descent(
    columns: FloatArray,
    y: FloatArray,
    z: FloatArray,
    alpha: float,
    coef: FloatArray,
    b: float,
    tol: float,
) -> tuple[FloatArray, float]:
    """Return the minimiser of the loss's model at scores z plus the penalty.

    The model is ½Σ h_i(Δz_i − r_i/h_i)²; what is kept of it is r − h∘Δz.
    """
    d, n = columns.shape
    weight, slope = np.empty(n), np.empty(n)
    for i in range(n):
        p = 1.0 / (1.0 + np.exp(-z[i]))
        weight[i] = max(p * (1.0 - p), _LEAST_WEIGHT)
        slope[i] = y[i] - p
    mass = total(weight)
    weighted, curvature = np.empty_like(columns), np.empty(d)
    for k in range(d):
        weighted[k] = weight * columns[k]
        curvature[k] = dot(weighted[k], columns[k])
    new, intercept = coef.copy(), b
    for _ in range(_MAX_PASSES):
        largest = 0.0
        for k in range(d):
            if curvature[k] == 0.0:
                continue
            target = new[k] + dot(columns[k], slope) / curvature[k]
            level = alpha / curvature[k]
            value = target - min(max(target, -level), level)
            change = value - new[k]
            if change != 0.0:
                new[k] = value
                add_scaled(slope, -change, weighted[k])
                largest = max(largest, abs(change) * np.sqrt(curvature[k]))
        change = total(slope) / mass
        intercept += change
        add_scaled(slope, -change, weight)
        if max(largest, abs(change) * np.sqrt(mass)) <= tol:
            break
    return new, intercept
