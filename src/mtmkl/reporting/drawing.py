"""Parts that figures are made of: curves over repeats, matrices, plain gaps."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from mtmkl.reporting.colours import (
    MATRIX_COLOURS,
    MethodStyle,
    method_styles,
    shades,
)
from mtmkl.reporting.context import Context
from mtmkl.statistics.comparison import MIN_UNITS
from mtmkl.statistics.sample import average, axis_values

FigureAndNumbers = tuple[Figure, pd.DataFrame]

WIDE = (7.4, 3.3)
SINGLE = (4.6, 3.3)
"""Sizes of figures with two panels and with one, in inches."""

CURVE_COLUMNS = ("panel", "series", "x", "mean", "sd", "n")
"""Columns of the numbers behind curves."""

_ALL_ROWS_NUMBERED = 15


@dataclass(frozen=True)
class Series:
    """A curve of a figure: a method, perhaps at one number of tasks.

    Attributes
    ----------
    method : str
    label : str
    style : MethodStyle
    n_tasks, train_size : int or None
        None: all that the scores have.
    line : str
        Line style of matplotlib.
    """

    method: str
    label: str
    style: MethodStyle
    n_tasks: int | None = None
    line: str = "-"
    train_size: int | None = None

    @classmethod
    def of(
        cls,
        context: Context,
        method: str,
        *,
        label: str | None = None,
        n_tasks: int | None = None,
        line: str = "-",
    ) -> "Series":
        """Return a method's curve in its own colour; the label is the method's."""
        style = method_styles(context.config["methods"])[method]
        return cls(method, label or context.label(method), style, n_tasks, line)

    @classmethod
    def by_number_of_tasks(
        cls, context: Context, experiment: str, method: str
    ) -> list["Series"]:
        """Return a curve for each configured number of tasks, light to full colour."""
        configured = context.config["experiments"].get(experiment, {"methods": []})
        counts: Sequence[int] = next(
            (e["n_tasks"] for e in configured["methods"] if e["method"] == method), ()
        )
        style = method_styles(context.config["methods"])[method]
        return [
            cls(method, f"T = {count}", MethodStyle(colour, style.marker), count)
            for count, colour in zip(
                counts, shades(style.colour, len(counts)), strict=True
            )
        ]

    def curve(
        self, context: Context, experiment: str, metric: str, axis: str
    ) -> pd.DataFrame:
        """Return ``x, mean, sd, n`` over repeats at each level of an axis."""
        where: dict[str, Any] = {"method": self.method}
        limits = {"n_tasks": self.n_tasks, "train_size": self.train_size}
        where |= {name: value for name, value in limits.items() if value is not None}
        rows = context.rows(experiment, metric, where)
        if rows.empty:
            return pd.DataFrame(columns=["x", "mean", "sd", "n"])
        values = average(rows.assign(x=axis_values(rows, axis)), ["x", "repeat"])
        summary = values.groupby(level="x").agg(["mean", "std", "size"])
        return summary.rename(columns={"std": "sd", "size": "n"}).reset_index()


def draw_curve(axis: Axes, curve: pd.DataFrame, series: Series) -> None:
    """Draw means joined by a line, and a band of one standard deviation."""
    style = series.style
    mean, sd = curve["mean"], curve["sd"].fillna(0.0)
    axis.fill_between(
        curve["x"], mean - sd, mean + sd, color=style.colour, alpha=0.15, linewidth=0
    )
    axis.plot(
        curve["x"],
        mean,
        color=style.colour,
        marker=style.marker,
        linestyle=series.line,
        label=series.label,
    )


def spread_text(curve: pd.DataFrame) -> str:
    """Say over how many repeats a curve's means and spreads are."""
    fewest, most = int(curve["n"].min()), int(curve["n"].max())
    shown = str(most) if fewest == most else f"{fewest}–{most}"
    return f"mean ± sd over {shown} repeat{'s' * (most > 1)}"


def interval_text(n: int) -> str:
    """Say what is drawn of a mean of n units: fewer than five have no interval."""
    return "mean" if n < MIN_UNITS else "mean and 95 % interval"


def matrix_panel(
    figure: Figure, axis: Axes, matrix: NDArray[np.float64], *, rows: int | None = None
) -> pd.DataFrame:
    """Draw the sizes of a matrix's entries, rows of large norm first.

    Parameters
    ----------
    figure : Figure
    axis : Axes
    matrix : ndarray of shape (features, tasks)
    rows : int or None
        How many rows are shown; None shows all.

    Returns
    -------
    DataFrame
        ``panel, row, task, value`` of what is shown.
    """
    order = importance(matrix)[:rows]
    shown = np.abs(matrix[order])
    figure.colorbar(heatmap(axis, shown), ax=axis, label="|A|", pad=0.02)
    axis.set_xlabel("task")
    axis.set_ylabel("learned feature (row of A)")
    step = 1 if len(order) <= _ALL_ROWS_NUMBERED else 5
    axis.set_yticks(range(step, len(order) + 1, step))
    if len(order) < len(matrix):
        axis.set_title(f"{len(order)} largest of {len(matrix)} rows")
    row, task = np.indices(shown.shape)
    return pd.DataFrame(
        {
            "panel": "|A|",
            "row": row.ravel() + 1,
            "task": task.ravel() + 1,
            "value": shown.ravel(),
        }
    )


def heatmap(axis: Axes, values: NDArray[np.float64]) -> AxesImage:
    """Draw values >= 0 from yellow (0) to purple (the largest); axes count from 1."""
    axis.grid(False)
    n_rows, n_columns = values.shape
    extent = (0.5, n_columns + 0.5, n_rows + 0.5, 0.5)
    return axis.imshow(values, cmap=MATRIX_COLOURS, vmin=0, extent=extent)


def importance(matrix: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return row numbers by falling norm; equal norms keep their order."""
    return np.argsort(-np.linalg.norm(matrix, axis=1), kind="stable")


def break_axis(top: Axes, bottom: Axes) -> None:
    """Mark that two axes, one above the other, show parts of one scale."""
    top.spines["bottom"].set_visible(False)
    top.tick_params(axis="x", length=0, labelbottom=False)
    for axis, height in ((top, 0.0), (bottom, 1.0)):
        axis.plot(
            [0],
            [height],
            transform=axis.transAxes,
            marker=((-1.0, -0.6), (1.0, 0.6)),
            markersize=8,
            linestyle="none",
            color="black",
            clip_on=False,
        )


def no_data_figure(reason: str, size: tuple[float, float] = SINGLE) -> FigureAndNumbers:
    """Return a figure that says plainly that there is no data, and why."""
    figure = Figure(figsize=size)
    say_no_data(figure.subplots(), reason)
    return figure, pd.DataFrame({"no data": [reason]})


def say_no_data(axis: Axes, reason: str, *, width: int = 38) -> None:
    """Print the reason in place of a panel, lines broken at ``width`` characters."""
    axis.axis("off")
    axis.text(
        0.5,
        0.5,
        "\n".join(["no data:", *textwrap.wrap(reason, width)]),
        ha="center",
        va="center",
        transform=axis.transAxes,
    )
