"""The paired t-test that the paper reports."""

import math

import numpy as np
import pandas as pd

from mtmkl.statistics.pairs import MIN_UNITS, ROUNDING


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
