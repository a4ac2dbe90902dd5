"""Support vector machines on switched or weighted kernels, by their duals.

============ ==========================================================================
function     problem
============ ==========================================================================
switched     Jebara (2011), sections 7 to 9 and 12: Σ_d log(α + exp q_d); with α = 0
             support vector machines on the sum of kernels
weighted     Yousefi et al. (2015), problem (2): kernel weights on simplices, coupled
             between tasks or shared
============ ==========================================================================
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse

from mtmkl.certify.cones import (
    Cones,
    Optimum,
    minimise_quadratic,
    minimise_smooth,
    root,
)
from mtmkl.certify.duals import Duals, Form, in_some_unit, products, total
from mtmkl.typing import FloatArray, IntArray


@in_some_unit
def switched(
    c: FloatArray,
    forms: Sequence[Form],
    groups: IntArray | None,
    C: float,
    log_alpha: float = -np.inf,
    *,
    epsilon: float | None = None,
    squared: bool = False,
    common: Form = (),
    unit: float = 1.0,
) -> Optimum:
    r"""Return max c'β − ε|β|₁ − q_0(β) − Σ_d log(α + exp q_d(β)) + D log(1 + α).

    Parameters
    ----------
    c : ndarray of shape (N,)
        Labels ±1, or targets.
    forms : sequence of forms
        q_d.
    groups : ndarray of shape (N,) or None
        Whose examples share an offset; None without offsets.
    C : float
        0 ≤ y_i β_i ≤ C, or |β_i| ≤ C with ε.
    log_alpha : float
        log α; −∞ makes it a quadratic program.
    epsilon : float, optional
        Of the ε-insensitive loss.
    squared : bool
        The loss r²/2 instead: no bounds, and ``||β||²/2C`` less.
    common : form
        q_0, without a switch.
    unit : float
        In which the objective is minimised.
    """
    n = c.size
    if squared:
        # β = map·v in units of C times the largest target, a scale of its optimum.
        size = min(C, 1.0) * max(float(np.abs(c).max()), 1e-300)
        duals = Duals(sparse.csr_array(size * sparse.eye_array(n)), -size * c, np.inf)
    else:
        duals = Duals.of(c, C, epsilon, [*forms, common])
    M = duals.map
    cones = Cones(duals.n)
    if not squared:
        cones.box(duals.n, duals.most)
    fixed = total([common], np.ones(1), n)
    if squared:
        fixed += np.eye(n) / C
    equalities = duals.equalities(groups)
    if log_alpha == -np.inf:
        Q = fixed + total(forms, np.ones(len(forms)), n)
        P = M.T @ (M.T @ Q).T
        optimum, _ = minimise_quadratic(P / unit, duals.cost / unit, cones, equalities)
        return optimum.shifted(-unit, 0.0)

    def functions(
        v: FloatArray,
    ) -> tuple[FloatArray, FloatArray, Callable[[FloatArray], FloatArray]]:
        beta = M @ v
        outputs = np.array([products(form, beta) for form in forms])
        q = 0.5 * outputs @ beta
        on = np.exp(-np.logaddexp(0.0, log_alpha - q))
        base = fixed @ beta
        costs = np.logaddexp(log_alpha, q) - np.logaddexp(0.0, log_alpha)
        value = costs.sum() + 0.5 * beta @ base + duals.cost @ v
        gradient = M.T @ (base + on @ outputs) + duals.cost

        def curvature(z: FloatArray) -> FloatArray:
            bend = (outputs.T * (on * (1.0 - on))) @ outputs
            H = fixed + total(forms, on, n) + bend
            out: FloatArray = z[0] / unit * (M.T @ (M.T @ H).T)
            return out

        return np.array([value]) / unit, gradient[None] / unit, curvature

    start = duals.start() if not squared else np.zeros(n)
    optimum, _ = minimise_smooth(functions, start, cones, equalities)
    return optimum.shifted(-unit, 0.0)


@in_some_unit
def weighted(
    c: FloatArray,
    forms: Sequence[Sequence[Form]],
    groups: IntArray | None,
    C: float,
    lam: float = 0.0,
    *,
    epsilon: float | None = None,
    unit: float = 1.0,
) -> Optimum:
    r"""Return min over θ of the machines' values plus λ Σ_{b<c} ||θ_b − θ_c||.

    θ_b ≥ 0 with 1'θ_b ≤ 1 weighs the kernels of block b, a task, or all tasks that
    share their weights. The dual is solved, a linear program over second-order cones,

        max Σ_i … − Σ_b u_b,  q_bm(β) ≤ u_b + (pull of the others on b)_m,  u_b ≥ 0,

    with a force f_bc, ||f_bc|| ≤ λ, that pulls b one way and c the other.

    Parameters
    ----------
    c, groups, C, epsilon, unit
        As for :func:`switched`.
    forms : sequence of sequences of forms
        ``forms[b][m]``.
    lam : float
        λ.
    """
    duals = Duals.of(c, C, epsilon, [form for own in forms for form in own])
    n_blocks, n_kernels = len(forms), len(forms[0])
    pairs = [(b, o) for o in range(n_blocks) for b in range(o)] if lam > 0 else []
    first_u = duals.n
    first_force = first_u + n_blocks
    n = first_force + len(pairs) * n_kernels
    cones = Cones(n)
    cones.box(duals.n, duals.most)
    cones.nonnegative(-sparse.eye_array(n_blocks, n, k=first_u), np.zeros(n_blocks))
    for b in range(n_blocks):
        for m in range(n_kernels):
            # ½||x||² ≤ a is the cone ||(x, a − ½)|| ≤ a + ½; in units of the objective
            # for a, and x with them.
            x = _rooted(forms[b][m], duals, c.size) / np.sqrt(unit)
            a = np.zeros(n)
            a[first_u + b] = 1.0
            for k, pair in enumerate(pairs):
                if b in pair:
                    a[first_force + k * n_kernels + m] = 1.0 if b == pair[0] else -1.0
            wide = sparse.hstack([x, sparse.coo_array((x.shape[0], n - duals.n))])
            cones.second_order(
                sparse.vstack([-a[None], -a[None], -wide]),
                np.concatenate([[0.5, -0.5], np.zeros(x.shape[0])]),
            )
    for k in range(len(pairs)):
        force = sparse.eye_array(n_kernels, n, k=first_force + k * n_kernels)
        cones.second_order(
            sparse.vstack([sparse.coo_array((1, n)), -force]),
            np.concatenate([[lam / unit], np.zeros(n_kernels)]),
        )
    cost = np.zeros(n)
    cost[: duals.n] = duals.cost / unit
    cost[first_u:first_force] = 1.0
    optimum, _ = minimise_quadratic(
        None, cost, cones, duals.equalities(groups, n - duals.n)
    )
    return optimum.shifted(-unit, 0.0)


def _rooted(form: Form, duals: Duals, n: int) -> sparse.csr_array:
    """Return the matrix A with ||Av||² = β'Kβ."""
    parts = []
    for rows, K in form:
        R = root(K)
        wide = np.zeros((R.shape[1], n))
        wide[:, rows] = R.T
        parts.append(sparse.csr_array(wide))
    return sparse.csr_array(sparse.vstack(parts) @ duals.map)
