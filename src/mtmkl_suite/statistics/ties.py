"""Ties: the numbers of a comparison that rounding alone parts.

Means of the same scores in another order, and equal differences of fractions (1/12 from
3/4 and from 1), differ as floating-point numbers. Ranks, counts of wins and the null
distributions of rank tests need them to be equal.
"""

from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from mtmkl.typing import FloatArray

ROUNDING = 1e-12
"""Share of a number below which what is added to it counts as rounding.

A mean of R numbers is off by about 1e-16 √R of their size, and by 1e-16 R at most. Two
fractions k/n and j/m differ by 1/(n m) or more: 4e-10 for 50,000 samples each.
"""

_Table = TypeVar("_Table", pd.DataFrame, "pd.Series[float]")


def scale_of(*values: FloatArray) -> float:
    """Return the largest finite absolute value, 0 if there is none."""
    sizes = (np.abs(v[np.isfinite(v)]).max(initial=0.0) for v in values)
    return float(max(sizes, default=0.0))


def rounding_of(values: ArrayLike, scale: float) -> FloatArray:
    """Return below which differences from numbers are rounding.

    For x it is :data:`ROUNDING` · max(abs(x), min(scale, 1)). A score near zero may be
    what others left when they cancelled (1 − 1.0000000000000002), so it is rounded as
    they were. That holds up to one, the size of scores without a unit: those with a
    unit have another size on each data set, and a squared error of 1e-4 is no rounding
    of one of 1e10.

    ``scale`` is :func:`scale_of` all scores of the comparison.
    """
    return ROUNDING * np.maximum(np.abs(values), min(scale, 1.0))


def equated(values: FloatArray, rounding: FloatArray) -> FloatArray:
    """Return numbers of which those are equal that rounding alone parts.

    In order of size, neighbours that differ by less than the rounding of one of them
    are tied, and so are all that such neighbours link; they become the least of them.
    (On a grid, two numbers on either side of a border would stay apart.)

    Each row of (..., n) is taken by itself. NaN is equal to nothing.
    """
    order = np.argsort(values, axis=-1)
    ascending, limit = (np.take_along_axis(v, order, -1) for v in (values, rounding))
    limit = np.maximum(limit[..., 1:], limit[..., :-1])
    with np.errstate(invalid="ignore"):
        is_apart = ~(np.diff(ascending) < limit)
    least = np.zeros(values.shape, dtype=int)
    least[..., 1:] = np.where(is_apart, np.arange(1, values.shape[-1]), 0)
    least = np.maximum.accumulate(least, axis=-1)
    found = np.empty_like(values)
    np.put_along_axis(found, order, np.take_along_axis(ascending, least, -1), -1)
    return found


def without_rounding(scores: _Table) -> _Table:
    """Return scores :func:`equated`, those of each row or of a series."""
    values: FloatArray = np.asarray(scores, dtype=float)
    found = scores.astype(float)
    found[:] = equated(values, rounding_of(values, scale_of(values)))
    return found


def differences(
    first: ArrayLike, second: ArrayLike, *, scale: float
) -> tuple[FloatArray, FloatArray]:
    """Return first − second and its rounding, by unit.

    Differences are zero, or of equal size, where rounding alone parts them from that.

    ``scale`` is :func:`scale_of` all scores of the comparison. The rounding of a
    difference is that of the larger score, of a tie 0.
    """
    both = np.stack([first, second], axis=-1).astype(float)
    rounding = rounding_of(both, scale)
    one, two = equated(both, rounding).T
    difference = one - two
    rounding = np.where(difference == 0, 0.0, rounding.max(axis=-1))
    size = equated(np.abs(difference), rounding)
    return np.copysign(size, difference), rounding
