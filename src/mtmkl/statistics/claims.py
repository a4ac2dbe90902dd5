"""Tests of a paper's claims: orderings, trends and ranges, from a scores table.

A test takes a scores table and the arguments of the claim, and returns a
:class:`TestResult`. Its verdict is

- *holds*: the evidence is for the claim at the 5 % level,
- *does not hold*: it is against the claim at the 5 % level,
- *undecided*: neither,
- *not judged (quick)*: repeats, grid or data are reduced,
- *no data*: the scores lack a side of the comparison.

``unit`` names the paired observations: ``repeat`` (the value over all tasks of each
repeat) or ``task`` (each task's value, averaged over repeats). Everything else that
matches is averaged first, subsets of tasks before anything else, and only what both
sides have (data set, train size, setting) is compared. Sides without any setting in
common have grids of different parameters: each is averaged over its own.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from mtmkl.statistics.sample import (
    VALIDATION,
    SelectionError,
    average,
    axis_values,
    higher_is_better,
    select,
)
from mtmkl.statistics.verdicts import NOT_JUDGED
from mtmkl.typing import FloatArray

LEVEL = 0.05
VERDICTS = ("holds", "does not hold", "undecided", NOT_JUDGED, "no data")
COLUMNS = (
    "id", "claim", "section", "test", "statistic", "p", "interval_low",
    "interval_high", "verdict", "note",
)  # fmt: skip
"""Columns of ``claims.csv``."""

VerdictName = Literal["holds", "does not hold", "undecided", "no data"]
Where = Mapping[str, Any]

_AXIS = "axis_value"
# Differences below this share of the values are rounding, not effects.
_ROUNDING = 1e-12


class ClaimError(ValueError):
    """A claim names a test, an argument or a method that does not exist."""


@dataclass(frozen=True)
class TestResult:
    """What a test says.

    Attributes
    ----------
    verdict : {"holds", "does not hold", "undecided", "no data"}
    note : str
        Number of units, means, and what was compared, in words.
    statistic, p : float
        ``nan`` where the test has none.
    interval : tuple of float
        (low, high) of the estimate; ``nan`` where there is none.
    """

    verdict: VerdictName
    note: str
    statistic: float = math.nan
    p: float = math.nan
    interval: tuple[float, float] = field(default=(math.nan, math.nan))

    # pytest collects classes whose names start with "Test".
    __test__ = False


def paired_difference(
    scores: pd.DataFrame,
    *,
    experiment: str,
    metric: str,
    lower: Where,
    higher: Where,
    unit: str = "repeat",
) -> TestResult:
    """Test that one side's metric lies below another's, by a paired t-test.

    Two-sided test of the mean of ``higher - lower`` over units. *Holds*: p < 0.05 and
    the mean is positive; *does not hold*: p < 0.05 and it is negative; else
    *undecided*. Statistic: t; interval: 95 % for the mean difference.

    Parameters
    ----------
    scores : DataFrame
    experiment, metric : str
    lower, higher : mapping
        Selectors of the side claimed to have the lower and the higher values.
    unit : {"repeat", "task"}
    """
    sides = _paired(scores, experiment, metric, lower, higher, unit)
    if isinstance(sides, TestResult):
        return sides
    low, high = sides.first, sides.second
    test = _t_test(high - low, scale=_scale(low, high))
    note = (
        f"{_count(unit, len(low))}: mean {low.mean():.4g} ({_name(lower)}) "
        f"against {high.mean():.4g} ({_name(higher)})"
    )
    return test.result(_by_direction(test, wanted_sign=1), note + sides.remark)


def paired_difference_chosen(
    scores: pd.DataFrame,
    *,
    experiment: str,
    metric: str,
    lower: Where,
    higher: Where,
    choose: Where,
    unit: str = "repeat",
) -> TestResult:
    """Test that one side lies below another, each at a setting that other data choose.

    A side's setting is the one with the best mean among the rows that ``choose``
    names; then as :func:`paired_difference`.

    Parameters
    ----------
    scores : DataFrame
    experiment, metric : str
    lower, higher : mapping
        Selectors of the side claimed to have the lower and the higher values.
    choose : mapping
        Selector of the rows that choose, in place of what it shares with a side's:
        ``metric`` (``validation_auc``), ``repeat`` (others than those compared).
    unit : {"repeat", "task"}
    """
    if not choose:
        raise ClaimError(
            "choose is empty: name a metric or repeats that are not tested"
        )
    sides: list[Where] = []
    for side in (lower, higher):
        where = {"metric": metric, **side, **choose}
        rows = select(scores, where, experiment=experiment, unit=unit)
        if rows.empty:
            return TestResult("no data", _missing(experiment, metric, where, unit))
        means = average(rows, ["setting"])
        is_higher = higher_is_better(where["metric"].removeprefix(VALIDATION))
        sides.append(
            {**side, "setting": means.idxmax() if is_higher else means.idxmin()}
        )
    return paired_difference(
        scores,
        experiment=experiment,
        metric=metric,
        lower=sides[0],
        higher=sides[1],
        unit=unit,
    )


def equivalence(
    scores: pd.DataFrame,
    *,
    experiment: str,
    metric: str,
    first: Where,
    second: Where,
    margin: float,
    unit: str = "repeat",
) -> TestResult:
    """Test that two sides differ by less than a margin (two one-sided t-tests).

    *Holds*: both one-sided tests reject |mean difference| >= margin at 5 %, so that
    the 90 % interval lies within ±margin; *does not hold*: the 90 % interval lies
    wholly outside; else *undecided*. Statistic: the t nearer to acceptance; p: the
    larger of the two; interval: 90 % for ``first - second``.

    Parameters
    ----------
    scores : DataFrame
    experiment, metric : str
    first, second : mapping
        Selectors of the two sides.
    margin : float
        Positive, in the metric's own unit.
    unit : {"repeat", "task"}
    """
    if not margin > 0:
        raise ClaimError(f"margin {margin!r} must be positive")
    sides = _paired(scores, experiment, metric, first, second, unit)
    if isinstance(sides, TestResult):
        return sides
    one, two = sides.first, sides.second
    difference, scale = one - two, _scale(one, two)
    above = _t_test(
        difference, null=-margin, scale=scale, alternative="greater", level=2 * LEVEL
    )
    below = _t_test(
        difference, null=margin, scale=scale, alternative="less", level=2 * LEVEL
    )
    weaker = max(above, below, key=lambda t: t.p)
    low, high = weaker.interval
    verdict: VerdictName = "undecided"
    if weaker.p < LEVEL:
        verdict = "holds"
    elif low > margin or high < -margin:
        verdict = "does not hold"
    note = (
        f"{_count(unit, len(one))}: mean {one.mean():.4g} ({_name(first)}) "
        f"against {two.mean():.4g} ({_name(second)}), margin {margin:g}"
    )
    return weaker.result(verdict, note + sides.remark)


def trend(
    scores: pd.DataFrame,
    *,
    experiment: str,
    metric: str,
    where: Where,
    axis: str,
    direction: str,
    minus: Where | None = None,
    log_axis: bool = False,
    unit: str = "repeat",
) -> TestResult:
    """Test that a metric rises or falls along an axis, by the slopes of the units.

    Each unit with two levels of the axis or more gets its least-squares slope; the
    mean slope is tested against zero, two-sided. *Holds*: p < 0.05 and the sign is
    that of the direction; *does not hold*: p < 0.05 and the opposite sign; else
    *undecided*. Statistic: t; interval: 95 % for the mean slope.

    Parameters
    ----------
    scores : DataFrame
    experiment, metric : str
    where : mapping
        Selector of the curve.
    axis : str
        A column (``n_tasks``), a key of ``setting`` or an option of the data set.
    direction : {"increasing", "decreasing"}
    minus : mapping or None
        Selector of a side whose values are subtracted at each level of the axis.
    log_axis : bool
        Slope per factor ten of the axis.
    unit : {"repeat", "task"}
    """
    sign = _choice("direction", direction, {"increasing": 1, "decreasing": -1})
    if minus is None:
        curve = _one_side(scores, experiment, metric, where, unit, axis)
        remark = ""
    else:
        sides = _paired(scores, experiment, metric, where, minus, unit, axis)
        curve = (
            sides
            if isinstance(sides, TestResult)
            else pd.Series(sides.first - sides.second, index=sides.index)
        )
        remark = "" if isinstance(sides, TestResult) else sides.remark
    if isinstance(curve, TestResult):
        return curve
    table = curve.unstack(_AXIS)
    levels = table.columns.to_numpy(dtype=float)
    if log_axis and (levels <= 0).any():
        raise ClaimError(f"axis {axis!r} has values <= 0 and cannot be logarithmic")
    position = np.log10(levels) if log_axis else levels
    usable = table.notna().sum(axis=1) >= 2
    slopes = np.array([_slope(position, row) for row in table[usable].to_numpy()])
    if slopes.size == 0:
        return TestResult("no data", f"{axis} has a single level, {levels[0]:g}")
    # Slopes of a constant curve differ from zero by rounding alone.
    scale = np.nanmax(np.abs(table.to_numpy())) / max(np.ptp(position), 1e-300)
    test = _t_test(slopes, scale=float(scale))
    means = table.mean()
    left_out = int((~usable).sum())
    note = (
        f"{_count(unit, len(slopes))}: mean slope {slopes.mean():.4g} "
        f"per {'factor ten' if log_axis else 'unit'} of {axis}; "
        f"mean {means.iloc[0]:.4g} at {levels[0]:g}, {means.iloc[-1]:.4g} at "
        f"{levels[-1]:g}"
    )
    if left_out:
        note += f"; {left_out} left out (seen at one level only)"
    return test.result(_by_direction(test, wanted_sign=sign), note + remark)


def monotone(
    scores: pd.DataFrame,
    *,
    experiment: str,
    metric: str,
    where: Where,
    axis: str,
    direction: str,
    unit: str = "repeat",
) -> TestResult:
    """Test that a metric never goes the wrong way along an axis.

    *Holds*: no step of the mean curve goes the wrong way; *does not hold*: some step
    does, with p < 0.05 in a one-sided paired t-test, Holm-corrected over all steps;
    else *undecided*. Statistic: the largest step of the mean curve in the wrong
    direction (negative or zero if there is none); p: the smallest corrected one.

    Parameters
    ----------
    scores : DataFrame
    experiment, metric : str
    where : mapping
        Selector of the curve.
    axis : str
        As for :func:`trend`.
    direction : {"nonincreasing", "nondecreasing"}
    unit : {"repeat", "task"}
    """
    from statsmodels.stats.multitest import multipletests

    wrong = _choice("direction", direction, {"nonincreasing": 1, "nondecreasing": -1})
    curve = _one_side(scores, experiment, metric, where, unit, axis)
    if isinstance(curve, TestResult):
        return curve
    table = curve.unstack(_AXIS).dropna(axis=0)
    if table.empty or table.shape[1] < 2:
        return TestResult("no data", f"no unit has two levels of {axis} or more")
    values = table.to_numpy(dtype=float)
    steps = wrong * np.diff(values, axis=1)
    scale = _scale(values)
    tests = [_t_test(step, scale=scale, alternative="greater") for step in steps.T]
    mean_steps = np.array([test.mean for test in tests])
    known = np.array([test.p for test in tests if not math.isnan(test.p)])
    p = float(multipletests(known, method="holm")[1].min()) if known.size else math.nan
    worst = int(mean_steps.argmax())
    verdict: VerdictName = "undecided"
    if mean_steps[worst] <= 0:
        verdict = "holds"
    elif p < LEVEL:
        verdict = "does not hold"
    units_wrong = int((steps > _ROUNDING * scale).any(axis=1).sum())
    levels = table.columns.to_numpy(dtype=float)
    note = (
        f"{_count(unit, len(values))}, {len(levels)} levels of {axis} from "
        f"{levels[0]:g} (mean {values[:, 0].mean():.4g}) to {levels[-1]:g} "
        f"(mean {values[:, -1].mean():.4g}); {units_wrong} of {len(values)} curves "
        f"have a step the wrong way"
    )
    if mean_steps[worst] > 0:
        note += (
            f", the worst on average from {levels[worst]:g} to {levels[worst + 1]:g}"
        )
    return TestResult(verdict, note, statistic=float(mean_steps[worst]), p=p)


def within_range(
    scores: pd.DataFrame,
    *,
    experiment: str,
    metric: str,
    where: Where,
    low: float | None = None,
    high: float | None = None,
    unit: str = "repeat",
) -> TestResult:
    """Test that the mean of a metric lies in a range.

    *Holds*: the 95 % t interval of the mean lies in [low, high]; *does not hold*: it
    lies wholly outside; else *undecided*. Statistic: the mean.

    Parameters
    ----------
    scores : DataFrame
    experiment, metric : str
    where : mapping
        Selector of the values.
    low, high : float or None
        Ends of the range; None leaves that end open. At least one is given.
    unit : {"repeat", "task"}
    """
    if low is None and high is None:
        raise ClaimError("give low, high or both")
    floor = -math.inf if low is None else low
    ceiling = math.inf if high is None else high
    found = _one_side(scores, experiment, metric, where, unit, None)
    if isinstance(found, TestResult):
        return found
    values = found.to_numpy(dtype=float)
    test = _t_test(values, scale=_scale(values))
    start, stop = test.interval
    verdict: VerdictName = "undecided"
    if floor <= start and stop <= ceiling:
        verdict = "holds"
    elif stop < floor or start > ceiling:
        verdict = "does not hold"
    inside = int(((values >= floor) & (values <= ceiling)).sum())
    note = (
        f"{_count(unit, len(values))}: mean {values.mean():.4g}, smallest "
        f"{values.min():.4g}, largest {values.max():.4g}; {inside} in "
        f"[{floor:g}, {ceiling:g}]"
    )
    if test.why_no_test:
        note += f"; {test.why_no_test}, so no interval"
    return TestResult(verdict, note, float(values.mean()), math.nan, (start, stop))


TESTS: dict[str, Callable[..., TestResult]] = {
    test.__name__: test
    for test in (
        paired_difference,
        paired_difference_chosen,
        equivalence,
        trend,
        monotone,
        within_range,
    )
}
"""Tests by the name that configurations use."""


def check_claims(claims: Iterable[Mapping[str, Any]], methods: Iterable[str]) -> None:
    """Check that every claim names a known test, its arguments and known methods.

    Parameters
    ----------
    claims : iterable of mapping
        ``claims`` of a paper's configuration.
    methods : iterable of str
        Ids of the configured methods.

    Raises
    ------
    ClaimError
        Names the claim and what it gets wrong.
    """
    known_methods = set(methods)
    for claim in claims:
        where = f"claim {claim['id']!r}"
        if claim["test"] not in TESTS:
            raise ClaimError(
                f"{where}: test {claim['test']!r} is unknown; known: {', '.join(TESTS)}"
            )
        try:
            inspect.signature(TESTS[claim["test"]]).bind(None, **claim["args"])
        except TypeError as error:
            raise ClaimError(f"{where}: test {claim['test']}: {error}") from error
        for value in claim["args"].values():
            if isinstance(value, Mapping) and "method" in value:
                method = value["method"]
                if method not in known_methods:
                    raise ClaimError(f"{where}: method {method!r} is not configured")


def evaluate_claims(
    claims: Iterable[Mapping[str, Any]],
    scores: pd.DataFrame,
    methods: Iterable[str],
    *,
    full_protocol: bool = True,
) -> pd.DataFrame:
    """Run the test of every claim.

    Parameters
    ----------
    claims : iterable of mapping
        ``claims`` of a paper's configuration: id, section, claim, test, args.
    scores : DataFrame
    methods : iterable of str
        Ids of the configured methods.
    full_protocol : bool
        False where repeats, grid or data are reduced: then the notes say what was
        found, and nothing is judged.

    Returns
    -------
    DataFrame
        With :data:`COLUMNS`, one row per claim, in their order.

    Raises
    ------
    ClaimError
        Names the claim and what it gets wrong.
    """
    claims = list(claims)
    check_claims(claims, methods)
    rows = []
    for claim in claims:
        try:
            result = TESTS[claim["test"]](scores, **claim["args"])
        except (ClaimError, SelectionError) as error:
            raise ClaimError(f"claim {claim['id']!r}: {error}") from error
        verdict: str = result.verdict
        if not full_protocol and verdict != "no data":
            # A statistic or p beside it would be read as the verdict.
            verdict, result = NOT_JUDGED, TestResult(result.verdict, result.note)
        rows.append(
            {
                "id": claim["id"],
                "claim": claim["claim"],
                "section": claim["section"],
                "test": claim["test"],
                "statistic": result.statistic,
                "p": result.p,
                "interval_low": result.interval[0],
                "interval_high": result.interval[1],
                "verdict": verdict,
                "note": result.note,
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


@dataclass(frozen=True)
class _TTest:
    mean: float
    statistic: float
    p: float
    interval: tuple[float, float]
    why_no_test: str = ""

    def result(self, verdict: VerdictName, note: str) -> TestResult:
        if math.isnan(self.p):
            note += f"; {self.why_no_test}, so no test"
        return TestResult(verdict, note, self.statistic, self.p, self.interval)


def _t_test(
    values: FloatArray,
    *,
    scale: float,
    null: float = 0.0,
    alternative: str = "two-sided",
    level: float = LEVEL,
) -> _TTest:
    """One-sample t-test and the two-sided 1 − level interval of the mean.

    A spread below rounding (relative to ``scale``) counts as none: then the mean is
    known exactly, and p is 0 or 1.
    """
    from scipy import stats

    mean = float(values.mean())
    why_no_test = ""
    if len(values) < 2:
        why_no_test = "one unit"
    elif not np.isfinite(values).all():
        why_no_test = "not every value is finite"
    if why_no_test:
        return _TTest(mean, math.nan, math.nan, (math.nan, math.nan), why_no_test)
    if values.std(ddof=1) <= _ROUNDING * scale:
        distance = mean - null
        if abs(distance) <= _ROUNDING * scale:
            mean, distance = null, 0.0
        side = {"greater": distance > 0, "less": distance < 0}
        against_null = side.get(alternative, distance != 0)
        statistic = math.copysign(math.inf, distance) if distance else 0.0
        return _TTest(mean, statistic, 0.0 if against_null else 1.0, (mean, mean))
    test = stats.ttest_1samp(values, null, alternative=alternative)
    interval = stats.ttest_1samp(values, null).confidence_interval(1 - level)
    return _TTest(
        mean,
        float(test.statistic),
        float(test.pvalue),
        (float(interval.low), float(interval.high)),
    )


def _by_direction(test: _TTest, *, wanted_sign: int) -> VerdictName:
    if not test.p < LEVEL:
        return "undecided"
    return "holds" if test.mean * wanted_sign > 0 else "does not hold"


def _slope(position: FloatArray, row: FloatArray) -> float:
    seen = ~np.isnan(row)
    return float(np.polyfit(position[seen], row[seen], 1)[0])


@dataclass(frozen=True)
class _Sides:
    first: FloatArray
    second: FloatArray
    index: pd.Index
    remark: str


def _one_side(
    scores: pd.DataFrame,
    experiment: str,
    metric: str,
    where: Where,
    unit: str,
    axis: str | None,
) -> "pd.Series | TestResult":
    rows = select(scores, where, experiment=experiment, metric=metric, unit=unit)
    if rows.empty:
        return TestResult("no data", _missing(experiment, metric, where, unit))
    keys = [unit]
    if axis is not None:
        rows = rows.assign(**{_AXIS: axis_values(rows, axis)})
        keys.append(_AXIS)
    return average(rows, keys)


def _paired(
    scores: pd.DataFrame,
    experiment: str,
    metric: str,
    first: Where,
    second: Where,
    unit: str,
    axis: str | None = None,
) -> "_Sides | TestResult":
    """Return both sides at the units (and levels) that both have."""
    keys = [unit, *([] if axis is None else [_AXIS])]
    # What one side fixes cannot be matched with the other.
    matched = [
        column
        for column in ("dataset", "train_size", "setting")
        if column not in first and column not in second
    ]
    tables = []
    for where in (first, second):
        rows = select(scores, where, experiment=experiment, metric=metric, unit=unit)
        if rows.empty:
            return TestResult("no data", _missing(experiment, metric, where, unit))
        if axis is not None:
            rows = rows.assign(**{_AXIS: axis_values(rows, axis)})
        tables.append(rows)
    if "setting" in matched:
        settings = [set(rows["setting"]) for rows in tables]
        if settings[0].isdisjoint(settings[1]):
            matched.remove("setting")
    averages = [average(rows, [*keys, *matched]) for rows in tables]
    both = pd.concat(averages, axis=1, keys=["first", "second"])
    pairs = both.dropna()
    if pairs.empty:
        return TestResult(
            "no data", f"{_name(first)} and {_name(second)} share no {unit}"
        )
    unpaired = len(both) - len(pairs)
    remark = f"; {unpaired} unpaired values left out" if unpaired else ""
    mean = pairs.groupby(level=keys).mean()
    return _Sides(
        mean["first"].to_numpy(dtype=float),
        mean["second"].to_numpy(dtype=float),
        mean.index,
        remark,
    )


def _missing(experiment: str, metric: str, where: Where, unit: str) -> str:
    rows = "rows of single tasks" if unit == "task" else "scores"
    return f"no {rows}: {experiment}, {metric}, {_name(where)}"


def _name(where: Where) -> str:
    rest = [f"{key} {value}" for key, value in where.items() if key != "method"]
    return ", ".join([str(where["method"])] * ("method" in where) + rest) or "all"


def _count(unit: str, n: int) -> str:
    return f"{n} {unit}{'' if n == 1 else 's'}"


def _scale(*values: FloatArray) -> float:
    return float(max(np.abs(v).max() for v in values))


def _choice(name: str, value: str, known: Mapping[str, int]) -> int:
    if value not in known:
        raise ClaimError(f"{name} {value!r} is unknown: choose {' or '.join(known)}")
    return known[value]
