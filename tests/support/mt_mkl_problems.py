"""Problems of multi-task multiple kernel learning, for the tests of their solvers."""

import cvxpy as cp
import numpy as np

from mtmkl.kernels.task_kernels import (
    graph_laplacian,
    single_task,
    task_clustering,
    union,
    unit_mean_diagonal,
)

SIZES = (9, 12, 7, 10)
CHAIN = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
KERNELS = [
    unit_mean_diagonal(R)
    for R in (
        single_task(4),
        graph_laplacian(CHAIN),
        task_clustering([[1, 1, 0, 0], [0, 0, 1, 1]], centre=0.1),
        union(4),
    )
]
LOSSES = ("hinge", "logistic")


def problem(seed=0, sizes=SIZES, d=5):
    """Return inputs, labels and tasks, whose weights are close in two pairs."""
    rng = np.random.default_rng(seed)
    n_tasks = len(sizes)
    task = np.repeat(np.arange(n_tasks), sizes)
    X = rng.standard_normal((task.size, d))
    W = rng.standard_normal((d, n_tasks // 2 + 1))[:, np.arange(n_tasks) // 2]
    W = W + 0.4 * rng.standard_normal((d, n_tasks))
    scores = np.einsum("ij,ji->i", X, W[:, task])
    y = np.where(scores + rng.standard_normal(task.size) > 0, 1.0, -1.0)
    order = rng.permutation(task.size)
    return X[order], y[order], task[order]


def on_one_map(kernels):
    return [(0, R) for R in kernels]


def root_of(R):
    """Return B of full column rank with BB' = R."""
    values, vectors = np.linalg.eigh(R)
    kept = values > 1e-10 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def optimum(maps, y, task, terms, C, p, loss="hinge", *, fit_intercept=False):
    """Return the minimum of Problem 1 and its weights by a general solver.

    W_m = V_m B_m' with B_m B_m' = R_m has ||W_m||²_{Q_m} = ||V_m||².
    """
    theta = cp.Variable(len(terms), nonneg=True)
    norms = cp.Variable(len(terms))
    constraints = [cp.norm(theta, p) <= 1]
    scores = cp.Variable() if fit_intercept else 0
    for m, (b, R) in enumerate(terms):
        B = root_of(R)
        V = cp.Variable((B.shape[1], maps[b].shape[1]))
        constraints.append(cp.quad_over_lin(V, theta[m]) <= norms[m])
        scores = scores + cp.sum(cp.multiply(B[task] @ V, maps[b]), axis=1)
    margins = cp.multiply(y, scores)
    losses = cp.pos(1 - margins) if loss == "hinge" else cp.logistic(-margins)
    value = cp.Problem(
        cp.Minimize(0.5 * cp.sum(norms) + C * cp.sum(losses)), constraints
    ).solve("CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return value, theta.value


def gram(maps, task, terms, theta):
    """Return the Gram matrix of Σ_m θ_m R_m[τ(i), τ(j)] k_m(x_i, x_j)."""
    return sum(
        weight * R[np.ix_(task, task)] * (maps[b] @ maps[b].T)
        for weight, (b, R) in zip(theta, terms, strict=True)
    )
