"""Panels of curves: a metric against an axis.

A figure of panels alone is :func:`panels_figure`; others draw some of theirs with
:func:`draw_panel`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

from mtmkl_suite.config.models import Selector
from mtmkl_suite.judge.sample import axis_values, select
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.drawing import (
    CURVE_COLUMNS,
    FigureAndNumbers,
    Line,
    by_place,
    curve_over,
    draw_curve,
    legend_below,
    line_of,
    no_data_figure,
    say_no_data,
    shades,
    spread_text,
)
from mtmkl_suite.statistics.pairs import LEVEL, MIN_UNITS
from mtmkl_suite.statistics.ties import differences, scale_of

_SCALES: Mapping[str, Mapping[str, Any]] = {
    "linear": {"value": "linear"},
    "log": {"value": "log"},
    "log2": {"value": "log", "base": 2},
}


@dataclass(frozen=True)
class Curve:
    """Mean and spread of a method over repeats."""

    method: str
    label: str = ""
    """In place of the method's; ``{level}`` is the level of ``each``."""
    like: str = ""
    """Method whose colour and marker it has, in place of its own."""
    line: Literal["-", "--", ":", "-."] = "-"
    each: Literal["n_tasks", "train_size"] | None = None
    """A column of the scores: a curve for each of its levels."""
    where: Selector = field(default_factory=dict)


@dataclass(frozen=True)
class Panel:
    """A metric against an axis."""

    id: str
    """In the column ``panel`` of the csv."""
    experiments: Sequence[str]
    metric: str
    axis: str
    """A column of the scores, an option of the data set or a parameter of a path."""
    curves: Sequence[Curve]
    label: str = ""
    metric_label: str = ""
    title: str = "{spread}"
    """``{spread}`` says over how many repeats means and spreads are, ``{most}`` the
    most repeats of a point."""
    scale: Literal["linear", "log", "log2"] = "linear"
    ticks: bool = True
    """True to mark the axis where there are scores, and nowhere else."""
    from_zero: bool = False
    paired: bool = False
    """True to test the first of two curves against the second at each place."""


def panels_figure(
    context: Context,
    panels: Sequence[Panel],
    size: tuple[float, float],
    *,
    legend: Literal["figure", "panel", "corner"] | None = None,
    columns: int = 1,
    across: int | None = None,
    heading: str = "",
    **shared: Any,
) -> FigureAndNumbers:
    """Return a figure of panels, and the numbers of its curves.

    ``legend``: below the figure or each panel, or in a corner of panels, in so many
    ``columns``. ``shared``: scales that panels share, as in ``Figure.subplots``.
    """
    figure = Figure(figsize=size)
    n_columns = across or len(panels)
    axes = figure.subplots(len(panels) // n_columns, n_columns, squeeze=False, **shared)
    tables = [
        draw_panel(context, axis, panel)
        for axis, panel in zip(axes.flat, panels, strict=True)
    ]
    if all("no data" in table for table in tables):
        return no_data_figure(_reason(context, panels[0]), size)
    numbers = pd.concat(tables, ignore_index=True)
    if heading:
        spread = spread_text(numbers.dropna(subset=["n"]))
        figure.suptitle(heading.format(spread=spread))
    if legend == "figure":
        fullest = max(axes.flat, key=lambda axis: len(axis.get_lines()))
        legend_below(figure, fullest, columns)
    elif legend is not None:
        place: dict[str, Any] = {
            "panel": {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2)},
            # Above the stars of significant differences.
            "corner": {"loc": "lower right", "bbox_to_anchor": (1.0, 0.1)},
        }[legend]
        for axis in axes.flat:
            if axis.get_lines():
                axis.legend(ncols=columns, **place)
    return figure, numbers


