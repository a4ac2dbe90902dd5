"""Products of kernels and task similarities."""

import numpy as np
import pytest

from mtmkl.kernels.base import Gaussian, Linear
from mtmkl.kernels.multitask import MultiTaskKernel, task_product

Q = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 1.5]])


def inputs(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 3))


def test_each_entry_is_the_product():
    X, Z = inputs(6), inputs(4, seed=1)
    s, t = np.array([0, 1, 2, 2, 0, 1]), np.array([2, 0, 1, 1])
    kernel = MultiTaskKernel(Gaussian(1.0), Q)
    K, base = kernel(X, Z, s, t), Gaussian(1.0)(X, Z)
    for i in range(6):
        for j in range(4):
            assert K[i, j] == Q[s[i], t[j]] * base[i, j]
    np.testing.assert_array_equal(task_product(base, Q, s, t), K)
    np.testing.assert_allclose(kernel(Z, X, t, s), K.T, rtol=1e-12)
    np.testing.assert_allclose(
        kernel.diagonal(X, s), np.diagonal(kernel(X, X, s, s)), rtol=1e-12
    )


def test_it_is_the_kernel_of_the_tensor_features():
    # Φ(x, s) = φ(x) ⊗ column s of a root of Q
    X, s = inputs(8), np.array([0, 0, 1, 2, 1, 2, 0, 1])
    root = np.linalg.cholesky(Q)
    features = np.einsum("id,ir->idr", X, root[s]).reshape(8, -1)
    np.testing.assert_allclose(
        MultiTaskKernel(Linear(), Q)(X, X, s, s), features @ features.T, atol=1e-12
    )


def test_ones_pool_and_the_identity_separates():
    X, s = inputs(5), np.array([0, 1, 0, 1, 1])
    K = X @ X.T
    np.testing.assert_array_equal(task_product(K, np.ones((2, 2)), s, s), K)
    apart = task_product(K, np.eye(2), s, s)
    np.testing.assert_array_equal(apart, np.where(s[:, None] == s, K, 0.0))


def test_fit_reaches_the_kernel_inside():
    X = inputs(9)
    fitted = MultiTaskKernel(Gaussian(median_factor=2.0), Q).fit(X)
    assert fitted.kernel == Gaussian(median_factor=2.0).fit(X)
    assert fitted.n_tasks == 3


def test_a_later_change_of_the_similarity_does_not_matter():
    mine = Q.copy()
    kernel = MultiTaskKernel(Linear(), mine)
    mine[:] = 0.0
    X, s = inputs(3), np.array([0, 1, 2])
    assert kernel(X, X, s, s)[0, 0] != 0.0


@pytest.mark.parametrize(
    ("similarity", "message"),
    [
        (np.ones((2, 3)), r"square, got shape \(2, 3\)"),
        ([[1.0, 0.2], [0.1, 1.0]], "symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], r"least eigenvalue is -1"),
        ([[1.0, np.nan], [np.nan, 1.0]], "not finite"),
    ],
)
def test_what_is_no_similarity_is_said_so(similarity, message):
    with pytest.raises(ValueError, match=message):
        MultiTaskKernel(Linear(), similarity)


def test_rounding_in_the_spectrum_is_allowed():
    V = inputs(5)[:, :1]
    MultiTaskKernel(Linear(), V @ V.T)


def test_unknown_tasks_and_wrong_lengths_are_named():
    X, kernel = inputs(2), MultiTaskKernel(Linear(), Q)
    with pytest.raises(ValueError, match=r"task 3 is not in 0\.\.2"):
        kernel(X, X, [0, 3], [0, 1])
    with pytest.raises(ValueError, match=r"task -1 is not in 0\.\.2"):
        kernel.diagonal(X, [-1, 0])
    with pytest.raises(ValueError, match=r"2 inputs have tasks of shape \(3,\)"):
        kernel(X, X, [0, 1, 2], [0, 1])
    with pytest.raises(ValueError, match="integers"):
        task_product(X @ X.T, Q, [0.0, 1.0], [0, 1])
