"""Task kernels: relations between tasks, as matrices over them.

Each function returns a symmetric positive semi-definite matrix R of shape (T, T), the
Q^{-1} of [1]_, or a list of such matrices, one per term of a multi-task kernel sum
Σ_m θ_m R_m[s,t] k_m(x, z); T is the parameter ``n_tasks``, where there is one. An entry
of 0 keeps two tasks apart; a matrix of ones pools them. Penalties on W correspond to
their (pseudo-)inverse Q, by ½ tr(W Q W').

Those of a configuration file are made by :mod:`mtmkl.kernels.task_kernel_specs`.

References
----------
.. [1] C. Widmer, M. Kloft, V. T. Sreedharan and G. Rätsch, Framework for multi-task
   multiple kernel learning and applications in genome analysis, arXiv:1506.09153, 2015.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mtmkl.checks import check_not_negative, check_positive
from mtmkl.kernels.gram import check_task_kernel
from mtmkl.kernels.task_trees import clusters
from mtmkl.typing import FloatArray


def single_task(n_tasks: int) -> FloatArray:
    """Return the identity: tasks apart, each with the same kernel weight (Dirac)."""
    return np.eye(n_tasks)


def each_task(n_tasks: int) -> list[FloatArray]:
    """Return one matrix per task, e_t e_t': tasks apart, each with its own weight."""
    return [np.diag(row) for row in np.eye(n_tasks)]


def union(n_tasks: int) -> FloatArray:
    """Return the matrix of ones: all tasks pooled (the uniform kernel)."""
    return np.ones((n_tasks, n_tasks))


def dirac_uniform(n_tasks: int) -> list[FloatArray]:
    """Return the identity and the matrix of ones, a weight each [1]_.

    References
    ----------
    .. [1] L. Jacob and J.-P. Vert, Efficient peptide-MHC-I binding prediction for
       alleles with few known binders, Bioinformatics 24, 2008.
    """
    return [single_task(n_tasks), union(n_tasks)]


def frustratingly_easy(n_tasks: int) -> FloatArray:
    """Return I + 11': a pair of tasks shares half of what a task shares with itself.

    It is the kernel of features that stand twice in each sample, once for all tasks
    and once for its own [1]_.

    References
    ----------
    .. [1] H. Daumé III, Frustratingly easy domain adaptation, Annual Meeting of the
       Association for Computational Linguistics, 2007.
    """
    return single_task(n_tasks) + union(n_tasks)


def task_clustering(
    assignments: ArrayLike, *, centre: float = 1.0, ridge: float = 0.0
) -> FloatArray:
    r"""Return (λI + G)^{-1}: tasks are coupled to the centres of their clusters.

    With ρ_m^t ≥ 0 the degree to which task t belongs to cluster m,
    G_st = Σ_m (ρ_m^t δ_st − ρ_m^s ρ_m^t / (ρ + Σ_r ρ_m^r)), eqs. (13) to (15) of [1]_.

    Parameters
    ----------
    assignments : array-like of shape (n_clusters, T)
        ρ_m^t, finite, at least 0. One row of ones with the defaults gives
        `frustratingly_easy`.
    centre : float
        ρ > 0, the penalty on the centres; the smaller, the more the tasks share.
    ridge : float
        λ ≥ 0, the penalty on each task. It must be positive if a task belongs to no
        cluster.

    Raises
    ------
    ValueError
        If a value is out of its range, or a task without ridge is in no cluster.
    """
    rho = np.array(assignments, dtype=np.float64)
    if rho.ndim != 2 or not rho.size:
        raise ValueError(
            "assignments must have one row per cluster and one column per task, got "
            f"shape {rho.shape}"
        )
    if not (np.isfinite(rho) & (rho >= 0)).all():
        wrong = rho[~(np.isfinite(rho) & (rho >= 0))][0]
        raise ValueError(f"assignments must be finite and at least 0, got {wrong:g}")
    check_positive("centre", centre)
    check_not_negative("ridge", ridge)
    outside = np.flatnonzero(rho.sum(axis=0) == 0)
    if ridge == 0 and outside.size:
        raise ValueError(
            f"task {outside[0]} is in no cluster: give it one, or set ridge above 0"
        )
    sizes = rho.sum(axis=1)
    Q = np.diag(ridge + rho.sum(axis=0)) - (rho.T / (centre + sizes)) @ rho
    return _inverse(Q)


def graph_laplacian(adjacency: ArrayLike) -> FloatArray:
    """Return (I + L)^{-1}: neighbours in a graph have close weights.

    L = D − A is the Laplacian of the graph; the penalty is
    ½ (Σ_t ||w_t||² + Σ_{s<t} A_st ||w_s − w_t||²), each pair counted once.

    Parameters
    ----------
    adjacency : array-like of shape (T, T)
        A, symmetric, finite, at least 0; its diagonal is of no account.

    Raises
    ------
    ValueError
        If A is not such a matrix.
    """
    A = _pairs(adjacency, "adjacency")
    np.fill_diagonal(A, 0.0)
    return _inverse(np.eye(len(A)) + np.diag(A.sum(axis=0)) - A)


