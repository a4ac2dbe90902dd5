"""Gram matrices of many tasks: blocks, subsets, task kernels, outputs on others."""

import numpy as np
import pytest

from mtmkl.kernels import gram
from mtmkl.kernels.base import Function, Gaussian, Polynomial
from mtmkl.kernels.gram import (
    GramMemoryError,
    TrainingSet,
    check_task_kernel,
)
from mtmkl.kernels.terms import KernelTerms
from mtmkl.sparse import canonical_csr

KERNELS = [Gaussian(1.5), Polynomial(2)]
TASK = np.array([1, 0, 1, 2, 1, 0, 2, 1, 2, 2])


def inputs(n=10, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 3))


def training(kernels=KERNELS, **options):
    X = inputs()
    return TrainingSet(KernelTerms.of(X, kernels), X, TASK, 3, **options), X


def test_blocks_hold_every_pair_within_a_task_in_one_layout():
    set_, X = training()
    blocks = set_.blocks()
    assert blocks.grams.flags.c_contiguous
    assert blocks.sizes.tolist() == [2, 4, 4]
    for t in range(3):
        Z = X[t == TASK]
        part = blocks.grams[blocks.pairs(t)]
        for m, kernel in enumerate(KERNELS):
            np.testing.assert_array_equal(
                part[:, m].reshape(len(Z), len(Z)), kernel(Z, Z)
            )


def test_blocks_of_equal_size_are_what_each_is_alone():
    # A function knows nothing of stacks of features.
    X, task = inputs(24), np.repeat([0, 1, 2, 3, 4], [5, 5, 5, 4, 5])
    together, apart = (
        TrainingSet(KernelTerms.of(X, [kernel]), X, task, 5)
        for kernel in (Gaussian(1.5), Function(Gaussian(1.5)))
    )
    np.testing.assert_array_equal(together.blocks().grams, apart.blocks().grams)
    beta, weights = np.linspace(-1, 1, 24), np.ones((5, 1))
    # The blocks 0 and 1 have as many others each, 2 none.
    Z, others = inputs(12, seed=1), np.array([1, 0, 3, 1, 0, 4, 4, 1, 0, 4, 3, 3])
    np.testing.assert_allclose(
        together.outputs(Z, others, beta, weights),
        apart.outputs(Z, others, beta, weights),
        rtol=1e-12,
    )


@pytest.mark.parametrize("sparse_first", [False, True])
def test_outputs_on_sparse_inputs_are_those_on_dense_ones(sparse_first):
    X, task = np.random.default_rng(0).normal(size=(12, 3)), np.arange(12) % 3
    forms = [X, canonical_csr(X)][:: -1 if sparse_first else 1]
    terms = KernelTerms.of(forms[0], KERNELS)
    found = [
        TrainingSet(terms, forms[0], task, 3).outputs(
            each, task, np.arange(12.0), np.ones((3, terms.n_terms))
        )
        for each in forms
    ]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)


def test_single_features_are_terms_that_are_never_built():
    set_, X = training(["features", Gaussian(1.0)])
    blocks = set_.blocks()
    assert blocks.n_terms == 4
    np.testing.assert_array_equal(blocks.features, X[np.argsort(TASK, kind="stable")])
    assert blocks.grams.shape == (4 + 16 + 16, 1)
    assert training(["features"])[0].blocks().grams.shape == (36, 0)


def one_vs_rest(kernels=KERNELS, n_tasks=3, **options):
    X = np.tile(inputs(), (n_tasks, 1))
    task = np.repeat(np.arange(n_tasks), 10)
    return TrainingSet(KernelTerms.of(X, kernels), X, task, n_tasks, **options)


@pytest.mark.parametrize("as_inputs", [np.asarray, canonical_csr])
def test_blocks_of_the_same_inputs_share_their_matrices(as_inputs):
    # The tasks 0 and 1 are equal, 2 has the same rows in another order, 3 as 2.
    X = inputs()
    parts = [X, X, X[::-1], X[::-1]]
    task = np.repeat(np.arange(4), 10)
    Z = as_inputs(np.concatenate(parts))
    blocks = TrainingSet(KernelTerms.of(Z, KERNELS), Z, task, 4).blocks()
    assert blocks.entries.tolist() == [0, 0, 100, 100]
    assert blocks.grams.shape == (200, 2)
    expected = [
        TrainingSet(KernelTerms.of(x, KERNELS), x, 0 * task[:10], 1) for x in parts
    ]
    for t, alone in enumerate(expected):
        np.testing.assert_allclose(
            blocks.grams[blocks.pairs(t)], alone.blocks().grams, rtol=1e-12
        )


def test_a_shared_block_alone_has_the_same_matrices():
    shared = one_vs_rest(["features", *KERNELS]).blocks()
    for b in range(3):
        alone = shared.block(b)
        assert np.shares_memory(alone.grams, shared.grams)
        np.testing.assert_array_equal(alone.grams, shared.grams)
        np.testing.assert_array_equal(alone.entries, [0])


def test_the_bound_on_memory_names_what_needs_it(monkeypatch):
    monkeypatch.setattr(gram, "MAX_BYTES", 36 * 2 * 8 - 1)
    with pytest.raises(
        GramMemoryError, match=r"2 Gram matrices of 3 blocks of up to 4"
    ):
        training()[0].blocks()
    assert training(["features"])[0].blocks().n_terms == 3
    monkeypatch.setattr(gram, "MAX_BYTES", 100 * 2 * 8)
    assert one_vs_rest(n_tasks=50).blocks().sizes.size == 50
    monkeypatch.setattr(gram, "MAX_BYTES", 100 * 2 * 8 - 1)
    with pytest.raises(GramMemoryError, match="of 1 blocks of up to 10"):
        one_vs_rest(n_tasks=50).blocks()


@pytest.mark.parametrize(
    ("Q", "message"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], "least eigenvalue is -1"),
        ([[1.0, 0.5], [0.4, 1.0]], "symmetric"),
        ([[1.0, np.nan], [np.nan, 1.0]], "not finite"),
    ],
)
def test_a_matrix_that_is_no_kernel_between_tasks_is_refused(Q, message):
    with pytest.raises(ValueError, match=message):
        check_task_kernel(Q, 2)
