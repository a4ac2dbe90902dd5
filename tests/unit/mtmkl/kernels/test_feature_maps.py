"""Explicit features have the inner products that the kernel computes."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from mtmkl.kernels.base import CosineNormalized, Gaussian, Linear, Polynomial
from mtmkl.kernels.feature_maps import feature_map, has_feature_map

X = np.random.default_rng(0).standard_normal((6, 4))
X[np.abs(X) < 0.5] = 0.0
X[2] = 0.0


@pytest.mark.parametrize("wrap", [lambda x: x, csr_array])
@pytest.mark.parametrize(
    "kernel", [Linear(), Linear(2.0), CosineNormalized(Linear()),
               CosineNormalized(Linear(0.5))]
)  # fmt: skip
@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_inner_products(kernel, wrap, scale):
    assert has_feature_map(kernel)
    features = feature_map(kernel, wrap(X), scale)
    products = features @ features.T
    if wrap is csr_array:
        assert features.format == "csr"
        products = products.toarray()
    np.testing.assert_allclose(products, scale * kernel(X, X), atol=1e-14)


def test_the_inputs_are_not_copied_where_they_are_the_features():
    for inputs in (X, csr_array(X)):
        assert feature_map(Linear(), inputs) is inputs


@pytest.mark.parametrize(
    "kernel", [Gaussian(1.0), Polynomial(2), CosineNormalized(Polynomial(2)), None]
)
def test_other_kernels_have_none(kernel):
    assert not has_feature_map(kernel)
