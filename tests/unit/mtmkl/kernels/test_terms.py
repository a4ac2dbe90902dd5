"""Lists of kernels resolved on training samples."""

import numpy as np
import pytest

from mtmkl.kernels.base import Gaussian, Polynomial
from mtmkl.kernels.terms import KernelTerms, check_kernels

LIST = [
    "features",
    {"name": "gaussian", "median_factor": 2.0},
    {"name": "polynomial", "degree": 2},
]


def inputs(n, d=3, seed=0):
    return 2.0 + np.random.default_rng(seed).standard_normal((n, d))


def test_terms_are_features_and_kernels_fitted_on_the_training_inputs():
    X, Z = inputs(12), inputs(5, seed=1)
    terms = KernelTerms.of(X, LIST)
    assert terms.n_terms == 5
    assert terms.order.tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(terms.features(Z), Z)
    grams = terms.grams(Z, X)
    expected = [Gaussian(median_factor=2.0).fit(X)(Z, X), Polynomial(2)(Z, X)]
    np.testing.assert_array_equal(grams, np.stack(expected, axis=1))


def test_trace_gives_every_term_the_trace_n_on_standardised_inputs():
    X = inputs(12)
    terms = KernelTerms.of(X, LIST, normalize="trace", standardize=True)
    Z = terms.inputs(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose((terms.features(Z) ** 2).sum(axis=0), 12.0)
    traces = np.einsum("igi->g", terms.grams(Z, Z))
    np.testing.assert_allclose(traces, 12.0)


def test_cosine_of_a_single_feature_is_refused():
    with pytest.raises(ValueError, match="leaves nothing of a single feature"):
        KernelTerms.of(inputs(6), LIST, normalize="cosine")


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        ([], "kernels is empty"),
        (3, "must be a list of kernels"),
        (["liner"], "kernels: unknown kernel 'liner'"),
        ([{"name": "linear", "feature": "all"}], "feature must be a column from 0"),
    ],
)
def test_a_wrong_list_is_named(kernels, message):
    with pytest.raises(ValueError, match=message):
        check_kernels(kernels)


def test_a_kernel_of_each_feature():
    X = np.random.default_rng(3).normal(size=(9, 3))
    spec = {"name": "gaussian", "width": 0.7, "feature": "each"}
    terms = KernelTerms.of(X, ["linear", spec])
    assert terms.n_terms == 4
    assert terms.names[2] == "Gaussian(width=0.7, median_factor=None) of feature 1"
    grams = terms.grams(X[:2], X)
    for feature in range(3):
        difference = X[:2, None, feature] - X[None, :, feature]
        np.testing.assert_allclose(
            grams[:, feature + 1], np.exp(-(difference**2) / (2 * 0.7**2)), rtol=1e-12
        )


def test_a_width_of_a_feature_is_resolved_on_it():
    X = np.random.default_rng(3).normal(size=(9, 2)) * [1.0, 10.0]
    spec = {"name": "gaussian", "median_factor": 1.0, "feature": "each"}
    kernels = KernelTerms.of(X, [spec]).kernels
    widths = [kernel.kernel.width for kernel in kernels]
    alone = [
        Gaussian(median_factor=1.0).fit(X[:, [feature]]).width for feature in (0, 1)
    ]
    assert widths == alone


def test_a_feature_beyond_the_last_is_named():
    with pytest.raises(ValueError, match="feature must be below 2"):
        KernelTerms.of(np.ones((4, 2)), [{"name": "linear", "feature": 2}])
