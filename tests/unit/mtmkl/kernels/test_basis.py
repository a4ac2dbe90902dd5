"""The basis is orthonormal in feature space and reproduces the kernel on its span."""

import numpy as np
import pytest

from mtmkl.kernels.base import Gaussian, Linear, Polynomial
from mtmkl.kernels.basis import kernel_basis

RNG = np.random.default_rng(0)
FEW = RNG.uniform(size=(30, 3))
MANY = RNG.uniform(size=(400, 3))


def transform(basis, X):
    return basis.predict(X, np.eye(basis.dimension))


@pytest.mark.parametrize(
    ("kernel", "X", "dimension"),
    [
        (Linear(), FEW, 3),
        (Linear(constant=1.0), MANY, 4),
        (Polynomial(degree=2, constant=1.0), FEW, 10),
        (Polynomial(degree=2, constant=1.0), MANY, 10),
        (Polynomial(degree=2, constant=0.0), MANY, 6),
        (Gaussian(width=0.05), FEW, 30),
        (Gaussian(width=1.0), FEW[:5], 5),
    ],
)
def test_coordinates_reproduce_the_kernel(kernel, X, dimension):
    basis, coordinates = kernel_basis(kernel, X, tol=1e-10)
    gram = kernel(X, X)
    assert basis.dimension == dimension
    np.testing.assert_allclose(coordinates @ coordinates.T, gram, atol=1e-9)
    np.testing.assert_allclose(transform(basis, X), coordinates, atol=1e-8)
    K = basis.kernel(basis.landmarks, basis.landmarks)
    R = basis.models(np.eye(dimension))
    np.testing.assert_allclose(R.T @ K @ R, np.eye(dimension), atol=1e-6)
    assert basis.discarded_trace < 1e-9


@pytest.mark.parametrize("width", [0.3, 3.0])
def test_cut_is_relative_to_the_largest_eigenvalue_of_the_distinct_rows(width):
    X = np.vstack([MANY, MANY[:100], MANY[:100]])
    tol = 1e-6
    basis, coordinates = kernel_basis(Gaussian(width=width), X, tol=tol)
    gram = Gaussian(width=width)(MANY, MANY)
    values = np.linalg.eigvalsh(gram)[::-1]
    kept = values > tol * values[0]
    # The factorisation may move an eigenvalue over the cut if it is within 1 % of it.
    doubtful = np.abs(values - tol * values[0]) <= 0.01 * tol * values[0]
    assert abs(basis.dimension - kept.sum()) <= doubtful.sum()
    assert basis.discarded_trace == pytest.approx(
        1 - values[: basis.dimension].sum() / values.sum(), abs=1e-7
    )
    np.testing.assert_allclose(coordinates[:100], coordinates[400:500])
    squares = np.linalg.svd(coordinates[:400], compute_uv=False) ** 2
    np.testing.assert_allclose(squares, values[: basis.dimension], rtol=0.02)


@pytest.mark.parametrize("X", [FEW, MANY], ids=["whole", "pivoted"])
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_discarded_norm_bounds_what_is_lost(X, tol):
    repeated = np.vstack([X, X[::2]])
    kernel = Gaussian(width=1.0)
    basis, Z = kernel_basis(kernel, repeated, tol=tol)
    first = np.unique(basis.distinct, return_index=True)[1]
    np.testing.assert_array_equal(repeated[first][basis.distinct], repeated)
    lost = kernel(repeated[first], repeated[first]) - Z[first] @ Z[first].T
    largest = np.linalg.eigvalsh(lost)[-1]
    assert largest <= basis.discarded_norm <= 1.1 * tol * len(X)


def test_many_rows_that_are_nearly_all_needed_keep_the_factor():
    X = np.random.default_rng(1).normal(size=(1100, 6))
    kernel = Gaussian(width=0.5)
    basis, Z = kernel_basis(kernel, X)
    assert basis.dimension == len(basis.landmarks) > 1000
    gram = kernel(X, X)
    lost = np.abs(gram - Z @ Z.T).max()
    assert lost <= basis.discarded_norm < 1e-5
    assert basis.discarded_trace < 1e-6
    np.testing.assert_allclose(transform(basis, X[:50]), Z[:50], atol=1e-6)


def test_new_inputs_are_projected():
    kernel = Polynomial(degree=2, constant=1.0)
    basis, _ = kernel_basis(kernel, FEW)
    new = RNG.uniform(size=(7, 3))
    z_new, z = transform(basis, new), transform(basis, FEW)
    np.testing.assert_allclose(z_new @ z.T, kernel(new, FEW), atol=1e-7)
    W = RNG.standard_normal((basis.dimension, 2))
    np.testing.assert_allclose(basis.predict(new, W), z_new @ W, atol=1e-8)


def test_kernel_of_zero_has_no_dimension():
    basis, coordinates = kernel_basis(Linear(), np.zeros((4, 2)))
    assert basis.dimension == 0
    assert coordinates.shape == (4, 0)
    assert transform(basis, np.ones((3, 2))).shape == (3, 0)
