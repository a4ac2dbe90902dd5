"""Proximal points of squared norms: zeros and ranks are exact."""

import numpy as np
import pytest

from mtmkl.solvers.linear import penalties
from mtmkl.solvers.linear.penalties import prox_squared_norm

CODES = {"trace": penalties.TRACE, "rows": penalties.ROWS}


def _prox(name, Y, c):
    """Return the proximal point of (c/2)Ω² at Y, of shape (d, T), and Ω there."""
    Z, value = prox_squared_norm(np.ascontiguousarray(Y.T), c, CODES[name])
    return Z.T, value


@pytest.mark.parametrize("name", CODES)
def test_prox_without_penalty_and_of_zero_is_the_point_itself(name):
    Y = np.random.default_rng(4).standard_normal((3, 5))
    np.testing.assert_allclose(_prox(name, Y, 0.0)[0], Y, atol=1e-12)
    Z, size = _prox(name, 0 * Y, 2.0)
    np.testing.assert_array_equal(Z, 0.0)
    assert size == 0.0


def test_prox_leaves_exact_zero_rows_and_exact_rank():
    Y = np.random.default_rng(5).standard_normal((6, 9))
    rows, _ = _prox("rows", Y, 2.0)
    assert 0 < np.sum(np.all(rows == 0, axis=1)) < 6
    singular = np.linalg.svd(_prox("trace", Y, 2.0)[0], compute_uv=False)
    assert 0 < np.sum(singular > 1e-12 * singular[0]) < 6
