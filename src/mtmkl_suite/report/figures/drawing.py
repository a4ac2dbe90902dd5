"""Colours, curves and gaps: parts that figures share."""

import base64
import io
import itertools
import math
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from scipy import stats

from mtmkl_suite.config.models import Method
from mtmkl_suite.judge.sample import average, axis_values
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.text import repeats_text
from mtmkl_suite.statistics.pairs import MIN_UNITS

STYLE = Path(__file__).with_name("style.mplstyle")

PALETTE = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#8c564b", "#6a3d9a",
    "#b2182b", "#4d9221", "#01665e", "#c51b7d", "#7f7f00", "#35478c", "#56b4e9",
)  # fmt: skip

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h")

CONTROL_COLOURS = ("#8a8a8a", "#b8b8b8")

FigureAndNumbers = tuple[Figure, pd.DataFrame]

Line = dict[str, Any]
"""How a curve is drawn, as options of ``Axes.plot``."""

WIDE = (7.4, 3.3)

SINGLE = (4.6, 3.3)
"""Sizes of figures with two panels and with one, in inches."""

CURVE_COLUMNS = ("panel", "series", "x", "mean", "sd", "n")
"""Columns of the numbers behind curves."""

_REASON_WIDTH = 38

_METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


@contextmanager
def figure_style() -> Iterator[None]:
    """Draw and save under the project's style, whatever the user's settings are."""
    with style.context(["default", str(STYLE)]), mpl.rc_context({"backend": "agg"}):
        yield


def method_styles(methods: Mapping[str, Method]) -> dict[str, Line]:
    """Return colour and marker of every method of a paper.

    Their order decides, so that a new method at the end changes no colour. Controls are
    grey.
    """
    styles: dict[str, Line] = {}
    for is_control, colours in ((True, CONTROL_COLOURS), (False, PALETTE)):
        names = [name for name, m in methods.items() if m.is_control == is_control]
        looks = zip(itertools.cycle(colours), itertools.cycle(MARKERS), strict=False)
        for name, (colour, marker) in zip(names, looks, strict=False):
            styles[name] = {"color": colour, "marker": marker}
    return styles


def shades(colour: str, count: int) -> list[str]:
    """Return a method's colour from light to full, for a curve at each level."""
    strengths = np.linspace(0.35, 1, count) if count > 1 else [1.0]
    below_white: Any = 1 - np.array(to_rgb(colour))
    return [to_hex(1 - strength * below_white) for strength in strengths]


def levels(colour: str, count: int) -> list[str]:
    """Return a colour for each level of a setting, dark blue to yellow-green."""
    if count == 1:
        return [to_hex(colour)]
    scale = mpl.colormaps["viridis"]
    return [to_hex(scale(0.9 * k / (count - 1))) for k in range(count)]


def line_of(context: Context, method: str) -> Line:
    """Return a method's colour, marker and label."""
    style = method_styles(context.config.methods)[method]
    return {**style, "label": context.label(method)}


def by_level(
    context: Context, experiment: str, method: str, metric: str, axis: str
) -> pd.DataFrame:
    """Return a metric by repeat (rows) and level of an axis (columns)."""
    rows = context.rows(experiment, metric, {"method": method})
    if rows.empty:
        return pd.DataFrame()
    return by_place(rows.assign(x=axis_values(rows, axis)))


def by_place(rows: pd.DataFrame) -> pd.DataFrame:
    """Return scores that have a column ``x`` by repeat (rows) and x (columns)."""
    return average(rows, ["repeat", "x"]).unstack("x")


def curve_over(table: pd.DataFrame) -> pd.DataFrame:
    """Return ``x, mean, sd, n`` of the columns of a table, repeats in its rows."""
    return pd.DataFrame({
        "x": table.columns.to_numpy(dtype=float), "mean": table.mean().to_numpy(),
        "sd": table.std(ddof=1).to_numpy(), "n": table.count().to_numpy(),
    })  # fmt: skip


def draw_curve(axis: Axes, curve: pd.DataFrame, line: Line) -> None:
    """Draw means joined by a line, and a band of one standard deviation."""
    draw_band(axis, curve["x"], curve["mean"], curve["sd"].fillna(0.0), line["color"])
    axis.plot(curve["x"], curve["mean"], **line)


def draw_band(axis: Axes, x: Any, middle: Any, half: Any, colour: str) -> None:
    """Draw a band of some half width in a light colour."""
    ends = middle - half, middle + half
    axis.fill_between(x, *ends, color=colour, alpha=0.15, linewidth=0)


def spread_text(curve: pd.DataFrame) -> str:
    """Say over how many repeats a curve's means and spreads are."""
    return f"mean ± sd over {repeats_text(curve['n'])}"


def interval_text(n: int) -> str:
    """Say what is drawn of a mean of n units: fewer than five have no interval."""
    return "mean" if n < MIN_UNITS else "mean and 95 % interval"


def half_width(values: pd.Series) -> float:
    """Return half the 95 % t interval of a mean; ``nan`` for fewer than five values."""
    if len(values) < MIN_UNITS:
        return math.nan
    return float(stats.t.ppf(0.975, len(values) - 1) * values.sem())


def saved(figure: Figure, ending: str = "svg", **options: Any) -> bytes:
    """Return a drawing as a file, without dates and versions, the same each time."""
    buffer = io.BytesIO()
    with figure_style():
        figure.savefig(buffer, format=ending, metadata=_METADATA[ending], **options)
    return buffer.getvalue()


def data_uri(svg: bytes) -> str:
    """Return a drawing as the address of an image that a page holds itself."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


def no_data_figure(reason: str, size: tuple[float, float] = SINGLE) -> FigureAndNumbers:
    """Return a figure that says plainly that there is no data, and why."""
    figure = Figure(figsize=size)
    return figure, say_no_data(figure.subplots(), reason)


def say_no_data(axis: Axes, reason: str) -> pd.DataFrame:
    """Print the reason in place of a panel, and return it in place of numbers."""
    axis.axis("off")
    text = "\n".join(["no data:", *textwrap.wrap(reason, _REASON_WIDTH)])
    axis.text(0.5, 0.5, text, ha="center", va="center", transform=axis.transAxes)
    return pd.DataFrame({"no data": [reason]})


def legend_below(
    figure: Figure, axis: Axes, columns: int | None = None, **options: Any
) -> None:
    """Put the legend of an axis below all axes, in one line if nothing else is said."""
    handles, labels = axis.get_legend_handles_labels()
    columns = columns or len(labels)
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, **options)
