"""Normalised kernels against their definitions in feature space."""

import numpy as np
import pytest

from mtmkl.kernels.base import Gaussian, Linear, Polynomial
from mtmkl.kernels.normalize import (
    Centered,
    CosineNormalized,
    TraceNormalized,
    center,
    cosine_normalize,
    fit_kernel,
    kernel_diagonal,
    normalized,
    trace_factor,
)


def inputs(n, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def bare(X, Z):
    """A callable with neither fit nor diagonal."""
    return (X @ Z.T) ** 3 + X @ Z.T


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3), Gaussian(0.7), bare])
def test_diagonal_and_fit_of_any_kernel(kernel):
    X = inputs(150)
    fitted = fit_kernel(kernel, X)
    np.testing.assert_allclose(
        kernel_diagonal(fitted, X), np.diagonal(fitted(X, X)), rtol=1e-12
    )
    assert kernel_diagonal(fitted, X[:0]).shape == (0,)


def test_fit_resolves_the_kernel_inside():
    X = inputs(20)
    for wrapper in (CosineNormalized, TraceNormalized, Centered):
        fitted = wrapper(Gaussian(median_factor=1.0)).fit(X)
        assert fitted.kernel == Gaussian(median_factor=1.0).fit(X)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), bare])
def test_cosine_is_the_kernel_of_unit_vectors(kernel):
    X, Z = inputs(10), inputs(7, seed=1)
    unit = CosineNormalized(kernel).fit(X)
    K = unit(X, Z)
    for i in range(10):
        for j in range(7):
            x, z = X[i : i + 1], Z[j : j + 1]
            expected = kernel(x, z) / np.sqrt(kernel(x, x) * kernel(z, z))
            assert K[i, j] == pytest.approx(expected.item(), rel=1e-12)
    np.testing.assert_allclose(np.diagonal(unit(X, X)), 1.0)
    np.testing.assert_array_equal(unit.diagonal(X), 1.0)
    assert (np.abs(K) <= 1 + 1e-12).all()


def test_cosine_of_a_zero_vector_is_zero():
    X = inputs(4)
    X[2] = 0.0
    unit = CosineNormalized(Linear())
    K = unit(X, X)
    np.testing.assert_array_equal(K[2], 0.0)
    np.testing.assert_array_equal(K[:, 2], 0.0)
    np.testing.assert_array_equal(unit.diagonal(X), [1.0, 1.0, 0.0, 1.0])
    assert np.isfinite(K).all()


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), bare])
def test_trace_of_the_training_matrix_is_its_size(kernel):
    X, Z = inputs(12), inputs(5, seed=1)
    scaled = TraceNormalized(kernel).fit(X)
    assert np.trace(scaled(X, X)) == pytest.approx(12.0)
    ratio = scaled(X, Z) / kernel(X, Z)
    np.testing.assert_allclose(ratio, 12.0 / np.trace(kernel(X, X)))
    np.testing.assert_allclose(scaled.diagonal(Z), np.diagonal(scaled(Z, Z)))
    # one factor for all inputs, wherever it is evaluated
    np.testing.assert_allclose(scaled(Z, X), scaled(X, Z).T)


def test_a_kernel_that_is_zero_keeps_its_scale():
    X = np.zeros((3, 2))
    assert TraceNormalized(Linear()).fit(X).factor == 1.0
    assert trace_factor(np.zeros(4)) == 1.0
    assert trace_factor(np.empty(0)) == 1.0


def test_centering_moves_the_origin_to_the_training_mean():
    X, Z, V = inputs(10), inputs(6, seed=1), inputs(4, seed=2)
    centered = Centered(Linear()).fit(X)
    mean = X.mean(axis=0)
    np.testing.assert_allclose(centered(Z, V), (Z - mean) @ (V - mean).T, atol=1e-12)
    np.testing.assert_allclose(
        centered.diagonal(Z), ((Z - mean) ** 2).sum(1), atol=1e-12
    )


@pytest.mark.parametrize("kernel", [Polynomial(2), Gaussian(1.0), bare])
def test_centered_training_matrix_is_doubly_centered(kernel):
    X = inputs(15)
    K = Centered(kernel).fit(X)(X, X)
    H = np.eye(15) - 1 / 15
    np.testing.assert_allclose(K, H @ kernel(X, X) @ H, atol=1e-10)
    np.testing.assert_allclose(K.mean(axis=0), 0.0, atol=1e-10)


def test_wrappers_nest():
    X, Z = inputs(9), inputs(4, seed=1)
    both = TraceNormalized(Centered(CosineNormalized(Polynomial(2)))).fit(X)
    assert np.trace(both(X, X)) == pytest.approx(9.0)
    np.testing.assert_allclose(both(X, X).mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(both.diagonal(Z), np.diagonal(both(Z, Z)), atol=1e-12)


def test_matrix_functions_follow_their_formulas():
    K = np.array([[4.0, 2.0], [0.0, 3.0]])
    np.testing.assert_allclose(
        cosine_normalize(K, np.array([4.0, 0.0]), np.array([1.0, 9.0])),
        [[2.0, 1.0 / 3.0], [0.0, 0.0]],
    )
    np.testing.assert_allclose(
        center(K, np.array([1.0, 2.0]), np.array([3.0, 4.0]), 5.0),
        [[5.0, 2.0], [0.0, 2.0]],
    )


def test_names_and_missing_fits_are_errors():
    assert normalized(Linear(), "cosine") == CosineNormalized(Linear())
    with pytest.raises(ValueError, match=r"'cosin'; known: cosine, trace, center"):
        normalized(Linear(), "cosin")
    X = inputs(3)
    with pytest.raises(ValueError, match="call fit"):
        TraceNormalized(Linear())(X, X)
    with pytest.raises(ValueError, match="call fit"):
        Centered(Linear())(X, X)
