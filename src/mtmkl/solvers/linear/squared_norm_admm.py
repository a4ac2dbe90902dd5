"""The compiled iteration of :mod:`mtmkl.solvers.linear.squared_norm`.

It is compiled as a whole, because a search over partitions solves groups of tasks by
the thousand, each in a few dozen microseconds. For the same reason it takes the rows of
all tasks and the numbers of those that it is for: copies would cost as much.
"""

from typing import Any

import numpy as np

from mtmkl.compiled import compiled, routine
from mtmkl.solvers.linear.penalties import (
    DEVIATIONS,
    prox_squared_norm,
    squared_dual_norm,
)
from mtmkl.solvers.linear.row_products import pull_back
from mtmkl.typing import FloatArray, IntArray

# V', where each task's rows start, S, c, and offsets of these two.
Arrays = tuple[FloatArray, IntArray, FloatArray, FloatArray, IntArray]

_RELAXATION = 1.6
_CHECK_EVERY = 5
_ADAPT_EVERY = 10
# Iterations after which a relative gap that is small is stuck if more than this is left
# of it, and what ρ is multiplied by then, to what share of the balanced one.
_LOWER_EVERY, _NEAR, _SLOW = 20, 3e-3, 0.6
_LOWER, _LEAST = 0.3, 0.01


