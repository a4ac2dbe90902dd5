"""Support vector machines under mixed norms of kernels and tasks, by their duals.

============ ==========================================================================
function     problem
============ ==========================================================================
mixed_norm   Jawanpuria and Nath (2011), section 3 (MK-MTFL)
schatten     the same, section 4 (MK-MTSFL)
related      Widmer et al. (2015), problem 1: kernel weights of bounded p-norm
============ ==========================================================================
"""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.special import xlogy

from mtmkl.certify.cones import (
    Cones,
    Optimum,
    in_span,
    minimise_quadratic,
    minimise_smooth,
    spectral_cone,
)
from mtmkl.certify.duals import Duals, Form, in_some_unit, products, total
from mtmkl.typing import FloatArray, IntArray


@in_some_unit
def mixed_norm(
    c: FloatArray,
    forms: Sequence[Sequence[Form]],
    groups: IntArray | None,
    C: float,
    p: float,
    *,
    epsilon: float | None = None,
    unit: float = 1.0,
) -> Optimum:
    r"""Return min ½ (Σ_j ||(||w_1j||, …, ||w_Tj||)||_p)² + losses, p ≥ 2.

    The dual is solved, with 1/p + 1/p* = 1: max Σ_i … − z where, for every kernel j,
    z ≥ ½ (Σ_t (β'K_tjβ)^{p*/2})^{2/p*}.

    Parameters
    ----------
    c, groups, C, epsilon, unit
        As for :func:`switched`.
    forms : sequence of sequences of forms
        ``forms[j][t]``: q of kernel j in task t.
    p : float
    """
    duals = Duals.of(c, C, epsilon, [form for own in forms for form in own])
    order, M = p / (p - 1.0), duals.map
    n = duals.n + 1
    cones = Cones(n)
    cones.box(duals.n, duals.most)

    def functions(
        x: FloatArray,
    ) -> tuple[FloatArray, FloatArray, Callable[[FloatArray], FloatArray]]:
        beta = M @ x[:-1]
        values, gradients, bends = [], [], []
        for own in forms:
            outputs = np.array([products(form, beta) for form in own])
            # A norm of zero, where it has no slope, is only met by a lucky start.
            squares = np.maximum(outputs @ beta, 1e-24 * unit)
            size = np.sum(squares ** (order / 2))
            first = size ** (2 / order - 1) * squares ** (order / 2 - 1)
            values.append(0.5 * size ** (2 / order))
            gradients.append(first @ outputs)
            bends.append((outputs, squares, size, first))

        def curvature(z: FloatArray) -> FloatArray:
            H = np.zeros((beta.size, beta.size))
            for weight, own, (outputs, squares, size, first) in zip(
                z, forms, bends, strict=True
            ):
                H += weight * total(own, first, beta.size)
                H += (outputs.T * (weight * (order - 2) * first / squares)) @ outputs
                g = squares ** (order / 2 - 1) @ outputs
                H += weight * (2 - order) * size ** (2 / order - 2) * np.outer(g, g)
            out = np.zeros((n, n))
            out[:-1, :-1] = M.T @ (M.T @ H).T / unit
            return out

        G = np.column_stack([np.array(gradients) @ M / unit, np.full(len(forms), -1.0)])
        return np.array(values) / unit - x[-1], G, curvature

    start = np.append(duals.start(), 0.0)
    start[-1] = functions(start)[0].max() + 1.0
    optimum, _ = minimise_smooth(
        functions,
        start,
        cones,
        duals.equalities(groups, 1),
        linear=np.append(duals.cost / unit, 1.0),
    )
    return optimum.shifted(-unit, 0.0)


@in_some_unit
def schatten(
    c: FloatArray,
    factors: Sequence[FloatArray],
    task: IntArray,
    C: float,
    q: float,
    *,
    epsilon: float | None = None,
    unit: float = 1.0,
) -> Optimum:
    r"""Return min ½ (Σ_j ||W_j||_tr^q)^{2/q} + losses, 1 ≤ q ≤ 2, an offset per task.

    The dual is solved, with 1/q + 1/q* = 1 and B_j = Σ_i β_i x_ij e_{t(i)}':
    max Σ_i … − ½ ||u||²_{q*} where u_j ≥ ||B_j||_op, as semidefinite cones.

    Parameters
    ----------
    c, C, epsilon, unit
        As for :func:`switched`.
    factors : sequence of ndarray of shape (N, D_j)
        Coordinates of the examples in each kernel.
    task : ndarray of shape (N,)
        Tasks 0 … T − 1.
    q : float
    """
    n_kernels, n_tasks = len(factors), int(task.max()) + 1
    own = [np.flatnonzero(task == t) for t in range(n_tasks)]
    grams = [[(rows, X[rows] @ X[rows].T) for rows in own] for X in factors]
    duals = Duals.of(c, C, epsilon, grams)
    # Variables v, u and, for q = 1, the largest u.
    n = duals.n + n_kernels + int(q == 1.0)
    cones = Cones(n)
    cones.box(duals.n, duals.most)
    for j, X in enumerate(factors):
        Z = in_span(X) / np.sqrt(unit)
        cones.semidefinite(
            spectral_cone(Z, task, n_tasks, duals.map, n, duals.n + j),
            np.zeros((Z.shape[1] + n_tasks) ** 2),
        )
    equalities = duals.equalities(task, n - duals.n)
    cost = np.concatenate([duals.cost / unit, np.zeros(n - duals.n)])
    if q in (1.0, 2.0):
        squared = np.zeros(n)
        squared[duals.n :] = 1.0
        if q == 1.0:
            squared[:-1] = 0.0
            below = sparse.eye_array(n_kernels, n, k=duals.n).toarray()
            below[:, -1] = -1.0
            cones.nonnegative(below, np.zeros(n_kernels))
        P = sparse.diags_array(squared)
        optimum, _ = minimise_quadratic(P, cost, cones, equalities)
        return optimum.shifted(-unit, 0.0)
    order = q / (q - 1.0)

    def functions(
        x: FloatArray,
    ) -> tuple[FloatArray, FloatArray, Callable[[FloatArray], FloatArray]]:
        u = x[duals.n :]
        if not (u > 0).all():
            raise FloatingPointError("outside of the domain")
        most = u.max()
        share = u / most
        size = np.sum(share**order)
        norm = most * size ** (1 / order)
        # ½||u||²: its gradient is ||u||^{2−q*} u^{q*−1}, in shares of the largest.
        slope = norm * (share / size ** (1 / order)) ** (order - 1)
        gradient = np.array(cost)
        gradient[duals.n :] = slope

        def curvature(z: FloatArray) -> FloatArray:
            direction = slope / norm
            H = (2 - order) * np.outer(direction, direction)
            H[np.diag_indices(n_kernels)] += (order - 1) * slope / u
            out = np.zeros((n, n))
            out[duals.n :, duals.n :] = z[0] * H
            return out

        value = 0.5 * norm**2 + cost @ x
        return np.array([value]), gradient[None], curvature

    start = np.concatenate([duals.start(), np.ones(n_kernels)])
    optimum, _ = minimise_smooth(functions, start, cones, equalities)
    return optimum.shifted(-unit, 0.0)


