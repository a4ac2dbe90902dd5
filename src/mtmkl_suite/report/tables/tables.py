"""Tables of a paper, published and reproduced, as csv, Markdown and LaTeX."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import Tolerance
from mtmkl_suite.judge.sample import sample
from mtmkl_suite.judge.verdicts import (
    NOT_JUDGED,
    Published,
    Reproduced,
    acceptance_of_others,
    acceptance_text,
    judge,
)
from mtmkl_suite.report.pages.context import Context
from mtmkl_suite.report.record.published_reach import OTHER_READINGS, Marks
from mtmkl_suite.report.tables.numbers import DASH
from mtmkl_suite.report.tables.printed_table import PrintedTable

CELL_COLUMNS = (
    "row", "column", "unit", "published", "published_sd", "published_n", "status",
    "reproduced", "reproduced_sd", "n", "verdict", "verdict_with_spread", "rule",
    "data", "in_paper", "missing",
)  # fmt: skip
"""Columns of a table's csv: one line per cell, numbers in the table's unit."""

OURS = "†"
MEAN_SD_NOTE = "Numbers are mean ± standard deviation over repeats (number of repeats)."
NOT_JUDGED_NOTE = (
    f"{NOT_JUDGED.capitalize()}: repeats, grid or data are reduced in the quick tier, "
    "so published and reproduced numbers are shown without a verdict."
)

# A longer reason for a missing number goes below the table.
_MAX_REASON = 48


@dataclass(frozen=True)
class _Texts:
    """The texts of a table with one row or column per method.

    Attributes
    ----------
    cells : DataFrame
        Rows and columns of ours are not in the paper.
    corner, unit : str
        ``corner`` is the heading of the first column.
    decimals : int
        Of all numbers.
    is_judged : bool
        Whether the verdicts are shown.
    rule : str
        The verdict rule with the table's tolerance, or why there is no verdict.
    marks : Marks
        Of the reach by other readings.
    """

    cells: pd.DataFrame
    corner: str
    unit: str
    decimals: int
    is_judged: bool
    rule: str
    marks: Marks

    def header(self) -> list[str]:
        """Return the headings: published, reproduced, verdict for a paper's column.

        Its reach by other readings follows where there is any.
        """
        names = [self.corner]
        for column in self._columns():
            if self._is_paper_column(column):
                names += [
                    f"{column}, published{self._unit()}",
                    f"{column}, reproduced{self._unit()}",
                    *["verdict"] * self.is_judged,
                    *[OTHER_READINGS] * self._has_reach(column),
                ]
            else:
                names.append(f"{column}{self._mark()}{self._unit()}")
        return names

    def body(self) -> list[list[str]]:
        """Return the rows as text, each as long as the header."""
        cells = {(c["row"], c["column"]): c for c in self.cells.to_dict("records")}
        paper_rows = set(self.cells.loc[self.cells["in_paper"], "row"])
        columns = {name: self._is_paper_column(name) for name in self._columns()}
        mark = self._mark()
        lines = []
        for row in self.cells["row"].drop_duplicates():
            line = [row if row in paper_rows else f"{row}{mark}"]
            for column, is_printed in columns.items():
                cell = cells[row, column]
                if is_printed:
                    line.append(self._published(cell))
                line.append(self.reproduced(cell))
                if is_printed and self.is_judged:
                    line.append(cell["verdict"] if cell["in_paper"] else DASH)
                if is_printed and self._has_reach(column):
                    line.append(self.marks.text(row, column))
            lines.append(line)
        return lines

    def reproduced(self, cell: Mapping[Any, Any]) -> str:
        """Return mean ± sd (n), or why there is none."""
        if pd.isna(cell["reproduced"]):
            short = len(cell["missing"]) <= _MAX_REASON
            return f"no data: {cell['missing']}" if short else "no data (see below)"
        return mean_sd(
            cell["reproduced"], cell["reproduced_sd"], int(cell["n"]), self.decimals
        )

    def notes(self) -> list[str]:
        """Return the sentences below the table."""
        notes = [MEAN_SD_NOTE]
        if self._mark() and not self.cells["in_paper"].all():
            notes.append(f"{OURS} not in the paper.")
        if self.cells["in_paper"].any():
            notes += [self.rule, *self.marks.notes()]
        reasons = self.cells["missing"].drop_duplicates()
        notes += [
            f"No data: {reason}" for reason in reasons if len(reason) > _MAX_REASON
        ]
        return notes

    def _columns(self) -> list[str]:
        return list(self.cells["column"].drop_duplicates())

    def _is_paper_column(self, column: str) -> bool:
        mine = self.cells[self.cells["column"] == column]
        return bool(mine["in_paper"].any())

    def _has_reach(self, column: str) -> bool:
        return any(self.marks.texts(self.cells[self.cells["column"] == column]))

    def _mark(self) -> str:
        """Return the mark of rows and columns that the paper does not have."""
        return f" {OURS}" if self.cells["in_paper"].any() else ""

    def _unit(self) -> str:
        return f" ({self.unit})" if self.unit else ""

    def _published(self, cell: Mapping[Any, Any]) -> str:
        if pd.isna(cell["published"]):
            return "illegible" if cell["status"] == "illegible" else DASH
        text = f"{cell['published']:.{self.decimals}f}"
        if cell["published_sd"] > 0:
            text += f" ± {cell['published_sd']:.{self.decimals}f}"
        return text if cell["status"] == "legible" else f"{text} ({cell['status']})"


def build_table(context: Context, artefact: Mapping[str, Any]) -> PrintedTable:
    """Return a table from its configuration, the scores and the published numbers."""
    rows = artefact["rows"]
    columns = artefact["columns"]
    cells = [
        Cell(
            row,
            column,
            {**column_selector, **row_selector},
            row in rows and column in columns,
        )
        for row, row_selector in {**rows, **artefact.get("extra_rows", {})}.items()
        for column, column_selector in {
            **columns,
            **artefact.get("extra_columns", {}),
        }.items()
    ]
    frame, acceptance = judge_cells(
        context,
        cells,
        experiment=artefact["experiment"],
        file=artefact["file"],
        unit=artefact["unit"],
        scale=artefact["scale"],
        tolerance=Tolerance(**artefact["tolerance"]),
    )
    texts = _Texts(
        cells=frame,
        corner=artefact["corner"],
        unit=artefact["unit"],
        decimals=artefact["decimals"],
        is_judged=context.is_judged,
        rule=rule_note(context, artefact["tolerance"], artefact["unit"], acceptance),
        marks=Marks(context.reach, frame),
    )
    return PrintedTable(
        artefact["title"], frame, texts.header(), texts.body(), texts.notes()
    )


def build_quoted(
    context: Context, quoted: Mapping[str, Any]
) -> tuple[pd.DataFrame, str]:
    """Return the cells of numbers that a paper quotes in its text."""
    return judge_cells(
        context,
        [Cell(c["row"], c["column"], c["where"], True) for c in quoted["cells"]],
        experiment=None,
        file=quoted["file"],
        unit=quoted["unit"],
        scale=quoted.get("scale", 1),
        tolerance=Tolerance(**quoted["tolerance"]),
    )


def rule_text(tolerance: Mapping[str, float], unit: str) -> str:
    """Return the verdict rule in words, with its tolerance."""
    return (
        "Reproduced: |published − reproduced| ≤ max(2 SE, tol); close: ≤ max(sd of "
        f"either, 2 tol); different otherwise; tol = {tolerance_text(tolerance, unit)}."
    )


def tolerance_text(tolerance: Mapping[str, float], unit: str) -> str:
    """Return a tolerance in words; its arguments are those of :func:`rule_text`."""
    if "absolute" in tolerance:
        return f"{tolerance['absolute']:g} {unit}".strip()
    return f"{tolerance['relative']:.0%} of the published value"


def rule_note(
    context: Context, tolerance: Mapping[str, float], unit: str, acceptance: str
) -> str:
    """Return the sentences on the verdicts of a table, or on why it has none."""
    if not context.is_judged:
        return NOT_JUDGED_NOTE
    return f"{rule_text(tolerance, unit)} Applied to other cells: {acceptance}."


def mean_sd(mean: float, sd: float, n: int, decimals: int) -> str:
    """Return ``mean ± sd (n)``; a single observation has no spread."""
    spread = f" ± {sd:.{decimals}f}" if n > 1 else ""
    return f"{mean:.{decimals}f}{spread} (n = {n})"


@dataclass(frozen=True)
class Cell:
    """A cell of a table: where it stands and which scores it shows.

    Attributes
    ----------
    row, column : str
        As in the file of published numbers.
    where : mapping
        What columns of the scores must be.
    in_paper : bool
        Whether the paper prints a number for it.
    """

    row: str
    column: str
    where: Mapping[str, Any]
    in_paper: bool


def judge_cells(
    context: Context,
    cells: list[Cell],
    *,
    experiment: str | None,
    file: str,
    unit: str,
    scale: float,
    tolerance: Tolerance,
) -> tuple[pd.DataFrame, str]:
    """Return cells with published and reproduced numbers, and their verdicts."""
    printed = published_numbers(context, file)
    lines = []
    published: dict[tuple[str, str], Published] = {}
    reproduced: dict[tuple[str, str], Reproduced] = {}
    for cell in cells:
        where = {"experiment": experiment, **cell.where} if experiment else cell.where
        key = (cell.row, cell.column)
        ours = reproduce(context, where, scale)
        theirs = None
        if cell.in_paper:
            if key not in printed:
                raise ValueError(f"{file} has no row {cell.row!r}, {cell.column!r}")
            theirs = published[key] = printed[key]
            if ours is not None:
                reproduced[key] = ours
        verdict = judge(theirs, ours, tolerance, full_protocol=context.is_judged)
        missing = (
            context.missing_reason(where["experiment"], where.get("method"))
            if ours is None
            else ""
        )
        lines.append(
            {
                "row": cell.row,
                "column": cell.column,
                "unit": unit,
                "published": theirs.value if theirs else None,
                "published_sd": theirs.sd if theirs else None,
                "published_n": theirs.n if theirs else None,
                "status": theirs.status if theirs else "",
                "reproduced": ours.value if ours else None,
                "reproduced_sd": ours.sd if ours else None,
                "n": ours.n if ours else None,
                "verdict": verdict.verdict if theirs else "",
                "verdict_with_spread": verdict.with_spread if theirs else "",
                "rule": (missing or verdict.rule) if theirs else "",
                "data": context.origin(where["experiment"]),
                "in_paper": cell.in_paper,
                "missing": missing,
            }
        )
    frame = pd.DataFrame(lines, columns=list(CELL_COLUMNS)).astype(
        {
            **dict.fromkeys(
                ("published", "published_sd", "reproduced", "reproduced_sd"), "float64"
            ),
            **dict.fromkeys(("published_n", "n"), "Int64"),
        }
    )
    others = acceptance_of_others(published, reproduced, tolerance)
    return frame, acceptance_text(others)


def published_numbers(context: Context, file: str) -> dict[tuple[str, str], Published]:
    """Return the printed numbers of a file by row and column."""
    if file not in context.published:
        raise ValueError(f"published numbers {file} are missing")
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
    ours = Reproduced.from_sample(sample(rows))
    return ours.scaled(scale) if ours else None
