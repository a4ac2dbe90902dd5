r"""Squared loss with a squared-norm penalty, by the alternating direction method.

Solves, for T tasks with coefficients W = [w_1 … w_T] (d × T),

    min_W  Σ_t ||y_t − X_t w_t||² + γ·Ω(W)²,

Ω the trace norm (problem (14) of Argyriou, Evgeniou and Pontil 2008), the (2,1)-norm of
the rows (their problem (5)) or the trace norm of the deviations from the tasks' mean.

The splitting W = Z alternates a step in W, which is diagonal in the singular vectors of
each X_t for every step size, and the exact proximal point of γΩ² in Z, whose zero
singular values or rows are exact. The certificate is taken at Z: for residuals r_t of
the W step, a_t = s·2r_t in the range of X_t (and 2y_t outside it) with the best scalar
s is dual feasible, and

    Σ_t (y_t'a_t − ¼||a_t||²) − Ω°([X_1'a_1 … X_T'a_T])²/(4γ)

is a lower bound on the minimum. For the deviations W = Z + w_0 1' with Z1 = 0, and the
W step is a joint step in the deviations and w_0: its residuals fulfil Σ_t X_t'a_t = 0,
without which the bound would be −∞, exactly.

The iteration is that of :mod:`mtmkl.solvers.task_admm`, with a bound that makes use of
the square. It is compiled as a whole, because a search over partitions solves groups by
the thousand, each in a few dozen microseconds.

References
----------
A. Argyriou, T. Evgeniou and M. Pontil, Convex multi-task feature learning, Machine
Learning 73(3), 2008. S. Boyd et al., Distributed optimization and statistical learning
via the alternating direction method of multipliers, 2011, sections 3.3 and 3.4.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numba
import numpy as np

from mtmkl.solvers.penalties import (
    DEVIATIONS,
    PENALTIES,
    prox_squared_norm,
    squared_dual_norm,
)
from mtmkl.solvers.solution import Certificate, Solution, warn_if_stopped
from mtmkl.solvers.task_decomposition import TaskDecomposition
from mtmkl.typing import FloatArray, IntArray

PenaltyName = Literal["trace", "rows", "deviations"]

Arrays = tuple[FloatArray, FloatArray, FloatArray, IntArray]

_RELAXATION = 1.6
_CHECK_EVERY = 5
_ADAPT_EVERY = 10
# Start with a threshold of a tenth of the norm: ρ = 20γ makes it so at every scale.
_STEP_OVER_GAMMA = 20.0


@dataclass(frozen=True)
class WarmStart:
    """Where a solve left off, for the next γ.

    Attributes
    ----------
    primal, multiplier : ndarray of shape (T, d)
        Z and the multiplier of W = Z, transposed.
    step_over_gamma : float
        ρ/γ at the end.
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
    penalty : {"trace", "rows", "deviations"}
        Ω: trace norm, (2,1)-norm of the rows, or trace norm of the deviations from the
        tasks' mean.
    tol : float
        Relative duality gap at which to stop.
    max_iter : int
        Maximum number of iterations.
    start : WarmStart, optional
        ``extra["warm_start"]`` of a solution for the same tasks at another γ.

    Returns
    -------
    Solution
        ``coef`` of shape (d, T), of exact rank (or with exact zero rows); ``dual`` of
        shape (n,), a dual feasible point in the order of the examples;
        ``extra["warm_start"]`` and ``extra["norm"]`` = Ω(W).

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` is reached before ``tol``; the message states the gap.

    Raises
    ------
    ValueError
        If γ is not positive and finite.
    """
    if not (gamma > 0 and np.isfinite(gamma)):
        raise ValueError(f"gamma must be positive and finite, got {gamma}")
    code = PENALTIES[penalty]
    shape = (tasks.n_tasks, tasks.n_features)
    if start is None:
        start = WarmStart(np.zeros(shape), np.zeros(shape), _STEP_OVER_GAMMA)
    (
        Z,
        mean,
        norm,
        primal,
        multiplier,
        step,
        n_iter,
        objective,
        bound,
        history,
        reduced,
    ) = _admm(
        *tasks.arrays,
        tasks.constant,
        float(gamma),
        code,
        start.primal,
        start.multiplier,
        start.step_over_gamma * gamma,
        tol,
        max_iter,
    )
    certificate = Certificate(
        objective=objective,
        dual_objective=bound,
        n_iter=n_iter,
        status="converged" if objective - bound <= tol * objective else "stopped",
        history=history,
    )
    if certificate.status != "converged":
        warn_if_stopped(certificate, f"squared {penalty} norm, gamma={gamma:g}", tol)
    return Solution(
        coef=(Z + mean).T,
        certificate=certificate,
        dual=tasks.expand(reduced),
        extra={
            "warm_start": WarmStart(primal, multiplier, step / gamma),
            "norm": norm,
            "mean": mean,
        },
    )


@numba.njit(cache=True, nogil=True)
def _admm(
    right: FloatArray,
    singular: FloatArray,
    target: FloatArray,
    offsets: IntArray,
    constant: float,
    gamma: float,
    code: int,
    primal: FloatArray,
    multiplier: FloatArray,
    step: float,
    tol: float,
    max_iter: int,
) -> tuple[Any, ...]:
    """Alternate; return the best point, the state at the end, and the certificate."""
    data = (right, singular, target, offsets)
    with_mean = code == DEVIATIONS
    Z = primal.copy()
    L = multiplier.copy()
    # X_t'a_t for a = 2r, and the point of the proximal step, of each task.
    M = np.empty_like(Z)
    V = np.empty_like(Z)
    residual = np.empty(singular.size)
    move = np.empty(singular.size)
    point = np.empty(Z.shape[1])
    mean = np.zeros(Z.shape[1])
    ones = np.ones(singular.size)
    weights = np.empty(singular.size)
    _set_weights(weights, singular, step)
    if with_mean:
        mean_system = _mean_system(right, singular, ones)
        step_mean_system = _mean_system(right, singular, weights)
    else:
        mean_system = step_mean_system = np.zeros((0, 0))
    history = np.empty(max_iter // _CHECK_EVERY + 1)
    n_checks = 0
    best_Z = Z
    best_mean = mean
    best_norm = 0.0
    best_dual = np.zeros(singular.size)
    objective = np.inf
    bound = -np.inf
    next_adapt = _ADAPT_EVERY
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        _set_base(M, Z, L, step)
        if with_mean:
            mean = _best_mean(data, M, weights, step_mean_system)
        primal_gap, primal_size = _coefficient_step(
            data, weights, step, Z, L, mean, M, V, residual, move
        )
        new, norm = prox_squared_norm(V, 2.0 * gamma / step, code)
        dual_gap, dual_size = _multiplier_step(L, new, Z, V, step)
        Z = new
        if n_iter % _CHECK_EVERY == 0 or n_iter == max_iter:
            if with_mean:
                mean = _best_mean(data, Z, ones, mean_system)
            value = constant + gamma * norm * norm
            value = _add_loss(value, data, Z, mean, point)
            if value < objective:
                objective = value
                best_Z = Z
                best_mean = mean
                best_norm = norm
            lower, scale = _bound(constant, target, residual, M, gamma, code)
            if lower > bound:
                bound = lower
                for j in range(residual.size):
                    best_dual[j] = 2.0 * scale * residual[j]
            history[n_checks] = objective
            n_checks += 1
            if objective - bound <= tol * objective:
                break
        if n_iter == next_adapt:
            # Ever more seldom, so that the step settles and the method's convergence
            # proof applies.
            next_adapt += max(_ADAPT_EVERY, n_iter // 3)
            factor = _balance(primal_gap, primal_size, dual_gap, dual_size, step)
            if factor != 1.0:
                step *= factor
                _set_weights(weights, singular, step)
                if with_mean:
                    step_mean_system = _mean_system(right, singular, weights)
    return (
        best_Z,
        best_mean,
        best_norm,
        Z,
        L,
        step,
        n_iter,
        objective,
        bound,
        history[:n_checks].copy(),
        best_dual,
    )


# The named steps are inlined: calls would cost the smallest problems a tenth.


@numba.njit(cache=True, nogil=True, inline="always")
def _set_base(M: FloatArray, Z: FloatArray, L: FloatArray, step: float) -> None:
    """Write Z + L/ρ into ``M``."""
    for t in range(Z.shape[0]):
        for i in range(Z.shape[1]):
            M[t, i] = Z[t, i] + L[t, i] / step


@numba.njit(cache=True, nogil=True, inline="always")
def _coefficient_step(
    data: Arrays,
    weights: FloatArray,
    step: float,
    Z: FloatArray,
    L: FloatArray,
    mean: FloatArray,
    M: FloatArray,
    V: FloatArray,
    residual: FloatArray,
    move: FloatArray,
) -> tuple[float, float]:
    """Take the W step from ``M`` = Z + L/ρ; return ||W − Z||² and ||W||².

    Overwrites ``M`` with X_t'a_t for a = 2r, ``V`` with the point of the proximal step,
    and ``residual`` with r; ``move`` is room to work in.
    """
    right, singular, target, offsets = data
    n_features = Z.shape[1]
    gap = 0.0
    size = 0.0
    # At B = M (+ w_0): W = B + V'(q − p), p = VB and q the new V'W.
    for t in range(Z.shape[0]):
        lo, hi = offsets[t], offsets[t + 1]
        for i in range(n_features):
            M[t, i] += mean[i]
        p = np.dot(right[lo:hi], M[t])
        for j in range(lo, hi):
            s = singular[j]
            q = weights[j] * (2.0 * s * target[j] / step + p[j - lo])
            move[j] = q - p[j - lo]
            residual[j] = target[j] - s * q
        shift = np.dot(move[lo:hi], right[lo:hi])
        for i in range(n_features):
            w = M[t, i] + shift[i] - mean[i]
            gap += (w - Z[t, i]) ** 2
            size += w * w
            # By the step's optimality X_t'a_t = ρ(W − B) for a_t = 2 r_t.
            M[t, i] = step * shift[i]
            V[t, i] = _RELAXATION * w + (1.0 - _RELAXATION) * Z[t, i] - L[t, i] / step
    return gap, size


@numba.njit(cache=True, nogil=True, inline="always")
def _multiplier_step(
    L: FloatArray, new: FloatArray, Z: FloatArray, V: FloatArray, step: float
) -> tuple[float, float]:
    """Write ρ(Z_new − V) into ``L``; return ||Z_new − Z||² and ||L||²."""
    gap = 0.0
    size = 0.0
    for t in range(Z.shape[0]):
        for i in range(Z.shape[1]):
            L[t, i] = step * (new[t, i] - V[t, i])
            gap += (new[t, i] - Z[t, i]) ** 2
            size += L[t, i] ** 2
    return gap, size


@numba.njit(cache=True, nogil=True, inline="always")
def _add_loss(
    value: float,
    data: Arrays,
    Z: FloatArray,
    mean: FloatArray,
    point: FloatArray,
) -> float:
    """Return the value plus Σ_t ||c_t − S_t V_t'(z_t + w_0)||²; ``point`` is room."""
    right, singular, target, offsets = data
    for t in range(Z.shape[0]):
        lo, hi = offsets[t], offsets[t + 1]
        for i in range(point.size):
            point[i] = Z[t, i] + mean[i]
        p = np.dot(right[lo:hi], point)
        for j in range(lo, hi):
            value += (target[j] - singular[j] * p[j - lo]) ** 2
    return value


@numba.njit(cache=True, nogil=True, inline="always")
def _bound(
    constant: float,
    target: FloatArray,
    residual: FloatArray,
    M: FloatArray,
    gamma: float,
    code: int,
) -> tuple[float, float]:
    """Return the lower bound of the best multiple s of a = 2r, and s.

    It is the maximum over s of s·linear − s²·quadratic.
    """
    linear = 2.0 * np.dot(target, residual)
    quadratic = np.dot(residual, residual)
    quadratic += squared_dual_norm(M, code) / (4.0 * gamma)
    scale = 0.5 * linear / quadratic if quadratic > 0.0 else 0.0
    return constant + 0.5 * scale * linear, scale


@numba.njit(cache=True, nogil=True, inline="always")
def _balance(
    primal_gap: float,
    primal_size: float,
    dual_gap: float,
    dual_size: float,
    step: float,
) -> float:
    """Return the factor for ρ that brings the relative residuals nearer together."""
    primal = np.sqrt(primal_gap / max(primal_size, 1e-300))
    dual = step * np.sqrt(dual_gap / max(dual_size, 1e-300))
    if primal > 0.0 and dual > 0.0:
        ratio = np.sqrt(primal / dual)
        if ratio > 2.0 or ratio < 0.5:
            return min(max(ratio, 0.1), 10.0)
    return 1.0


@numba.njit(cache=True, nogil=True)
def _set_weights(weights: FloatArray, singular: FloatArray, step: float) -> None:
    """Write ρ/(2s² + ρ) into ``weights``."""
    for j in range(singular.size):
        weights[j] = step / (2.0 * singular[j] * singular[j] + step)


@numba.njit(cache=True, nogil=True)
def _mean_system(
    right: FloatArray, singular: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return the pseudo-inverse of Σ_j weights_j s_j² v_j v_j'."""
    scaled = np.empty_like(right)
    for j in range(right.shape[0]):
        factor = np.sqrt(weights[j]) * singular[j]
        for i in range(right.shape[1]):
            scaled[j, i] = factor * right[j, i]
    values, vectors = np.linalg.eigh(np.dot(scaled.T, scaled))
    roots = np.zeros_like(vectors)
    for k in range(values.size):
        if values[k] > 1e-13 * values[-1]:
            for i in range(values.size):
                roots[i, k] = vectors[i, k] / np.sqrt(values[k])
    return np.dot(roots, roots.T)


@numba.njit(cache=True, nogil=True)
def _best_mean(
    data: Arrays, base: FloatArray, weights: FloatArray, system: FloatArray
) -> FloatArray:
    """Return w_0 minimising Σ_j weights_j (c_j − s_j v_j'(base_t + w_0))²."""
    right, singular, target, offsets = data
    gradient = np.zeros(base.shape[1])
    for t in range(base.shape[0]):
        lo, hi = offsets[t], offsets[t + 1]
        p = np.dot(right[lo:hi], base[t])
        for j in range(lo, hi):
            s = singular[j]
            p[j - lo] = weights[j] * s * (target[j] - s * p[j - lo])
        shift = np.dot(p, right[lo:hi])
        for i in range(gradient.size):
            gradient[i] += shift[i]
    return np.dot(system, gradient)
