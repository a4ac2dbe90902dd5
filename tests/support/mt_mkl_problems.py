"""Problems of multi-task multiple kernel learning, for the tests of their solvers."""

import numpy as np
from bounds import assert_between

from mtmkl.certify.kernel_problems import multi_task_mkl
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
    """Return features, labels and tasks, whose weights are close in two pairs."""
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


def assert_optimal(certificate, theta, stated):
    """Assert that a certificate and weights are those of a stated problem's optimum."""
    assert_between(certificate, stated, 1e-9)
    np.testing.assert_allclose(theta, stated.var_dict["theta"].value, atol=1e-4)


def problem_1(maps, y, task, terms, C, p, loss="hinge", **options):
    """State Problem 1."""
    return multi_task_mkl(y, matrices(maps, task, terms), C, p, loss, **options)


def matrices(maps, task, terms):
    """Return the Gram matrix of each term."""
    return [gram(maps, task, [term], [1.0]) for term in terms]


def gram(maps, task, terms, theta):
    """Return the Gram matrix of Σ_m θ_m R_m[τ(i), τ(j)] k_m(x_i, x_j)."""
    return sum(
        weight * R[np.ix_(task, task)] * (maps[b] @ maps[b].T)
        for weight, (b, R) in zip(theta, terms, strict=True)
    )
