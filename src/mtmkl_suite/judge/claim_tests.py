"""Tests of a paper's claims on a scores table, by the rules of ``docs/verdicts.md``.

A test takes observations and the arguments of the claim. An axis is a column of the
scores, a key of ``setting`` or an option of the data set. The plain test takes the
units as independent; where they share samples it is made again with the variance
that their mean then has (:mod:`mtmkl_suite.judge.overlap`).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd

from mtmkl.typing import FloatArray
from mtmkl_suite.judge.observations import (
    AXIS,
    NoDataError,
    Observations,
    Sides,
    Where,
)
from mtmkl_suite.judge.sample import higher_is_better
from mtmkl_suite.statistics.pairs import LEVEL, holm
from mtmkl_suite.statistics.ranks import friedman, holm_against_control
from mtmkl_suite.statistics.t_test import TTest, t_test
from mtmkl_suite.statistics.ties import ROUNDING, scale_of

VerdictName = Literal["holds", "does not hold", "undecided"]


class ClaimError(ValueError):
    """A claim names a test, an argument or a method that does not exist."""


@dataclass(frozen=True)
class Finding(TTest):
    """Finding of a test under one assumption on its units.

    The estimate is a difference, slope, mean, ratio, exponent or count; p and the
    interval are ``nan`` where the test has none.
    """

    verdict: VerdictName = field(kw_only=True)


@dataclass(frozen=True)
class TestResult:
    """Findings of a test."""

    note: str
    """Number of units, means, and what was compared, in words."""
    own: Finding
    """Of the plain test: units are independent."""
    corrected: Finding | None
    """Of the test for units that share samples; None where they share none."""
    n_units: int
    variance_ratio: float
    """c of :mod:`mtmkl_suite.judge.overlap`."""

    # pytest collects classes whose names start with "Test".
    __test__ = False

    @property
    def verdict(self) -> VerdictName:
        """That of both tests where they agree, else "undecided"."""
        if self.corrected is None or self.corrected.verdict == self.own.verdict:
            return self.own.verdict
        return "undecided"


def result(
    found: Callable[[float], Finding],
    n_units: int,
    ratio: float,
    note: str,
    *,
    lacking: str = "test",
) -> TestResult:
    """Make a test for independent units, and again for those that share samples."""
    own = found(0.0)
    if own.why_no_test:
        note += f"; {own.why_no_test}, so no {lacking}"
    corrected = found(ratio) if ratio > 0 else None
    return TestResult(note, own, corrected, n_units, ratio)


def decided(holds: bool, fails: bool = True) -> VerdictName:
    """Return the verdict of a test; that of one that cannot leave it undecided."""
    if holds:
        return "holds"
    return "does not hold" if fails else "undecided"


def by_direction(test: TTest, *, wanted_sign: int, null: float = 0.0) -> Finding:
    """Return a t-test with its verdict, by the side on which the mean is."""
    is_shown = test.p < LEVEL
    is_wanted = (test.estimate - null) * wanted_sign > 0
    return Finding(**vars(test), verdict=decided(is_shown and is_wanted, is_shown))


def by_interval(mean: float, test: TTest, low: float, high: float) -> Finding:
    """Return whether the interval of a mean lies within a range, or beyond it."""
    start, stop = test.interval
    verdict = decided(low <= start and stop <= high, stop < low or start > high)
    found = replace(test, estimate=mean, statistic=mean, p=math.nan)
    return Finding(**vars(found), verdict=verdict)


def paired_difference(
    of: Observations,
    /,
    *,
    lower: Where,
    higher: Where,
    at_least: float = 0.0,
    at_most: float = math.inf,
) -> TestResult:
    """Test that one side's metric lies below another's, by a paired t-test."""
    sides = of.pair(lower, higher)
    low, high = sides.first, sides.second

    def found(ratio: float) -> Finding:
        difference, scale = high - low, scale_of(low, high)
        test = t_test(difference, scale=scale, null=at_least, variance_ratio=ratio)
        finding = by_direction(test, wanted_sign=1, null=at_least)
        if finding.verdict == "holds" and at_most < math.inf:
            most = t_test(difference, scale=scale, null=at_most, variance_ratio=ratio)
            verdict = by_direction(most, wanted_sign=-1, null=at_most).verdict
            finding = replace(finding, verdict=verdict)
        return finding

    note = _means(of.unit, sides) + sides.remark
    return result(found, len(low), sides.variance_ratio, note)


def best_in(
    of: Observations,
    /,
    *,
    higher: Where,
    others: Sequence[Where],
    at_least: float,
) -> TestResult:
    """Count the units in which one side is above each of the others."""
    from scipy import stats

    pairs = [of.pair(other, higher) for other in others]
    leads = [pd.Series(each.second - each.first, each.index) for each in pairs]
    least = pd.concat(leads, axis=1, join="inner").min(axis=1, skipna=False)
    count, n = int((least > 0).sum()), len(least)
    interval = stats.binomtest(count, n).proportion_ci()
    verdict = decided(count >= at_least * n - ROUNDING, interval.high < at_least)
    note = (
        f"best in {count} of {_count(of.unit, n)}, claimed {at_least:.0%}; "
        f"lead from {least.min():.3g} to {least.max():.3g}"
    )
    ends = (interval.low, interval.high)
    own = Finding(count / n, count, interval=ends, verdict=verdict)
    return TestResult(note, own, None, n, 0.0)


def equivalence(
    of: Observations,
    /,
    *,
    first: Where,
    second: Where,
    margin: float,
) -> TestResult:
    """Test that two sides differ by less than a margin (two one-sided t-tests)."""
    sides = of.pair(first, second)
    one, two = sides.first, sides.second

    def found(ratio: float) -> Finding:
        above, below = (
            t_test(
                one - two,
                null=null,
                scale=scale_of(one, two),
                alternative=alternative,
                level=2 * LEVEL,
                variance_ratio=ratio,
            )
            for null, alternative in ((-margin, "greater"), (margin, "less"))
        )
        weaker = max(above, below, key=lambda t: t.p)
        low, high = weaker.interval
        verdict = decided(weaker.p < LEVEL, low > margin or high < -margin)
        return Finding(**vars(weaker), verdict=verdict)

    note = f"{_means(of.unit, sides)}, margin {margin:g}{sides.remark}"
    return result(found, len(one), sides.variance_ratio, note)


def trend(
    of: Observations,
    /,
    *,
    where: Where,
    axis: str,
    direction: str,
    minus: Where | None = None,
    log_axis: bool = False,
) -> TestResult:
    """Test that a metric rises or falls along an axis, by the slopes of the units."""
    sign = {"increasing": 1, "decreasing": -1}[direction]
    if minus is None:
        curve, ratio = of.side(where, axis)
        remark = ""
    else:
        sides = of.pair(where, minus, axis)
        curve = pd.Series(sides.first - sides.second, index=sides.index)
        ratio, remark = sides.variance_ratio, sides.remark
    table = curve.unstack(AXIS)
    levels = table.columns.to_numpy(dtype=float)
    if log_axis and (levels <= 0).any():
        raise ClaimError(f"axis {axis!r} has values <= 0 and cannot be logarithmic")
    position = np.log10(levels) if log_axis else levels
    usable = table.notna().sum(axis=1) >= 2
    slopes = np.array([_slope(position, row) for row in table[usable].to_numpy()])
    if slopes.size == 0:
        raise NoDataError(f"{axis} has a single level, {levels[0]:g}")
    # Slopes of a constant curve differ from zero by rounding alone.
    scale = np.nanmax(np.abs(table.to_numpy())) / max(np.ptp(position), 1e-300)

    def found(ratio: float) -> Finding:
        test = t_test(slopes, scale=float(scale), variance_ratio=ratio)
        return by_direction(test, wanted_sign=sign)

    means = table.mean()
    left_out = int((~usable).sum())
    note = (
        f"{_count(of.unit, len(slopes))}: mean slope {slopes.mean():.4g} "
        f"per {'factor ten' if log_axis else 'unit'} of {axis}; "
        f"mean {means.iloc[0]:.4g} at {levels[0]:g}, {means.iloc[-1]:.4g} at "
        f"{levels[-1]:g}"
    )
    if left_out:
        note += f"; {left_out} left out (seen at one level only)"
    return result(found, len(slopes), ratio, note + remark)


def monotone(
    of: Observations,
    /,
    *,
    where: Where,
    axis: str,
    direction: str,
) -> TestResult:
    """Test that a metric never goes the wrong way along an axis."""
    wrong = {"nonincreasing": 1, "nondecreasing": -1}[direction]
    curve, ratio = of.side(where, axis)
    table = curve.unstack(AXIS).dropna(axis=0)
    if table.empty or table.shape[1] < 2:
        raise NoDataError(f"no unit has two levels of {axis} or more")
    values = table.to_numpy(dtype=float)
    steps = wrong * np.diff(values, axis=1)
    scale = scale_of(values)
    # Rounding is no step.
    mean_steps = [t_test(step, scale=scale).estimate for step in steps.T]
    worst_step = max(mean_steps)

    def found(ratio: float) -> Finding:
        p_values = [
            t_test(step, scale=scale, alternative="greater", variance_ratio=ratio).p
            for step in steps.T
        ]
        known = [p for p in p_values if not math.isnan(p)]
        p = float(holm(known).min()) if known else math.nan
        # No step on average the wrong way: that is a description, not a test.
        verdict = decided(worst_step <= 0, p < LEVEL)
        return Finding(worst_step, worst_step, p, verdict=verdict)

    units_wrong = int((steps > ROUNDING * scale).any(axis=1).sum())
    levels = table.columns.to_numpy(dtype=float)
    note = (
        f"{_count(of.unit, len(values))}, {len(levels)} levels of {axis} from "
        f"{levels[0]:g} (mean {values[:, 0].mean():.4g}) to {levels[-1]:g} "
        f"(mean {values[:, -1].mean():.4g}); {units_wrong} of {len(values)} curves "
        f"have a step the wrong way"
    )
    if worst_step > 0:
        start, stop = levels[mean_steps.index(worst_step) :][:2]
        note += f", the worst on average from {start:g} to {stop:g}"
    return result(found, len(values), ratio, note)


def within_range(
    of: Observations,
    /,
    *,
    where: Where,
    low: float = -math.inf,
    high: float = math.inf,
) -> TestResult:
    """Test that the mean of a metric lies in a range."""
    if math.isinf(low) and math.isinf(high):
        raise ClaimError("give low, high or both")
    side, ratio = of.side(where)
    values = side.to_numpy(dtype=float)
    mean = float(values.mean())

    def found(ratio: float) -> Finding:
        test = t_test(values, scale=scale_of(values), variance_ratio=ratio)
        return by_interval(mean, test, low, high)

    inside = int(((values >= low) & (values <= high)).sum())
    note = (
        f"{_count(of.unit, len(values))}: mean {mean:.4g}, smallest "
        f"{values.min():.4g}, largest {values.max():.4g}; {inside} in "
        f"[{low:g}, {high:g}]"
    )
    return result(found, len(values), ratio, note, lacking="interval")


def ahead_by_ranks(
    of: Observations,
    /,
    *,
    rows: Sequence[Mapping[str, str]],
    control: str,
    baselines: Sequence[str],
    where: Where,
    low: int,
) -> TestResult:
    """Test that a method is ahead of so many baselines by ranks over data sets."""
    matrix = pd.DataFrame(
        {
            f"{row['experiment']}, {row['metric']}": _ranked_means(
                replace(of, experiment=row["experiment"], metric=row["metric"]),
                [control, *baselines],
                where,
            )
            for row in rows
        }
    ).T
    over_all = friedman(matrix, higher_better=True)
    tests = holm_against_control(over_all.ranks, over_all.n_blocks, control)
    count = int(((tests["p_holm"] < LEVEL) & (tests["z"] > 0)).sum())
    note = (
        f"{len(matrix)} data sets: {count} of {len(baselines)} methods have a worse "
        f"mean rank (Holm), claimed {low}; Friedman's p = {over_all.p:.2g}"
    )
    own = Finding(count, count, over_all.p, verdict=decided(count >= low))
    return TestResult(note, own, None, len(matrix), 0.0)


def _ranked_means(of: Observations, methods: Sequence[str], where: Where) -> pd.Series:
    """Return the mean of each method, of which the larger is the better."""
    means = {
        method: of.side({"method": method, **where})[0].mean() for method in methods
    }
    sign = 1.0 if higher_is_better(of.metric) else -1.0
    return sign * pd.Series(means)


TESTS: dict[str, Callable[..., TestResult]] = {
    test.__name__: test
    for test in (
        paired_difference,
        best_in,
        equivalence,
        trend,
        monotone,
        within_range,
        ahead_by_ranks,
    )
}
"""Tests by the name that configurations use."""


def _slope(position: FloatArray, row: FloatArray) -> float:
    seen = ~np.isnan(row)
    return float(np.polyfit(position[seen], row[seen], 1)[0])


def _means(unit: str, sides: Sides) -> str:
    return (
        f"{_count(unit, len(sides.first))}: mean {sides.first.mean():.4g} "
        f"against {sides.second.mean():.4g}"
    )


def _count(unit: str, n: int) -> str:
    return f"{n} {unit.replace('_', ' ')}{'' if n == 1 else 's'}"
