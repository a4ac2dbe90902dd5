"""Specification curves: a claim's effect under every combination of readings."""

import textwrap
from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from mtmkl_suite.config.models import Factor, MadeSpecification
from mtmkl_suite.config.readings_checks import MAIN
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.drawing import FigureAndNumbers
from mtmkl_suite.report.record.record import claims_table
from mtmkl_suite.report.tables.reach import (
    effect,
    main_context,
    measured_in_place,
    replaced,
    unmeasured_main,
)
from mtmkl_suite.report.tables.text import metric_words

_WIDTH, _HEIGHT, _LINE = 8.6, 2.6, 0.17
_TITLE, _LABEL = 110, 64  # characters in a line
_SHADES = {"holds": "#1b7837", "does not hold": "#b2182b"}
_UNDECIDED = "#878787"


def specification_curve(context: Context, name: str) -> FigureAndNumbers:
    """Return the figure of one specification, and its numbers.

    Above, the effect of the claim with its interval under every combination of the
    factors, sorted; markers are hollow where another metric stands for that of the
    claim. Below, which alternatives each combination has. Where repeats share
    examples the interval is that of the corrected test, which the verdict rests on.

    Returns one row per combination: its factors, ``metric, effect, interval_low,
    interval_high, p, verdict, is_main``. The effect is in units of the metric.
    """
    specification = context.readings.specifications[name]
    numbers = specification_numbers(context, specification)
    return _drawn(context, specification, numbers), numbers


def specification_numbers(
    context: Context, specification: MadeSpecification
) -> pd.DataFrame:
    """Return the claim's test under every combination, by metric and rising effect.

    The metric of the claim comes first. Each has the same number of repeats, the first
    ones: shares of combinations in which a claim holds would mix tests of different
    power otherwise. Of a run whose repeats are reduced there are only the notes.
    """
    main = main_context(context) if context.is_judged else unmeasured_main(context)
    chosen = [c for c in main.config.claims if c.id == specification.claim]
    main = replace(main, config=main.config.model_copy(update={"claims": chosen}))
    metric = chosen[0].args["metric"]
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
        row = claims_table(shown).to_dict("records")[0]
        is_corrected = not pd.isna(row["rho"])
        low, high, p = (
            ("corrected_low", "corrected_high", "p_corrected")
            if is_corrected
            else ("interval_low", "interval_high", "p")
        )
        rows.append(
            {**factors, "metric": in_place.get(metric, metric), "effect": effect(row)}
            | {"interval_low": row[low], "interval_high": row[high], "p": row[p]}
            | {"verdict": row["verdict"], "note": row["note"], "is_main": is_main}
        )
    numbers = pd.DataFrame(rows)
    # Effects on different metrics cannot be compared.
    is_main_metric = (numbers["metric"] != metric).rename("other")
    order = pd.concat([is_main_metric, numbers["metric"], numbers["effect"]], axis=1)
    return numbers.loc[order.sort_values(list(order)).index].reset_index(drop=True)


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
    labels = [_label(documents[factor], level) for factor, level in lines]
    title = textwrap.wrap(f"{_share(numbers)}; diamond: the main protocol", _TITLE)
    n_lines = sum(1 + label.count("\n") for label in labels)
    below = _LINE * n_lines + 0.3
    height = _HEIGHT + below + _LINE * len(title) + 0.4
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    above, grid = figure.subplots(
        2,
        1,
        sharex=True,
        gridspec_kw={"height_ratios": [_HEIGHT, below]},
    )
    for x, row in numbers.iterrows():
        colour = _SHADES.get(str(row["verdict"]), _UNDECIDED)
        above.plot([x, x], [row["interval_low"], row["interval_high"]], color=colour)
        marker = "D" if row["is_main"] else "o"
        is_other = row["metric"] != numbers["metric"].iloc[0]
        above.plot(
            [x],
            [row["effect"]],
            marker,
            color=colour,
            markerfacecolor="white" if is_other else colour,
            markersize=4,
        )
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


def _label(factor: Factor, level: str) -> str:
    """Return a factor and one of its alternatives, in lines that fit."""
    text = factor.main if level == MAIN else factor.alternatives[level].label
    return textwrap.fill(f"{factor.label}: {text}", _LABEL)
