"""Figures of the comparison: mean ranks, differences, cost, train sizes."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mtmkl_suite.config.models import Comparison
from mtmkl_suite.judge.comparison import seconds_matrix
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.drawing import (
    MARKERS,
    PALETTE,
    WIDE,
    FigureAndNumbers,
    no_data_figure,
)
from mtmkl_suite.report.figures.rank_figures import (
    critical_difference_figure,
    difference_figure,
    differences,
)
from mtmkl_suite.report.tables.comparison import (
    FIXED,
    compare_block,
    joined_columns,
    notes_on_joined,
    ranked,
)
from mtmkl_suite.report.text import range_text
from mtmkl_suite.statistics.ties import without_rounding

_GREY = "#8a8a8a"


def pareto_front(cost: pd.Series, score: pd.Series) -> list[str]:
    """Return the methods than which none is both cheaper and better, cheapest first."""
    order = pd.DataFrame({"cost": cost, "score": score}).sort_values(
        ["cost", "score"], ascending=[True, False], kind="stable"
    )
    before = order["score"].cummax().shift(fill_value=-float("inf"))
    return [str(name) for name in order.index[order["score"] > before]]


def ranks(context: Context, comparison: Comparison) -> FigureAndNumbers:
    """Draw mean ranks with Nemenyi's critical difference."""
    found = compare_block(context, comparison, comparison.main)
    if isinstance(found, str):
        return no_data_figure(found, WIDE)
    numbers = found.methods.rename_axis("method").reset_index()
    return critical_difference_figure(found), numbers.assign(
        critical_difference=found.critical_difference, n=found.n
    )


def paired_differences(context: Context, comparison: Comparison) -> FigureAndNumbers:
    """Draw the differences of the tested methods as a heat map."""
    found = compare_block(context, comparison, comparison.main, only_tested=True)
    if isinstance(found, str):
        return no_data_figure(found, WIDE)
    gains, p = differences(found)
    numbers = pd.DataFrame({
        "method": gains.index.repeat(len(gains)),
        "than": list(gains.columns) * len(gains),
        "difference": gains.to_numpy().ravel(), "p_holm": p.to_numpy().ravel(),
    })  # fmt: skip
    figure = difference_figure(found)
    for note in notes_on_joined(context, comparison, (), FIXED):
        figure.axes[0].set_title(note, fontsize=8)
    return figure, numbers[numbers["method"] != numbers["than"]]


def cost(context: Context, comparison: Comparison) -> FigureAndNumbers:
    """Draw the mean score against seconds, with the Pareto front."""
    block = comparison.main
    values = ranked(context, comparison, block)
    if values.empty:
        return no_data_figure("no data set without gaps", WIDE)
    seconds = seconds_matrix(context.scores, comparison, block)
    seconds = seconds.loc[values.index, values.columns]
    score = without_rounding(values.mean())
    table = pd.DataFrame({"seconds": seconds.mean(), "score": score})
    front = pareto_front(table["seconds"], table["score"])
    table["on_front"] = table.index.isin(front)
    table["data_sets"] = len(values)
    figure = Figure(figsize=(WIDE[0] + 1.4, max(3.6, 1.2 + 0.17 * len(table))))
    axis = figure.subplots()
    best = table["score"].max()
    behind = table["score"] - best
    axis.step(
        table.loc[front, "seconds"], behind[front],
        where="post", color=PALETTE[0], linewidth=1, label="none is cheaper and better",
    )  # fmt: skip
    colours = table["on_front"].map({True: PALETTE[0], False: _GREY})
    for number, method in enumerate(table.index, start=1):
        axis.plot(
            table.loc[method, "seconds"], behind[method], color=colours[method],
            linestyle="none", marker="o", markersize=4, label=f"{number}  {method}",
        )  # fmt: skip
    axis.set_xscale("log")
    # The logarithm away from the best: outliers do not crush the rest.
    axis.set_yscale("asinh", linear_width=comparison.rope)
    axis.set_ylim(1.3 * behind.min() - comparison.rope, 0.5 * comparison.rope)
    steps = [m * 10.0**e for e in range(-3, 6) for m in (1, 2, 5)]
    ticks = [0.0] + [-s for s in steps if comparison.rope / 3 < s < -1.3 * behind.min()]
    axis.set_yticks(ticks, ["best", *(f"−{-each:g}" for each in ticks[1:])])
    axis.minorticks_off()
    _number_points(axis, table["seconds"], behind, colours)
    axis.set_xlabel(
        "processor seconds to choose and fit, mean over repeats and data sets"
    )
    axis.set_ylabel(f"{comparison.unit} behind the best mean, {best:.1f}")
    axis.set_title(f"{block}, {len(values)} data sets", fontsize=9)
    figure.legend(loc="outside right upper", fontsize=7, handlelength=1)
    return figure, table.rename_axis("method").reset_index()


