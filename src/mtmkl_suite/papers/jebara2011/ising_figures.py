"""Figures on the edges of Ising graphs: Figure 4, and one of ours over their size."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mtmkl.statistics.pairs import MIN_UNITS
from mtmkl_suite.judge.sample import average, dataset_options
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.drawing import (
    WIDE,
    FigureAndNumbers,
    Series,
    half_width,
    interval_text,
    levels,
    no_data_figure,
)
from mtmkl_suite.report.figures.panels import paired_test

_METHODS = ("med_graph", "l1_and", "l1_or")


def figure_4(context: Context) -> FigureAndNumbers:
    """Draw the AUC of edges over the settings of each method, Ising graphs.

    The first half of the repeats are the graphs shown. The others serve to choose the
    setting of "chosen on other graphs"; the best setting on the graphs shown is
    optimistic, and called so.
    """
    experiment = "ising_5"
    methods = [m for m in _METHODS if m in context.config.methods]
    tables = {m: _by_setting(context, experiment, m) for m in methods}
    tables = {m: table for m, table in tables.items() if not table.empty}
    if not tables:
        return no_data_figure(context.missing_reason(experiment), WIDE)
    n_shown = max(len(next(iter(tables.values()))) // 2, 1)
    figure = Figure(figsize=(9.4, 3.9))
    left, middle, right = figure.subplots(1, 3, sharey=True)
    numbers = []
    for method, table in tables.items():
        shown = table.iloc[:n_shown]
        frame = pd.DataFrame([json.loads(text) for text in table.columns])
        frame = frame.assign(mean=shown.mean().to_numpy())
        if "relative_alpha" in frame:
            axis, name, panel = left, "relative_alpha", "over relative_alpha"
        else:
            # The weight ν of the L1 norm, whatever the scores at hand call it.
            axis, name, panel = middle, frame.columns[0], "over nu"
        groups: list[tuple[Any, pd.DataFrame]] = (
            list(frame.groupby("C")) if "C" in frame else [(None, frame)]
        )
        series = Series.of(context, method)
        for (C, part), colour in zip(
            groups, levels(series.style.colour, len(groups)), strict=True
        ):
            label = series.label if C is None else f"C = {C:g}"
            ordered = part.sort_values(name)
            axis.plot(
                ordered[name],
                ordered["mean"],
                color=colour,
                marker=series.style.marker,
                label=label,
            )
            numbers.append(
                pd.DataFrame(
                    {
                        "panel": panel,
                        "series": f"{series.label}, {label}" if C else label,
                        "x": ordered[name],
                        "mean": ordered["mean"],
                        "n": n_shown,
                    }
                )
            )
    middle.set_xscale("log")
    left.set_xlabel("log(1 + α) / largest q at α = 0")
    middle.set_xlabel("ν")
    left.set_ylabel("AUC of the edges")
    left.set_title(f"MED; mean over {n_shown} graphs")
    middle.set_title("L1-logistic")
    numbers.append(_summaries(context, right, tables, n_shown))
    least = min(float(frame["mean"].min()) for frame in numbers)
    left.set_ylim(max(least - 0.15, 0.0), 1.02)  # intervals may go beyond
    for axis in (left, middle):
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.28))
    return figure, pd.concat(numbers, ignore_index=True)


def figure_ising_sizes(context: Context) -> FigureAndNumbers:
    """Draw the AUC of edges of each method for graphs of several sizes.

    As the right part of :func:`figure_4`, one panel per number of nodes.
    """
    experiment = "ising_sizes"
    found = {}
    for dataset in context.rows(experiment, "edge_auc", {})["dataset"].unique():
        tables = {
            method: table
            for method in _METHODS
            if method in context.config.methods
            and not (table := _by_setting(context, experiment, method, dataset)).empty
        }
        if tables:
            found[int(dataset_options(dataset)["n_nodes"])] = tables
    if not found:
        return no_data_figure(context.missing_reason(experiment), WIDE)
    figure = Figure(figsize=(9.4, 3.6))
    panels = np.atleast_1d(figure.subplots(1, len(found), sharey=True))
    numbers = []
    for axis, (n_nodes, tables) in zip(panels, sorted(found.items()), strict=True):
        n_shown = max(len(next(iter(tables.values()))) // 2, 1)
        summary = _summaries(context, axis, tables, n_shown)
        axis.set_title(f"{n_nodes} nodes, {n_shown} graphs")
        numbers.append(summary.assign(panel=f"{n_nodes} nodes"))
    n_graphs = min(int(summary["n"].min()) for summary in numbers)
    interval = ", 95 % interval" * (n_graphs >= MIN_UNITS)
    panels[0].set_ylabel(f"AUC of the edges{interval}")
    handles, texts = panels[0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=len(texts))
    return figure, pd.concat(numbers, ignore_index=True)


def _by_setting(
    context: Context, experiment: str, method: str, dataset: str | None = None
) -> pd.DataFrame:
    """Return the AUC of edges by repeat (rows) and setting (columns)."""
    where = {"method": method} | ({"dataset": dataset} if dataset else {})
    rows = context.rows(experiment, "edge_auc", where)
    if rows.empty:
        return pd.DataFrame()
    return average(rows, ["repeat", "setting"]).unstack("setting").dropna()


def _summaries(
    context: Context, axis: Axes, tables: Mapping[str, pd.DataFrame], n_shown: int
) -> pd.DataFrame:
    """Draw each method's mean over its grid, at a setting chosen, and at its best."""
    kinds: Sequence[str] = ("mean over the grid", "chosen on other graphs", "best")
    values: dict[tuple[str, str], pd.Series] = {}
    for method, table in tables.items():
        shown, others = table.iloc[:n_shown], table.iloc[n_shown:]
        values[method, kinds[0]] = shown.mean(axis=1)
        if len(others):
            values[method, kinds[1]] = shown[others.mean().idxmax()]
        values[method, kinds[2]] = shown[shown.mean().idxmax()]
    rows = []
    for place, method in enumerate(tables):
        style = Series.of(context, method).style
        for position, kind in enumerate(kinds):
            if (method, kind) not in values:
                continue
            mine = values[method, kind]
            row = {
                "panel": "summary", "series": f"{context.label(method)}, {kind}",
                "mean": mine.mean(), "sd": mine.std(ddof=1), "n": len(mine),
            }  # fmt: skip
            if method != "med_graph" and ("med_graph", kind) in values:
                row["p"] = paired_test(values["med_graph", kind], mine)["p"]
            rows.append(row)
            axis.errorbar(
                [position + 0.2 * (place - 1)],
                [mine.mean()],
                yerr=[half_width(mine)],
                color=style.colour,
                marker=style.marker,
                linestyle="none",
                capsize=3,
                label=None if position else context.label(method),
            )
    names = ["mean over\nthe grid", "chosen on\nother graphs", "best\n(optimistic)"]
    axis.set_xticks(range(len(kinds)), names)
    axis.set_title(interval_text(n_shown))
    axis.set_xlabel("setting")
    return pd.DataFrame(rows)
