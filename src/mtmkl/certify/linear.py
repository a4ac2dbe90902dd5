"""Penalised least squares of many tasks, and sparse logistic regression.

Tasks are numbers 0 … T − 1, the columns of W (d × T); the loss is Σ_i (y_i − x_i'w_t)²,
t the task of example i, unless something else is said. Each function returns the least
value of its problem.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.special import expit

from mtmkl.certify.cones import (
    Cones,
    Optimum,
    in_span,
    minimise_quadratic,
    minimise_smooth,
    of_all,
    spectral_cone,
)
from mtmkl.typing import FloatArray, IntArray


def squared_norm(
    X: FloatArray,
    y: FloatArray,
    task: IntArray,
    gamma: float,
    penalty: Literal["trace", "rows", "deviations"],
    *,
    fit_intercept: bool = False,
) -> Optimum:
    r"""Return min loss + γΩ(W)² (Argyriou et al. 2008; RR-Het).

    Ω is the trace norm of W, the sum of its row norms, or the trace norm of the tasks'
    deviations from their mean. The dual is solved, with B = Σ_i a_i x_i e_t(i)',

        max y'a − ||a||²/4 − Ω°(B)²/4γ,

    Ω° the largest singular value of B or its largest row norm; with a free mean B1 = 0,
    with offsets the a of each task sum to 0.
    """
    n, n_tasks = y.size, int(task.max()) + 1
    if penalty != "rows":
        X = in_span(X)
    d = X.shape[1]
    # In units in which targets and inputs are about 1.
    size, inputs = _size(y), _size(X)
    y, X, gamma = y / size, X / inputs, gamma / inputs**2
    P = sparse.diags_array(np.append(np.full(n, 0.5), 0.5 / gamma))
    cones = Cones(n + 1)
    if penalty == "rows":
        for feature in range(d):
            B = sparse.coo_array((-X[:, feature], (1 + task, np.arange(n))))
            G = sparse.lil_array((1 + n_tasks, n + 1))
            G[:, :n] = B
            G[0, n] = -1.0
            cones.second_order(G, np.zeros(1 + n_tasks))
    else:
        eye = sparse.eye_array(n, format="csr")
        G = spectral_cone(X, task, n_tasks, eye, n + 1, n)
        cones.semidefinite(G, np.zeros((d + n_tasks) ** 2))
    equalities = []
    if penalty == "deviations":
        equalities.append(X.T)
    if fit_intercept:
        equalities.append(np.equal.outer(np.arange(n_tasks), task).astype(float))
    rows = np.pad(np.vstack(equalities), ((0, 0), (0, 1))) if equalities else None
    optimum, _ = minimise_quadratic(P, np.append(-y, 0.0), cones, rows)
    return optimum.shifted(-(size**2), 0.0)


def ridge(
    X: FloatArray,
    y: FloatArray,
    task: IntArray,
    gamma: FloatArray,
    *,
    fit_intercept: bool = False,
) -> Optimum:
    """Return min loss + Σ_t γ_t ||w_t||², with γ of shape (T,)."""
    size, inputs = _size(y), _size(X)
    y, X, gamma = y / size, X / inputs, gamma / inputs**2
    optima = []
    for t, weight in enumerate(gamma):
        own = task == t
        Z = np.column_stack([X[own], np.ones(own.sum())]) if fit_intercept else X[own]
        penalty = np.full(Z.shape[1], weight)
        penalty[X.shape[1] :] = 0.0
        P, q = 2.0 * (Z.T @ Z + np.diag(penalty)), -2.0 * Z.T @ y[own]
        optimum, _ = minimise_quadratic(P, q, Cones(q.size))
        optima.append(optimum.shifted(size**2, size**2 * float(y[own] @ y[own])))
    return of_all(optima)


def flexible_clusters(
    X: FloatArray,
    y: FloatArray,
    task: IntArray,
    weights: tuple[float, float, float],
) -> Optimum:
    """Return the minimum of Zhong and Kwok (2012) in W = U + V.

    loss + λ₁ Σ_d Σ_{i<j} |u_di − u_dj| + λ₂ ||U||² + λ₃ ||V||²
    """
    T, d = int(task.max()) + 1, X.shape[1]
    pairs = list(combinations(range(T), 2))
    # u (T × d), v (T × d), and the distances of each pair.
    n = 2 * T * d + len(pairs) * d
    loss, q = _loss(X, y, task)
    both = sparse.hstack([sparse.eye_array(T * d)] * 2)
    P = sparse.lil_array((n, n))
    P[: 2 * T * d, : 2 * T * d] = both.T @ loss @ both + 2.0 * sparse.diags_array(
        np.repeat(weights[1:], T * d)
    )
    cost = np.concatenate([both.T @ q, np.full(len(pairs) * d, weights[0])])
    cones, eye = Cones(n), np.eye(d)
    for k, (i, j) in enumerate(pairs):
        for sign in (1.0, -1.0):
            G = np.zeros((d, n))
            G[:, i * d : (i + 1) * d] = sign * eye
            G[:, j * d : (j + 1) * d] = -sign * eye
            G[:, 2 * T * d + k * d : 2 * T * d + (k + 1) * d] = -eye
            cones.nonnegative(G, np.zeros(d))
    optimum, _ = minimise_quadratic(sparse.coo_array(P), cost, cones)
    return optimum.shifted(1.0, float(y @ y))


def clustered_tasks(
    X: FloatArray,
    y: FloatArray,
    task: IntArray,
    lam: float,
    r: int,
    *,
    epsilon_mean: float,
    epsilon_between: float,
    epsilon_within: float,
) -> Optimum:
    r"""Return the minimum of Jacob et al. (2008) in W and S.

    loss + λ (ε_M T ||w̄||² + Σ_d a_d' S⁻¹ a_d), a_d the rows of WΠ, with
    I/ε_W ⪯ S ⪯ I/ε_B and tr S as in :class:`mtmkl.methods.CMTL`.
    """
    T, d = int(task.max()) + 1, X.shape[1]
    if r == 1:
        # S = I/ε_W is all there is, and has no interior.
        return _one_cluster(X, y, task, lam, epsilon_mean, epsilon_within)
    symmetric = [(i, j) for i in range(T) for j in range(i + 1)]
    # w (T × d), the lower triangle of S, and the value of each row's term.
    first_s = T * d
    first_h = first_s + len(symmetric)
    n = first_h + d
    loss, q = _loss(X, y, task)
    mean = sparse.hstack([sparse.eye_array(d)] * T) / T
    P = sparse.lil_array((n, n))
    P[: T * d, : T * d] = loss + 2.0 * lam * epsilon_mean * T * (mean.T @ mean)
    cost = np.concatenate([q, np.zeros(len(symmetric)), np.full(d, lam)])
    cones = Cones(n)
    S = sparse.lil_array((T * T, n))
    for k, (i, j) in enumerate(symmetric):
        S[i + T * j, first_s + k] = S[j + T * i, first_s + k] = 1.0
    eye = np.eye(T)
    cones.semidefinite(-S, -eye.ravel() / epsilon_within)
    cones.semidefinite(S, eye.ravel() / epsilon_between)
    centre = eye - 1.0 / T
    for feature in range(d):
        # [[S, a], [a', h]]
        G = sparse.lil_array(((T + 1) ** 2, n))
        for k, (i, j) in enumerate(symmetric):
            G[i + (T + 1) * j, first_s + k] = G[j + (T + 1) * i, first_s + k] = -1.0
        for i in range(T):
            for t in range(T):
                for at in (i + (T + 1) * T, T + (T + 1) * i):
                    G[at, t * d + feature] = -centre[i, t]
        G[(T + 1) ** 2 - 1, first_h + feature] = -1.0
        cones.semidefinite(G, np.zeros((T + 1) ** 2))
    trace = np.zeros((1, n))
    for k, (i, j) in enumerate(symmetric):
        trace[0, first_s + k] = float(i == j)
    total = (T - r + 1) / epsilon_within + (r - 1) / epsilon_between
    optimum, _ = minimise_quadratic(
        sparse.coo_array(P), cost, cones, trace, np.array([total])
    )
    return optimum.shifted(1.0, float(y @ y))


def _one_cluster(
    X: FloatArray,
    y: FloatArray,
    task: IntArray,
    lam: float,
    epsilon_mean: float,
    epsilon_within: float,
) -> Optimum:
    """Return min loss + λ(ε_M T ||w̄||² + ε_W Σ_t ||w_t − w̄||²)."""
    T, d = int(task.max()) + 1, X.shape[1]
    loss, q = _loss(X, y, task)
    mean = np.full((T, T), 1.0 / T)
    weights = epsilon_mean * mean + epsilon_within * (np.eye(T) - mean)
    P = loss + 2.0 * lam * sparse.kron(weights, sparse.eye_array(d))
    optimum, _ = minimise_quadratic(P.toarray(), q, Cones(q.size))
    return optimum.shifted(1.0, float(y @ y))


def level_groups(
    X: FloatArray,
    y: FloatArray,
    task: IntArray,
    weights: Sequence[float],
    *,
    mean_weight: float = 1e-6,
) -> Optimum:
    r"""Return the minimum of Han and Zhang (2015) on all levels.

    With W = Σ_h W_h: loss + Σ_h λ_h Σ_{i<j} ||w_hi − w_hj|| + δ Σ_h T ||w̄_h||², δ the
    weight of the means.
    """
    T, d = int(task.max()) + 1, X.shape[1]
    H = len(weights)
    pairs = list(combinations(range(T), 2))
    n = H * T * d + H * len(pairs)
    loss, q = _loss(X, y, task)
    summed = sparse.hstack([sparse.eye_array(T * d)] * H)
    mean = sparse.hstack([sparse.eye_array(d)] * T) / T
    means = sparse.kron(sparse.eye_array(H), mean.T @ mean)
    P = sparse.lil_array((n, n))
    P[: H * T * d, : H * T * d] = (
        summed.T @ loss @ summed + 2.0 * mean_weight * T * means
    )
    cost = np.concatenate([summed.T @ q, np.repeat(weights, len(pairs))])
    cones, eye = Cones(n), np.eye(d)
    for h in range(H):
        for k, (i, j) in enumerate(pairs):
            G = np.zeros((1 + d, n))
            G[0, H * T * d + h * len(pairs) + k] = -1.0
            first = h * T * d
            G[1:, first + i * d : first + (i + 1) * d] = eye
            G[1:, first + j * d : first + (j + 1) * d] = -eye
            cones.second_order(G, np.zeros(1 + d))
    optimum, _ = minimise_quadratic(sparse.coo_array(P), cost, cones)
    return optimum.shifted(1.0, float(y @ y))


def sparse_logistic(X: FloatArray, y: FloatArray, alpha: float) -> Optimum:
    """Return min Σ_i log(1 + exp z_i) − y_i z_i + α ||w||₁, z = Xw + b, y 0 or 1."""
    n, d = X.shape
    wide = np.column_stack([X, np.ones(n), np.zeros((n, d))])  # w, b, |w|
    cones, eye = Cones(2 * d + 1), np.eye(d)
    for sign in (1.0, -1.0):
        cones.nonnegative(np.column_stack([sign * eye, np.zeros(d), -eye]), np.zeros(d))

    def functions(
        x: FloatArray,
    ) -> tuple[FloatArray, FloatArray, Callable[[FloatArray], FloatArray]]:
        z = wide @ x
        value = np.logaddexp(0.0, z).sum() - y @ z + alpha * x[d + 1 :].sum()
        gradient = wide.T @ (expit(z) - y)
        gradient[d + 1 :] += alpha

        def curvature(weight: FloatArray) -> FloatArray:
            bend = weight[0] * expit(z) * expit(-z)
            out: FloatArray = (wide.T * bend) @ wide
            return out

        return np.array([value]), gradient[None], curvature

    start = np.append(np.zeros(d + 1), np.ones(d))
    return minimise_smooth(functions, start, cones)[0]


def _loss(
    X: FloatArray, y: FloatArray, task: IntArray
) -> tuple[sparse.coo_array, FloatArray]:
    """Return P and q of the loss, but for ||y||², over w_1, …, w_T one by one."""
    parts = [X[task == t] for t in range(int(task.max()) + 1)]
    P = sparse.block_diag([2.0 * Z.T @ Z for Z in parts])
    q = [-2.0 * Z.T @ y[task == t] for t, Z in enumerate(parts)]
    return sparse.coo_array(P), np.concatenate(q)


def _size(values: FloatArray) -> float:
    """Return a positive root mean square."""
    return float(np.sqrt(np.mean(values**2))) or 1.0
