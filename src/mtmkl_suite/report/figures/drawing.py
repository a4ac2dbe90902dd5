"""Parts that figures are made of: curves over repeats, plain gaps."""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mtmkl.statistics.pairs import MIN_UNITS
from mtmkl_suite.judge.sample import average, axis_values
from mtmkl_suite.report.figures.colours import MethodStyle, method_styles, shades
from mtmkl_suite.report.pages.context import Context

FigureAndNumbers = tuple[Figure, pd.DataFrame]

WIDE = (7.4, 3.3)
SINGLE = (4.6, 3.3)
"""Sizes of figures with two panels and with one, in inches."""

CURVE_COLUMNS = ("panel", "series", "x", "mean", "sd", "n")
"""Columns of the numbers behind curves."""


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
        return curve_of(rows.assign(x=axis_values(rows, axis)))


def curve_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return ``x, mean, sd, n`` over repeats of scores that have a column ``x``."""
    values = average(rows, ["x", "repeat"])
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


def half_width(values: pd.Series) -> float:
    """Return half the 95 % t interval of a mean; ``nan`` for fewer than five values."""
    from scipy import stats

    if len(values) < MIN_UNITS:
        return math.nan
    quantile = float(stats.t.ppf(0.975, len(values) - 1))
    return quantile * float(values.std(ddof=1)) / math.sqrt(len(values))


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
