"""Number of repeats that decide a claim, planned from the spread that was seen."""

import math

from mtmkl_suite.statistics.pairs import LEVEL

POWER = 0.8
"""Probability with which a planned test is to find the difference."""

_MOST = 1_000_000


def repeats_needed(mean: float, sd: float, variance_ratio: float = 0.0) -> float:
    """Return the least n for which a two-sided t-test finds a mean with the power 0.8.

    Its statistic has a noncentral t-distribution with n − 1 degrees of freedom and
    noncentrality mean / (sd √(1/n + c)). With c > 0 it stays below mean / (sd √c)
    whatever n is: then more samples are needed, and not more repeats of the same.
    """
    from scipy import stats

    if sd == 0 or math.isinf(variance_ratio):
        return 2 if mean and sd == 0 else math.inf

    def power(n: int) -> float:
        centre = abs(mean) / (sd * math.sqrt(1 / n + variance_ratio))
        critical = stats.t.ppf(1 - LEVEL / 2, n - 1)
        # The other tail matters where there is next to no difference.
        both = stats.nct.sf(critical, n - 1, centre) + stats.nct.cdf(
            -critical, n - 1, centre
        )
        return float(both)

    low, high = 1, 2
    while power(high) < POWER:
        low, high = high, 2 * high
        if high > _MOST:
            return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if power(middle) < POWER else (low, middle)
    return high
