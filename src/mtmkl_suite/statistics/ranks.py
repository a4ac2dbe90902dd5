"""Mean ranks of methods over data sets, and their tests.

The blocks are data sets, one number per method each; tasks or repeats of one data set
are never blocks, because they are not independent.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mtmkl_suite.statistics.pairs import LEVEL, holm
from mtmkl_suite.statistics.ties import ROUNDING, without_rounding


@dataclass(frozen=True)
class FriedmanResult:
    """Friedman's test over data sets, and Iman and Davenport's refinement.

    F is (N − 1) χ² / (N (k − 1) − χ²), with k − 1 and (k − 1)(N − 1) degrees of
    freedom. Where all data sets rank the methods alike it is infinite, and its p would
    be 0 even for two of them: p is then the chance m^(1 − N) of that, with m the number
    of distinct orders of the ranks.
    """

    ranks: pd.Series
    n_blocks: int
    chi2: float
    p: float
    f: float
    p_iman_davenport: float


def friedman(matrix: pd.DataFrame, *, higher_better: bool) -> FriedmanResult:
    """Test whether k >= 3 methods have the same mean rank over N >= 2 data sets.

    Equal values share the mean of their ranks; if all methods are equal on every data
    set, both statistics are 0 and both p are 1.
    """
    from scipy import stats

    n, k = matrix.shape
    if n < 2 or k < 3:
        raise ValueError(f"{n} data sets and {k} methods: needs at least 2 and 3")
    _check_complete(matrix)
    ranks = rank_methods(matrix, higher_better=higher_better)
    n_orders = _number_of_orders(ranks.iloc[0])
    is_unanimous = bool(ranks.eq(ranks.iloc[0]).all(axis=None))
    if is_unanimous and n_orders == 1:
        return FriedmanResult(ranks.mean(), n, 0.0, 1.0, 0.0, 1.0)
    test = stats.friedmanchisquare(*ranks.to_numpy().T)
    chi2 = float(test.statistic)
    if is_unanimous:
        f, p_iman_davenport = math.inf, float(n_orders) ** (1 - n)
    else:
        f = (n - 1) * chi2 / (n * (k - 1) - chi2)
        p_iman_davenport = float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    return FriedmanResult(
        ranks=ranks.mean(),
        n_blocks=n,
        chi2=chi2,
        p=float(test.pvalue),
        f=f,
        p_iman_davenport=p_iman_davenport,
    )


def rank_methods(matrix: pd.DataFrame, *, higher_better: bool) -> pd.DataFrame:
    """Return the ranks of methods on each data set, 1 is best; ties share the mean."""
    return without_rounding(matrix).rank(axis=1, ascending=not higher_better)


def holm_against_control(ranks: pd.Series, n_blocks: int, control: str) -> pd.DataFrame:
    """Compare mean ranks with a control's, Holm-corrected (Demšar 2006, sec. 3.2.2).

    z = (R_i − R_control) / √(k (k + 1) / (6 N)); p is two-sided.
    """
    from scipy import stats

    k = len(ranks)
    others = ranks.drop(control)
    z = (others - ranks[control]) / math.sqrt(k * (k + 1) / (6 * n_blocks))
    p = 2 * stats.norm.sf(np.abs(z))
    return pd.DataFrame({"z": z, "p": p, "p_holm": holm(p)}, index=others.index)


def critical_difference(n_methods: int, n_blocks: int) -> float:
    """Return the difference of two mean ranks that Nemenyi's test calls significant.

    CD = q √(k (k + 1) / (6 N)), with q the 1 − ``LEVEL`` quantile of the studentized
    range of k methods over √2 (Demšar 2006, sec. 3.2.2).
    """
    from scipy import stats

    quantile = float(stats.studentized_range.ppf(1 - LEVEL, n_methods, math.inf))
    spread = math.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks))
    return quantile / math.sqrt(2) * spread


def without_tie_correction(ranks: pd.Series, n_blocks: int) -> tuple[float, float]:
    """Return Friedman's χ² and Iman and Davenport's F as if no ranks were tied.

    χ² = 12 N / (k (k + 1)) (Σ R² − k (k + 1)² / 4), as textbooks and many papers give
    it; the statistics of :func:`friedman` are corrected for ties.

    F is infinite where all data sets rank the methods alike.
    """
    k = len(ranks)
    spread = float((ranks**2).sum()) - k * (k + 1) ** 2 / 4
    chi2 = 12 * n_blocks / (k * (k + 1)) * spread
    rest = n_blocks * (k - 1) - chi2
    # Without ties and with one order for all, rest is zero but for rounding.
    is_unanimous = rest <= ROUNDING * n_blocks * k
    return chi2, math.inf if is_unanimous else (n_blocks - 1) * chi2 / rest


def _check_complete(matrix: pd.DataFrame) -> None:
    for row, column in np.argwhere(matrix.isna().to_numpy()):
        raise ValueError(
            f"{matrix.columns[column]} has no value on {matrix.index[row]} (NaN): "
            "leave out the method or the data set"
        )


def _number_of_orders(ranks: pd.Series) -> int:
    """Return in how many ways ranks, some of them equal, can fall to the methods."""
    repeated = math.prod(math.factorial(count) for count in ranks.value_counts())
    return math.factorial(len(ranks)) // repeated
