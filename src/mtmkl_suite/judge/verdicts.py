"""The verdict on a reproduced number, by the rule of ``docs/verdicts.md``.

A paper that prints no spread has sd_p = 0 in the rule, even where its number is a mean
of several runs, which has a spread. A second verdict takes ours, sd_p = sd_r, for it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from mtmkl_suite.config.models import Tolerance
from mtmkl_suite.statistics.ties import ROUNDING

NOT_JUDGED: Final = "not judged (quick)"
"""In place of a verdict, of a number or a claim, where the protocol is reduced."""

NoNumber = Literal["lost in our copy", "did not run in the paper"]
NO_NUMBER: tuple[NoNumber, ...] = get_args(NoNumber)
"""Statuses without a value, which are verdicts as well."""
STATUSES = ("legible", "ambiguous", *NO_NUMBER)
VERDICTS = ("reproduced", "close", "different", NOT_JUDGED, *NO_NUMBER, "no data")

VerdictName = Literal[
    "reproduced", "close", "different", "not judged (quick)", NoNumber, "no data"
]

Row = Mapping[Any, Any]
"""A row of a table, by its columns."""


@dataclass(frozen=True)
class Published:
    """A number printed in a paper."""

    value: float | None
    """None if there is none, or none that can be read."""
    sd: float | None = None
    """Printed spread; where none is printed the rule takes 0."""
    n: int = 1
    """Size of the sample behind the spread, as the paper states it."""
    status: str = "legible"
    alternative: float | None = None
    """The second reading of an ambiguous number."""

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"status {self.status!r} is not one of {STATUSES}")
        if self.value is None and self.status not in NO_NUMBER:
            raise ValueError(f"a number of status {self.status!r} needs a value")
        if self.alternative is None and self.status == "ambiguous":
            raise ValueError("an ambiguous number needs its second reading")
        if self.spread < 0 or self.n < 1:
            raise ValueError(f"sd {self.sd} must be >= 0 and n {self.n} >= 1")

    @property
    def spread(self) -> float:
        """The printed standard deviation, 0 where there is none."""
        return 0.0 if self.sd is None else self.sd

    @property
    def ways(self) -> list["Published"]:
        """The number as each way to read it has it; one unless it is ambiguous."""
        other = self.value if self.alternative is None else self.alternative
        values = dict.fromkeys((self.value, other))
        return [replace(self, value=v, alternative=v) for v in values]

    @classmethod
    def from_row(cls, row: Row) -> "Published":
        """Return the number of one row of a file under ``published``."""
        return cls(
            value=_number(row["value"]),
            sd=_number(row["sd"]),
            n=int(_number(row["n"]) or 1),
            status=row["status"],
            alternative=_number(row["alternative"]),
        )


@dataclass(frozen=True)
class Reproduced:
    """Mean, standard deviation (divisor n − 1; 0 at n = 1) and size of a sample."""

    value: float
    sd: float
    n: int

    def __post_init__(self) -> None:
        if math.isnan(self.value):
            raise ValueError("a reproduced number is NaN: None stands for no number")

    @classmethod
    def from_sample(cls, sample: ArrayLike) -> "Reproduced | None":
        """Return the summary of a sample, None if it is empty."""
        values = np.asarray(sample, dtype=float)
        if values.size == 0:
            return None
        sd = float(values.std(ddof=1)) if values.size > 1 else 0.0
        return cls(float(values.mean()), sd, int(values.size))

    def scaled(self, factor: float) -> "Reproduced":
        """Return the same in another unit."""
        return Reproduced(self.value * factor, self.sd * abs(factor), self.n)


@dataclass(frozen=True)
class Verdict:
    """A verdict and the rule behind it with the numbers put in."""

    verdict: VerdictName
    rule: str
    with_spread: VerdictName
    """The verdict if our spread stands for one that the paper does not print; the same
    as ``verdict`` where it prints one, or where its number is not a mean of runs."""


def judge(
    published: Published | None,
    reproduced: Reproduced | None,
    tolerance: Tolerance,
    *,
    full_protocol: bool = True,
) -> Verdict:
    """Apply the verdict rule; an ambiguous number gets the weaker of its verdicts."""
    if published is None:
        return _unjudged("no data", "the paper prints no number here")
    if published.value is None:
        return _unjudged(cast(NoNumber, published.status), "no published number")
    if reproduced is None:
        return _unjudged("no data", "not run")
    if not full_protocol:
        distance = abs(published.value - reproduced.value)
        rule = f"|difference| {distance:.4g}; repeats, grid or data are reduced"
        return _unjudged(NOT_JUDGED, rule)
    verdicts = {
        f"{way.value:g}": _judge_reading(way.value, published, reproduced, tolerance)
        for way in published.ways
        if way.value is not None
    }
    # What an ambiguous number measures may be uncertain, and not the number.
    [first, *second] = verdicts.values()
    return weakest(verdicts) if second else first


def weakest(readings: Mapping[str, Verdict]) -> Verdict:
    """Return the weaker of the verdicts on the two readings of a number."""
    verdicts = readings.values()
    rules = "; ".join(f"{name}: {verdict.rule}" for name, verdict in readings.items())
    return Verdict(
        max((v.verdict for v in verdicts), key=VERDICTS.index),
        f"weaker of two readings: {rules}",
        with_spread=max((v.with_spread for v in verdicts), key=VERDICTS.index),
    )


def moved_text(verdicts: pd.DataFrame) -> str:
    """Say how many verdicts move with our spread where the paper prints none."""
    moved = verdicts[verdicts["verdict"] != verdicts["verdict_with_spread"]]
    steps = (moved["verdict"] + " → " + moved["verdict_with_spread"]).value_counts()
    listed = ", ".join(f"{count} {step}" for step, count in sorted(steps.items()))
    return f"{len(moved)} of {len(verdicts)} ({listed})" if listed else "none"


def own_numbers(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return the verdicts on numbers that are not counted apart."""
    return verdicts[~verdicts["derived"].astype(bool)]


