"""Tables of cells, each a published and a reproduced number."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import Quoted, Ranking, Table, Tolerance
from mtmkl_suite.judge.sample import average
from mtmkl_suite.judge.verdicts import (
    NO_NUMBER,
    NOT_JUDGED,
    Published,
    Reproduced,
    acceptance_text,
    judge,
)
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.published_reach import Marks
from mtmkl_suite.report.text import DASH, PrintedTable, repeats_text, sized, with_sd

RANK = "rank"
"""Unit of mean ranks over data sets, which follow from the numbers that are ranked."""

CELL_COLUMNS = (
    "row", "column", "unit", "published", "published_sd", "published_n", "status",
    "reproduced", "reproduced_sd", "n", "verdict", "verdict_with_spread", "rule",
    "data", "in_paper", "missing",
)  # fmt: skip
"""Columns of a table's csv: one line per cell, numbers in the table's unit."""

OURS = "†"
MEAN_SD_NOTE = "Numbers are mean ± standard deviation over repeats (number of repeats)."
VERDICT_MARKS = {"reproduced": "✓", "close": "≈", "different": "✗"}
CELL_NOTE = (
    "In a cell: the published number, and below it ours. ✓: reproduced; ≈: close; "
    "✗: different."
)
NOT_JUDGED_NOTE = (
    f"{NOT_JUDGED.capitalize()}: repeats, grid or data are reduced in the quick tier, "
    "so published and reproduced numbers are shown without a verdict."
)

# A longer reason for a missing number goes below the table.
_MAX_REASON = 48


_LOST_NOTE = (
    "Lost: our copy of the paper's text lost the sign or the place of the number."
)


def build_table(context: Context, artefact: Table) -> PrintedTable:
    """Return a table from its configuration, the scores and the published numbers."""
    rows, columns = artefact.rows, artefact.columns
    of_all = {"experiment": artefact.experiment}
    cells = [
        (
            row,
            column,
            {**of_all, **of_column, **of_row},
            row in rows and column in columns,
        )
        for row, of_row in {**rows, **artefact.extra_rows}.items()
        for column, of_column in {**columns, **artefact.extra_columns}.items()
    ]
    frame, acceptance = judge_cells(context, cells, artefact, artefact.scale)
    marks = Marks(context.reach, frame)
    header, body = _grid(frame, artefact, marks)
    n = frame["n"].dropna()
    notes = [MEAN_SD_NOTE]
    if n.nunique() == 1:
        notes = [MEAN_SD_NOTE.replace("repeats (number of repeats)", repeats_text(n))]
    in_paper = frame["in_paper"]
    if in_paper.any() and not in_paper.all():
        notes.append(f"{OURS} not in the paper.")
    if in_paper.any():
        rule = rule_note(context, artefact.tolerance, artefact.unit, acceptance)
        notes += [CELL_NOTE] * context.is_judged
        notes += [_LOST_NOTE] * (NO_NUMBER[0] in set(frame["status"]))
        notes += [rule, *marks.notes()]
    reasons = frame["missing"].drop_duplicates()
    notes += [f"No data: {reason}" for reason in reasons if len(reason) > _MAX_REASON]
    return PrintedTable(artefact.title, frame, header, body, notes)


def _grid(
    cells: pd.DataFrame, artefact: Table, marks: Marks
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows, in each cell the published number above ours."""
    unit = f" ({artefact.unit})" if artefact.unit else ""
    printed = {
        side: set(cells.loc[cells["in_paper"], side]) for side in ("row", "column")
    }
    mark = f" {OURS}" if printed["row"] else ""
    counts = cells["n"].dropna()
    header = [artefact.corner]
    body = [
        [row if row in printed["row"] else f"{row}{mark}"]
        for row in cells["row"].drop_duplicates()
    ]
    for column, mine in cells.groupby("column", sort=False):
        header.append(f"{column}{'' if column in printed['column'] else mark}{unit}")
        records = mine.to_dict("records")
        with_n = counts.nunique() > 1
        ours = [_reproduced(cell, artefact.decimals, with_n=with_n) for cell in records]
        judged = with_verdicts(ours, mine, marks)
        for line, cell, text in zip(body, records, judged, strict=True):
            theirs = [_published(cell, artefact.decimals)] if cell["in_paper"] else []
            line.append("\n".join([*theirs, text]))
    return header, body


def with_verdicts(
    ours: Iterable[str], cells: pd.DataFrame, marks: Marks
) -> Iterator[str]:
    """Yield texts of cells, each with its verdict and what other readings explain."""
    verdicts = (VERDICT_MARKS.get(each, "") for each in cells["verdict"])
    for each in zip(ours, verdicts, marks.texts(cells), strict=True):
        yield " ".join(filter(None, each))


def _published(cell: Mapping[Any, Any], decimals: int) -> str:
    if pd.isna(cell["published"]):
        is_known = cell["status"] in NO_NUMBER
        return str(cell["status"]).partition(" in ")[0] if is_known else DASH
    text = with_sd(cell["published"], cell["published_sd"], decimals)
    return text if cell["status"] == "legible" else f"{text} ({cell['status']})"


def _reproduced(cell: Mapping[Any, Any], decimals: int, *, with_n: bool) -> str:
    if pd.isna(cell["reproduced"]):
        short = len(cell["missing"]) <= _MAX_REASON
        return f"no data: {cell['missing']}" if short else "no data (see below)"
    mean, sd = cell["reproduced"], cell["reproduced_sd"]
    text = mean_sd(mean, sd, int(cell["n"]), decimals)
    return text if with_n else text.partition(" (")[0]


