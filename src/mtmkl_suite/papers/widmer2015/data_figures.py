"""Figures on transcription start sites."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mtmkl_suite.judge.sample import ALL
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.drawing import (
    SINGLE,
    FigureAndNumbers,
    Series,
    no_data_figure,
)
from mtmkl_suite.report.figures.panels import draw_panel

TSS = "tss"
FIXED = ("tss_individual", "tss_union", "tss_mtl")
LEARNED = "tss_p2"
_STAND_IN = "stand-in data: 13 bacteria, 81 nucleotides"


def figure_2(context: Context) -> FigureAndNumbers:
    """Draw Figure 2's comparison on the stand-in: splice sites are not available.

    AUC by organism of individual machines, of their union and of one fixed similarity,
    with a tenth of the examples for training.
    """
    figure = Figure(figsize=(7.4, 3.6))
    numbers = _by_organism(context, figure.subplots(), FIXED, 10)
    if "no data" in numbers:
        return no_data_figure(numbers["no data"].iloc[0], SINGLE)
    return figure, numbers


def figure_4(context: Context) -> FigureAndNumbers:
    """Draw the AUC by organism with most examples, and its mean against their number.

    The numbers of the upper panel tell which method has the highest mean for each
    organism.
    """
    (panel,) = context.figure("figure_4").panels
    figure = Figure(figsize=(7.4, 7.2))
    upper, lower = figure.subplots(2, 1)
    sizes = context.rows(TSS, "auc", {})["train_size"]
    if sizes.empty:
        return no_data_figure(context.missing_reason(TSS), SINGLE)
    numbers = [
        _by_organism(context, upper, (*FIXED, LEARNED), int(sizes.max())),
        draw_panel(context, lower, panel),
    ]
    lower.legend(loc="lower right")
    return figure, pd.concat(numbers, ignore_index=True)


def _series(context: Context, method: str) -> Series:
    """Return a method's curve in the colour of its kind, named without the data."""
    _, _, kind = method.partition("_")
    label = context.label(method).partition(" (")[0]
    return replace(Series.of(context, kind, label=label), method=method)


def _by_organism(
    context: Context, axis: Axes, methods: Sequence[str], train_size: int
) -> pd.DataFrame:
    scores = context.scores
    rows = scores[
        (scores["experiment"] == TSS)
        & (scores["metric"] == "auc")
        & (scores["train_size"] == train_size)
        & scores["method"].isin(methods)
    ]
    if rows.empty:
        return pd.DataFrame({"no data": [context.missing_reason(TSS)]})
    summary = rows.groupby(["method", "task"])["value"].agg(["mean", "std", "size"])
    names = [name for name in rows["task"].unique() if name != ALL]
    places = [*names, ALL]
    present = [method for method in methods if method in summary.index]
    width = 0.8 / len(present)
    numbers = []
    for k, method in enumerate(present):
        table = summary.loc[method].loc[places]
        series = _series(context, method)
        axis.bar(
            np.arange(len(places)) + width * (k - (len(present) - 1) / 2),
            table["mean"],
            width,
            yerr=table["std"].fillna(0.0),
            color=series.style.colour,
            error_kw={"linewidth": 0.8},
            label=series.label,
        )
        numbers.append(
            pd.DataFrame(
                {
                    "panel": f"by organism, {train_size} %",
                    "series": series.label,
                    "organism": ["mean" if name == ALL else name for name in places],
                    "mean": table["mean"].to_numpy(),
                    "sd": table["std"].to_numpy(),
                    "n": table["size"].to_numpy(),
                }
            )
        )
    found = pd.concat(numbers, ignore_index=True)
    found["best"] = found["mean"] == found.groupby("organism")["mean"].transform("max")
    by_name = found[found["organism"] != "mean"]
    leader = str(numbers[-1]["series"].iloc[0])
    n_best = int(by_name.loc[by_name["series"] == leader, "best"].sum())
    axis.set_xticks(
        range(len(places)),
        [*names, "mean"],
        rotation=40,
        ha="right",
        rotation_mode="anchor",
    )
    axis.set_ylim(max(0.0, float(found["mean"].min()) - 0.1), 1.08)
    axis.set_ylabel("test AUC")
    axis.set_title(
        f"{_STAND_IN}; {train_size} % for training; mean ± sd over "
        f"{int(found['n'].min())} splits\n{leader} is highest in {n_best} of "
        f"{len(names)} organisms"
    )
    axis.legend(loc="upper left", ncols=len(present))
    return found
