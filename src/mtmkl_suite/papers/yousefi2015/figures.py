"""Figure 1 of Yousefi et al. 2015, and figures of ours."""

import string
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from mtmkl.typing import FloatArray
from mtmkl_suite.config.models import Comparison
from mtmkl_suite.judge.observations import variance_ratio_of
from mtmkl_suite.judge.sample import average
from mtmkl_suite.papers.yousefi2015.steps import BASE, VARIED
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.drawing import (
    WIDE,
    FigureAndNumbers,
    interval_text,
    legend_below,
    no_data_figure,
    shades,
)
from mtmkl_suite.report.figures.panels import Curve, Panel, panels_figure
from mtmkl_suite.report.tables.ranking import mean_ranks, printed_mean_ranks, rank_tests
from mtmkl_suite.report.text import range_text
from mtmkl_suite.statistics.pairs import LEVEL, compare_pair

_BLUE, _RED, _GREEN = "#0072b2", "#d55e00", "#009e73"
_CHOSEN = {"setting": ""}  # chosen on validation rows, not a point of a path

# The paper does not say whether the "spread" of a Gaussian is σ or σ².
_TWO_KERNELS = "letter_two_kernels"
_KERNEL_LABELS = ("spread 2", "spread 2⁸")
_SPREADS = {"σ": "group_feature_sharing_2", "σ²": "group_feature_sharing_2_variance"}

_CLEAN, _REPORTED = "group_feature_sharing", "group_feature_sharing_authors"
_VALIDATED = "accuracy_validated_round"
_READINGS = {
    "round by test rows, C = 1": ("accuracy", _CLEAN, "accuracy"),
    "round by test rows": ("accuracy_chosen_C", _CLEAN, "accuracy"),
    "round by validation rows": (_VALIDATED, _CLEAN, "accuracy"),
    "last round": ("accuracy_last_round", _CLEAN, "accuracy"),
    "round by validation rows,\nagainst STL likewise": (
        _VALIDATED, "stl_authors", _VALIDATED,
    ),
}  # fmt: skip
"""Accuracies of the authors' protocol, and the method and metric they are held to."""

_SIDES = {"published accuracies": ("#777777", "D"), "reproduced": (_BLUE, "o")}

_AXIS_LABELS = {
    "n_tasks": "tasks T",
    "n": "samples per task n",
    "gamma": "γ, how far weights may differ",
}


def figure_1(context: Context) -> FigureAndNumbers:
    """Draw the weights of two Gaussian kernels for every task of Letter.

    Of the first repeat that is kept, in a row of panels for either meaning of the
    spread; tasks of a group, whose weights are equal, share a letter.
    """
    datasets = context.datasets(_TWO_KERNELS)
    found = {
        (spread, size): parts
        for spread, method in _SPREADS.items()
        for size in _sizes(context, _TWO_KERNELS)
        if (parts := _weights(context, datasets[0], method, size)) is not None
    }
    if not found:
        method = next(iter(_SPREADS.values()))
        return no_data_figure(context.missing_reason(_TWO_KERNELS, method), WIDE)
    tasks = list(context.data_info[datasets[0]]["task_names"])
    spreads = list(dict.fromkeys(spread for spread, _ in found))
    sizes = sorted({size for _, size in found})
    height = (0.24 * len(tasks) + 0.7) * len(spreads) + 0.7
    figure = Figure(figsize=(WIDE[0], height))
    panels = figure.subplots(
        len(spreads), len(sizes), sharex=True, sharey=True, squeeze=False
    )
    numbers = []
    for (spread, size), (weights, groups) in found.items():
        axis = panels[spreads.index(spread), sizes.index(size)]
        # One letter per group, in the order in which tasks show them.
        names = [string.ascii_uppercase[k % 26] for k in pd.factorize(groups)[0]]
        left = np.zeros(len(tasks))
        for k, (label, colour) in enumerate(
            zip(_KERNEL_LABELS, (_BLUE, shades(_BLUE, 3)[0]), strict=True)
        ):
            axis.barh(tasks, weights[:, k], left=left, color=colour, label=label)
            left += weights[:, k]
        beside = axis.get_yaxis_transform()
        for k, name in enumerate(names):
            axis.text(1.03, k, name, va="center", fontsize=8, transform=beside)
        count = len(set(names))
        noun = "group" if count == 1 else "groups"
        axis.set_title(f"spread = {spread}, {size} % for training: {count} {noun}")
        axis.set_xlim(0, 1)
        axis.grid(False, axis="y")
        shown = {
            f"weight, {name}": weights[:, k] for k, name in enumerate(_KERNEL_LABELS)
        }
        place = {"panel": f"spread = {spread}, {size} %", "task": tasks}
        numbers.append(pd.DataFrame({**place, "group": names, **shown}))
    for axis in panels[-1]:
        axis.set_xlabel("weight of the kernel")
    panels[0, 0].invert_yaxis()
    title = "letter: group of tasks with equal weights"
    legend_below(figure, figure.axes[0], 2, title=title)
    return figure, pd.concat(numbers, ignore_index=True)


