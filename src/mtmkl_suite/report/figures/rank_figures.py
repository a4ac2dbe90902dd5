"""Figures of methods over data sets: mean ranks, and differences of pairs."""

import math
import textwrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mtmkl_suite.report.figures.drawing import PALETTE
from mtmkl_suite.report.text import number
from mtmkl_suite.statistics.matrix_tests import MatrixTests, connected_groups
from mtmkl_suite.statistics.pairs import LEVEL

_WIDTH = 7.4
_LONGEST_NAME = 34
_DARK = 0.55
_MOST_TICKS = 12


def critical_difference_figure(found: MatrixTests) -> Figure:
    """Draw mean ranks, with bars over what Nemenyi's test joins (Demšar 2006)."""
    ranks = found.methods["mean_rank"]
    k = len(ranks)
    groups = connected_groups(ranks, found.critical_difference)
    half = (k + 1) // 2
    below = 0.55 + 0.22 * len(groups)
    height = below + 0.42 * half
    figure = Figure(figsize=(_WIDTH, 0.8 + 0.75 * height))
    axis = figure.subplots()
    axis.axis("off")
    margin = 0.55 * (k - 1)
    axis.set_xlim(1 - margin, k + margin)
    axis.set_ylim(-height, 0.9)
    axis.plot([1, k], [0, 0], color="black", linewidth=1)
    step = math.ceil(k / _MOST_TICKS)
    for tick in range(1, k + 1, step):
        axis.plot([tick, tick], [0, 0.12], color="black", linewidth=1)
        axis.text(tick, 0.18, str(tick), ha="center", va="bottom", fontsize=8)
    _draw_length(axis, found.critical_difference, k)
    for position, (name, rank) in enumerate(ranks.items()):
        on_left = position < half
        line = position if on_left else k - 1 - position
        y = -below - 0.42 * line
        edge = 1 - 0.04 * (k - 1) if on_left else k + 0.04 * (k - 1)
        is_control = name == found.control
        colour, width = (PALETTE[1], 1.6) if is_control else ("#555555", 0.9)
        axis.plot([rank, rank, edge], [0, y, y], color=colour, linewidth=width)
        label = _shortened(name)
        axis.text(
            edge, y, f"{label}  {rank:.2f} " if on_left else f" {rank:.2f}  {label}",
            ha="right" if on_left else "left", va="center", fontsize=9,
            fontweight="bold" if is_control else "normal",
        )  # fmt: skip
    for line, group in enumerate(groups):
        y = -0.3 - 0.22 * line
        ends = ranks[group].iloc[0], ranks[group].iloc[-1]
        pad = 0.012 * (k - 1)
        axis.plot(
            [ends[0] - pad, ends[1] + pad], [y, y], color=PALETTE[0], linewidth=3.2,
            solid_capstyle="butt",
        )  # fmt: skip
    return figure


def _shortened(name: object) -> str:
    return textwrap.shorten(str(name), _LONGEST_NAME, placeholder="…")


def _draw_length(axis: Axes, length: float, k: int) -> None:
    """Draw the critical difference above the axis, if it is no longer than that."""
    if length > k - 1:
        text = f"critical difference {length:.2f}: longer than the axis"
        axis.text(1, 0.75, text, fontsize=8, va="center")
        return
    half = length / 2
    axis.errorbar([1 + half], [0.6], xerr=[half], color="black", capsize=3, linewidth=1)
    text = f"  critical difference {length:.2f}"
    axis.text(1 + length, 0.6, text, fontsize=8, va="center")


def differences(found: MatrixTests) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return mean gains of rows over columns, and their p after Holm's correction."""
    order = list(found.methods.index)
    sign = 1.0 if found.scores.higher_better else -1.0
    means = sign * found.methods["mean"].to_numpy()
    gains = pd.DataFrame(means[:, None] - means, index=order, columns=order)
    p = pd.DataFrame(np.nan, index=order, columns=order)
    for row in found.pairs.to_dict("records"):
        p.loc[row["first"], row["second"]] = row["p_wilcoxon_holm"]
        p.loc[row["second"], row["first"]] = row["p_wilcoxon_holm"]
    return gains, p


def difference_figure(found: MatrixTests) -> Figure:
    """Draw the mean difference of every pair as a heat map; a star is significant."""
    gains, p = differences(found)
    numbers, p_values = gains.to_numpy(dtype=float), p.to_numpy(dtype=float)
    k = len(gains)
    figure = Figure(figsize=(min(_WIDTH + 2, 2.6 + 0.72 * k), 1.4 + 0.46 * k))
    axis = figure.subplots()
    largest = float(np.abs(gains.to_numpy()).max()) or 1.0
    decimals = max(0, 2 - math.floor(math.log10(largest)))
    image = axis.imshow(gains, cmap="PuOr", vmin=-largest, vmax=largest, aspect="auto")
    names = [_shortened(name) for name in gains]
    axis.set_xticks(range(k), names, rotation=40, ha="right", rotation_mode="anchor")
    axis.set_yticks(range(k), names)
    axis.grid(visible=False)
    for row in range(k):
        for column in range(k):
            if row == column:
                continue
            value = float(numbers[row, column])
            star = " *" if p_values[row, column] < LEVEL else ""
            axis.text(
                column, row, f"{number(value, f'+.{decimals}f')}{star}",
                ha="center", va="center", fontsize=8,
                color="white" if abs(value) > _DARK * largest else "black",
            )  # fmt: skip
    figure.colorbar(image, ax=axis, label="row better  →")
    return figure
