import copy

import numpy as np
import pytest

from mtmkl.kernels.base import Gaussian, Linear
from mtmkl.kernels.gram import GramStack
from mtmkl.kernels.stacked import stacked
from mtmkl.methods.med_kernel_selection import MEDKernelSelection


@pytest.fixture
def inputs():
    return np.random.default_rng(0).normal(size=(30, 3))


@pytest.fixture
def stack(inputs):
    return GramStack.compute([Linear(), Gaussian(width=1.5)], inputs)


def test_rows_are_inputs(inputs, stack):
    rows, others = np.array([[3.0], [7.0], [3.0]]), np.arange(5.0)[:, None]
    for kernel, exact in zip(
        stacked(stack), (Linear(), Gaussian(width=1.5)), strict=True
    ):
        np.testing.assert_allclose(
            kernel(rows, others), exact(inputs[[3, 7, 3]], inputs[:5]), rtol=1e-12
        )
        np.testing.assert_allclose(
            kernel.diagonal(rows), exact.diagonal(inputs[[3, 7, 3]])
        )


def test_an_estimator_on_rows_is_one_on_inputs(inputs, stack):
    X, y = inputs, np.where(inputs[:, 0] > 0, 1, -1)
    task = np.arange(30) % 2
    rows = np.arange(30.0)[:, None]
    precomputed = MEDKernelSelection(alpha=9.0, kernels=stacked(stack), tol=1e-9)
    direct = MEDKernelSelection(
        alpha=9.0, kernels=["linear", {"name": "gaussian", "width": 1.5}], tol=1e-9
    )
    train, test = slice(0, 24), slice(24, 30)
    precomputed.fit(rows[train], y[train], task[train])
    direct.fit(X[train], y[train], task[train])
    np.testing.assert_allclose(precomputed.switches_, direct.switches_, atol=1e-6)
    np.testing.assert_allclose(
        precomputed.decision_function(rows[test], task[test]),
        direct.decision_function(X[test], task[test]),
        atol=1e-4,
    )


def test_copies_share_the_matrices(stack):
    kernel = stacked(stack)[1]
    assert copy.deepcopy(kernel).stack is stack
    other = GramStack(stack.values.copy(), stack.kernels)
    assert repr(kernel) != repr(stacked(other)[1])


def test_single_precision_gives_double(stack):
    single = GramStack(stack.values.astype(np.float32))
    kernel = stacked(single)[0]
    assert kernel(np.zeros((1, 1)), np.ones((1, 1))).dtype == np.float64


def test_bad_inputs_are_named(stack):
    kernel = stacked(stack)[0]
    one = np.zeros((1, 1))
    with pytest.raises(ValueError, match="row 30 of a stack with 30 rows"):
        kernel(np.array([[30.0]]), one)
    for bad in (np.array([[0.5]]), np.array([[-1.0]]), np.zeros((1, 2))):
        with pytest.raises(ValueError, match="row numbers in one column"):
            kernel(bad, one)
    with pytest.raises(ValueError, match="square matrices is needed, got 30 × 4"):
        stacked(stack.sub(np.arange(30), np.arange(4)))
