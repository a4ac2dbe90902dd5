"""Paired observations from a scores table: the units that a claim is about.

``unit`` names the paired observations: ``repeat`` (the value over all tasks of each
repeat), ``task`` (each task's value, averaged over repeats) or, to be counted,
``train_size`` (averaged likewise). Everything else that matches is averaged first,
subsets of tasks before anything else, and only what both sides have (data set, train
size, setting) is compared. Sides without any setting in common have grids of different
parameters: each is averaged over its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mtmkl.typing import FloatArray
from mtmkl_suite.judge.overlap import Overlaps, role_behind, variance_ratio
from mtmkl_suite.judge.sample import average, axis_values, select

Where = Mapping[str, Any]

AXIS = "axis_value"
"""Level of the index that holds the values of an axis."""


class NoDataError(ValueError):
    """The scores lack a side of the comparison; says which.

    ``lacking`` says what is lacking for readers, without the names of a configuration.
    """

    def __init__(self, lacking: str, names: str = "") -> None:
        super().__init__(": ".join(filter(None, (lacking, names))))
        self.lacking = lacking


@dataclass(frozen=True)
class Sides:
    """Two sides at what both have."""

    first: FloatArray
    second: FloatArray
    index: pd.Index
    """Unit, and level of the axis if there is one, of each value."""
    remark: str
    """Observations that were left out, in words."""
    variance_ratio: float
    """See :func:`variance_ratio_of`."""


@dataclass(frozen=True)
class Observations:
    """Scores that a claim is about, and its units."""

    scores: pd.DataFrame
    experiment: str
    metric: str
    unit: str = "repeat"
    overlaps: Overlaps | None = None
    """None if repeats are independent."""

    def rows(self, where: Where, axis: str | None = None) -> pd.DataFrame:
        """Return the rows that a side selects, with the values of an axis."""
        chosen = {"experiment": self.experiment, "metric": self.metric, **where}
        rows = select(self.scores, chosen, unit=self.unit)
        if rows.empty:
            kind = "rows of single tasks" if self.unit == "task" else "scores"
            names = f"{self.experiment}, {self.metric}, {name_of(where)}"
            raise NoDataError(f"no {kind}", names)
        return rows if axis is None else rows.assign(**{AXIS: axis_values(rows, axis)})

    def side(self, where: Where, axis: str | None = None) -> tuple[pd.Series, float]:
        """Return the mean of each unit, or of each unit and level of the axis."""
        rows = self.rows(where, axis)
        keys = [self.unit] if axis is None else [self.unit, AXIS]
        return average(rows, keys), variance_ratio_of(rows, self.overlaps, self.unit)

    def pair(self, first: Where, second: Where, axis: str | None = None) -> Sides:
        """Return both sides at the units (and levels of the axis) that both have."""
        keys = [self.unit] if axis is None else [self.unit, AXIS]
        # What one side fixes cannot be matched with the other.
        matched = [
            column
            for column in ("dataset", "train_size", "setting")
            if column not in first and column not in second and column not in keys
        ]
        tables = [self.rows(where, axis) for where in (first, second)]
        if "setting" in matched:
            settings = [set(rows["setting"]) for rows in tables]
            if settings[0].isdisjoint(settings[1]):
                matched.remove("setting")
        averages = [average(rows, [*keys, *matched]) for rows in tables]
        both = pd.concat(averages, axis=1, keys=["first", "second"])
        pairs = both.dropna()
        if pairs.empty:
            names = f"{name_of(first)} and {name_of(second)}"
            raise NoDataError(f"the sides share no {self.unit}", names)
        for column in matched:
            kept = pairs.index.get_level_values(column)
            tables = [rows[rows[column].isin(kept)] for rows in tables]
        unpaired = len(both) - len(pairs)
        remark = f"; {unpaired} unpaired values left out" if unpaired else ""
        mean = pairs.groupby(level=keys).mean()
        return Sides(
            mean["first"].to_numpy(dtype=float),
            mean["second"].to_numpy(dtype=float),
            mean.index,
            remark,
            max(variance_ratio_of(rows, self.overlaps, self.unit) for rows in tables),
        )


def variance_ratio_of(
    rows: pd.DataFrame, overlaps: Overlaps | None, unit: str
) -> float:
    """Return c of the values that are made of some rows, 0 for independent units.

    Splits that are averaged count together. Splits that are compared, at different
    levels of an axis, may differ in what each sample contributes: then c is the
    largest of the levels.
    """
    if overlaps is None:
        return 0.0
    levels = [level for _, level in rows.groupby(AXIS)] if AXIS in rows else [rows]
    ratios = []
    for level in levels:
        found = level[["experiment", "dataset", "train_size"]].drop_duplicates()
        places = found.itertuples(index=False, name=None)
        splits = [overlaps[place] for place in places]
        is_chosen = bool((level["setting"] == "").any())
        for metric in level["metric"].unique():
            role = role_behind(metric, is_chosen=is_chosen)
            ratios.append(variance_ratio(splits, unit=unit, role=role))
    return max(ratios, default=0.0)


def name_of(where: Where) -> str:
    """Return what a side selects, for readers."""
    rest = [f"{key} {value}" for key, value in where.items() if key != "method"]
    return ", ".join([str(where.get("method"))] * ("method" in where) + rest) or "all"
