"""Base kernels against their formulas, and their specifications."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from mtmkl.kernels import base
from mtmkl.kernels.base import (
    CosineNormalized,
    Gaussian,
    Linear,
    Polynomial,
    WeightedSum,
    from_spec,
    median_distance,
    squared_distances,
)

X = np.random.default_rng(0).standard_normal((6, 3))
Z = np.random.default_rng(1).standard_normal((4, 3))


@pytest.mark.parametrize(
    ("kernel", "formula"),
    [
        (Linear(), lambda x, z: x @ z),
        (Linear(constant=1.0), lambda x, z: x @ z + 1),
        (Polynomial(degree=2, constant=0.0), lambda x, z: (x @ z) ** 2),
        (Polynomial(degree=3, constant=0.5), lambda x, z: (x @ z + 0.5) ** 3),
        (Gaussian(width=0.7), lambda x, z: np.exp(-np.sum((x - z) ** 2) / (2 * 0.49))),
    ],
)
def test_kernels_follow_their_formulas(kernel, formula):
    expected = np.array([[formula(x, z) for z in Z] for x in X])
    np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(kernel(X, X)), rtol=1e-12)
    assert kernel.fit(X) == kernel


def test_gaussian_resolves_its_width_on_distinct_training_rows():
    points = np.array([[0.0], [1.0], [3.0]])
    repeated = np.repeat(points, [50, 1, 1], axis=0)
    # Distances 1, 2, 3.
    assert median_distance(repeated) == 2.0
    kernel = Gaussian(median_factor=0.25).fit(repeated)
    assert kernel == Gaussian(width=0.5)
    assert kernel.fit(10 * points) == kernel
    with pytest.raises(ValueError, match="call fit"):
        Gaussian(median_factor=1.0)(X, Z)


def test_squared_distances_do_not_cancel_far_from_the_origin():
    shifted = squared_distances(X + 1e6, Z + 1e6)
    expected = ((X[:, None] - Z[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(shifted, expected, rtol=1e-7)


@pytest.mark.parametrize("far", [1e6, 1e9])
def test_a_gaussian_of_rows_of_which_one_is_far_away(far):
    rows = np.vstack([np.random.default_rng(2).normal(size=(12, 3)), [far, 0.0, 0.0]])
    expected = np.exp(-0.5 * ((rows[:, None] - rows) ** 2).sum(axis=2))
    kernel = Gaussian(width=1.0)
    np.testing.assert_allclose(kernel(rows, rows), expected, rtol=1e-9)
    np.testing.assert_allclose(kernel(rows[:5], rows), expected[:5], rtol=1e-9)
    stack = np.array([rows, rows[::-1]])
    found = kernel(stack, stack)
    np.testing.assert_allclose(found, [expected, expected[::-1, ::-1]], rtol=1e-9)


def test_a_gaussian_of_sparse_rows_warns_of_a_column_that_drowns_distances():
    rows = sparse.csr_array(np.column_stack([X, np.full(len(X), 1e8)]))
    with pytest.warns(UserWarning, match=r"1e\+08, .* 1e\+00, .* largest value, 3"):
        Gaussian(width=1.0)(rows, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Gaussian(width=1.0)(sparse.csr_array(X), sparse.csr_array(1e4 * X))


def test_specifications():
    assert from_spec({"name": "gaussian", "median_factor": 0.5}) == Gaussian(
        median_factor=0.5
    )
    assert from_spec({"name": "polynomial", "degree": 2}) == Polynomial(2)
    assert from_spec("linear") == Linear()
    assert from_spec(Linear(1.0)) == Linear(1.0)


def test_the_average_of_kernels():
    parts = ["linear", {"name": "gaussian", "median_factor": 0.5}]
    kernel = from_spec({"name": "average", "kernels": parts}).fit(X)
    gaussian = Gaussian(median_factor=0.5).fit(X)
    np.testing.assert_allclose(kernel(X, Z), 0.5 * (X @ Z.T + gaussian(X, Z)))
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(kernel(X, X)))
    assert kernel.fit(Z) == kernel
    scaled = from_spec({"name": "average", "kernels": parts, "normalize": "trace"})
    size = np.mean(np.sum(X**2, axis=1))
    expected = 0.5 * (X @ Z.T / size + gaussian(X, Z))
    np.testing.assert_allclose(scaled.fit(X)(X, Z), expected)
    with pytest.raises(ValueError, match="call fit"):
        scaled(X, Z)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"name": "average", "kernels": []}, "kernels must be a list of at least one"),
        ({"name": "average", "kernels": ["wavelet"]}, "unknown kernel 'wavelet'"),
        (
            {"name": "average", "kernels": ["linear"], "normalize": "cosine"},
            "normalize must be 'trace' or None",
        ),
        ({"name": "wavelet"}, "unknown kernel 'wavelet' .known: average, expo"),
        ({"name": "linear", "degree": 2}, "degree"),
        ({"name": "polynomial", "degree": 0}, "degree must be a whole number"),
        ({"name": "linear", "constant": -1}, "constant must be at least 0"),
        ({"name": "gaussian", "width": 0.0}, "width must be positive"),
        ({"name": "gaussian", "width": 1.0, "median_factor": 1.0}, "either width or"),
        ({"name": "gaussian", "width": 1e-170}, "width must be from 1e-150"),
        (3.0, "not a specification of a kernel"),
        (np.eye(3), r"matrix is no kernel: take Precomputed\(matrix\)"),
        ({"name": "gaussian", "sigma": 1.0}, "'gaussian' has no 'sigma'.*width, med"),
        ({"name": "gaussian", "width": "wide"}, "width must be positive.*, got 'wide'"),
    ],
)
def test_bad_specifications(spec, message):
    with pytest.raises(ValueError, match=message):
        from_spec(spec)


def test_a_weighted_sum_refuses_negative_weights():
    with pytest.raises(ValueError, match=r"weights must be at least 0, got \(1.0, -0"):
        WeightedSum((Linear(), Linear()), (1.0, -0.1))


KERNELS = [
    Linear(1.0), Polynomial(degree=2), Gaussian(width=0.7), Gaussian(median_factor=0.5),
    CosineNormalized(Polynomial(degree=2)),
]  # fmt: skip


def few_entries(n, seed):
    """Inputs of which two thirds are 0, and one row has nothing."""
    values = np.random.default_rng(seed).standard_normal((n, 9))
    values[np.abs(values) < 1] = 0
    values[2] = 0
    return values


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels_of_sparse_inputs_are_those_of_dense_ones(kernel, monkeypatch):
    A, B = few_entries(11, 0), few_entries(7, 1)
    expected = kernel.fit(A)
    # Products of a row or two at a time.
    monkeypatch.setattr(base, "_PRODUCT_ENTRIES", 16)
    fitted = kernel.fit(sparse.csr_array(A))
    same = {"rtol": 1e-12, "atol": 1e-12}
    for left in (A, sparse.csr_array(A)):
        for right in (B, sparse.csr_array(B)):
            gram = fitted(left, right)
            assert type(gram) is np.ndarray
            np.testing.assert_allclose(gram, expected(A, B), **same)
    np.testing.assert_allclose(
        fitted.diagonal(sparse.csr_array(A)), expected.diagonal(A), **same
    )


def test_median_distance_of_sparse_rows():
    A = few_entries(30, 4)
    for rows in (A, np.repeat(A, 3, axis=0)):
        assert median_distance(sparse.csr_array(rows)) == pytest.approx(
            median_distance(A)
        )
    assert median_distance(sparse.csr_array(np.ones((4, 2)))) == 0.0


def test_median_of_many_rows_is_taken_over_a_subset(monkeypatch):
    monkeypatch.setattr(base, "_MEDIAN_ROWS", 400)
    many = np.random.default_rng(2).standard_normal((3000, 2))
    # Two normal variables: ||x − z||²/2 is exponential with mean 2, median 2·ln 2.
    for rows in (many, sparse.csr_array(many)):
        found = median_distance(rows)
        assert found == pytest.approx(2 * np.sqrt(np.log(2)), rel=0.05)
        # Whatever the order of the rows.
        assert median_distance(rows[::-1]) == pytest.approx(found)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Gaussian(0.7)])
def test_cosine_is_the_kernel_of_unit_vectors(kernel):
    unit = CosineNormalized(kernel).fit(X)
    norms = [np.sqrt(np.diag(kernel(A, A))) for A in (X, Z)]
    expected = kernel(X, Z) / np.outer(*norms)
    np.testing.assert_allclose(unit(X, Z), expected, rtol=1e-12)
    np.testing.assert_allclose(np.diagonal(unit(X, X)), 1.0)
    np.testing.assert_array_equal(unit.diagonal(X), 1.0)
    fitted = CosineNormalized(Gaussian(median_factor=1.0)).fit(X)
    assert fitted.kernel == Gaussian(median_factor=1.0).fit(X)


def test_cosine_of_a_zero_vector_is_zero():
    with_zero = X.copy()
    with_zero[2] = 0.0
    unit = CosineNormalized(Linear())
    K = unit(with_zero, with_zero)
    np.testing.assert_array_equal(K[2], 0.0)
    np.testing.assert_array_equal(K[:, 2], 0.0)
    expected = [1.0, 1.0, 0.0, 1.0, 1.0, 1.0]
    np.testing.assert_array_equal(unit.diagonal(with_zero), expected)
    assert np.isfinite(K).all()
