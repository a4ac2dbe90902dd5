"""Figures of readings: curves under some of them, and specification curves."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mtmkl_suite.config.models import (
    Curve,
    CurveFigure,
    Factor,
    MadeSpecification,
    Panel,
)
from mtmkl_suite.config.names import MAIN
from mtmkl_suite.config.readings import experiment_id
from mtmkl_suite.judge.claims import numbers_of, result_of
from mtmkl_suite.judge.observations import NoDataError
from mtmkl_suite.judge.overlap import Overlaps
from mtmkl_suite.judge.sample import axis_values
from mtmkl_suite.judge.verdicts import NOT_JUDGED
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
    experiments_under,
    main_context,
    measured_in_place,
    replaced,
    unmeasured_main,
)
from mtmkl_suite.report.text import metric_words
from mtmkl_suite.statistics.pairs import MIN_UNITS

_TEST_COLUMNS = ("interval_low", "interval_high", "p", "p_corrected", "verdict", "n")
_DASHES = ("--", ":", "-.")

_WIDTH, _HEIGHT, _LINE = 8.6, 2.6, 0.17

_TITLE, _LABEL = 110, 64  # characters in a line

_SHADES = {"holds": "#1b7837", "does not hold": "#b2182b"}

_UNDECIDED = "#878787"


@dataclass(frozen=True)
class _Curve:
    """The scores behind a curve over all tasks, with their places ``x`` on the axis."""

    series: Series
    rows: pd.DataFrame
    overlaps: Overlaps | None


def reading_figure(context: Context, name: str) -> FigureAndNumbers:
    """Return a figure that the paper's readings configure, and its numbers.

    The first curve of a panel is compared with each of the others, at every level and
    over all (x is empty), by the tests of a claim that it is higher.
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
    context: Context, main: Context, axis: Axes, settings: CurveFigure, panel: Panel
) -> pd.DataFrame:
    made = [
        _curve(context, main, settings, panel.experiment, curve, dashes)
        for curve, dashes in zip(panel.curves, cycle(_DASHES), strict=False)
    ]
    curves = [curve for curve in made if len(curve.rows)]
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
        assert value is not None, f"{place} has no value"
        axis.axhline(value, color="black", linestyle="--", label="printed")
        row = {"panel": panel.title, "series": "printed", "mean": value}
        numbers = pd.concat([numbers, pd.DataFrame([row])], ignore_index=True)
    lines = [f"{panel.title}: {spread_text(numbers.dropna(subset=['n']))}"]
    if context.is_judged and not settings.levels:
        tests = _tests(settings.metric, panel, curves)
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
    experiment: str,
    curve: Curve,
    dashes: str,
) -> _Curve:
    where = {"method": curve.method, "setting": "", **curve.where}
    factors = curve.reading
    if settings.levels:
        parts = []
        shown = main
        for level, x in settings.levels.items():
            at = {} if level == MAIN else {settings.axis: level}
            shown = _under(context, main, experiment, at)
            rows = shown.rows(experiment, settings.metric, where)
            parts.append(rows.assign(x=float(x)))
        rows = pd.concat(parts, ignore_index=True)
    else:
        shown = _under(context, main, experiment, factors)
        rows = shown.rows(experiment, settings.metric, where)
        if len(rows):
            rows = rows.assign(x=axis_values(rows, settings.axis))
    series = Series(
        curve.method,
        _label(context, curve),
        method_styles(main.config.methods)[curve.method],
        line=dashes if factors else "-",
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


def _tests(metric: str, panel: Panel, curves: Sequence[_Curve]) -> pd.DataFrame:
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
        args = {
            "experiment": panel.experiment,
            "metric": metric,
            "lower": {"method": names[1]},
            "higher": {"method": names[0]},
        }
        levels = sorted(set(first.rows["x"]) & set(other.rows["x"]))
        for x in (*levels, None):
            rows = both if x is None else both[both["x"] == x]
            try:
                result = result_of("paired_difference", args, rows, other.overlaps)
            except NoDataError:
                continue
            row = numbers_of(result)
            made.append(
                {
                    "panel": f"{panel.title}: difference",
                    "series": f"{names[0]} − {names[1]}",
                    "x": x,
                    "mean": row["estimate"],
                    **{column: row.get(column) for column in _TEST_COLUMNS},
                }
            )
    return pd.DataFrame(made)


def _test_text(test: Mapping[Any, Any]) -> str:
    p = test["p"] if pd.isna(test["p_corrected"]) else test["p_corrected"]
    shown = "" if pd.isna(p) or test["n"] < MIN_UNITS else f", p = {p:.2g}"
    return f"{test['series']}: {test['mean']:+.3g}{shown}"


def specification_curve(context: Context, name: str) -> FigureAndNumbers:
    """Return the figure of one specification, and its numbers.

    Above, the effect under every combination of the factors, sorted, with the interval
    of the test that the verdict rests on; markers are hollow where another metric
    stands for the usual one. Below, which alternatives each combination has.
    """
    specification = context.readings.specifications[name]
    numbers = specification_numbers(context, specification)
    return _drawn(context, specification, numbers), numbers


def specification_numbers(
    context: Context, specification: MadeSpecification
) -> pd.DataFrame:
    """Return the test under every combination, by metric and rising effect.

    The usual metric comes first. Each has the same number of repeats, the first
    ones: shares of combinations that hold would mix tests of different
    power otherwise. Of a run whose repeats are reduced there are only the notes.
    """
    main = main_context(context) if context.is_judged else unmeasured_main(context)
    metric = specification.args["metric"]
    rows = []
    for experiment, factors in specification.experiments.items():
        is_main = all(level == MAIN for level in factors.values())
        shown = main if is_main else replaced(context, main, [experiment])
        is_kept = shown.scores["repeat"] < specification.repeats
        shown = replace(shown, scores=shown.scores[is_kept])
        in_place = {}
        if not is_main:
            origin = context.readings.experiments[experiment]
            in_place = measured_in_place(context, origin.factors)
        row = _tested(context, specification, shown)
        ends, p = ("interval_low", "interval_high"), "p"
        if "rho" in row:
            ends, p = ("corrected_low", "corrected_high"), "p_corrected"
        rows.append({
            **factors, "metric": in_place.get(metric, metric),
            "effect": row.get("estimate"), "interval_low": row.get(ends[0]),
            "interval_high": row.get(ends[1]), "p": row.get(p),
            "verdict": row["verdict"], "note": row["note"], "is_main": is_main,
        })  # fmt: skip
    numbers = pd.DataFrame(rows)
    # Effects on different metrics cannot be compared.
    is_main_metric = (numbers["metric"] != metric).rename("other")
    order = pd.concat([is_main_metric, numbers["metric"], numbers["effect"]], axis=1)
    return numbers.loc[order.sort_values(list(order)).index].reset_index(drop=True)


def _tested(
    context: Context, specification: MadeSpecification, shown: Context
) -> dict[str, Any]:
    """Return the numbers of a specification's test; of a reduced run the note alone."""
    test, args = specification.test, specification.args
    try:
        result = result_of(test, args, shown.scores, shown.overlaps)
    except NoDataError as reason:
        return {"verdict": "no data", "note": str(reason)}
    if not context.is_judged:
        return {"verdict": NOT_JUDGED, "note": result.note}
    return numbers_of(result) | {"note": result.note}


def _share(numbers: pd.DataFrame) -> str:
    """Say in how many combinations the claim holds, for each metric."""
    judged = numbers[numbers["verdict"].isin([*_SHADES, "undecided"])]
    if judged.empty:
        return "no combination is judged"
    shares = [
        f"{(group['verdict'] == 'holds').sum()} of {len(group)} combinations"
        + f" by {metric_words(str(metric))}" * (judged["metric"].nunique() > 1)
        for metric, group in judged.groupby("metric", sort=False)
    ]
    return f"holds in {'; '.join(shares)}"


def _drawn(
    context: Context, specification: MadeSpecification, numbers: pd.DataFrame
) -> Figure:
    documents = context.readings.factors
    lines = [
        (factor, level)
        for factor in specification.factors
        for level in (MAIN, *documents[factor].alternatives)
        if (numbers[factor] == level).any()
    ]
    labels = [_level_label(documents[factor], level) for factor, level in lines]
    title = textwrap.wrap(f"{_share(numbers)}; diamond: the main protocol", _TITLE)
    n_lines = sum(1 + label.count("\n") for label in labels)
    below = _LINE * n_lines + 0.3
    height = _HEIGHT + below + _LINE * len(title) + 0.4
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    above, grid = figure.subplots(2, 1, sharex=True, height_ratios=(_HEIGHT, below))
    for x, row in numbers.iterrows():
        colour = _SHADES.get(str(row["verdict"]), _UNDECIDED)
        above.plot([x, x], [row["interval_low"], row["interval_high"]], color=colour)
        marker = "D" if row["is_main"] else "o"
        is_other = row["metric"] != numbers["metric"].iloc[0]
        face = "white" if is_other else colour
        point = [x], [row["effect"]], marker
        above.plot(*point, color=colour, markerfacecolor=face, markersize=4)
    above.axhline(0.0, color="black", linewidth=0.6)
    metrics = [metric_words(metric) for metric in numbers["metric"].unique()]
    above.set_ylabel(f"effect on {metrics[0]}")
    if metrics[1:]:
        title += textwrap.wrap(f"hollow: {'; '.join(metrics[1:])}", _TITLE)
    # Over the whole figure: long labels below leave little room above the axes.
    figure.suptitle("\n".join([specification.title, *title]), fontsize=8)
    for y, (factor, level) in enumerate(lines):
        chosen = numbers.index[numbers[factor] == level]
        grid.plot(chosen, [y] * len(chosen), "s", color="black", markersize=3)
    grid.set_yticks(range(len(lines)), labels, fontsize=6)
    grid.set_ylim(len(lines) - 0.5, -0.5)
    grid.set_xticks([])
    grid.set_xlabel("combinations, by effect")
    return figure


def _level_label(factor: Factor, level: str) -> str:
    """Return a factor and one of its alternatives, in lines that fit."""
    text = factor.main if level == MAIN else factor.alternatives[level].label
    return textwrap.fill(f"{factor.label}: {text}", _LABEL)
