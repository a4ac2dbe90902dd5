"""Gram matrices that must be positive semi-definite, or a certificate is false.

With an eigenvalue below 0 a problem has no minimum: ½ β'Kβ goes as low as one likes.
Rounding makes such eigenvalues, too: where each entry of K is off by a share of at most
ρ, none by more than ρ‖K‖₁. A Cholesky factor of K + ρ‖K‖₁ I, a part of the cost of
one eigenvalue, therefore decides; ρ is ten units in the last place of the type that K
comes in, and at least 1e-10, since entries are sums of many rounded products.
"""

from hashlib import blake2b
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dpotrf

from mtmkl.typing import FloatArray

_LEAST_SHARE, _UNITS = 1e-10, 10.0
# Share of its largest entry by which a matrix may be asymmetric.
_ASYMMETRY = 1e-6
# Matrices that have passed, so that the fits of a search check each once.
_REMEMBERED = 256
_passed: dict[bytes, None] = {}


def check_definite(K: FloatArray, name: str, dtype: Any = np.float64) -> None:
    """Raise ValueError unless a finite symmetric matrix is positive semi-definite.

    ``name`` is that of its kernel, ``dtype`` the type that its entries were rounded to.
    """
    least = least_eigenvalue(K, dtype)
    if least is not None:
        raise ValueError(
            f"the Gram matrix of the kernel {name} on {len(K)} training samples is "
            f"not positive semi-definite: its least eigenvalue is {least:.3g}, and no "
            "solution of its problem could be certified. Take another kernel; of a "
            "given matrix, Precomputed and ExponentialDistance set the negative "
            "eigenvalues to 0 by indefinite='clip', and add to the diagonal by "
            "indefinite='shift'"
        )


def least_eigenvalue(K: FloatArray, dtype: Any = np.float64) -> float | None:
    """Return the least eigenvalue of a Gram matrix if it is negative beyond rounding.

    Else None. Parameters are those of :func:`check_definite`.
    """
    # A product with fixed numbers tells matrices apart.
    product = K @ np.random.default_rng(0).standard_normal(len(K))
    key = blake2b(product.tobytes() + np.dtype(dtype).str.encode()).digest()
    if key in _passed:
        return None
    allowed = rounding(K, dtype)
    shifted = np.array(K, order="C")
    shifted.flat[:: len(K) + 1] += allowed
    if dpotrf(shifted.T, overwrite_a=1, clean=0)[1] != 0:
        least = eigh(K, eigvals_only=True, subset_by_index=[0, 0])[0]
        if least < -allowed:
            return float(least)
    _passed[key] = None
    if len(_passed) > _REMEMBERED:
        _passed.pop(next(iter(_passed)), None)
    return None


def check_symmetric(K: FloatArray, name: str) -> None:
    """Raise ValueError, with the name of the matrix, unless it is symmetric."""
    asymmetry = float(np.abs(K - K.T).max(initial=0.0))
    if asymmetry > _ASYMMETRY * float(np.abs(K).max(initial=0.0)):
        raise ValueError(
            f"{name} must be symmetric, entries differ by up to {asymmetry:.3g}"
        )


def rounding(K: FloatArray, dtype: Any) -> float:
    """Return by how much rounding may move the eigenvalues of a Gram matrix."""
    share = max(_LEAST_SHARE, _UNITS * float(np.finfo(dtype).eps))
    return share * float(np.abs(K).sum(axis=0).max(initial=0.0))