def figure_groups(context: Context) -> FigureAndNumbers:
    """Draw groups of tasks and accuracy against λ, Letter, for both spreads."""
    label = "{level} % for training"
    curves = {
        spread: [Curve(method, each="train_size", label=label, like="stl")]
        for spread, method in (("σ", "groups_width"), ("σ²", "groups_variance"))
    }
    panels = [
        Panel(
            f"{metric}, spread = {spread}",
            ["letter_groups"],
            metric,
            "lam",
            curves[spread],
            label="λ" if metric == "accuracy" else "",
            metric_label=name if spread == "σ" else "",
            title=f"spread = {spread}" if metric == "n_groups" else "",
            scale="log2",
            ticks=False,
        )
        for metric, name in (
            ("n_groups", "groups of tasks"),
            ("accuracy", "test accuracy"),
        )
        for spread in curves
    ]
    return panels_figure(
        context,
        panels,
        (7.4, 4.6),
        legend="figure",
        columns=2,
        across=2,
        heading="{spread}",
        sharex="all",
        sharey="row",
    )


def figure_theorem(context: Context) -> FigureAndNumbers:
    """Draw the bound of Theorem 1 with the complexity that it should bound."""
    numbers = context.steps["complexity"]
    figure = Figure(figsize=(9.4, 3.6))
    panels = figure.subplots(1, len(VARIED), sharey=True)
    for axis, (name, values) in zip(panels, VARIED.items(), strict=True):
        at_limit = (numbers["panel"] == name) & (numbers["x"] == 0)
        table = numbers[(numbers["panel"] == name) & ~at_limit]
        axis.plot(
            table["x"], table["bound"], color=_RED, marker="s", linestyle="--",
            label="bound of Theorem 1, as printed",
        )  # fmt: skip
        axis.errorbar(
            table["x"], table["complexity"], yerr=table["interval"], color=_BLUE,
            marker="o", capsize=2, label="complexity (Monte Carlo, 95 % interval)",
        )  # fmt: skip
        axis.plot(
            table["x"], table["proof"], color=_GREEN, linestyle=":",
            label="the proof's bound with the term that it drops",
        )  # fmt: skip
        fails = table["bound"] < table["complexity"]
        axis.fill_between(
            table["x"], table["bound"], table["complexity"], where=fails,
            interpolate=True, color=_RED, alpha=0.12, linewidth=0,
        )  # fmt: skip
        fixed = {"n_tasks": "T", "n": "n", "gamma": "γ"}
        held = [f"{fixed[k]} = {v:g}" for k, v in BASE.items() if k != name]
        axis.set(title=", ".join(held), xscale="log", xlabel=_AXIS_LABELS[name])
        if name != "gamma":
            axis.set_xticks(values, [f"{value:g}" for value in values])
            axis.minorticks_off()
        else:
            (limit,) = numbers.loc[at_limit, "complexity"]
            axis.axhline(
                limit, color=_BLUE, linewidth=0.8, linestyle="-.",
                label="complexity at γ = 0, where the bound is 0",
            )  # fmt: skip
    panels[0].set_ylabel("empirical Rademacher complexity")
    panels[0].set_ylim(bottom=0)
    legend_below(figure, panels[-1], 2)
    figure.suptitle("Shaded: the printed bound is below what it bounds", fontsize=9)
    return figure, numbers


def figure_ranks(context: Context, comparison: Comparison) -> FigureAndNumbers:
    """Draw the mean ranks, ours and those of the published accuracies."""
    control = comparison.control
    blocks = list(comparison.blocks)
    columns = list(comparison.columns)
    # Not as printed: a method has one name everywhere.
    names = [context.label(method) for (method,) in comparison.methods.values()]
    figure = Figure(figsize=(9.4, 3.6))
    numbers = []
    for axis, block in zip(
        figure.subplots(1, len(blocks), sharey=True), blocks, strict=True
    ):
        sides = {"published accuracies": printed_mean_ranks(context, comparison, block)}
        ours = mean_ranks(context, comparison, block)
        if ours is not None:
            sides["reproduced"] = ours
        for side, over_all in sides.items():
            p = rank_tests(over_all, control)["p_holm"].reindex(columns)
            shift = 0.16 if side == "reproduced" else -0.16
            table = pd.DataFrame({
                "panel": block, "series": side, "method": names,
                "mean rank": over_all.ranks[columns].to_numpy(),
                "p_holm": p.to_numpy(), "n": over_all.n_blocks,
            })  # fmt: skip
            numbers.append(table)
            colour, marker = _SIDES[side]
            for place, row in enumerate(table.to_dict("records")):
                face = colour if row["p_holm"] < LEVEL else "white"
                point = row["mean rank"], place + shift
                axis.plot(*point, marker, color=colour, markerfacecolor=face)
        n_sets = sides["published accuracies"].n_blocks
        lacking = "\nreproduced: not every value is there" * (ours is None)
        axis.set_title(f"{block} for training, {n_sets} data sets{lacking}")
        axis.set(xlim=(0.7, len(columns) + 0.3), xticks=range(1, len(columns) + 1))
        axis.set_xlabel("mean rank, 1 is best")
    first = figure.axes[0]
    first.set_yticks(range(len(names)), names)
    first.invert_yaxis()
    _ranks_legend(figure)
    return figure, pd.concat(numbers, ignore_index=True)


