"""Parts of figures that show matrices, and an axis that is broken."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from mtmkl.typing import FloatArray, IntArray

MATRIX_COLOURS = "Blues"
"""From near white (0) to dark blue: what is learned stands out, and not the zeros."""

_ALL_ROWS_NUMBERED = 15


def matrix_panel(
    figure: Figure, axis: Axes, matrix: FloatArray, *, rows: int | None = None
) -> pd.DataFrame:
    """Draw the sizes of a matrix's entries, rows of large norm first."""
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


def heatmap(axis: Axes, values: FloatArray) -> AxesImage:
    """Draw values >= 0, the largest in dark blue; axes count from 1."""
    axis.grid(False)
    n_rows, n_columns = values.shape
    extent = (0.5, n_columns + 0.5, n_rows + 0.5, 0.5)
    return axis.imshow(values, cmap=MATRIX_COLOURS, vmin=0, extent=extent)


def importance(matrix: FloatArray) -> IntArray:
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