def _number_points(axis: Axes, x: pd.Series, y: pd.Series, colours: pd.Series) -> None:
    """Write the number of each point, from 1, where nothing else is."""
    places = axis.transData.transform(np.column_stack([x, y]))
    unit = axis.figure.dpi / 72
    taken = [(place, 3 * unit, 3 * unit) for place in places]
    for number, (place, colour) in enumerate(zip(places, colours, strict=True), 1):
        half = 2.6 * unit * len(str(number)), 4 * unit
        spots = [
            np.array([right, up]) * unit * reach
            for reach in (1.0, 1.6, 2.2)
            for right, up in ((8, 5), (-8, 5), (8, -5), (-8, -5), (0, 9), (0, -9))
        ]
        free = (
            spot
            for spot in spots
            if all(
                abs(place[0] + spot[0] - other[0]) > half[0] + wide
                or abs(place[1] + spot[1] - other[1]) > half[1] + high
                for other, wide, high in taken
            )
        )
        spot = next(free, spots[0])
        taken.append((place + spot, *half))
        point = x.iloc[number - 1], y.iloc[number - 1]
        axis.annotate(
            str(number), point, xytext=tuple(spot / unit), textcoords="offset points",
            fontsize=8, color=colour, ha="center", va="center",
        )  # fmt: skip


def sizes(context: Context, comparison: Comparison) -> FigureAndNumbers:
    """Draw mean ranks against the train size; tested and joined methods in colour."""
    tables = []
    for block, selector in comparison.blocks.items():
        found = compare_block(context, comparison, block)
        if "train_size" in selector and not isinstance(found, str):
            table = found.methods.rename_axis("method").reset_index()
            tables.append(table.assign(train_size=selector["train_size"], n=found.n))
    if not tables:
        return no_data_figure("no train size has two data sets without gaps", WIDE)
    numbers = pd.concat(tables, ignore_index=True)
    figure = Figure(figsize=(WIDE[0], 4.2))
    axis = figure.subplots()
    own = joined_columns(context.config, comparison)
    coloured = {each: k for k, each in enumerate([*comparison.pairs, *own])}
    for method, curve in numbers.groupby("method", sort=False):
        k = coloured.get(str(method))
        axis.plot(
            curve["train_size"],
            curve["mean_rank"],
            color=_GREY if k is None else PALETTE[k % len(PALETTE)],
            marker="." if k is None else MARKERS[k % len(MARKERS)],
            linewidth=0.7 if k is None else 1.4,
            alpha=0.5 if k is None else 1.0,
            label="_" if k is None else str(method),
        )
    axis.invert_yaxis()
    axis.set_xticks(sorted(numbers["train_size"].unique()))
    axis.set_xlabel("samples for training, %")
    axis.set_ylabel("mean rank, 1 is best")
    n_sets = range_text(numbers["n"])
    axis.set_title(f"{n_sets} data sets; grey: all other methods", fontsize=9)
    figure.legend(loc="outside right upper", fontsize=8)
    return figure, numbers
