"""Upper bounds beside printed numbers: readings that explain nothing."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from mtmkl_suite.judge.explanations import CellId, Number
from mtmkl_suite.judge.verdicts import Published, Reproduced, Tolerance, judge
from mtmkl_suite.report.pages.context import Context
from mtmkl_suite.report.tables.explanations import (
    bases_of,
    cells_of,
    readings_of,
    under_reading,
    unmeasured_main,
)
from mtmkl_suite.report.tables.printed_table import PrintedTable
from mtmkl_suite.report.tables.tables import MEAN_SD_NOTE, NOT_JUDGED_NOTE, mean_sd

COLUMNS = (
    "artefact", "row", "column", "unit", "published", "reading", "bound", "bound_sd",
    "n", "difference", "is_above",
)  # fmt: skip
"""Columns of ``bounds.csv``: a line for each printed number that has a bound."""

ABOVE = "▲"
_DECIMALS = 2


def build_bounds(context: Context, artefact: Mapping[str, Any]) -> PrintedTable:
    """Return the printed numbers beside what a row could reach at most.

    A bound that is measured for one cell of a row stands beside all printed numbers of
    the row. A number is above if it is larger and the rule of verdicts would not call
    it *reproduced* by the bound.
    """
    main = unmeasured_main(context)
    printed = cells_of(main, context.config)
    rows: list[dict[str, Any]] = []
    lines, labels = [], []
    for reading in readings_of(context, bounds=True):
        shown = under_reading(context, main, reading.factor, reading.alternative)
        settings = context.config["readings"]["factors"][reading.factor]
        labels.append(settings["alternatives"][reading.alternative]["label"])
        found = cells_of(shown, context.config, bases_of(context, reading))
        for cell, bound in _measured(found).items():
            mine = {
                column: _row(cell, column, number, reading.name, bound, context)
                for (name, row, column), number in printed.items()
                if (name, row) == cell[:2] and not pd.isna(number.published)
            }
            rows += mine.values()
            lines.append((cell[1], bound, mine))
    columns = list(dict.fromkeys(column for *_, mine in lines for column in mine))
    return PrintedTable(
        title=artefact["title"],
        cells=pd.DataFrame(rows, columns=list(COLUMNS)),
        header=("row", "bound", *columns),
        body=[
            [
                row,
                mean_sd(bound.reproduced, bound.sd, int(bound.n), _DECIMALS),
                *(_text(mine.get(column)) for column in columns),
            ]
            for row, bound, mine in lines
        ],
        notes=_notes(context, labels),
    )


def _measured(cells: Mapping[CellId, Number]) -> dict[CellId, Number]:
    return {
        cell: number
        for cell, number in cells.items()
        if not number.is_derived and not pd.isna(number.reproduced)
    }


def _row(
    cell: CellId,
    column: str,
    number: Number,
    reading: str,
    bound: Number,
    context: Context,
) -> dict[str, Any]:
    sd = None if pd.isna(number.published_sd) else number.published_sd
    verdict = judge(
        Published(number.published, sd, int(number.published_n)),
        Reproduced(bound.reproduced, bound.sd, int(bound.n)),
        Tolerance(absolute=number.tolerance),
        full_protocol=context.is_judged,
    ).verdict
    difference = number.published - bound.reproduced
    return {
        "artefact": cell[0],
        "row": cell[1],
        "column": column,
        "unit": number.unit,
        "published": number.published,
        "reading": reading,
        "bound": bound.reproduced,
        "bound_sd": bound.sd,
        "n": int(bound.n),
        "difference": difference,
        "is_above": (
            difference > 0 and verdict != "reproduced" if context.is_judged else None
        ),
    }


def _text(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "–"
    return f"{row['published']:.{_DECIMALS}f}{f' {ABOVE}' * bool(row['is_above'])}"


def _notes(context: Context, labels: list[str]) -> tuple[str, ...]:
    what = f"Bound: {'; '.join(labels)}. The other columns are the printed numbers."
    if not context.is_judged:
        return (MEAN_SD_NOTE, what, NOT_JUDGED_NOTE)
    above = (
        f"{ABOVE} above the bound by more than max(2 SE, tol): with these inputs and "
        "splits, machines that share nothing cannot reach it."
    )
    return (MEAN_SD_NOTE, what, above)