@compiled
def alternate(
    right: FloatArray,
    all_singular: FloatArray,
    all_target: FloatArray,
    all_offsets: IntArray,
    members: IntArray,
    constant: float,
    gamma: float,
    code: int,
    primal: FloatArray,
    multiplier: FloatArray,
    step: float,
    tol: float,
    max_iter: int,
    cutoff: float,
) -> tuple[Any, ...]:
    """Alternate; return the best point, the state at the end, and the certificate.

    It also ends where the minimum is shown to be at least ``cutoff``.

    A ρ that balances the residuals serves Z; near the end the lower bound may lag far
    behind it, and rises faster with a small ρ.
    """
    starts, offsets, singular, target = _rows_of(
        members, all_offsets, all_singular, all_target
    )
    data = (right, starts, singular, target, offsets)
    with_mean = code == DEVIATIONS
    Z = primal.copy()
    L = multiplier.copy()
    # X_t'a_t for a = 2r, and the point of the proximal step, of each task.
    M = np.empty_like(Z)
    V = np.empty_like(Z)
    residual = np.empty(singular.size)
    fit = np.empty(singular.size)
    aims = np.empty(singular.size)
    slopes = np.empty(singular.size)
    point = np.empty(Z.shape[1])
    mean = np.zeros(Z.shape[1])
    ones = np.ones(singular.size)
    weights = np.empty(singular.size)
    _set_weights(weights, aims, slopes, singular, target, step)
    if with_mean:
        mean_system = _mean_system(data, ones)
        step_mean_system = _mean_system(data, weights)
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
    last_gap = np.inf
    balanced = step
    next_adapt = _ADAPT_EVERY
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        _set_base(M, Z, L, step)
        if with_mean:
            mean = _best_mean(data, M, weights, step_mean_system)
        _coefficient_step(data, aims, slopes, step, Z, L, mean, M, V, fit, point)
        new, norm = prox_squared_norm(V, 2.0 * gamma / step, code)
        adapts = n_iter == next_adapt and step == balanced
        factor = _balance(new, Z, V, L, step) if adapts else 1.0
        _multiplier_step(L, new, V, step)
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
            for j in range(residual.size):
                moved = fit[j] + (aims[j] - slopes[j] * fit[j])
                residual[j] = target[j] - singular[j] * moved
            lower, scale = _bound(constant, target, residual, M, gamma, code)
            if lower > bound:
                bound = lower
                for j in range(residual.size):
                    best_dual[j] = 2.0 * scale * residual[j]
            history[n_checks] = objective
            n_checks += 1
            if objective - bound <= tol * objective or bound >= cutoff:
                break
        if adapts:
            # Ever more seldom, so that the step settles and the method's convergence
            # proof applies.
            next_adapt += max(_ADAPT_EVERY, n_iter // 3)
            balanced *= factor
        if n_iter % _LOWER_EVERY == 0:
            gap = objective - bound
            is_stuck = _SLOW * last_gap < gap <= _NEAR * objective
            if is_stuck and step > _LEAST * balanced:
                factor *= _LOWER
            last_gap = gap
        if factor != 1.0:
            step *= factor
            _set_weights(weights, aims, slopes, singular, target, step)
            if with_mean:
                step_mean_system = _mean_system(data, weights)
    return (
        best_Z,
        best_mean,
        best_norm,
        Z,
        L,
        balanced,
        n_iter,
        objective,
        bound,
        history[:n_checks].copy(),
        best_dual,
    )


@routine
def _rows_of(
    members: IntArray,
    offsets: IntArray,
    singular: FloatArray,
    target: FloatArray,
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return where each member's rows start, and offsets, S and c of these rows alone.

    The rows themselves, which are large, stay where they are.
    """
    starts = np.empty(members.size, np.intp)
    own = np.zeros(members.size + 1, np.intp)
    for k in range(members.size):
        starts[k] = offsets[members[k]]
        own[k + 1] = own[k] + offsets[members[k] + 1] - starts[k]
    some_singular = np.empty(own[-1])
    some_target = np.empty(own[-1])
    for k in range(members.size):
        for j in range(own[k + 1] - own[k]):
            some_singular[own[k] + j] = singular[starts[k] + j]
            some_target[own[k] + j] = target[starts[k] + j]
    return starts, own, some_singular, some_target


# The named steps are inlined: calls would cost the smallest problems a tenth.


@routine
def _set_base(M: FloatArray, Z: FloatArray, L: FloatArray, step: float) -> None:
    """Write Z + L/ρ into ``M``."""
    for t in range(Z.shape[0]):
        for i in range(Z.shape[1]):
            M[t, i] = Z[t, i] + L[t, i] / step


@routine
def _coefficient_step(
    data: Arrays,
    aims: FloatArray,
    slopes: FloatArray,
    step: float,
    Z: FloatArray,
    L: FloatArray,
    mean: FloatArray,
    M: FloatArray,
    V: FloatArray,
    fit: FloatArray,
    shift: FloatArray,
) -> None:
    """Take the W step from ``M`` = Z + L/ρ.

    Overwrites ``M`` with X_t'a_t for a = 2r, ``V`` with the point of the proximal step,
    and ``fit`` with the fit of ``M``; ``shift`` is room to work in.
    """
    right, starts, _, _, offsets = data
    n_features = Z.shape[1]
    # At B = M (+ w_0): W = B + V'(q − p), p = VB and q the new V'W.
    for t in range(Z.shape[0]):
        lo, hi = offsets[t], offsets[t + 1]
        for i in range(n_features):
            M[t, i] += mean[i]
        rows = right[starts[t] : starts[t] + hi - lo]
        pull_back(rows, M[t], aims[lo:hi], slopes[lo:hi], fit[lo:hi], shift)
        for i in range(n_features):
            w = M[t, i] + shift[i] - mean[i]
            # By the step's optimality X_t'a_t = ρ(W − B) for a_t = 2 r_t.
            M[t, i] = step * shift[i]
            V[t, i] = _RELAXATION * w + (1.0 - _RELAXATION) * Z[t, i] - L[t, i] / step


@routine
def _multiplier_step(
    L: FloatArray, new: FloatArray, V: FloatArray, step: float
) -> None:
    """Write ρ(Z_new − V) into ``L``."""
    for t in range(L.shape[0]):
        for i in range(L.shape[1]):
            L[t, i] = step * (new[t, i] - V[t, i])


@routine
def _add_loss(
    value: float,
    data: Arrays,
    Z: FloatArray,
    mean: FloatArray,
    point: FloatArray,
) -> float:
    """Return the value plus Σ_t ||c_t − S_t V_t'(z_t + w_0)||²; ``point`` is room."""
    right, starts, singular, target, offsets = data
    for t in range(Z.shape[0]):
        lo, hi = offsets[t], offsets[t + 1]
        for i in range(point.size):
            point[i] = Z[t, i] + mean[i]
        p = np.dot(right[starts[t] : starts[t] + hi - lo], point)
        for j in range(lo, hi):
            value += (target[j] - singular[j] * p[j - lo]) ** 2
    return value


@compiled
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


@routine
def _balance(
    new: FloatArray, Z: FloatArray, V: FloatArray, L: FloatArray, step: float
) -> float:
    """Return the factor for ρ that brings the relative residuals nearer together.

    From the state before the step in the multipliers.
    """
    primal_gap = 0.0
    primal_size = 0.0
    dual_gap = 0.0
    dual_size = 0.0
    for t in range(Z.shape[0]):
        for i in range(Z.shape[1]):
            relaxed = V[t, i] + L[t, i] / step - (1.0 - _RELAXATION) * Z[t, i]
            w = relaxed / _RELAXATION
            primal_gap += (w - Z[t, i]) ** 2
            primal_size += w * w
            dual_gap += (new[t, i] - Z[t, i]) ** 2
            dual_size += (step * (new[t, i] - V[t, i])) ** 2
    primal = np.sqrt(primal_gap / max(primal_size, 1e-300))
    dual = step * np.sqrt(dual_gap / max(dual_size, 1e-300))
    if primal > 0.0 and dual > 0.0:
        ratio = np.sqrt(primal / dual)
        if ratio > 2.0 or ratio < 0.5:
            return min(max(ratio, 0.1), 10.0)
    return 1.0


@routine
def _set_weights(
    weights: FloatArray,
    aims: FloatArray,
    slopes: FloatArray,
    singular: FloatArray,
    target: FloatArray,
    step: float,
) -> None:
    """Write ρ/(2s² + ρ) into ``weights``; q − p of the W step is aims − slopes∘p."""
    for j in range(singular.size):
        s = singular[j]
        total = 2.0 * s * s + step
        weights[j] = step / total
        aims[j] = 2.0 * s * target[j] / total
        slopes[j] = 2.0 * s * s / total


@routine
def _mean_system(data: Arrays, weights: FloatArray) -> FloatArray:
    """Return the pseudo-inverse of Σ_j weights_j s_j² v_j v_j'."""
    right, starts, singular, _, offsets = data
    scaled = np.empty((singular.size, right.shape[1]))
    for t in range(starts.size):
        for j in range(offsets[t], offsets[t + 1]):
            factor = np.sqrt(weights[j]) * singular[j]
            row = starts[t] + j - offsets[t]
            for i in range(right.shape[1]):
                scaled[j, i] = factor * right[row, i]
    values, vectors = np.linalg.eigh(np.dot(scaled.T, scaled))
    roots = np.zeros_like(vectors)
    for k in range(values.size):
        if values[k] > 1e-13 * values[-1]:
            for i in range(values.size):
                roots[i, k] = vectors[i, k] / np.sqrt(values[k])
    return np.dot(roots, roots.T)


@routine
def _best_mean(
    data: Arrays, base: FloatArray, weights: FloatArray, system: FloatArray
) -> FloatArray:
    """Return w_0 minimising Σ_j weights_j (c_j − s_j v_j'(base_t + w_0))²."""
    right, starts, singular, target, offsets = data
    gradient = np.zeros(base.shape[1])
    for t in range(base.shape[0]):
        lo, hi = offsets[t], offsets[t + 1]
        rows = right[starts[t] : starts[t] + hi - lo]
        p = np.dot(rows, base[t])
        for j in range(lo, hi):
            s = singular[j]
            p[j - lo] = weights[j] * s * (target[j] - s * p[j - lo])
        shift = np.dot(p, rows)
        for i in range(gradient.size):
            gradient[i] += shift[i]
    return np.dot(system, gradient)
