"""Tables with several lines per row: published, ours, verdict."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mtmkl.reporting.context import Context
from mtmkl.reporting.tables import PrintedTable

OURS_LINE = "ours"  # "reproduced" would read as a verdict
VERDICT = "verdict"
NO_DATA = "no data"


@dataclass(frozen=True)
class LinedTable(PrintedTable):
    """A table with several lines per row: published, reproduced, verdict.

    Attributes
    ----------
    title, cells
        As for every table.
    headings : tuple of str
    lines : tuple of tuple of str
        Each as long as the headings.
    remarks : tuple of str
        Sentences below the table.
    """

    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...]

    def header(self) -> list[str]:
        """Return the headings of the columns."""
        return list(self.headings)

    def body(self) -> Sequence[Sequence[str]]:
        """Return the lines."""
        return self.lines

    def notes(self) -> list[str]:
        """Return the sentences below the table."""
        return list(self.remarks)


def shown_lines(
    context: Context, lines: Iterable[tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    """Leave out the lines of verdicts, third in a line, where there are none."""
    return tuple(line for line in lines if context.is_judged or line[2] != VERDICT)


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
