"""The (2,1)-norm of a matrix whose columns hold one entry 1 each, in exactly r rows."""

import math
from fractions import Fraction


def smallest_norm(ones: int, rows: int) -> float:
    """Return the norm when one row holds all ones that the other rows can spare."""
    return math.sqrt(ones - rows + 1) + rows - 1


def largest_norm(ones: int, rows: int) -> float:
    """Return the norm when the ones are spread as evenly as possible."""
    each, rest = divmod(ones, rows)
    return rest * math.sqrt(each + 1) + (rows - rest) * math.sqrt(each)


def mean_norm(ones: int, rows: int) -> float:
    """Return the mean norm over all maps of the columns onto exactly these rows.

    By symmetry it is r E √n₁, with n₁ the number of ones in the first row.
    """
    ways = _surjections(ones, rows)
    return rows * math.fsum(
        float(Fraction(math.comb(ones, k) * _surjections(ones - k, rows - 1), ways))
        * math.sqrt(k)
        for k in range(1, ones - rows + 2)
    )


def _surjections(items: int, boxes: int) -> int:
    """Return in how many ways labelled items fill all labelled boxes."""
    return sum(
        (-1) ** j * math.comb(boxes, j) * (boxes - j) ** items for j in range(boxes + 1)
    )