def draw_panel(context: Context, axis: Axes, panel: Panel) -> pd.DataFrame:
    """Draw a panel, and return its numbers, or why there are none."""
    found = []
    for curve in panel.curves:
        found += _lines(context, curve, rows_of(context, panel, curve))
    if not found or (panel.paired and len(found) < len(panel.curves)):
        return say_no_data(axis, _reason(context, panel))
    curves = []
    for line, values in found:
        points = curve_over(values)
        draw_curve(axis, points, line)
        curves.append(points.assign(panel=panel.id, series=line["label"]))
    numbers = pd.concat(curves, ignore_index=True)[list(CURVE_COLUMNS)]
    spread, most = spread_text(numbers), int(numbers["n"].max())
    title = panel.title.format(spread=spread, most=most)
    axis.set_xscale(**_SCALES[panel.scale])
    if panel.ticks:
        ticks = sorted(numbers["x"].unique())
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.minorticks_off()
    if panel.from_zero:
        axis.set_ylim(bottom=0)
    if panel.paired:
        tests = _paired_tests(panel, *(values for _, values in found))
        _draw_stars(axis, tests)
        if (tests["n"] >= MIN_UNITS).any():
            title += f"\n* p < {LEVEL:g}, paired t-test"
        numbers = pd.concat([numbers, tests], ignore_index=True)
    axis.set(xlabel=panel.label, ylabel=panel.metric_label, title=title)
    return numbers


def rows_of(context: Context, panel: Panel, curve: Curve) -> pd.DataFrame:
    """Return the scores of a curve, over all tasks, with their place ``x``."""
    where = {"experiment": list(panel.experiments), "metric": panel.metric}
    of_curve = {"method": curve.method, **curve.where}
    rows = select(context.scores, where | of_curve)
    return rows if rows.empty else rows.assign(x=axis_values(rows, panel.axis))


def paired_test(first: pd.Series, second: pd.Series) -> dict[str, float]:
    """Return mean, sd, n and p of paired differences; p is ``nan`` for a few."""
    both = pd.concat([first, second], axis=1).dropna().to_numpy()
    difference, _ = differences(*both.T, scale=scale_of(both))
    p = math.nan
    if len(difference) >= MIN_UNITS and np.ptp(difference) > 0:
        p = float(stats.ttest_1samp(difference, 0.0).pvalue)
    mean, sd = float(difference.mean()), float(difference.std(ddof=1))
    return {"mean": mean, "sd": sd, "n": len(difference), "p": p}


def _reason(context: Context, panel: Panel) -> str:
    methods = [curve.method for curve in panel.curves]
    return context.missing_reason(panel.experiments[0], methods)


def _lines(
    context: Context, curve: Curve, rows: pd.DataFrame
) -> list[tuple[Line, pd.DataFrame]]:
    """Return a curve and its values by place, or one for each level of a column."""
    if rows.empty:
        return []
    label = curve.label or context.label(curve.method)
    line = line_of(context, curve.like or curve.method)
    line |= {"label": label, "linestyle": curve.line}
    if curve.each is None:
        return [(line, by_place(rows))]
    levels = sorted(rows[curve.each].unique())
    colours = shades(line["color"], len(levels))
    return [
        (
            line | {"color": colour, "label": label.format(level=f"{level:g}")},
            by_place(rows[rows[curve.each] == level]),
        )
        for level, colour in zip(levels, colours, strict=True)
    ]


def _paired_tests(
    panel: Panel, first: pd.DataFrame, second: pd.DataFrame
) -> pd.DataFrame:
    """Return the paired t-tests of two curves at each place that both have."""
    both = first.columns.intersection(second.columns)
    tests = pd.DataFrame([{"x": x} | paired_test(first[x], second[x]) for x in both])
    return tests.assign(panel=f"{panel.id}: difference", series="paired t-test")


def _draw_stars(axis: Axes, tests: pd.DataFrame) -> None:
    """Mark significant differences below the curves, by a cross those that are less."""
    bottom, top = axis.get_ylim()
    axis.set_ylim(bottom - 0.08 * (top - bottom), top)
    for test in tests[tests["p"] < LEVEL].to_dict("records"):
        marker = "*" if test["mean"] > 0 else "x"
        axis.plot(test["x"], bottom - 0.03 * (top - bottom), marker, color="black")
