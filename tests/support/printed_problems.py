"""The convex problems as papers and docstrings print them, by an interior point.

Each function returns the optimal value first. Gram matrices are lists of one list of
matrices per task; tasks of linear problems are the columns of W.
"""

import cvxpy as cp
import numpy as np

PRECISE = {
    "solver": cp.CLARABEL,
    "tol_gap_abs": 1e-9,
    "tol_gap_rel": 1e-9,
    "tol_feas": 1e-9,
}


def square_root(K):
    """Return R with RR' = K, without the directions of eigenvalue 0."""
    values, vectors = np.linalg.eigh(K)
    keep = values > 1e-12 * values[-1]
    return vectors[:, keep] * np.sqrt(values[keep])


def _solve(objective, constraints=(), unit=1.0):
    """Minimise, with the unit in which the solver sees the objective."""
    problem = cp.Problem(cp.Minimize(objective / unit), list(constraints))
    problem.solve(**PRECISE)
    return problem.value * unit


def _switch_costs(q, alpha):
    if alpha == 0:
        return sum(q)
    costs = sum(cp.log_sum_exp(cp.hstack([np.log(alpha), each])) for each in q)
    return costs - len(q) * np.log1p(alpha)


def kernel_selection(targets, grams, C, alpha, epsilon=None, unit=1.0):
    """Dual of Jebara (2011), sections 7 and 9; return its value and the q_d."""
    beta = [cp.Variable(len(y)) for y in targets]
    constraints = [cp.sum(b) == 0 for b in beta]
    linear = sum(y @ b for y, b in zip(targets, beta, strict=True))
    for y, b in zip(targets, beta, strict=True):
        if epsilon is None:
            constraints += [cp.multiply(y, b) >= 0, cp.multiply(y, b) <= C]
        else:
            constraints += [cp.abs(b) <= C]
            linear = linear - epsilon * cp.norm1(b)
    q = [
        0.5
        * sum(
            cp.sum_squares(square_root(K[d]).T @ b)
            for K, b in zip(grams, beta, strict=True)
        )
        for d in range(len(grams[0]))
    ]
    value = _solve(_switch_costs(q, alpha) - linear, constraints, unit)
    return -value, np.array([each.value for each in q])


def squared_selection(targets, grams, C, alpha, unit=1.0):
    """Its dual with the cost (C/2) Σ r²; return its value and the q_d."""
    beta = [cp.Variable(len(y)) for y in targets]
    linear = sum(y @ b for y, b in zip(targets, beta, strict=True))
    squares = sum(cp.sum_squares(b) for b in beta) / (2 * C)
    q = [
        0.5
        * sum(
            cp.sum_squares(square_root(K[d]).T @ b)
            for K, b in zip(grams, beta, strict=True)
        )
        for d in range(len(grams[0]))
    ]
    value = _solve(
        _switch_costs(q, alpha) + squares - linear, [cp.sum(b) == 0 for b in beta], unit
    )
    return -value, np.array([each.value for each in q])


def kernel_selection_primal(targets, grams, C, alpha):
    """Primal of section 7 in the KL form; return its value and the switches."""
    n_kernels, rho = len(grams[0]), 1 / (1 + alpha)
    s = cp.Variable(n_kernels)
    objective = cp.sum(
        -cp.entr(s) - cp.entr(1 - s) - s * np.log(rho) - (1 - s) * np.log(1 - rho)
    )
    for t, y in enumerate(targets):
        f = cp.Variable()
        for d in range(n_kernels):
            root = square_root(grams[t][d])
            theta = cp.Variable(root.shape[1])
            f = f + root @ theta
            objective += 0.5 * cp.quad_over_lin(theta, s[d])
        objective += C * cp.sum(cp.pos(1 - cp.multiply(y, f)))
    return _solve(objective), s.value


def adaptive_pooling(y, communal, specialised, C, alpha, unit=1.0):
    """Dual of Jebara (2011), section 8; return its value and the q_t."""
    beta = cp.Variable(len(y))
    ends = np.cumsum([0, *map(len, specialised)])
    constraints = [cp.multiply(y, beta) >= 0, cp.multiply(y, beta) <= C]
    q = []
    for t, K in enumerate(specialised):
        own = beta[ends[t] : ends[t + 1]]
        constraints.append(cp.sum(own) == 0)
        q.append(0.5 * cp.sum_squares(square_root(K).T @ own))
    common = 0.5 * cp.sum_squares(square_root(communal).T @ beta)
    value = _solve(common + _switch_costs(q, alpha) - y @ beta, constraints, unit)
    return -value, np.array([each.value for each in q])


