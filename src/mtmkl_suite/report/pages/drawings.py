"""Figures in words."""

import textwrap
from collections.abc import Iterator
from typing import Any

import pandas as pd

_MOST_CURVES = 6

_MOST_PANELS = 4

_LONGEST = 900


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
