"""Sparse features, everywhere in one form: canonical CSR arrays of float64."""

import hashlib
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np

from mtmkl.typing import FloatArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Features of shape (n, d): a dense float64 array, or a canonical CSR array.
Inputs: TypeAlias = "FloatArray | csr_array"


def is_sparse(X: object) -> TypeGuard[Any]:
    """Tell whether the features are a sparse array or matrix of SciPy."""
    if isinstance(X, np.ndarray):
        return False
    # Only now: this import takes longer than loading most dense data.
    from scipy.sparse import issparse

    return bool(issparse(X))


def canonical_csr(X: Any, *, copy: bool = False) -> "csr_array":
    """Return features, dense or sparse in any format, as a CSR array in canonical form.

    In this form equal samples are equal arrays: float64 values, column indices that
    rise within a row, no entry twice (the values of such entries are summed), no
    stored zeros (a zero is the same input whether it is stored or not), and 32-bit
    indices unless the shape or the number of entries needs 64. Without ``copy`` it
    shares what is in canonical form already.

    Raises ValueError if the values are not real numbers.
    """
    from scipy.sparse import csr_array

    if X.dtype.kind not in "biuf":
        raise ValueError(f"sparse features must hold real numbers, got {X.dtype}")
    out = csr_array(X, dtype=np.float64, copy=copy)
    if not out.has_canonical_format or np.count_nonzero(out.data) < out.nnz:
        if not copy:
            out = out.copy()
        out.sum_duplicates()
        out.eliminate_zeros()
    fits = max(out.nnz, *out.shape) <= np.iinfo(np.int32).max
    index_type = np.int32 if fits else np.int64
    out.indices = out.indices.astype(index_type, copy=False)
    out.indptr = out.indptr.astype(index_type, copy=False)
    return out


def same_inputs(X: Inputs, Z: Inputs) -> bool:
    """Tell whether two samples, dense or canonical CSR, are equal."""
    if is_sparse(X) != is_sparse(Z) or X.shape != Z.shape:
        return False
    if not is_sparse(X):
        return np.array_equal(X, Z)
    parts = ("indptr", "indices", "data")
    return all(np.array_equal(getattr(X, p), getattr(Z, p)) for p in parts)


def row_digests(X: Inputs) -> list[bytes]:
    """Return 16 bytes that identify each row, the same for dense and sparse X."""
    rows = canonical_csr(X)
    digests = []
    for first, last in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        content = hashlib.blake2b(
            rows.indices[first:last].astype("<i8"), digest_size=16
        )
        content.update(rows.data[first:last].astype("<f8", copy=False))
        digests.append(content.digest())
    return digests
