"""Figures of the comparison: mean ranks, differences, cost, train sizes."""

import pandas as pd
from matplotlib.figure import Figure

from mtmkl_suite.config.models import MethodComparison
from mtmkl_suite.judge.comparison import ranking_matrix, seconds_matrix
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
    compare_block,
    joined_columns,
    notes_on_pairs,
    ranked,
)
from mtmkl_suite.report.tables.text import range_text

_GREY = "#8a8a8a"


def pareto_front(cost: pd.Series, score: pd.Series) -> list[str]:
    """Return the methods than which none is both cheaper and better, cheapest first."""
    order = pd.DataFrame({"cost": cost, "score": score}).sort_values(
        ["cost", "score"], ascending=[True, False], kind="stable"
    )
    before = order["score"].cummax().shift(fill_value=-float("inf"))
    return [str(name) for name in order.index[order["score"] > before]]


def ranks(context: Context, comparison: MethodComparison) -> FigureAndNumbers:
    """Draw mean ranks with Nemenyi's critical difference."""
    found = compare_block(context, comparison, comparison.main)
    if isinstance(found, str):
        return no_data_figure(found, WIDE)
    numbers = found.methods.rename_axis("method").reset_index()
    return critical_difference_figure(found), numbers.assign(
        critical_difference=found.critical_difference, n=found.n
    )


def paired_differences(
    context: Context, comparison: MethodComparison
) -> FigureAndNumbers:
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
    for note in notes_on_pairs(context, comparison):
        figure.axes[0].set_title(note, fontsize=8)
    return figure, numbers[numbers["method"] != numbers["than"]]


def cost(context: Context, comparison: MethodComparison) -> FigureAndNumbers:
    """Draw the mean score against seconds, with the Pareto front."""
    block = comparison.main
    values = ranked(ranking_matrix(context.scores, comparison, block), comparison)
    if values.empty:
        return no_data_figure("no data set without gaps", WIDE)
    seconds = seconds_matrix(context.scores, comparison, block)
    seconds = seconds.loc[values.index, values.columns]
    table = pd.DataFrame({"seconds": seconds.mean(), "score": values.mean()})
    front = pareto_front(table["seconds"], table["score"])
    table["on_front"] = table.index.isin(front)
    table["data_sets"] = len(values)
    figure = Figure(figsize=(WIDE[0] + 1.4, max(3.6, 1.2 + 0.17 * len(table))))
    axis = figure.subplots()
    axis.step(
        table.loc[front, "seconds"], table.loc[front, "score"],
        where="post", color=PALETTE[0], linewidth=1, label="none is cheaper and better",
    )  # fmt: skip
    for number, (method, row) in enumerate(table.iterrows(), start=1):
        colour = PALETTE[0] if row["on_front"] else _GREY
        axis.plot(
            row["seconds"], row["score"], color=colour, linestyle="none",
            marker="o", markersize=4, label=f"{number}  {method}",
        )  # fmt: skip
        axis.annotate(
            str(number), (row["seconds"], row["score"]), xytext=(4, 3),
            textcoords="offset points", fontsize=8, color=colour,
        )  # fmt: skip
    axis.set_xscale("log")
    axis.set_xlabel(
        "processor seconds to choose and fit, mean over repeats and data sets"
    )
    axis.set_ylabel(f"mean score, {comparison.unit}")
    axis.set_title(f"{block}, {len(values)} data sets", fontsize=9)
    figure.legend(loc="outside right upper", fontsize=7, handlelength=1)
    return figure, table.rename_axis("method").reset_index()


def sizes(context: Context, comparison: MethodComparison) -> FigureAndNumbers:
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
    axis.set_xlabel("examples for training, %")
    axis.set_ylabel("mean rank, 1 is best")
    n_sets = range_text(numbers["n"])
    axis.set_title(f"{n_sets} data sets; grey: all other methods", fontsize=9)
    figure.legend(loc="outside right upper", fontsize=8)
    return figure, numbers
