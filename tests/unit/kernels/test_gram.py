"""Stacks of Gram matrices."""

import numpy as np
import pytest

from mtmkl.kernels.base import Gaussian, Linear, Polynomial
from mtmkl.kernels.gram import (
    GramMemoryError,
    GramStack,
    gram_bytes,
)
from mtmkl.kernels.normalize import normalized
from mtmkl.solvers.svm import svc, svc_batch

KERNELS = [Linear(), Polynomial(2), Gaussian(median_factor=1.0)]


def inputs(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 4))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_holds_each_kernel_of_all_pairs(dtype):
    X, Z = inputs(20), inputs(7, seed=1)
    stack = GramStack.compute(KERNELS, X, Z, dtype=dtype)
    assert stack.n_kernels == 3
    assert stack.shape == (20, 7)
    assert stack.values.dtype == dtype
    for m, kernel in enumerate(KERNELS):
        np.testing.assert_array_equal(
            stack.values[m], kernel.fit(X)(X, Z).astype(dtype)
        )
    square = GramStack.compute(KERNELS, X)
    np.testing.assert_array_equal(square.values[0], X @ X.T)
    np.testing.assert_allclose(square.diagonal()[1], (1 + (X**2).sum(1)) ** 2)
    np.testing.assert_array_equal(square.flat, square.values.reshape(3, 400))


def test_fits_on_the_training_rows_alone():
    X = inputs(20)
    X[10:] *= 50.0
    stack = GramStack.compute(KERNELS, X, fit_rows=np.arange(10))
    assert stack.kernels[2] == Gaussian(median_factor=1.0).fit(X[:10])
    np.testing.assert_array_equal(stack.values[2], stack.kernels[2](X, X))


def test_a_cut_equals_what_is_computed_from_the_cut():
    X = inputs(15)
    stack = GramStack.compute([Linear(), Gaussian(1.0)], X)
    rows, columns = np.array([3, 1, 8]), np.array([0, 14, 2, 2])
    cut = stack.sub(rows, columns)
    direct = GramStack.compute([Linear(), Gaussian(1.0)], X[rows], X[columns])
    np.testing.assert_allclose(cut.values, direct.values, rtol=1e-12)
    assert cut.values.flags.c_contiguous
    np.testing.assert_array_equal(stack.sub(rows).values, stack.sub(rows, rows).values)
    mask = np.zeros(15, dtype=bool)
    mask[[1, 3, 8]] = True
    np.testing.assert_array_equal(stack.sub(mask).values, stack.sub([1, 3, 8]).values)
    with pytest.raises(ValueError, match="mask of shape"):
        stack.sub(mask[:4])
    with pytest.raises(IndexError):
        stack.sub([15])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_weighted_sums(dtype):
    rng = np.random.default_rng(2)
    stack = GramStack(rng.standard_normal((5, 170, 120)).astype(dtype))
    weights = rng.random(5)
    # float64 arithmetic on what is stored
    exact = np.einsum("m,mij->ij", weights, stack.values.astype(np.float64))
    total = stack.weighted_sum(weights)
    assert total.dtype == np.float64
    np.testing.assert_allclose(total, exact, rtol=1e-12, atol=1e-13)
    several = stack.weighted_sum(np.stack([weights, 2 * weights]))
    assert several.shape == (2, 170, 120)
    np.testing.assert_allclose(several[1], 2 * exact, rtol=1e-12, atol=1e-13)
    with pytest.raises(ValueError, match=r"weights of shape \(4,\) for 5 kernels"):
        stack.weighted_sum(weights[:4])


@pytest.mark.parametrize("how", ["cosine", "trace", "center"])
def test_normalised_as_the_kernels_fitted_on_the_training_rows(how):
    X, training = inputs(18), np.arange(2, 11)
    kernels = [Linear(), Polynomial(3)]
    stack = GramStack.compute(kernels, X).normalized(how, training)
    for m, kernel in enumerate(kernels):
        fitted = normalized(kernel, how).fit(X[training])
        np.testing.assert_allclose(stack.values[m], fitted(X, X), rtol=1e-9, atol=1e-9)
    whole = GramStack.compute(kernels, X).normalized(how)
    np.testing.assert_allclose(
        whole.values[0], normalized(Linear(), how).fit(X)(X, X), atol=1e-9
    )


