"""Gram matrices of many tasks: blocks, subsets, task kernels, outputs on others."""

import numpy as np
import pytest

from mtmkl.kernels import gram
from mtmkl.kernels.base import Gaussian, Polynomial
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


class OnOneBlock:
    """A kernel from elsewhere, which knows nothing of stacks of features."""

    def fit(self, X):
        return self

    def __call__(self, X, Z):
        assert X.ndim == Z.ndim == 2
        return Gaussian(1.5)(X, Z)

    def diagonal(self, X):
        return np.ones(len(X))


def test_blocks_of_equal_size_are_what_each_is_alone():
    X, task = inputs(24), np.repeat([0, 1, 2, 3, 4], [5, 5, 5, 4, 5])
    together, apart = (
        TrainingSet(KernelTerms.of(X, [kernel]), X, task, 5)
        for kernel in (Gaussian(1.5), OnOneBlock())
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


def test_joined_tasks_make_one_block_of_all_pairs():
    set_, X = training(joined=True)
    blocks = set_.blocks()
    assert blocks.sizes.tolist() == [10]
    np.testing.assert_array_equal(set_.order, np.arange(10))
    for m, kernel in enumerate(KERNELS):
        np.testing.assert_array_equal(blocks.grams[:, m].reshape(10, 10), kernel(X, X))


def test_single_features_are_terms_that_are_never_built():
    set_, X = training(["features", Gaussian(1.0)])
    blocks = set_.blocks()
    assert blocks.n_terms == 4
    np.testing.assert_array_equal(blocks.features, X[np.argsort(TASK, kind="stable")])
    assert blocks.grams.shape == (4 + 16 + 16, 1)
    assert training(["features"])[0].blocks().grams.shape == (36, 0)


def test_a_block_alone_equals_what_is_computed_from_its_examples():
    set_, X = training(["features", *KERNELS])
    some = set_.blocks().block(1)
    fresh = TrainingSet(set_.terms, X[TASK == 1], np.zeros(4, int), 1).blocks()
    np.testing.assert_array_equal(some.offsets, fresh.offsets)
    np.testing.assert_array_equal(some.features, fresh.features)
    np.testing.assert_allclose(some.grams, fresh.grams, rtol=1e-12)


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


def task_kernels():
    A = np.random.default_rng(3).standard_normal((2, 3, 3))
    return np.einsum("dij,dkj->dik", A, A)


def test_a_task_kernel_multiplies_the_pairs_of_its_tasks():
    Q = task_kernels()
    set_, X = training(joined=True, task_kernels=Q)
    grams = set_.blocks().grams
    Z, task = inputs(7, seed=1), np.array([0, 1, 2, 0, 1, 2, 1])
    weights, beta, made = [0.3, 2.0], np.random.default_rng(2).standard_normal(10), 0.0
    for m, kernel in enumerate(KERNELS):
        expected = kernel(X, X) * Q[m][np.ix_(TASK, TASK)]
        np.testing.assert_allclose(grams[:, m].reshape(10, 10), expected, rtol=1e-14)
        made += weights[m] * (kernel(Z, X) * Q[m][np.ix_(task, TASK)]) @ beta
    found = set_.outputs(Z, task, beta, np.array([weights]))
    np.testing.assert_allclose(found, made, rtol=1e-12)


def test_outputs_are_sums_over_the_examples_of_the_task():
    set_, X = training(["features", *KERNELS])
    Z, task = inputs(6, seed=1), np.array([2, 0, 1, 1, 2, 0])
    rng = np.random.default_rng(2)
    beta, weights = rng.standard_normal(10), rng.random((3, 5))
    own = np.empty(10)
    own[set_.order] = beta
    expected = [
        sum(
            own[i]
            * (
                weights[t, :3] @ (X[i] * z)
                + weights[t, 3:] @ [k(X[i : i + 1], z[None])[0, 0] for k in KERNELS]
            )
            for i in np.flatnonzero(t == TASK)
        )
        for z, t in zip(Z, task, strict=True)
    ]
    np.testing.assert_allclose(set_.outputs(Z, task, beta, weights), expected)


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
