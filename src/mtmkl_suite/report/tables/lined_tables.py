"""What tables share that have several lines per row: published, ours, verdict."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from mtmkl_suite.report.pages.context import Context
from mtmkl_suite.report.record.published_reach import OTHER_READINGS, Marks

OURS_LINE = "reproduced here"  # "reproduced" would read as a verdict
VERDICT = "verdict"
NO_DATA = "no data"


def shown_lines(
    context: Context, lines: Iterable[tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    """Leave out the lines of verdicts, third in a line, where there are none."""
    return tuple(line for line in lines if context.is_judged or line[2] != VERDICT)


def verdict_lines(cells: pd.DataFrame, marks: Marks) -> list[tuple[str, ...]]:
    """Return the line of verdicts, and one of the reach by other readings."""
    reach = marks.texts(cells)
    lines: list[tuple[str, ...]] = [("", "", VERDICT, *cells["verdict"])]
    return [*lines, ("", "", OTHER_READINGS, *reach)] if any(reach) else lines


def numbers(values: Iterable[float | None], form: str) -> list[str]:
    """Return numbers as text."""
    return [NO_DATA if pd.isna(value) else f"{value:{form}}" for value in values]


def origin_of(context: Context, comparison: Mapping[str, Any]) -> str:
    """Return where the data of a comparison come from."""
    origins = [context.origin(row["experiment"]) for row in comparison["rows"].values()]
    return ", ".join(dict.fromkeys(filter(None, origins)))


def reasons_of(cells: pd.DataFrame) -> list[str]:
    """Return sentences on what is missing."""
    reasons = [reason for reason in cells["missing"].dropna().unique() if reason]
    return [f"No data: {reason}" for reason in reasons]