@in_some_unit
def related(
    y: FloatArray,
    grams: Sequence[FloatArray],
    C: float,
    p: float,
    *,
    loss: Literal["hinge", "logistic"] = "hinge",
    fit_intercept: bool = False,
    unit: float = 1.0,
) -> Optimum:
    r"""Return the least objective of multi-task kernel learning with ||θ||_p ≤ 1.

    The dual is solved, with q_m = β'K_mβ and 1/p + 1/p* = 1: max h(α) − ½ ||q||_{p*}
    over 0 ≤ α ≤ C, h(α) = 1'α for the hinge loss, and for the logistic loss
    −Σ_i [α_i log(α_i/C) + (C − α_i) log(1 − α_i/C)].

    Parameters
    ----------
    y : ndarray of shape (N,)
    grams : sequence of ndarray of shape (N, N)
    C, p : float
    loss : {"hinge", "logistic"}
    fit_intercept : bool
        One offset for all examples.
    unit : float
        As for :func:`switched`.
    """
    everyone = np.arange(y.size)
    duals = Duals.of(y, C, None, [[(everyone, K)] for K in grams])
    M, n = duals.map, y.size
    groups = np.zeros(n, dtype=np.intp) if fit_intercept else None
    is_largest = p == 1.0
    order = 1.0 if p == np.inf else np.inf if is_largest else p / (p - 1.0)

    def entropy(v: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return −h, its gradient and its second derivatives in v."""
        if loss == "hinge":
            return float(duals.cost @ v), duals.cost, np.zeros(n)
        a = v / duals.most
        if not ((a > 0) & (a < 1)).all():
            raise FloatingPointError("outside of the domain")
        value = C * float(np.sum(xlogy(a, a) + xlogy(1 - a, 1 - a)))
        slope = C * (np.log(a) - np.log1p(-a)) / duals.most
        return value, slope, C / (a * (1 - a)) / duals.most**2

    def functions(
        x: FloatArray,
    ) -> tuple[FloatArray, FloatArray, Callable[[FloatArray], FloatArray]]:
        v = x[:n]
        beta = M @ v
        outputs = np.array([K @ beta for K in grams])
        q = outputs @ beta
        h, dh, bend = entropy(v)
        if is_largest:
            values = np.append(h, 0.5 * q)
            values[0] += unit * x[n]
            values[1:] -= unit * x[n]
            G = np.column_stack(
                [np.vstack([dh, outputs @ M]), np.append(1.0, -np.ones(q.size)) * unit]
            )
        else:
            most = max(float(q.max()), 1e-300)
            share = q / most
            size = np.sum(share**order) ** (1 / order)
            theta = (share / size) ** (order - 1)
            values = np.array([h + 0.5 * most * size])
            G = (dh + (theta @ outputs) @ M)[None]

        def curvature(z: FloatArray) -> FloatArray:
            weights = z[1:] if is_largest else z[0] * theta
            H = np.tensordot(weights, np.asarray(grams), axes=1)
            if not is_largest and order > 1:
                scaled = outputs.T * ((order - 1) * z[0] * theta / np.maximum(q, 1e-30))
                g = theta @ outputs
                H = H + 2.0 * (scaled @ outputs)
                H -= 2.0 * (order - 1) * z[0] / (most * size) * np.outer(g, g)
            out = np.zeros((x.size, x.size))
            out[:n, :n] = M.T @ (M.T @ H).T + np.diag(z[0] * bend)
            return out / unit

        return values / unit, G / unit, curvature

    extra = int(is_largest)
    cones = Cones(n + extra)
    cones.box(n, duals.most)
    start = np.append(duals.start(), np.zeros(extra))
    if is_largest:
        start[n] = functions(start)[0][1:].max() + 1.0
    optimum, _ = minimise_smooth(
        functions, start, cones, duals.equalities(groups, extra)
    )
    return optimum.shifted(-unit, 0.0)