def test_tasks_are_cut_into_what_the_batch_solver_reads():
    X = inputs(30)
    task = np.array([0, 2, 0, 3, 2] * 6)  # task 1 has no row
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    stack = GramStack.compute(KERNELS, X)
    grams = stack.by_task(task)
    np.testing.assert_array_equal(grams.sizes, [12, 0, 12, 6])
    np.testing.assert_array_equal(task[grams.rows], np.sort(task))
    shared = np.array([0.5, 0.1, 1.0])
    each = np.random.default_rng(3).random((4, 3))
    for weights in (shared, each):
        flat = grams.weighted_sum(weights)
        batch = svc_batch(flat, y[grams.rows], sizes=grams.sizes, C=2.0)
        for t in (0, 2, 3):
            rows = np.flatnonzero(task == t)
            theta = weights if weights.ndim == 1 else weights[t]
            K = stack.sub(rows).weighted_sum(theta)
            single = svc(K, y[rows], C=2.0)
            np.testing.assert_allclose(batch.coef_of(t)[0], single.coef, atol=1e-5)
    with pytest.raises(ValueError, match="2 rows of weights for 4 tasks"):
        grams.weighted_sum(each[:2])
    with pytest.raises(ValueError, match="30 rows have tasks of shape"):
        stack.by_task(task[:4])
    short = GramStack(stack.values.astype(np.float32)).by_task(task)
    assert short.nbytes == grams.nbytes // 2
    np.testing.assert_allclose(
        short.weighted_sum(each), grams.weighted_sum(each), rtol=1e-5
    )


def test_memory_is_told():
    assert gram_bytes(10, 500) == 10 * 500 * 500 * 8
    assert gram_bytes(3, 10, 20, dtype=np.float32) == 3 * 10 * 20 * 4
    stack = GramStack.compute(KERNELS, inputs(50), dtype=np.float32)
    assert stack.nbytes == gram_bytes(3, 50, dtype=np.float32) == 30_000
    assert str(stack) == "3 Gram matrices of 50 × 50 in float32: 30 kB"
    assert str(stack) in repr(stack)


def test_too_much_memory_is_refused_before_computing_with_the_remedy():
    def never(X, Z):
        raise AssertionError("computed all the same")

    with pytest.raises(
        GramMemoryError, match=r"need 160 kB.* bound is 100 kB.*float32"
    ):
        GramStack.compute([never] * 2, inputs(100), max_bytes=100_000)
    with pytest.raises(GramMemoryError) as caught:
        GramStack.compute([never] * 3, inputs(100), max_bytes=100_000, dtype="float32")
    assert "Store them in float32" not in str(caught.value)
    assert "fewer rows or fewer kernels" in str(caught.value)
    assert isinstance(caught.value, MemoryError)


def test_matrices_that_are_none_are_named():
    X = inputs(5)
    with pytest.raises(ValueError, match=r"kernel 1 .*not finite"):
        GramStack.compute([Linear(), lambda A, B: np.full((5, 5), np.nan)], X)
    with pytest.raises(ValueError, match=r"kernel 0 .*gave shape \(4, 5\)"):
        GramStack.compute([lambda A, B: np.ones((4, 5))], X)
    with pytest.raises(ValueError, match=r"got \(5, 5\)"):
        GramStack(np.ones((5, 5)))
    with pytest.raises(ValueError, match="float64 or float32, got int64"):
        GramStack(np.ones((1, 5, 5), dtype=np.int64))
    with pytest.raises(ValueError, match="C-contiguous"):
        GramStack(np.ones((5, 5, 2)).T)
    with pytest.raises(ValueError, match="2 kernels for 1 matrices"):
        GramStack(np.ones((1, 5, 5)), (Linear(), Linear()))
    rectangular = GramStack.compute(KERNELS, X, X[:3])
    for call in (
        rectangular.diagonal,
        lambda: rectangular.normalized("cosine"),
        lambda: rectangular.by_task(np.zeros(5, dtype=int)),
    ):
        with pytest.raises(ValueError, match="square"):
            call()
    with pytest.raises(ValueError, match="unknown normalisation 'unit'"):
        GramStack.compute(KERNELS, X).normalized("unit")