def group_sharing(labels, grams, C, lam, *, is_shared=False, unit=1.0):
    """Problem (2) of Yousefi et al. (2015); return its value and the weights.

    With ``is_shared`` all tasks have the same weights.
    """
    n_tasks, n_kernels = len(labels), len(grams[0])
    rows = cp.Variable((1 if is_shared else n_tasks, n_kernels), nonneg=True)
    theta = np.ones((n_tasks, 1)) @ rows if is_shared else rows
    norms = cp.Variable((n_tasks, n_kernels))
    value, constraints = 0.5 * cp.sum(norms), [cp.sum(rows, axis=1) <= 1]
    for t, y in enumerate(labels):
        scores = cp.Variable()
        for m in range(n_kernels):
            root = square_root(grams[t][m])
            w = cp.Variable(root.shape[1])
            constraints.append(cp.quad_over_lin(w, theta[t, m]) <= norms[t, m])
            scores = scores + root @ w
        value += C * cp.sum(cp.pos(1 - cp.multiply(y, scores)))
    for t in range(n_tasks):
        for s in range(t):
            value += lam * cp.norm(theta[t] - theta[s])
    return _solve(value, constraints, unit), theta.value


def multi_task_mkl(y, grams, C, p, loss="hinge", *, fit_intercept=False, unit=1.0):
    """Problem 1 of Widmer et al. (2015) on one matrix per term, over all examples.

    Return its value and the weights. W_m = V_m B_m' with B_m B_m' = R_m has
    ||W_m||²_{Q_m} = ||V_m||², so that a root of the matrix stands for the term.
    """
    theta = cp.Variable(len(grams), nonneg=True)
    norms = cp.Variable(len(grams))
    constraints = [cp.norm(theta, p) <= 1]
    scores = cp.Variable() if fit_intercept else 0
    for m, K in enumerate(grams):
        root = square_root(K)
        w = cp.Variable(root.shape[1])
        constraints.append(cp.quad_over_lin(w, theta[m]) <= norms[m])
        scores = scores + root @ w
    margins = cp.multiply(y, scores)
    losses = cp.pos(1 - margins) if loss == "hinge" else cp.logistic(-margins)
    value = 0.5 * cp.sum(norms) + C * cp.sum(losses)
    return _solve(value, constraints, unit), theta.value


def logistic(X, y, alpha, unit=1.0):
    """L1-penalised logistic regression with a free offset, for y of 0 and 1."""
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    z = X @ w + b
    return _solve(cp.sum(cp.logistic(z)) - y @ z + alpha * cp.norm1(w), unit=unit)


def _pairs(W):
    return [W[:, i] - W[:, j] for i in range(W.shape[1]) for j in range(i)]


def _loss(X, y, task, W):
    return sum(
        cp.sum_squares(y[task == t] - X[task == t] @ W[:, t])
        for t in range(task.max() + 1)
    )


def squared_norm(X, y, task, gamma, penalty, unit=1.0):
    """Squared loss + γΩ²; Ω by "trace", "rows" or "deviations"."""
    T = task.max() + 1
    W = cp.Variable((X.shape[1], T))
    if penalty == "rows":
        norm = cp.sum(cp.norm(W, 2, axis=1))
    else:
        norm = cp.normNuc(W if penalty == "trace" else W @ (np.eye(T) - 1 / T))
    return _solve(_loss(X, y, task, W) + gamma * cp.square(norm), unit=unit)


def ridge(X, y, task, gamma, unit=1.0):
    """Squared loss + γ||W||_F²."""
    W = cp.Variable((X.shape[1], task.max() + 1))
    return _solve(_loss(X, y, task, W) + gamma * cp.sum_squares(W), unit=unit)


def flexible_clusters(X, y, task, weights, unit=1.0):
    """Problem of Zhong and Kwok (2012) with the weights (λ₁, λ₂, λ₃)."""
    T, d = task.max() + 1, X.shape[1]
    U, V = cp.Variable((d, T)), cp.Variable((d, T))
    penalty = weights[0] * sum(cp.norm1(pair) for pair in _pairs(U))
    penalty += weights[1] * cp.sum_squares(U) + weights[2] * cp.sum_squares(V)
    return _solve(_loss(X, y, task, U + V) + penalty, unit=unit)


