import numpy as np

from mtmkl.compiled import add_scaled, compiled, dot, dot_at, total


@compiled
def _dot(a, b):
    return dot(a, b)


@compiled
def _dot_at(a, i, b, j, n):
    return dot_at(a, i, b, j, n)


@compiled
def _total(a):
    return total(a)


@compiled
def _add_scaled(out, factor, row):
    add_scaled(out, factor, row)


def in_lanes(terms):
    """Return a sum by the definition: sixteen lanes, whole fours, then one by one."""
    n = len(terms)
    lanes = np.zeros(16)
    for k in range(n - n % 16):
        lanes[k % 16] += terms[k]
    for k in range(n - n % 16, n - n % 4):
        lanes[k % 4] += terms[k]
    a, b, c, d = lanes.reshape(4, 4)
    four = (a + b) + (c + d)
    found = (four[0] + four[1]) + (four[2] + four[3])
    for k in range(n - n % 4, n):
        found += terms[k]
    return found


def test_sums_are_added_in_the_order_of_their_definition():
    rng = np.random.default_rng(0)
    for n in range(70):
        a = rng.normal(size=n) * 10.0 ** rng.integers(-8, 8, n)
        b = rng.normal(size=n)
        assert _dot(a, b) == _dot(b, a) == in_lanes(a * b)
        assert _total(a) == in_lanes(a)


def test_parts_of_matrices_need_no_views():
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(5, 37)), rng.normal(size=(4, 37))
    assert _dot_at(A, 2 * 37, B, 3 * 37, 37) == _dot(A[2], B[3])
    assert _dot_at(A, 2 * 37 + 5, B, 3 * 37 + 1, 20) == _dot(A[2, 5:25], B[3, 1:21])


def test_a_scaled_row_is_added_as_by_numpy():
    rng = np.random.default_rng(2)
    out, row = rng.normal(size=(2, 37))
    wanted = out + 0.3 * row
    _add_scaled(out, 0.3, row)
    np.testing.assert_array_equal(out, wanted)