def smooth(
    distances: ArrayLike, scales: Sequence[float], *, squared: bool = False
) -> list[FloatArray]:
    """Return exp(−D_st / σ) for each scale σ, or exp(−D_st² / σ).

    The larger σ, the more the tasks share. If D is the length of the path between two
    leaves of a tree, as in a phylogeny, all exp(−D_st / σ) are positive semi-definite;
    of other distances, or of squares, some may not be, and are refused.

    Parameters
    ----------
    distances : array-like of shape (T, T)
        D, symmetric, finite, at least 0, with a diagonal of 0.
    scales : sequence of float
        σ > 0, in the units of the distances, or of their squares.
    squared : bool
        Whether to take the squares of the distances.

    Raises
    ------
    ValueError
        If D or a scale is out of its range, or a matrix is not positive semi-definite.
    """
    D = _distances(distances)
    if squared:
        D = D**2
    if not np.ndim(scales) == 1 or not len(scales):
        raise ValueError(f"scales must be a list of numbers, got {scales!r}")
    kernels = []
    for scale in scales:
        check_positive("scales", scale)
        try:
            kernels.append(_checked(np.exp(-D / scale)))
        except ValueError as error:
            raise ValueError(
                f"exp(-distance{'²' * squared}/{scale:g}) is no task kernel "
                f"({error}): use smaller scales, or distances along a tree"
            ) from None
    return kernels


def proximity(distances: ArrayLike) -> FloatArray:
    """Return 1 − D_st / max D: a similarity that is linear in the distance.

    Parameters
    ----------
    distances : array-like of shape (T, T)
        D, symmetric, finite, at least 0, with a diagonal of 0 and one other value.

    Raises
    ------
    ValueError
        If D is out of its range, or the matrix is not positive semi-definite.
    """
    D = _distances(distances)
    check_positive("the largest distance", float(D.max()))
    return _checked(1.0 - D / D.max())


def hierarchy(
    tree: str, tasks: Sequence[str], *, centre: float = 1.0
) -> list[FloatArray]:
    """Return one matrix per inner node of a tree, over the tasks below it.

    A node is a cluster of the tasks among its leaves. In [1]_, sec. 2.6.2, its matrix
    is the pseudo-inverse of G_m of `task_clustering`, which is 1_st (δ_st + 1/ρ) with
    1_st = 1 for two tasks below the node, and 0 otherwise.

    Parameters
    ----------
    tree : str
        Newick text with the tasks among its leaves. Leaves that are no task are left
        out; so are nodes that then have but one task below, or the same tasks as a node
        below them.
    tasks : sequence of str
        Names of the T tasks, in order.
    centre : float
        ρ > 0, as in `task_clustering`; towards 0 the tasks below a node are pooled.

    Returns
    -------
    list of ndarrays of shape (T, T)
        In the order of :func:`mtmkl.kernels.task_trees.clusters`.

    Raises
    ------
    ValueError
        If the tree is malformed, a task is not one of its leaves, or no node has two
        tasks below.
    """
    check_positive("centre", centre)
    kernels = []
    for members in clusters(tree, tasks):
        inside = np.zeros(len(tasks))
        inside[members] = 1.0
        kernels.append(np.diag(inside) + np.outer(inside, inside) / centre)
    return kernels


def given(similarity: ArrayLike) -> FloatArray:
    """Return a matrix of similarities, for instance the true one of synthetic data.

    Parameters
    ----------
    similarity : array-like of shape (T, T)
        Symmetric, positive semi-definite.

    Raises
    ------
    ValueError
        If the matrix is not such a matrix; the least eigenvalue is named.
    """
    return _checked(similarity)


def unit_mean_diagonal(kernel: ArrayLike) -> FloatArray:
    """Return R · T / tr(R), whose diagonal has a mean of 1.

    With it, terms on one feature map have the same mean of k̃_m(x, x) over the tasks, so
    that weights compare, and none is favoured by its scale.

    Parameters
    ----------
    kernel : array-like of shape (T, T)
        R, symmetric, positive semi-definite, not 0.

    Raises
    ------
    ValueError
        If R is not a task kernel, or 0.
    """
    R = _checked(kernel)
    if not np.trace(R) > 0:
        raise ValueError("a task kernel of zeros cannot be normalised: leave it out")
    return R * (len(R) / np.trace(R))


def _checked(values: ArrayLike) -> FloatArray:
    return check_task_kernel(values, len(np.atleast_1d(values)))


def _distances(values: ArrayLike) -> FloatArray:
    D = _pairs(values, "distances")
    if np.diag(D).any():
        wrong = np.flatnonzero(np.diag(D))[0]
        raise ValueError(
            f"the distance of task {wrong} to itself must be 0, got {D[wrong, wrong]:g}"
        )
    return D


def _inverse(Q: FloatArray) -> FloatArray:
    inverse = np.linalg.inv(Q)
    symmetric: FloatArray = 0.5 * (inverse + inverse.T)
    return _checked(symmetric)


def _pairs(values: ArrayLike, name: str) -> FloatArray:
    """Return a copy of a symmetric matrix of finite numbers of at least 0."""
    matrix = np.array(values, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"{name} must be a square matrix, got shape {matrix.shape}")
    valid = np.isfinite(matrix) & (matrix >= 0)
    if not valid.all():
        raise ValueError(
            f"{name} must be finite and at least 0, got {matrix[~valid][0]:g}"
        )
    if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=1e-12 * matrix.max()):
        s, t = np.argwhere(~np.isclose(matrix, matrix.T, rtol=1e-10, atol=0.0))[0]
        raise ValueError(
            f"{name} must be symmetric, but of tasks {s} and {t} it has "
            f"{matrix[s, t]:g} and {matrix[t, s]:g}"
        )
    return matrix