def figure_protocol(context: Context) -> FigureAndNumbers:
    """Draw what the protocol of the authors' code adds to the test accuracy.

    With C = 1 as the code reports it, else with the values of C that it chose; and the
    gain over STL under the same protocol, where no test row chooses anything. Paired
    differences over repeats with 95 % intervals, of the corrected resampled t-test
    where repeats share samples.
    """
    experiments = context.config.artefacts["figure_protocol"].shown
    rows = [
        row
        for experiment in experiments
        for reading in _READINGS
        for row in _gains(context, experiment, reading)
    ]
    if not rows:
        return no_data_figure(context.missing_reason(experiments[0], _REPORTED), WIDE)
    table = pd.DataFrame(rows)
    shown = list(table["reported"].drop_duplicates())
    names = list(table["data set"].drop_duplicates())
    sizes = sorted(table["train size"].unique())
    figure = Figure(figsize=(WIDE[0], 0.42 * len(names) + 1.3))
    panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for axis, reading in zip(panels, shown, strict=True):
        axis.axvline(0, color="black", linewidth=0.8)
        for k, (size, colour) in enumerate(
            zip(sizes, shades(_BLUE, len(sizes)), strict=True)
        ):
            part = table[(table["train size"] == size) & (table["reported"] == reading)]
            places = np.array([names.index(name) for name in part["data set"]])
            axis.errorbar(
                part["gain"], places + 0.18 * (k - (len(sizes) - 1) / 2),
                xerr=[part["gain"] - part["low"], part["high"] - part["gain"]],
                color=colour, marker="os^Dv"[k % 5], linestyle="none", capsize=2,
                label=f"{size:g} % for training",
            )  # fmt: skip
        axis.set_xlabel("difference in accuracy, points")
        axis.set_title(reading, fontsize="small")
    panels[0].set_yticks(range(len(names)), names)
    panels[0].invert_yaxis()
    interval = interval_text(int(table["n"].min()))
    figure.suptitle(f"{interval} over {range_text(table['n'])} runs")
    legend_below(figure, panels[0], len(sizes))
    return figure, table


def _sizes(context: Context, experiment: str) -> list[int]:
    rows = context.scores[context.scores["experiment"] == experiment]
    return sorted(int(size) for size in rows["train_size"].unique())


def _weights(
    context: Context, dataset: str, method: str, size: int
) -> tuple[FloatArray, NDArray[Any]] | None:
    weights, groups = (
        context.array(_TWO_KERNELS, dataset, method, name, train_size=size)
        for name in ("weights_", "groups_")
    )
    return None if weights is None or groups is None else (weights, groups)


def _ranks_legend(figure: Figure) -> None:
    published, ours = _SIDES.values()
    marks = [
        ("from the published accuracies", *published, "white"),
        ("reproduced", *ours, "white"),
        ("filled: different from the control by Holm's test", "black", "o", "black"),
    ]
    handles = [
        Line2D([], [], label=name, color=c, marker=m, markerfacecolor=face, ls="none")
        for name, c, m, face in marks
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)


def _gains(context: Context, experiment: str, reading: str) -> list[dict[str, Any]]:
    """Return the paired gains of a reported accuracy, one row per train size."""
    reported, other, clean = _READINGS[reading]
    configured = context.config.experiments.get(experiment)
    if configured is None:
        return []
    rows = []
    for size in _sizes(context, experiment):
        at = {"train_size": size, **_CHOSEN}
        sides = [
            context.rows(experiment, metric, {"method": method, **at})
            for method, metric in ((_REPORTED, reported), (other, clean))
        ]
        values = [average(rows, ["repeat"]) for rows in sides]
        both = pd.concat(values, axis=1).dropna()
        if len(both) < 2:
            continue
        ratio = variance_ratio_of(sides[1], context.overlaps, "repeat")
        result = compare_pair(
            *both.to_numpy().T, higher_better=True, variance_ratio=ratio
        )
        rows.append({
            "data set": configured.title.partition(",")[0], "experiment": experiment,
            "reported": reading, "train size": size,
            "gain": 100 * result.mean_difference, "low": 100 * result.interval_low,
            "high": 100 * result.interval_high, "n": result.n,
        })  # fmt: skip
    return rows
