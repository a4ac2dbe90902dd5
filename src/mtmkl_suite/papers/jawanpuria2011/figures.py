"""Figures of Jawanpuria and Nath 2011, and one of ours, of what the steps computed."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from mtmkl_suite.papers.jawanpuria2011.steps import CONVERGENCE_C, EXPERIMENT, LEVELS
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.drawing import (
    SINGLE,
    WIDE,
    FigureAndNumbers,
    Line,
    legend_below,
    no_data_figure,
)

_LINES: dict[str, Line] = {
    solver: {"label": label, "color": colour, "marker": marker}
    for solver, label, colour, marker in (
        ("newton", "Newton steps (ours)", "#009e73", "s"),
        ("mirror_descent", "mirror descent, adaptive step", "#0072b2", "o"),
        ("alternating", "alternate minimisation", "#d55e00", "^"),
    )
}


def figure_1a(context: Context) -> FigureAndNumbers:
    """Draw the time of MK-MTFL against the number of tasks, with seven kernels."""
    return _scaling(
        context, "tasks", "tasks", "7 kernels; the paper shows 10 to 60 tasks, 1 to 7 s"
    )


def figure_1b(context: Context) -> FigureAndNumbers:
    """Draw the time of MK-MTFL against the number of kernels, with 60 tasks."""
    return _scaling(
        context,
        "kernels",
        "Gaussian kernels",
        "60 tasks; the paper shows up to 600 kernels, 0 to 10 s",
    )


def figure_1c(context: Context) -> FigureAndNumbers:
    """Draw the objective against iterations with 20 tasks and one kernel."""
    return _objective(context, 20, 14, "1.914–1.926 · 10⁵")


def figure_1d(context: Context) -> FigureAndNumbers:
    """Draw the objective against iterations with 139 tasks and one kernel."""
    return _objective(context, 139, 25, "1.14–1.19 · 10⁶")


def figure_time(context: Context) -> FigureAndNumbers:
    """Draw how far the objective is from its least one against time (ours)."""
    table = context.steps["convergence"]
    if table.empty:
        return _no_data(context)
    speed = context.steps["convergence_speed"]
    counts = sorted(set(table["n_tasks"]))
    figure = Figure(figsize=WIDE)
    axes = figure.subplots(1, len(counts), sharey=True, squeeze=False)[0]
    shown = table[(table["iteration"] > 0) & (table["excess"] > 0)]
    for axis, count in zip(axes, counts, strict=True):
        part = shown[shown["n_tasks"] == count]
        _draw_solvers(axis, part.assign(x=1e3 * part["seconds"]), "excess")
        for level in LEVELS:
            axis.axhline(level, color="black", linestyle=":", linewidth=0.8)
        axis.set(xscale="log", yscale="log", xlabel="milliseconds")
        axis.set_title(f"{count} tasks, C = {CONVERGENCE_C:g}")
    axes[0].set_ylabel("share above the least objective")
    legend_below(figure, axes[0])
    by = ["n_tasks", "solver", "level"]
    medians = speed.groupby(by)["seconds"].median().rename("median_seconds")
    return figure, pd.concat([shown, medians.reset_index()], ignore_index=True)


def _scaling(context: Context, axis: str, unit: str, remark: str) -> FigureAndNumbers:
    table = context.steps["scaling"]
    part = table[table["axis"] == axis]
    if part.empty:
        return _no_data(context)
    summary = part.groupby(["solver", "count"])["seconds"].agg(["mean", "std", "size"])
    numbers = summary.rename(columns={"std": "sd", "size": "n"}).reset_index()
    figure = Figure(figsize=SINGLE)
    axes = figure.subplots()
    for solver, curve in numbers.groupby("solver", sort=False):
        half, line = curve["sd"].fillna(0.0), _LINES[str(solver)]
        axes.errorbar(curve["count"], curve["mean"], yerr=half, **line)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.set(xlabel=unit, ylabel="processor seconds to a gap of 10⁻³")
    n = int(numbers["n"].min())
    axes.set_title(f"mean ± sd over {n} split{'s' * (n > 1)}\n{remark}")
    axes.legend(loc="upper left")
    return figure, numbers


def _objective(
    context: Context, n_tasks: int, last: int, printed: str
) -> FigureAndNumbers:
    table = context.steps["convergence"]
    if table.empty:
        return _no_data(context)
    part = table[(table["n_tasks"] == n_tasks) & table["iteration"].between(1, last)]
    figure = Figure(figsize=SINGLE)
    axis = figure.subplots()
    _draw_solvers(axis, part.assign(x=part["iteration"]), "objective")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set(xlabel="iterations", ylabel="objective")
    axis.set_title(
        f"{n_tasks} tasks, linear kernel, C = {CONVERGENCE_C:g}\n"
        f"the paper shows {printed}; it does not say C"
    )
    axis.legend(loc="upper right")
    return figure, part


def _draw_solvers(axis: Axes, table: pd.DataFrame, column: str) -> None:
    for solver, curve in table.groupby("solver", sort=False):
        axis.plot(curve["x"], curve[column], markersize=3, **_LINES[str(solver)])


def _no_data(context: Context) -> FigureAndNumbers:
    return no_data_figure(context.missing_reason(EXPERIMENT), SINGLE)
