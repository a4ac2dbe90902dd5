"""Tests of a paper's claims on the table of a step, such as its times.

A test takes the values of a column and the arguments of the claim. Each value is
averaged over everything that is neither selected nor a unit nor an axis, as a
logarithm: such numbers are compared by their ratios. Units are taken as independent:
what a step measures need not come from splits.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mtmkl_suite.judge.claim_tests import (
    ClaimError,
    Finding,
    TestResult,
    by_direction,
    by_interval,
    decided,
    result,
)
from mtmkl_suite.judge.observations import NoDataError, name_of
from mtmkl_suite.statistics.t_test import t_test

Where = Mapping[str, Any]


@dataclass(frozen=True)
class StepValues:
    """Values of a step that a claim is about, and their units."""

    steps: Mapping[str, pd.DataFrame]
    experiment: str
    """The one whose data the step takes."""
    step: str
    column: str
    unit: str = "repeat"

    def rows(self, where: Where, *keys: str) -> pd.DataFrame:
        """Return the rows that a side selects."""
        if self.step not in self.steps:
            raise NoDataError("no numbers of the step", self.step)
        found = self.steps[self.step]
        for name in (self.column, *where, *keys):
            if name not in found.columns:
                raise ClaimError(
                    f"{name!r} is not a column of step {self.step}: "
                    f"{', '.join(found.columns)}"
                )
        for name, value in where.items():
            found = found[found[name] == value]
        if found.empty:
            raise NoDataError(
                "no numbers of the step", f"{self.step}, {name_of(where)}"
            )
        return found

    def logs(self, where: Where, *axes: str) -> pd.Series:
        """Return the mean logarithm of each unit, or unit and level of an axis."""
        keys = [self.unit, *axes]
        found = self.rows(where, *keys)
        if not (found[self.column] > 0).all():
            raise ClaimError(
                f"{self.column} of step {self.step} has values that are not positive"
            )
        logs = found.assign(log=np.log(found[self.column].astype(float)))
        return logs.groupby(keys)["log"].mean()


def ratio(
    of: StepValues, /, *, lower: Where, higher: Where, at_least: float = 1.0
) -> TestResult:
    """Test that a column is lower on one side, by the ratio ``higher / lower``."""
    sides = [of.logs(side) for side in (lower, higher)]
    both = pd.concat(sides, axis=1, join="inner")
    if both.empty:
        names = f"{name_of(lower)} and {name_of(higher)}"
        raise NoDataError(f"the sides share no {of.unit}", names)
    difference = (both.iloc[:, 1] - both.iloc[:, 0]).to_numpy()
    null = math.log(at_least)
    test = t_test(difference, scale=1.0, null=null)
    verdict = by_direction(test, wanted_sign=1, null=null).verdict
    first, second = np.exp(both.mean())
    note = (
        f"{len(both)} values of {of.unit}: {of.column} {first:.4g} against {second:.4g}"
    )
    mean, low, high = np.exp([test.estimate, *test.interval]).tolist()
    own = Finding(mean, mean, test.p, (low, high), test.why_no_test, verdict=verdict)
    return result(lambda _: own, len(both), 0.0, note)


def growth(of: StepValues, /, *, where: Where, axis: str, high: float) -> TestResult:
    """Test that a column grows with an axis by at most a power of it."""
    logs = of.logs(where, axis).unstack(axis)
    levels = logs.columns.to_numpy(dtype=float)
    if levels.size < 2:
        raise NoDataError(f"{axis} of step {of.step} has a single level, {levels[0]:g}")
    logs = logs.dropna()
    slopes = np.polyfit(np.log(levels), logs.to_numpy().T, 1)[0]
    test = t_test(slopes, scale=1.0)
    own = by_interval(test.estimate, test, -math.inf, high)
    means = np.exp(logs.mean())
    note = (
        f"{len(logs)} values of {of.unit}: {of.column} {means.iloc[0]:.4g} at {axis} "
        f"{levels[0]:g}, {means.iloc[-1]:.4g} at {levels[-1]:g}; grows with the power "
        f"{test.estimate:.3g}, claimed at most {high:g}"
    )
    return result(lambda _: own, len(logs), 0.0, note, lacking="interval")


def every_value(
    of: StepValues, /, *, where: Where, low: float = -math.inf, high: float = math.inf
) -> TestResult:
    """Test that no value of a column is outside a range, as "always" says."""
    values = of.rows(where)[of.column].astype(float)
    inside = int(values.between(low, high).sum())
    least, most = float(values.min()), float(values.max())
    note = (
        f"{len(values)} values of {of.column}: smallest {least:.4g}, largest "
        f"{most:.4g}; {inside} in [{low:g}, {high:g}]"
    )
    verdict = decided(inside == len(values))
    own = Finding(most, most, interval=(least, most), verdict=verdict)
    return TestResult(note, own, None, len(values), 0.0)


TESTS: dict[str, Callable[..., TestResult]] = {
    test.__name__: test for test in (ratio, growth, every_value)
}
"""Tests by the name that configurations use."""
