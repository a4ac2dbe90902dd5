"""Figures on pages: their curves, their values, and the figure in words."""

import json
import math
import textwrap
from collections.abc import Iterator
from typing import Any

import pandas as pd

from mtmkl_suite.report.text import TextTable, value_text

_MOST_VALUES = 400
"""Rows of the values of a figure on its page; all are in its csv."""

_MOST_CURVES = 6

_MOST_PANELS = 4

_LONGEST = 900

_DRAWN = (
    ("panel", "series", "x", "mean"),
    ("panel", "series", "organism", "mean"),
    ("panel", "series", "method", "mean rank"),
    ("", "solver", "count", "mean"),
    ("", "solver", "n", "seconds"),
    ("n_tasks", "solver", "iteration", "objective"),
    ("", "method", "train_size", "mean_rank"),
    ("", "method", "seconds", "score"),
)
"""Columns of a figure's numbers that are its panels, series, places and values."""


def curves_of(numbers: pd.DataFrame) -> str:
    """Return the curves of a figure as JSON, "" if it has none.

    That is a list of panels, ``[name, [[series, x, means, standard deviations]],
    names of the x]``, the last empty where they are numbers.
    """
    sought = ([c for c in each if c] for each in _DRAWN)
    found = next((c for c in sought if set(c) <= set(numbers.columns)), None)
    if found is None:
        return ""
    points = numbers.dropna(subset=found)
    of_panel, (series, x, mean) = found[:-3], found[-3:]
    value = f"{_plain(mean)} against {_plain(x)}" * (mean != "mean" or not of_panel)
    spread = points.get("sd", math.nan)
    points = points.assign(sd=spread).astype({mean: float})
    panels = []
    for panel, mine in points.groupby(of_panel or (lambda _: ""), sort=False):
        names: list[str] = []
        if not pd.api.types.is_numeric_dtype(mine[x]):
            places, named = pd.factorize(mine[x])
            mine, names = mine.assign(**{x: places}), [str(name) for name in named]
        mine = mine.sort_values(x, kind="stable")
        # Of one place alone there is no curve.
        curves = [
            [_plain(name), *(_rounded(rows[side]) for side in (x, mean, "sd"))]
            for name, rows in mine.groupby(series, sort=False)
            if rows[x].nunique() > 1 or len(mine) == mine[series].nunique() > 1
        ]
        of = "".join(map(str, panel if isinstance(panel, tuple) else [panel]))
        if of_panel not in ([], ["panel"]):
            of = f"{of_panel[0]} {of}"
        of = "; ".join(filter(None, (_plain(of), value)))
        panels += [[of, curves, names]] if curves else []
    return json.dumps(panels, ensure_ascii=False) if panels else ""


def _rounded(values: pd.Series) -> list[float | None]:
    return [None if pd.isna(v) else float(f"{v:.5g}") for v in values]


def values_of(numbers: pd.DataFrame) -> TextTable:
    """Return the numbers that a figure draws as a table."""
    filled = numbers.dropna(axis="columns", how="all")
    shown = filled.head(_MOST_VALUES)
    more = len(filled) - len(shown)
    return TextTable(
        [str(name).replace("_", " ") for name in filled.columns],
        [[value_text(value) for value in row] for row in shown.itertuples(index=False)],
        [f"{more} more rows are in the csv."] if more else [],
    )


def figure_in_words(title: str, numbers: pd.DataFrame) -> str:
    """Return the alt text of a figure."""
    if "no data" in numbers:
        return f"{title}. No data: {numbers['no data'].iloc[0]}."
    parts: list[str] = []
    if {"series", "x", "mean"} <= set(numbers.columns):
        parts += _curves(numbers.dropna(subset=["series", "x", "mean"]))
    if {"row", "task", "value"} <= set(numbers.columns):
        parts += _matrices(numbers.dropna(subset=["row", "task", "value"]))
    if not parts:
        shown = numbers.select_dtypes("number").dropna(axis="columns", how="all")
        parts = [
            f"{_plain(name)} from {values.min():.3g} to {values.max():.3g}"
            for name, values in shown.items()
        ]
    text = f"{title.rstrip('.')}. {'; '.join(parts)}."
    return textwrap.shorten(text, _LONGEST, placeholder=" …")


def _panels(numbers: pd.DataFrame) -> list[tuple[Any, pd.DataFrame]]:
    if numbers.empty or "panel" not in numbers:
        return [("", numbers)] if len(numbers) else []
    return list(numbers.groupby("panel", sort=False))[:_MOST_PANELS]


def _curves(points: pd.DataFrame) -> Iterator[str]:
    for panel, mine in _panels(points):
        series = []
        for name, curve in list(mine.groupby("series", sort=False))[:_MOST_CURVES]:
            ordered = curve.sort_values("x")
            first, last = ordered.iloc[0], ordered.iloc[-1]
            text = f"{name} {first['mean']:.3g} at {first['x']:.3g}"
            if last["x"] != first["x"]:
                text += f", {last['mean']:.3g} at {last['x']:.3g}"
            series.append(text)
        more = mine["series"].nunique() - len(series)
        if more > 0:
            series.append(f"{more} more curves")
        heading = f"Panel {_plain(panel)}: " if panel else ""
        yield heading + "; ".join(series)


def _matrices(entries: pd.DataFrame) -> Iterator[str]:
    for panel, mine in _panels(entries):
        sizes = f"{mine['row'].nunique()} rows by {mine['task'].nunique()} tasks"
        ends = f"{mine['value'].min():.3g} to {mine['value'].max():.3g}"
        yield f"Matrix {panel}: {sizes}, values from {ends}"


def _plain(name: object) -> str:
    return str(name).replace("_", " ")
