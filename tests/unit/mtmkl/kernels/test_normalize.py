"""Normalised kernels against their definitions in feature space."""

import numpy as np
import pytest

from mtmkl.kernels.base import Gaussian, Linear, Polynomial
from mtmkl.kernels.normalize import CosineNormalized, trace_factor


def inputs(n, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def test_fit_resolves_the_kernel_inside():
    X = inputs(20)
    fitted = CosineNormalized(Gaussian(median_factor=1.0)).fit(X)
    assert fitted.kernel == Gaussian(median_factor=1.0).fit(X)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Gaussian(0.7)])
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


def test_the_trace_factor_brings_the_mean_of_the_diagonal_to_one():
    diagonal = np.array([1.0, 2.0, 6.0])
    assert np.mean(trace_factor(diagonal) * diagonal) == pytest.approx(1.0)


def test_a_kernel_that_is_zero_keeps_its_scale():
    assert trace_factor(np.zeros(4)) == 1.0
    assert trace_factor(np.empty(0)) == 1.0
