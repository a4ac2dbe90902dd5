"""The papers' algorithms as they are printed, in plain NumPy.

Subproblems that a paper leaves to a support vector machine or a quadratic program are
solved by scikit-learn (LIBSVM) or cvxopt, as a reader of the paper would.
"""

from collections.abc import Sequence

import numpy as np
from sklearn.svm import SVC, SVR

from mtmkl.typing import FloatArray, IntArray


def feature_learning(
    X: FloatArray, y: FloatArray, task: IntArray, gamma: float, n_iter: int
) -> float:
    """Algorithm 1 of Argyriou et al. (2008), ε halved from 1e-3; the objective."""
    tasks = [(X[task == t], y[task == t]) for t in range(int(task.max()) + 1)]
    d, epsilon = X.shape[1], 1e-3
    D = np.eye(d) / d
    W = np.zeros((d, len(tasks)))
    for _ in range(n_iter):
        before = W
        W = np.column_stack(
            [
                D @ A.T @ np.linalg.solve(A @ D @ A.T + gamma * np.eye(len(A)), b)
                for A, b in tasks
            ]
        )
        values, U = np.linalg.eigh(W @ W.T + epsilon * np.eye(d))
        roots = np.sqrt(np.maximum(values, 0.0))
        D = (U * (roots / roots.sum())) @ U.T
        if np.linalg.norm(W - before) <= 1e-4 * np.linalg.norm(W):
            epsilon = max(0.5 * epsilon, 1e-12)
    loss = sum(np.sum((b - A @ w) ** 2) for (A, b), w in zip(tasks, W.T, strict=True))
    return float(loss + gamma * np.linalg.norm(W, "nuc") ** 2)


def kernel_selection(
    labels: Sequence[FloatArray],
    grams: Sequence[FloatArray],
    C: float,
    alpha: float,
    n_sweeps: int,
) -> float:
    """Algorithm 1 of Jebara (2011), its programs by cvxopt; the dual objective.

    ``grams[t]`` has shape (D, n, n).
    """
    from cvxopt import matrix, solvers

    options = {"show_progress": False}
    beta = [np.zeros(y.size) for y in labels]
    outputs = [K @ b for K, b in zip(grams, beta, strict=True)]
    for _ in range(n_sweeps):
        for t, (y, K) in enumerate(zip(labels, grams, strict=True)):
            q = 0.5 * sum(o @ b for o, b in zip(outputs, beta, strict=True))
            log_g = np.log(alpha) - q
            small = np.abs(log_g) < 1e-8
            safe = np.where(small, 1.0, log_g)
            bend = np.where(small, 0.25, np.tanh(0.5 * safe) / (2 * safe))
            s = 1.0 / (1.0 + np.exp(np.minimum(log_g, 700.0)))
            o = outputs[t]
            Q = K.sum(axis=0) + (o.T * bend) @ o
            linear = y - s @ o + Q @ beta[t]
            n = y.size
            found = solvers.qp(
                matrix(Q * np.outer(y, y)),
                matrix(-y * linear),
                matrix(np.vstack([-np.eye(n), np.eye(n)])),
                matrix(np.append(np.zeros(n), np.full(n, C))),
                matrix(y[None]),
                matrix(0.0),
                options=options,
            )
            beta[t] = y * np.clip(np.array(found["x"]).ravel(), 0.0, C)
            outputs[t] = K @ beta[t]
    q = 0.5 * sum(o @ b for o, b in zip(outputs, beta, strict=True))
    linear = sum(y @ b for y, b in zip(labels, beta, strict=True))
    costs = np.logaddexp(np.log(alpha), q) - np.log1p(alpha)
    return float(linear - costs.sum())


def group_sharing(
    labels: Sequence[FloatArray],
    grams: Sequence[FloatArray],
    C: float,
    lam: float,
    n_rounds: int,
) -> float:
    """Algorithms 1 and 2 of Yousefi et al. (2015); the least objective seen.

    The alternation need not converge. ``grams[t]`` has shape (M, n, n).
    """
    T, M = len(labels), len(grams[0])
    theta, best = np.full((T, M), 1.0 / M), np.inf
    first, second = np.triu_indices(T, 1)
    for _ in range(n_rounds):
        q = np.empty_like(theta)
        value = lam * np.linalg.norm(theta[first] - theta[second], axis=1).sum()
        for t, (y, K) in enumerate(zip(labels, grams, strict=True)):
            own = np.tensordot(theta[t], K, axes=1)
            machine = SVC(C=C, kernel="precomputed", tol=1e-4).fit(own, y)
            beta = np.zeros(y.size)
            beta[machine.support_] = machine.dual_coef_[0]
            q[t] = -0.5 * (K @ beta) @ beta
            scores = own @ beta + machine.intercept_[0]
            value += -theta[t] @ q[t] + C * np.maximum(1.0 - y * scores, 0.0).sum()
        best = min(best, value)
        theta = _coupled_weights(q, lam, theta, first, second)
    return float(best)


def _coupled_weights(
    q: FloatArray, lam: float, theta: FloatArray, first: IntArray, second: IntArray
) -> FloatArray:
    """Minimise q·θ + λ Σ ||θ_t − θ_s|| over simplices by the method of multipliers."""
    rho = max(float(np.abs(q).max()), 1e-3)
    u = np.zeros((first.size, q.shape[1]))
    for _ in range(100):
        apart = theta[first] - theta[second] + u
        norms = np.linalg.norm(apart, axis=1, keepdims=True)
        s = np.maximum(1 - lam / rho / np.maximum(norms, 1e-300), 0) * apart
        u = apart - s
        pull = np.zeros_like(q)
        np.add.at(pull, first, s - u + theta[second])
        np.add.at(pull, second, -(s - u) + theta[first])
        pull = (pull - q / rho) / max(len(q) - 1, 1)
        theta = _on_simplex(0.5 * theta + 0.5 * pull)
    return theta


