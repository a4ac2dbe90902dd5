"""Upper bounds beside printed numbers, by readings of the kind *bound*."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import ReadingsTable
from mtmkl_suite.judge.reach import CellId, Number
from mtmkl_suite.judge.verdicts import judge
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.tables.cells import MEAN_SD_NOTE, NOT_JUDGED_NOTE, mean_sd
from mtmkl_suite.report.tables.reach import (
    bases_of,
    cells_of,
    readings_of,
    under_reading,
    unmeasured_main,
)
from mtmkl_suite.report.tables.text import PrintedTable

COLUMNS = (
    "artefact", "row", "column", "unit", "published", "reading", "bound", "bound_sd",
    "n", "difference", "is_above",
)  # fmt: skip
"""Columns of ``bounds.csv``: a line for each printed number that has a bound."""

ABOVE = "▲"
_DECIMALS = 2


def build_bounds(context: Context, artefact: ReadingsTable) -> PrintedTable:
    """Return the printed numbers beside what a row could reach at most.

    A bound that is measured for one cell of a row stands beside all printed numbers of
    the row. A number is above if it is larger and the rule of verdicts would not call
    it *reproduced* by the bound.
    """
    main = unmeasured_main(context)
    printed = cells_of(main, context.config)
    rows: list[dict[str, Any]] = []
    lines, labels = [], []
    for reading in readings_of(context):
        if reading.kind != "bound":
            continue
        shown = under_reading(context, main, reading.factor, reading.alternative)
        settings = context.readings.factors[reading.factor]
        labels.append(settings.alternatives[reading.alternative].label)
        found = cells_of(shown, context.config, bases_of(context, reading))
        for cell, bound in found.items():
            if bound.is_derived or bound.reproduced is None:
                continue
            mine = {
                place[2]: _row(place, number, reading.name, bound, context)
                for place, number in printed.items()
                if place[:2] == cell[:2]
            }
            rows += mine.values()
            ours = bound.reproduced
            shown_bound = mean_sd(ours.value, ours.sd, ours.n, _DECIMALS)
            lines.append((cell[1], shown_bound, mine))
    columns = list(dict.fromkeys(column for *_, mine in lines for column in mine))
    return PrintedTable(
        title=artefact.title,
        cells=pd.DataFrame(rows, columns=list(COLUMNS)),
        header=("row", "bound", *columns),
        body=[
            [row, bound, *(_text(mine.get(column)) for column in columns)]
            for row, bound, mine in lines
        ],
        notes=_notes(context, labels),
    )


def _row(
    place: CellId, number: Number, reading: str, bound: Number, context: Context
) -> dict[str, Any]:
    ours, printed = bound.reproduced, number.published.value
    assert ours is not None
    assert printed is not None
    assert number.tolerance is not None
    is_above = None
    if context.is_judged:
        verdict = judge(number.published, ours, number.tolerance).verdict
        is_above = printed > ours.value and verdict != "reproduced"
    return {
        **dict(zip(COLUMNS, place, strict=False)),
        "unit": number.unit,
        "published": printed,
        "reading": reading,
        "bound": ours.value,
        "bound_sd": ours.sd,
        "n": ours.n,
        "difference": printed - ours.value,
        "is_above": is_above,
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
