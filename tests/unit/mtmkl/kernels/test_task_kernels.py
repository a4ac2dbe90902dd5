"""Each kernel is the inverse of the penalty that defines it, and bad input is named."""

import numpy as np
import pytest

from mtmkl.kernels.task_kernels import (
    dirac_uniform,
    each_task,
    frustratingly_easy,
    given,
    graph_laplacian,
    hierarchy,
    proximity,
    single_task,
    smooth,
    task_clustering,
    union,
    unit_mean_diagonal,
)
from mtmkl.kernels.task_trees import clusters

RNG = np.random.default_rng(0)
NAMES = ["a", "b", "c", "d"]
TREE = "((a:1,b:2)ab:0.5,(c,d:3e-1))root;"


def penalty(R, W):
    """Return tr(W Q W') with Q the pseudo-inverse of R."""
    return np.trace(W @ np.linalg.pinv(R, hermitian=True) @ W.T)


def tree_distances():
    """Distances along the tree ((0:1, 1:2):3, (2:1, 3:4):1)."""
    return np.array([[0, 3, 5, 8], [3, 0, 6, 9], [5, 6, 0, 5], [8, 9, 5, 0.0]])


def test_simple_kernels():
    np.testing.assert_array_equal(single_task(3), np.eye(3))
    np.testing.assert_array_equal(union(2), np.ones((2, 2)))
    np.testing.assert_array_equal(sum(each_task(3)), np.eye(3))
    assert [np.linalg.matrix_rank(R) for R in each_task(3)] == [1, 1, 1]
    np.testing.assert_array_equal(dirac_uniform(2), [np.eye(2), np.ones((2, 2))])
    np.testing.assert_array_equal(frustratingly_easy(2), [[2, 1], [1, 2]])


def test_graph_laplacian_penalises_each_pair_once():
    A = np.array([[7, 1, 0, 2], [1, 0, 3, 0], [0, 3, 0, 0], [2, 0, 0, 0.0]])
    W = RNG.standard_normal((5, 4))
    expected = (W**2).sum()
    for s in range(4):
        for t in range(s):
            expected += A[s, t] * ((W[:, s] - W[:, t]) ** 2).sum()
    assert penalty(graph_laplacian(A), W) == pytest.approx(expected, rel=1e-12)


def test_task_clustering_penalises_distances_from_the_best_centres():
    # Of (13), with the centres where its minimum over them is.
    rho = np.array([[1, 2, 0, 0], [0, 0.5, 1, 3]])
    centre, ridge = 0.7, 0.3
    W = RNG.standard_normal((5, 4))
    centres = W @ rho.T / (centre + rho.sum(axis=1))
    expected = ridge * (W**2).sum() + centre * (centres**2).sum()
    for m in range(2):
        for t in range(4):
            expected += rho[m, t] * ((W[:, t] - centres[:, m]) ** 2).sum()
    R = task_clustering(rho, centre=centre, ridge=ridge)
    assert penalty(R, W) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("centre", [0.2, 1.0, 5.0])
def test_hierarchy_is_the_pseudo_inverse_of_its_clusters(centre):
    kernels = hierarchy(TREE, NAMES, centre=centre)
    members = clusters(TREE, NAMES)
    assert members == [[0, 1, 2, 3], [0, 1], [2, 3]]
    for R, inside in zip(kernels, members, strict=True):
        rho = np.isin(np.arange(4), inside).astype(float)
        G = np.diag(rho) - np.outer(rho, rho) / (centre + rho.sum())
        np.testing.assert_allclose(R, np.linalg.pinv(G, hermitian=True), atol=1e-12)


def test_smooth_of_tree_distances_is_a_kernel_at_every_scale():
    scales = [0.01, 0.5, 3.0, 1e4]
    for scale, R in zip(scales, smooth(tree_distances(), scales), strict=True):
        np.testing.assert_allclose(R, np.exp(-tree_distances() / scale), rtol=1e-15)


def test_smooth_of_other_distances_may_be_refused():
    # The bipartite graph K(2, 3): its shortest paths do not embed.
    D = np.full((5, 5), 2.0)
    D[:2, 2:] = D[2:, :2] = 1.0
    np.fill_diagonal(D, 0.0)
    least = np.linalg.eigvalsh(np.exp(-D / 10.0))[0]
    with pytest.raises(ValueError, match=r"exp\(-distance/10\) is no task kernel") as e:
        smooth(D, [0.1, 10.0])
    assert f"least eigenvalue is {least:.3g}" in str(e.value)


def test_smooth_of_squares_may_be_refused_where_that_of_distances_is_a_kernel():
    D = tree_distances()
    (R,) = smooth(D, [0.1], squared=True)
    np.testing.assert_allclose(R, np.exp(-(D**2) / 0.1), rtol=1e-15)
    star = 2.0 * (1.0 - np.eye(6))
    star[0, 1:] = star[1:, 0] = 1.0  # five leaves around a node
    smooth(star, [10.0])
    with pytest.raises(ValueError, match=r"exp\(-distance²/10\) is no task kernel"):
        smooth(star, [10.0], squared=True)


def test_proximity_is_linear_in_the_distance():
    D = tree_distances()
    R = proximity(D)
    np.testing.assert_allclose(R, 1.0 - D / D.max(), rtol=1e-15)
    with pytest.raises(ValueError, match="the largest distance must be positive"):
        proximity(np.zeros((2, 2)))


def test_unit_mean_diagonal():
    R = RNG.standard_normal((4, 4))
    R = R @ R.T
    assert np.diag(unit_mean_diagonal(R)).mean() == pytest.approx(1.0)
    np.testing.assert_allclose(
        unit_mean_diagonal(R) * R[0, 0], R * R[0, 0] / np.trace(R) * 4
    )
    with pytest.raises(ValueError, match="a task kernel of zeros"):
        unit_mean_diagonal(np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: given([[1, 2], [2, 1]]), "least eigenvalue is -1"),
        (lambda: graph_laplacian([[0, 1]]), r"square matrix, got shape \(1, 2\)"),
        (lambda: graph_laplacian([[0, -1], [-1, 0]]), "at least 0, got -1"),
        (lambda: smooth([[0, 1], [1, 3]], [1.0]), "task 1 to itself must be 0, got 3"),
        (lambda: smooth([[0, 1], [1, 0]], []), "scales must be a list of numbers"),
        (lambda: task_clustering([[1, 0]]), "task 1 is in no cluster"),
        (lambda: task_clustering([[1, 1]], centre=0.0), "centre must be positive"),
        (lambda: hierarchy(TREE, NAMES, centre=-1.0), "centre must be positive"),
    ],
)
def test_values_out_of_range(build, message):
    with pytest.raises(ValueError, match=message):
        build()
