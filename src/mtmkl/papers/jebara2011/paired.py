"""The paired t-test that the paper reports, and the interval that belongs to it."""

import math

import numpy as np
import pandas as pd

from mtmkl.statistics.pairs import LEVEL, MIN_UNITS, ROUNDING


def paired_test(first: pd.Series, second: pd.Series) -> dict[str, float]:
    """Return mean, sd and number of the paired differences, and p of their t-test.

    p is ``nan`` for a few of them.
    """
    from scipy import stats

    both = pd.concat([first, second], axis=1).dropna()
    difference = both.iloc[:, 0] - both.iloc[:, 1]
    p = math.nan
    if len(difference) >= MIN_UNITS and np.ptp(difference) > ROUNDING:
        p = float(stats.ttest_1samp(difference, 0.0).pvalue)
    return {
        "mean": float(difference.mean()),
        "sd": float(difference.std(ddof=1)),
        "n": len(difference),
        "p": p,
    }


def half_width(values: pd.Series) -> float:
    """Return half the 95 % t interval of a mean; ``nan`` for a few values."""
    from scipy import stats

    if len(values) < MIN_UNITS:
        return math.nan
    quantile = float(stats.t.ppf(1 - LEVEL / 2, len(values) - 1))
    return quantile * float(values.std(ddof=1)) / math.sqrt(len(values))
