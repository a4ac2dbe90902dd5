"""Findings of a claim's test, for independent units and for those that are not."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from mtmkl_suite.statistics.t_test import TTest

VerdictName = Literal["holds", "does not hold", "undecided"]


@dataclass(frozen=True)
class Finding:
    """Finding of a test under one assumption on its units."""

    verdict: VerdictName
    estimate: float
    """Difference, slope, mean, ratio, exponent or count."""
    statistic: float
    p: float
    """``nan`` where the test has none."""
    interval: tuple[float, float]
    """(low, high) of the estimate; ``nan`` where there is none."""
    why_no_test: str = ""
    """In words, where nothing can be tested."""


@dataclass(frozen=True)
class TestResult:
    """Findings of a test."""

    note: str
    """Number of units, means, and what was compared, in words."""
    own: Finding
    """Of the paper's own test: units are independent."""
    corrected: Finding | None
    """Of the test for units that share samples; None where they share none."""
    n_units: int
    variance_ratio: float
    """c of :mod:`mtmkl_suite.judge.overlap`."""

    # pytest collects classes whose names start with "Test".
    __test__ = False

    @property
    def for_new_samples(self) -> Finding:
        """The finding that speaks of other samples than these."""
        return self.own if self.corrected is None else self.corrected

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


def of_t_test(test: TTest, verdict: VerdictName) -> Finding:
    """Return a t-test with its verdict."""
    return Finding(
        verdict, test.mean, test.statistic, test.p, test.interval, test.why_no_test
    )


def by_interval(mean: float, test: TTest, low: float, high: float) -> Finding:
    """Return whether the interval of a mean lies within a range, or beyond it."""
    start, stop = test.interval
    verdict: VerdictName = "undecided"
    if low <= start and stop <= high:
        verdict = "holds"
    elif stop < low or start > high:
        verdict = "does not hold"
    return Finding(verdict, mean, mean, math.nan, test.interval, test.why_no_test)
