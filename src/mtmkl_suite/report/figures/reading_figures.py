"""Figures of readings: curves under some of them, or against an ordered factor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mtmkl.statistics.pairs import MIN_UNITS
from mtmkl_suite.config.models import Claim, Curve, CurveFigure, Panel
from mtmkl_suite.config.readings_checks import MAIN
from mtmkl_suite.config.readings_shown import experiment_id
from mtmkl_suite.judge.claims import evaluate_claims
from mtmkl_suite.judge.overlap import Overlaps
from mtmkl_suite.judge.sample import axis_values
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.drawing import (
    SINGLE,
    WIDE,
    FigureAndNumbers,
    Series,
    curve_of,
    draw_curve,
    method_styles,
    say_no_data,
    spread_text,
)
from mtmkl_suite.report.tables.cells import published_numbers
from mtmkl_suite.report.tables.reach import (
    effect,
    experiments_under,
    main_context,
    replaced,
    unmeasured_main,
)

_TEST_COLUMNS = ("interval_low", "interval_high", "p", "p_corrected", "verdict", "n")
_DASHES = ("--", ":", "-.")


@dataclass(frozen=True)
class _Curve:
    """The scores behind a curve, with their places on the axis.

    Attributes
    ----------
    series : Series
    rows : DataFrame
        Scores over all tasks with ``x``; empty if there are none.
    overlaps : mapping or None
        How their repeats overlap.
    """

    series: Series
    rows: pd.DataFrame
    overlaps: Overlaps | None


def reading_figure(context: Context, name: str) -> FigureAndNumbers:
    """Return a figure that the paper's readings configure, and its numbers.

    A panel draws a metric of an experiment, in the main run or under a reading, against
    a column of the scores, an option of the data set, or the levels of a factor. The
    first curve of a panel is compared with each of the others, at every level and over
    all, by the tests of a claim that it is higher.

    Returns ``panel, series, x, mean, sd, n`` of the curves, then the differences with
    the interval, both p-values and the verdict of their tests; x is empty over all.
    """
    settings = context.readings.figures[name]
    main = main_context(context) if context.is_judged else unmeasured_main(context)
    panels = settings.panels
    figure = Figure(figsize=WIDE if len(panels) > 1 else SINGLE)
    axes = np.atleast_1d(figure.subplots(1, len(panels)))
    numbers = [
        _panel(context, main, axis, settings, panel)
        for axis, panel in zip(axes, panels, strict=True)
    ]
    return figure, pd.concat(numbers, ignore_index=True)


def _panel(
    context: Context,
    main: Context,
    axis: Axes,
    settings: CurveFigure,
    panel: Panel,
) -> pd.DataFrame:
    curves = [
        _curve(context, main, settings, panel, position)
        for position in range(len(panel.curves))
    ]
    curves = [curve for curve in curves if len(curve.rows)]
    if not curves:
        reason = main.missing_reason(panel.experiment)
        say_no_data(axis, reason)
        return pd.DataFrame({"panel": [panel.title], "no data": [reason]})
    drawn = []
    for curve in curves:
        points = curve_of(curve.rows)
        draw_curve(axis, points, curve.series)
        drawn.append(points.assign(panel=panel.title, series=curve.series.label))
    numbers = pd.concat(drawn, ignore_index=True)
    if panel.printed is not None:
        place = panel.printed
        printed = published_numbers(main, place.file)
        value = printed[place.row, place.column].value
        assert value is not None, f"{place} is illegible"
        axis.axhline(value, color="black", linestyle="--", label="printed")
        row = {"panel": panel.title, "series": "printed", "mean": value}
        numbers = pd.concat([numbers, pd.DataFrame([row])], ignore_index=True)
    lines = [f"{panel.title}: {spread_text(numbers.dropna(subset=['n']))}"]
    if context.is_judged and not settings.levels:
        tests = _tests(main, settings.metric, panel, curves)
        numbers = pd.concat([numbers, tests], ignore_index=True)
        over_all = tests[tests["x"].isna()] if len(tests) else tests
        lines += [_test_text(test) for test in over_all.to_dict("records")]
    if settings.log:
        axis.set_xscale("log")
    axis.set_xlabel(settings.label)
    axis.set_ylabel(settings.metric_label)
    axis.set_title("\n".join(lines), fontsize=7)
    axis.legend(fontsize=6)
    columns = ["panel", "series", "x", "mean", "sd", "n"]
    return numbers[[*columns, *(c for c in numbers if c not in columns)]]


def _curve(
    context: Context,
    main: Context,
    settings: CurveFigure,
    panel: Panel,
    position: int,
) -> _Curve:
    curve = panel.curves[position]
    where = {"method": curve.method, "setting": "", **curve.where}
    factors = curve.reading
    if settings.levels:
        parts = []
        shown = main
        for level, x in settings.levels.items():
            at = {} if level == MAIN else {settings.axis: level}
            shown = _under(context, main, panel.experiment, at)
            rows = shown.rows(panel.experiment, settings.metric, where)
            parts.append(rows.assign(x=float(x)))
        rows = pd.concat(parts, ignore_index=True)
    else:
        shown = _under(context, main, panel.experiment, factors)
        rows = shown.rows(panel.experiment, settings.metric, where)
        if len(rows):
            rows = rows.assign(x=axis_values(rows, settings.axis))
    series = Series(
        curve.method,
        _label(context, curve),
        method_styles(main.config.methods)[curve.method],
        line=_DASHES[position % len(_DASHES)] if factors else "-",
    )
    return _Curve(series, rows, shown.overlaps)


def _under(
    context: Context, main: Context, experiment: str, factors: Mapping[str, str]
) -> Context:
    """Return the main results, those of an experiment under a reading if it has any."""
    if not factors:
        return main
    name = experiment_id(experiment, factors)
    if name not in experiments_under(context, factors):
        return unmeasured_main(context)
    return replaced(context, main, [name])


def _label(context: Context, curve: Curve) -> str:
    if curve.label is not None:
        return curve.label
    label = context.label(curve.method)
    documents = context.readings.factors
    for factor, alternative in curve.reading.items():
        label += f", {documents[factor].alternatives[alternative].label}"
    return label


def _tests(
    main: Context, metric: str, panel: Panel, curves: Sequence[_Curve]
) -> pd.DataFrame:
    """Test at every level, and over all, that the first curve is above each other."""
    first, made = curves[0], []
    for other in curves[1:]:
        names = [curve.series.label for curve in (first, other)]
        both = pd.concat(
            [
                curve.rows.assign(method=name)
                for curve, name in zip((first, other), names, strict=True)
            ]
        )
        claim = Claim(
            id="higher",
            claim=f"{names[0]} above {names[1]}",
            section="",
            test="paired_difference",
            args={
                "experiment": panel.experiment,
                "metric": metric,
                "lower": {"method": names[1]},
                "higher": {"method": names[0]},
            },
        )
        levels = sorted(set(first.rows["x"]) & set(other.rows["x"]))
        for x in (*levels, None):
            rows = both if x is None else both[both["x"] == x]
            (row,) = evaluate_claims(
                [claim], rows, names, overlaps=other.overlaps
            ).to_dict("records")
            if row["verdict"] != "no data":
                made.append(
                    {
                        "panel": f"{panel.title}: difference",
                        "series": f"{names[0]} − {names[1]}",
                        "x": x,
                        "mean": effect(row),
                        **{column: row[column] for column in _TEST_COLUMNS},
                    }
                )
    return pd.DataFrame(made)


def _test_text(test: Mapping[Any, Any]) -> str:
    p = test["p"] if pd.isna(test["p_corrected"]) else test["p_corrected"]
    shown = "" if pd.isna(p) or test["n"] < MIN_UNITS else f", p = {p:.2g}"
    return f"{test['series']}: {test['mean']:+.3g}{shown}"
