"""The figure on solvers."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.drawing import FigureAndNumbers

_LABELS = {
    "features": "features, all tasks at once (Algorithm 2)",
    "gram": "Gram matrices",
    "liblinear": "LinearSVC, terms written out, weights given",
}
_STYLES = {"features": ("#0072b2", "o"), "gram": ("#d55e00", "s"),
           "liblinear": ("#009e73", "^")}  # fmt: skip


def figure_solvers(context: Context) -> FigureAndNumbers:
    """Draw time to a gap of 1e-3 and peak memory against the number of examples.

    The numbers are those of :func:`mtmkl_suite.papers.widmer2015.steps.solver_seconds`;
    ``slope`` is that of log time against log n from 1,000 examples on.
    """
    table = context.steps["solver_seconds"]
    figure = Figure(figsize=(7.4, 4.0))
    left, right = figure.subplots(1, 2)
    parts = []
    for solver, label in _LABELS.items():
        part = table[table["solver"] == solver].sort_values("n")
        if part.empty:
            continue
        colour, marker = _STYLES[solver]
        slope = _slope(part)
        text = label if np.isnan(slope) else f"{label}, slope {slope:.2f}"
        left.plot(part["n"], part["seconds"], color=colour, marker=marker, label=text)
        right.plot(part["n"], part["peak"], color=colour, marker=marker)
        parts.append(part.assign(slope=slope))
    data = table[table["solver"] == "features"].sort_values("n")
    right.plot(
        data["n"], data["data"], color="black", linestyle="--", label="the data alone"
    )
    for axis in (left, right):
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("examples")
    left.set_ylabel("processor seconds to a gap of 10⁻³")
    right.set_ylabel("peak memory, MB")
    left.set_title("13 tasks, 3 task kernels, 20,000 features")
    right.legend(loc="upper left")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=1)
    return figure, pd.concat(parts, ignore_index=True)


def _slope(part: pd.DataFrame) -> float:
    """Return the slope of log time against log n; ``nan`` for less than two sizes."""
    large = part[part["n"] >= 1000]
    if len(large) < 2:
        return float("nan")
    return float(np.polyfit(np.log(large["n"]), np.log(large["seconds"]), 1)[0])
