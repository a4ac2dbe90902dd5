"""Tests of a paper's claims on the table of a step, such as its times.

A test takes the table and the arguments of the claim, among them ``step``, and
``experiment``, the one whose data the step takes. Each value is averaged over
everything that is neither selected nor a unit nor an axis, as a logarithm: such numbers
are compared by their ratios. Units are taken as independent: what a step measures need
not come from splits.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from mtmkl_suite.judge import claim_tests
from mtmkl_suite.judge.claim_tests import (
    ClaimError,
    Finding,
    TestResult,
    VerdictName,
    by_direction,
    by_interval,
    result,
)
from mtmkl_suite.judge.observations import NoDataError, name_of
from mtmkl_suite.statistics.t_test import t_test

Where = Mapping[str, Any]


def ratio(
    table: pd.DataFrame,
    /,
    *,
    experiment: str,
    step: str,
    column: str,
    lower: Where,
    higher: Where,
    unit: str = "repeat",
    at_least: float = 1.0,
) -> TestResult:
    """Test that a column is lower on one side, by the ratio ``higher / lower``."""
    sides = [_logs(table, step, column, side, [unit]) for side in (lower, higher)]
    both = pd.concat(sides, axis=1, join="inner")
    if both.empty:
        names = f"{name_of(lower)} and {name_of(higher)}"
        raise NoDataError(f"the sides share no {unit}", names)
    difference = (both.iloc[:, 1] - both.iloc[:, 0]).to_numpy()
    null = math.log(at_least)
    test = t_test(difference, scale=1.0, null=null)
    verdict = by_direction(test, wanted_sign=1, null=null).verdict
    first, second = np.exp(both.mean())
    note = f"{len(both)} values of {unit}: {column} {first:.4g} against {second:.4g}"
    mean, low, high = np.exp([test.mean, *test.interval]).tolist()
    own = Finding(verdict, mean, mean, test.p, (low, high), test.why_no_test)
    return result(lambda _: own, len(both), 0.0, note)


def growth(
    table: pd.DataFrame,
    /,
    *,
    experiment: str,
    step: str,
    column: str,
    where: Where,
    axis: str,
    high: float,
    unit: str = "repeat",
) -> TestResult:
    """Test that a column grows with an axis by at most a power of it."""
    logs = _logs(table, step, column, where, [unit, axis]).unstack(axis)
    levels = logs.columns.to_numpy(dtype=float)
    if levels.size < 2:
        raise NoDataError(f"{axis} of step {step} has a single level, {levels[0]:g}")
    logs = logs.dropna()
    slopes = np.polyfit(np.log(levels), logs.to_numpy().T, 1)[0]
    test = t_test(slopes, scale=1.0)
    own = by_interval(test.mean, test, -math.inf, high)
    means = np.exp(logs.mean())
    note = (
        f"{len(logs)} values of {unit}: {column} {means.iloc[0]:.4g} at {axis} "
        f"{levels[0]:g}, {means.iloc[-1]:.4g} at {levels[-1]:g}; grows with the power "
        f"{test.mean:.3g}, claimed at most {high:g}"
    )
    return result(lambda _: own, len(logs), 0.0, note, lacking="interval")


def every_value(
    table: pd.DataFrame,
    /,
    *,
    experiment: str,
    step: str,
    column: str,
    where: Where,
    low: float = -math.inf,
    high: float = math.inf,
) -> TestResult:
    """Test that no value of a column is outside a range, as "always" says."""
    values = _rows(table, step, column, where, [])[column].astype(float)
    inside = int(values.between(low, high).sum())
    verdict: VerdictName = "holds" if inside == len(values) else "does not hold"
    least, most = float(values.min()), float(values.max())
    note = (
        f"{len(values)} values of {column}: smallest {least:.4g}, largest {most:.4g}; "
        f"{inside} in [{low:g}, {high:g}]"
    )
    own = Finding(verdict, most, most, math.nan, (least, most))
    return TestResult(note, own, None, len(values), 0.0)


TESTS: dict[str, Callable[..., TestResult]] = {
    **claim_tests.TESTS,
    **{test.__name__: test for test in (ratio, growth, every_value)},
}
"""Tests by the name that configurations use: of scores, and of steps."""


def table_of(step: str, steps: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the table of a step."""
    if step not in steps:
        raise NoDataError("no numbers of the step", step)
    return steps[step]


def _logs(
    table: pd.DataFrame, step: str, column: str, where: Where, keys: list[str]
) -> pd.Series:
    """Return the mean logarithm of a column at each level of the keys."""
    found = _rows(table, step, column, where, keys)
    if not (found[column] > 0).all():
        raise ClaimError(f"{column} of step {step} has values that are not positive")
    logs = found.assign(log=np.log(found[column].astype(float)))
    return logs.groupby(keys)["log"].mean()


def _rows(
    table: pd.DataFrame, step: str, column: str, where: Where, keys: list[str]
) -> pd.DataFrame:
    for name in (column, *where, *keys):
        if name not in table.columns:
            raise ClaimError(
                f"{name!r} is not a column of step {step}: {', '.join(table.columns)}"
            )
    found = table
    for name, value in where.items():
        found = found[found[name] == value]
    if found.empty:
        raise NoDataError("no numbers of the step", f"{step}, {name_of(where)}")
    return found
