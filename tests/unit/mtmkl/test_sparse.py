import numpy as np
import pytest
from scipy import sparse

from mtmkl.sparse import canonical_csr, row_digests, same_inputs

DENSE = np.array([[0.0, 1.5, 0.0, -2.0], [0.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.0, 4.0]])
PARTS = ("data", "indices", "indptr")


def untidy():
    """DENSE with columns out of order, an entry in two parts, and stored zeros."""
    values = [-2.0, 1.0, 0.5, 0.0, -0.0, 4.0, 3.0]
    columns = [3, 1, 1, 0, 2, 3, 0]
    return sparse.csr_array((values, columns, [0, 4, 5, 7]), shape=DENSE.shape)


@pytest.mark.parametrize(
    "X",
    [
        untidy(), sparse.csr_matrix(DENSE), sparse.coo_array(DENSE),
        sparse.csc_matrix(DENSE), sparse.lil_array(DENSE),
        sparse.csr_array(DENSE, dtype=np.float32), DENSE,
    ],
    ids=["untidy", "csr_matrix", "coo", "csc", "lil", "float32", "dense"],
)  # fmt: skip
def test_equal_inputs_have_one_form(X):
    out = canonical_csr(X)
    assert isinstance(out, sparse.csr_array)
    assert out.data.tolist() == [1.5, -2.0, 3.0, 4.0]
    assert out.indices.tolist() == [1, 3, 0, 3]
    assert out.indptr.tolist() == [0, 2, 2, 4]
    assert out.data.dtype == np.float64
    assert out.indices.dtype == out.indptr.dtype == np.int32


def test_wide_indices_become_narrow_where_they_can():
    X = sparse.csr_array(DENSE)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert canonical_csr(X).indices.dtype == np.int32
    wide = sparse.csr_array((np.ones(1), ([0], [2**31])), shape=(1, 2**31 + 1))
    assert canonical_csr(wide).indices.dtype == np.int64


def test_the_given_matrix_is_left_alone():
    X = untidy()
    before = [getattr(X, part).copy() for part in PARTS]
    canonical_csr(X)
    for part, values in zip(PARTS, before, strict=True):
        np.testing.assert_array_equal(getattr(X, part), values)


def test_memory_is_shared_unless_a_copy_is_asked_for():
    X = sparse.csr_array(DENSE)
    shared, own = canonical_csr(X), canonical_csr(X, copy=True)
    for part in PARTS:
        assert np.shares_memory(getattr(shared, part), getattr(X, part))
        assert not np.shares_memory(getattr(own, part), getattr(X, part))


def test_same_inputs():
    X = canonical_csr(DENSE)
    assert same_inputs(X, canonical_csr(untidy()))
    assert same_inputs(DENSE, DENSE.copy())
    assert not same_inputs(X, canonical_csr(2 * DENSE))
    assert not same_inputs(X, canonical_csr(DENSE[:2]))
    assert not same_inputs(X, canonical_csr(DENSE[:, ::-1]))
    assert not same_inputs(X, DENSE)


def test_row_digests_follow_the_content():
    rows = np.vstack([DENSE, DENSE[::-1], -DENSE[:1], DENSE[:1, ::-1]])
    digests = row_digests(rows)
    assert row_digests(sparse.csc_array(rows)) == digests
    assert digests[:3] == digests[5:2:-1]
    assert len(set(digests)) == 5