def counts_text(verdicts: pd.DataFrame) -> str:
    """Say how often each verdict occurs, numbers that are counted apart last."""
    own = own_numbers(verdicts)
    text = listed(counts(own["verdict"]))
    following = verdicts.drop(index=own.index)
    if len(following):
        text += f"; of {len(following)} counted apart: "
        text += listed(counts(following["verdict"]))
    return text


def counts(values: pd.Series, names: Sequence[str] = VERDICTS) -> dict[str, int]:
    """Return how often each of some values occurs."""
    return {name: int((values == name).sum()) for name in names}


def listed(found: Mapping[str, int]) -> str:
    """Return counts in words, those of nothing left out."""
    return ", ".join(f"{n} {name}" for name, n in found.items() if n) or "none"


def _unjudged(verdict: VerdictName, rule: str) -> Verdict:
    return Verdict(verdict, rule, with_spread=verdict)


def _judge_reading(
    value: float, published: Published, reproduced: Reproduced, tolerance: Tolerance
) -> Verdict:
    as_printed, rule = _by_rule(value, published, reproduced, tolerance)
    with_spread = as_printed
    # A number that is no mean of runs has no spread of the repeats' kind.
    if published.sd is None and published.n > 1:
        spread = replace(published, sd=reproduced.sd)
        with_spread, _ = _by_rule(value, spread, reproduced, tolerance)
    return Verdict(as_printed, rule, with_spread=with_spread)


def _by_rule(
    value: float, published: Published, reproduced: Reproduced, tolerance: Tolerance
) -> tuple[VerdictName, str]:
    distance = abs(value - reproduced.value)
    se = math.sqrt(reproduced.sd**2 / reproduced.n + published.spread**2 / published.n)
    tol = tolerance.at(value)
    sd = max(reproduced.sd, published.spread)
    near, far = max(2 * se, tol), max(sd, 2 * tol)
    # Decimal numbers that differ by exactly the tolerance count as within it.
    slack = ROUNDING * max(1.0, abs(value))
    shown = f"|difference| {distance:.4g}"
    near_text = f"max(2 SE {2 * se:.3g}, tol {tol:.3g})"
    far_text = f"max(sd {sd:.3g}, 2 tol {2 * tol:.3g})"
    if distance <= near + slack:
        return "reproduced", f"{shown} <= {near_text}"
    if distance <= far + slack:
        return "close", f"{shown} > {near_text}, <= {far_text}"
    return "different", f"{shown} > {near_text}, > {far_text}"


def acceptance_text(
    published: Mapping[Any, Published],
    reproduced: Mapping[Any, Reproduced],
    tolerance: Tolerance,
) -> str:
    """Say how many *other* cells of a table the rule would accept for its numbers."""
    verdicts = [
        judge(theirs, ours, tolerance).verdict
        for cell, ours in reproduced.items()
        for other, theirs in published.items()
        if other != cell and theirs.value is not None
    ]
    if not verdicts:
        return "no other cell to test the rule on"
    total = len(verdicts)
    accepted, close = verdicts.count("reproduced"), verdicts.count("close")
    return (
        f"of {total} pairs of a reproduced number and another cell's published one, "
        f"the rule would call {accepted} ({accepted / total:.0%}) reproduced "
        f"and {close} ({close / total:.0%}) close"
    )


def _number(value: Any) -> float | None:
    return None if value == "" or pd.isna(value) else float(value)