def clustered_tasks(
    X, y, task, lam, r, *, epsilon_mean, epsilon_between, epsilon_within, unit=1.0
):
    """Problem of Jacob et al. (2008), in W and S jointly.

    tr(A S⁻¹ A') ≤ tr H with [[H, A], [A', S]] ⪰ 0, A = WΠ; A may be replaced by its
    rows in any rotation, so H is d × d.
    """
    T, d = task.max() + 1, X.shape[1]
    W, S = cp.Variable((d, T)), cp.Variable((T, T), symmetric=True)
    A = W @ (np.eye(T) - 1 / T)
    H = cp.Variable((d, d), symmetric=True)
    mean = cp.sum(W, axis=1) / T
    penalty = epsilon_mean * T * cp.sum_squares(mean) + cp.trace(H)
    constraints = [
        cp.bmat([[H, A], [A.T, S]]) >> 0,
        S >> np.eye(T) / epsilon_within,
        np.eye(T) / epsilon_between >> S,
        cp.trace(S) == (T - r + 1) / epsilon_within + (r - 1) / epsilon_between,
    ]
    return _solve(_loss(X, y, task, W) + lam * penalty, constraints, unit)


def level_groups(X, y, task, lam, phi, n_levels, ridge=1e-6, unit=1.0):
    """Problem of Han and Zhang (2015) on all levels."""
    T, d = task.max() + 1, X.shape[1]
    levels = [cp.Variable((d, T)) for _ in range(n_levels)]
    value = _loss(X, y, task, sum(levels))
    for h, level in enumerate(levels):
        value += lam / phi**h * sum(cp.norm(pair, 2) for pair in _pairs(level))
        value += ridge * T * cp.sum_squares(cp.sum(level, axis=1) / T)
    return _solve(value, unit=unit)


def _task_losses(targets, scores, C, epsilon):
    """Return C times the hinge or ε-insensitive losses of all tasks."""
    total = 0.0
    for y, f in zip(targets, scores, strict=True):
        excess = 1 - cp.multiply(y, f) if epsilon is None else cp.abs(y - f) - epsilon
        total += C * cp.sum(cp.pos(excess))
    return total


def mixed_norm(targets, grams, C, p, epsilon=None, unit=1.0):
    """MK-MTFL of Jawanpuria and Nath (2011), its first printed problem.

    Return its value and the norms of w_tj, (T, k).
    """
    n_tasks, n_kernels = len(targets), len(grams[0])
    norms = cp.Variable((n_tasks, n_kernels))
    constraints, scores = [], []
    for t in range(n_tasks):
        f = cp.Variable()
        for j in range(n_kernels):
            root = square_root(grams[t][j])
            w = cp.Variable(root.shape[1])
            constraints.append(cp.norm(w) <= norms[t, j])
            f = f + root @ w
        scores.append(f)
    penalty = cp.sum(cp.hstack([cp.norm(norms[:, j], p) for j in range(n_kernels)]))
    losses = _task_losses(targets, scores, C, epsilon)
    value = _solve(0.5 * cp.square(penalty) + losses, constraints, unit)
    return value, norms.value


def mixed_schatten(targets, grams, task, C, q, epsilon=None, unit=1.0):
    """MK-MTSFL of Jawanpuria and Nath (2011) in W_j = L_j W'_j, with trace norms.

    Gram matrices are of all examples. Return its value and the trace norms, (k,).
    """
    n_tasks = task.max() + 1
    roots = [square_root(K) for K in grams]
    W = [cp.Variable((root.shape[1], n_tasks)) for root in roots]
    norms = cp.hstack([cp.normNuc(each) for each in W])
    scores = [
        cp.Variable()
        + sum(root[task == t] @ each[:, t] for root, each in zip(roots, W, strict=True))
        for t in range(n_tasks)
    ]
    split = [targets[task == t] for t in range(n_tasks)]
    losses = _task_losses(split, scores, C, epsilon)
    value = _solve(0.5 * cp.square(cp.norm(norms, q)) + losses, unit=unit)
    return value, np.array([np.linalg.norm(each.value, "nuc") for each in W])
