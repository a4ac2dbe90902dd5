"""The t-test of a mean, which knows rounding from a spread."""

import math
from dataclasses import dataclass

import numpy as np

from mtmkl.typing import FloatArray
from mtmkl_suite.statistics.pairs import LEVEL
from mtmkl_suite.statistics.ties import ROUNDING


@dataclass(frozen=True)
class TTest:
    """A one-sample t-test, or why there is none: then all but the mean are ``nan``."""

    estimate: float
    """The mean."""
    statistic: float = math.nan
    p: float = math.nan
    interval: tuple[float, float] = (math.nan, math.nan)
    why_no_test: str = ""


def t_test(
    values: FloatArray,
    *,
    scale: float,
    null: float = 0.0,
    alternative: str = "two-sided",
    level: float = LEVEL,
    variance_ratio: float = 0.0,
) -> TTest:
    """One-sample t-test and the two-sided 1 − level interval of the mean.

    t = (mean − null) / (S √(1/n + c)) with n − 1 degrees of freedom, where c is the
    variance ratio; 0 makes it Student's test. A spread below rounding counts as none:
    then the mean is known exactly, and p is 0 or 1.

    ``scale`` is that of the numbers whose rounding matters, see
    :func:`mtmkl_suite.statistics.ties.scale_of`; for the variance ratio of values that
    are not independent see :func:`mtmkl_suite.judge.overlap.variance_ratio`. If it is
    infinite, nothing is tested.
    """
    from scipy import stats

    mean = float(values.mean())
    why_no_test = ""
    if len(values) < 2:
        why_no_test = "one unit"
    elif not np.isfinite(values).all():
        why_no_test = "not every value is finite"
    elif math.isinf(variance_ratio):
        why_no_test = "all units share their samples"
    if why_no_test:
        return TTest(mean, why_no_test=why_no_test)
    if abs(mean - null) <= ROUNDING * scale:
        mean = null
    spread = float(values.std(ddof=1))
    if spread <= ROUNDING * scale:
        side = {"greater": mean > null, "less": mean < null}
        against_null = side.get(alternative, mean != null)
        statistic = math.copysign(math.inf, mean - null) if mean != null else 0.0
        return TTest(mean, statistic, 0.0 if against_null else 1.0, (mean, mean))
    error = spread * math.sqrt(1 / len(values) + variance_ratio)
    statistic = (mean - null) / error
    t = stats.t(len(values) - 1)
    tails = {"greater": t.sf(statistic), "less": t.cdf(statistic)}
    p = float(tails.get(alternative, 2 * t.sf(abs(statistic))))
    half_width = float(t.ppf(1 - level / 2)) * error
    return TTest(mean, statistic, p, (mean - half_width, mean + half_width))