def build_quoted(context: Context, quoted: Quoted) -> tuple[pd.DataFrame, str]:
    """Return the cells of numbers that a paper quotes in its text."""
    cells = [(c.row, c.column, c.where, True) for c in quoted.cells]
    return judge_cells(context, cells, quoted, quoted.scale)


def tolerance_text(tolerance: Tolerance, unit: str) -> str:
    """Return a tolerance in words."""
    if tolerance.absolute is None:
        return f"{tolerance.relative:.0%} of the published value"
    # Of percentages it is a difference, and no share of them.
    return sized(tolerance.absolute, "points" if unit == "%" else unit).strip()


def rule_note(
    context: Context, tolerance: Tolerance, unit: str, acceptance: str
) -> str:
    """Return the sentences on the verdicts of a table, or on why it has none."""
    if not context.is_judged:
        return NOT_JUDGED_NOTE
    return (
        "Reproduced: |published − reproduced| ≤ max(2 SE, tol); close: ≤ max(sd of "
        "either, 2 tol); different otherwise; tol = "
        f"{tolerance_text(tolerance, unit)}. Applied to other cells: {acceptance}."
    )


def mean_sd(mean: float, sd: float, n: int, decimals: int | None = None) -> str:
    """Return ``mean ± sd (n)``; no spread of one observation, few decimals if large."""
    if decimals is None:
        decimals = 1 if abs(mean) >= 10 else 3
    spread = f" ± {sd:.{decimals}f}" if n > 1 else ""
    return f"{mean:.{decimals}f}{spread} (n = {n})"


def judge_cells(
    context: Context,
    cells: Iterable[tuple[str, str, Mapping[str, Any], bool]],
    artefact: Table | Ranking | Quoted,
    scale: float,
) -> tuple[pd.DataFrame, str]:
    """Return cells with published and reproduced numbers, and their verdicts.

    A cell is given as row and column, named as in the file of published numbers, what
    columns of the scores must be, and whether the paper has it. File, unit and
    tolerance are the artefact's.
    """
    printed = published_numbers(context, artefact.file)
    lines = []
    published: dict[tuple[str, str], Published] = {}
    reproduced: dict[tuple[str, str], Reproduced] = {}
    for row, column, where, in_paper in cells:
        key, experiment = (row, column), where["experiment"]
        ours, missing = reproduce(context, where, scale), ""
        theirs = printed[key] if in_paper else None
        if ours is None:
            missing = context.missing_reason(experiment, where.get("method"))
        if theirs is not None:
            published[key] = theirs
            reproduced |= {} if ours is None else {key: ours}
        line = judged_cell(context, theirs, ours, artefact.tolerance, missing)
        origin = context.origin(experiment)
        place = {"row": row, "column": column, "unit": artefact.unit, "data": origin}
        lines.append(line | place)
    frame = pd.DataFrame(lines, columns=list(CELL_COLUMNS)).astype(
        {
            **dict.fromkeys(
                ("published", "published_sd", "reproduced", "reproduced_sd"), "float64"
            ),
            **dict.fromkeys(("published_n", "n"), "Int64"),
        }
    )
    return frame, acceptance_text(published, reproduced, artefact.tolerance)


def judged_cell(
    context: Context,
    theirs: Published | None,
    ours: Reproduced | None,
    tolerance: Tolerance,
    missing: str,
) -> dict[str, Any]:
    """Return the :data:`CELL_COLUMNS` that follow from the numbers of a cell."""
    found: dict[str, Any] = {"in_paper": theirs is not None, "missing": missing}
    if ours is not None:
        found |= {"reproduced": ours.value, "reproduced_sd": ours.sd, "n": ours.n}
    if theirs is None:
        empty = ("status", "verdict", "verdict_with_spread", "rule")
        return found | dict.fromkeys(empty, "")
    judged = judge(theirs, ours, tolerance, full_protocol=context.is_judged)
    return found | {
        "published": theirs.value, "published_sd": theirs.sd, "published_n": theirs.n,
        "status": theirs.status, "verdict": judged.verdict,
        "verdict_with_spread": judged.with_spread, "rule": missing or judged.rule,
    }  # fmt: skip


def published_numbers(context: Context, file: str) -> dict[tuple[str, str], Published]:
    """Return the printed numbers of a file by row and column."""
    records = context.published[file].to_dict("records")
    return {(row["row"], row["column"]): Published.from_row(row) for row in records}


def reproduce(
    context: Context, where: Mapping[str, Any], scale: float
) -> Reproduced | None:
    """Return mean, spread and number of the repeats that a cell selects."""
    selector = {k: v for k, v in where.items() if k not in ("experiment", "metric")}
    rows = context.rows(where["experiment"], where["metric"], selector)
    if rows.empty:
        return None
    for column in ("dataset", "n_tasks", "train_size", "setting"):
        levels = rows[column].unique()
        if len(levels) > 1:
            raise ValueError(
                f"{dict(where)} matches several values of {column}: "
                f"{', '.join(map(str, levels))}; choose one in the configuration"
            )
    ours = Reproduced.from_sample(average(rows, ["repeat"]))
    return ours.scaled(scale) if ours else None