def _on_simplex(rows: FloatArray) -> FloatArray:
    ordered = -np.sort(-rows, axis=1)
    excess = (np.cumsum(ordered, axis=1) - 1) / np.arange(1, rows.shape[1] + 1)
    last = np.sum(ordered > excess, axis=1) - 1
    level = excess[np.arange(len(rows)), last]
    out: FloatArray = np.maximum(rows - level[:, None], 0.0)
    return out


def mixed_norm(
    targets: Sequence[FloatArray],
    grams: Sequence[FloatArray],
    C: float,
    p: float,
    epsilon: float,
    n_iter: int,
) -> float:
    """Mirror descent over γ of MK-MTFL (Jawanpuria and Nath 2011); the objective.

    Within, machines and λ take turns, as in section 3 of the paper; steps are 1/√i over
    the largest derivative, since the paper states none.
    """
    T, k = len(targets), len(grams[0])
    conjugate = p / (p - 2.0)
    gamma, best = np.full(k, 1.0 / k), np.inf
    lam = np.full((T, k), T ** (-1.0 / conjugate))
    for i in range(1, n_iter + 1):
        for _ in range(3):  # the machines, and λ from their duals, by turns
            norms, q, losses = np.empty((T, k)), np.empty((T, k)), 0.0
            for t, (y, K) in enumerate(zip(targets, grams, strict=True)):
                weights = gamma / lam[t]
                own = np.tensordot(weights, K, axes=1)
                machine = SVR(C=C, kernel="precomputed", epsilon=epsilon, tol=1e-4)
                machine.fit(own, y)
                beta = np.zeros(y.size)
                beta[machine.support_] = machine.dual_coef_[0]
                q[t] = np.maximum(0.5 * (K @ beta) @ beta, 1e-300)
                norms[t] = weights * np.sqrt(2.0 * q[t])
                scores = own @ beta + machine.intercept_[0]
                losses += C * np.maximum(np.abs(y - scores) - epsilon, 0.0).sum()
            total = np.linalg.norm(norms, p, axis=0)
            best = min(best, 0.5 * total.sum() ** 2 + losses)
            lam = np.maximum(q / q.max(axis=0), 1e-12) ** (1.0 / (conjugate + 1.0))
            lam /= np.linalg.norm(lam, conjugate, axis=0)
        slope = np.sum(q / lam, axis=0)
        gamma = gamma * np.exp(slope / (slope.max() * np.sqrt(i)))
        gamma = np.maximum(gamma / gamma.sum(), 1e-12)
        gamma /= gamma.sum()
    return float(best)


def mixed_schatten(
    targets: Sequence[FloatArray],
    features: Sequence[FloatArray],
    C: float,
    epsilon: float,
    n_iter: int,
) -> float:
    """Mirror descent over matrices of trace 1 (MK-MTSFL, one kernel); the objective."""
    d = features[0].shape[1]
    M, best = np.zeros((d, d)), np.inf
    for i in range(1, n_iter + 1):
        values, U = np.linalg.eigh(M)
        values = np.exp(values - values.max())
        Q = (U * (values / values.sum())) @ U.T
        W, losses = np.empty((d, len(targets))), 0.0
        B = np.empty((d, len(targets)))
        for t, (y, X) in enumerate(zip(targets, features, strict=True)):
            own = X @ Q @ X.T
            machine = SVR(C=C, kernel="precomputed", epsilon=epsilon, tol=1e-4)
            machine.fit(own, y)
            beta = np.zeros(y.size)
            beta[machine.support_] = machine.dual_coef_[0]
            B[:, t] = X.T @ beta
            scores = own @ beta + machine.intercept_[0]
            losses += C * np.maximum(np.abs(y - scores) - epsilon, 0.0).sum()
        W = Q @ B
        best = min(best, 0.5 * np.linalg.norm(W, "nuc") ** 2 + losses)
        largest = np.linalg.norm(B, 2) ** 2
        M = M + B @ B.T / (max(largest, 1e-300) * np.sqrt(i))
    return float(best)


def multi_task_mkl(
    y: FloatArray, grams: FloatArray, C: float, p: float, n_iter: int
) -> float:
    """Algorithm 1 of Widmer et al. (2015), its W step by LIBSVM; the objective.

    ``grams`` has shape (M, n, n); LIBSVM has an offset, and so has the problem.
    """
    theta, best = np.full(len(grams), len(grams) ** (-1.0 / p)), np.inf
    for _ in range(n_iter):
        own = np.tensordot(theta, grams, axes=1)
        machine = SVC(C=C, kernel="precomputed", tol=1e-5).fit(own, y)
        beta = np.zeros(y.size)
        beta[machine.support_] = machine.dual_coef_[0]
        norms = theta**2 * ((grams @ beta) @ beta)
        scores = own @ beta + machine.intercept_[0]
        losses = C * np.maximum(1.0 - y * scores, 0.0).sum()
        best = min(best, 0.5 * np.sum(norms / theta) + losses)
        # Equation (22).
        theta = np.maximum(norms, 1e-300) ** (1.0 / (p + 1.0))
        theta /= np.linalg.norm(theta, p)
    return float(best)
