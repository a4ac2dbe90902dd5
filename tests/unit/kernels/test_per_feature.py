"""Kernels on single features."""

import numpy as np
import pytest

from mtmkl.kernels.base import Gaussian, Linear
from mtmkl.kernels.normalize import TraceNormalized
from mtmkl.kernels.per_feature import FeatureKernel, per_feature


def inputs(n=12, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) * [1.0, 2.0, 5.0, 0.1]


def test_linear_kernels_of_all_features_sum_to_the_linear_kernel():
    X, Z = inputs(), inputs(5, seed=1)
    kernels = per_feature(Linear(), 4)
    assert [kernel.features for kernel in kernels] == [(0,), (1,), (2,), (3,)]
    np.testing.assert_allclose(sum(kernel(X, Z) for kernel in kernels), X @ Z.T)
    for j, kernel in enumerate(kernels):
        np.testing.assert_array_equal(kernel(X, Z), np.outer(X[:, j], Z[:, j]))
        np.testing.assert_array_equal(kernel.diagonal(X), X[:, j] ** 2)


def test_what_is_fitted_is_fitted_on_the_feature():
    X = inputs()
    widths = [
        kernel.fit(X).kernel.width
        for kernel in per_feature(Gaussian(median_factor=1.0), 4)
    ]
    for j, width in enumerate(widths):
        assert width == Gaussian(median_factor=1.0).fit(X[:, [j]]).width
    assert len(set(widths)) == 4
    scaled = FeatureKernel(TraceNormalized(Linear()), (1, 2)).fit(X)
    assert np.trace(scaled(X, X)) == pytest.approx(12.0)


def test_several_kernels_come_one_after_the_other():
    kernels = per_feature([Linear(), Gaussian(1.0)], 2)
    assert kernels == [
        FeatureKernel(Linear(), (0,)),
        FeatureKernel(Linear(), (1,)),
        FeatureKernel(Gaussian(1.0), (0,)),
        FeatureKernel(Gaussian(1.0), (1,)),
    ]


def test_groups_of_features_and_bare_callables():
    X = inputs()
    kernel = FeatureKernel(lambda A, B: (A @ B.T) ** 2, (0, 3)).fit(X)
    expected = (X[:, [0, 3]] @ X[:, [0, 3]].T) ** 2
    np.testing.assert_allclose(kernel(X, X), expected)
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(expected))


def test_features_that_are_not_there_are_named():
    with pytest.raises(ValueError, match="feature 4 of inputs with 4 features"):
        FeatureKernel(Linear(), (1, 4))(inputs(), inputs())
    for features in ((), (-1,)):
        with pytest.raises(ValueError, match="at least one index from 0"):
            FeatureKernel(Linear(), features)
