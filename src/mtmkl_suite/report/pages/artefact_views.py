"""Figures and tables of a paper as its page in the report shows them."""

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from mtmkl.files import read_table
from mtmkl_suite.report.figures.alternatives import figure_in_words
from mtmkl_suite.report.pages.addresses import address
from mtmkl_suite.report.pages.context import Context
from mtmkl_suite.report.pages.experiment_facts import ExperimentFacts
from mtmkl_suite.report.pages.overview import Answer
from mtmkl_suite.report.record import written
from mtmkl_suite.report.record.published_reach import read_reach
from mtmkl_suite.report.record.published_record import PublishedRecord
from mtmkl_suite.report.record.written import TextTable, Written
from mtmkl_suite.report.tables.number_tables import (
    NumberTable,
    methods_of,
    number_table,
)
from mtmkl_suite.report.tables.numbers import DASH
from mtmkl_suite.run.folders import PaperFolder, RunFolder

_GRIDS = ("cells", "ranking")
"""Layouts of which every cell is a number."""

_MOST_VALUES = 400
"""Rows of the values of a figure on its page; all are in its csv."""


@dataclass(frozen=True)
class ArtefactView:
    """A figure or table as the report shows it.

    Attributes
    ----------
    id, title : str
    image, alternative : str
        Data URI of the figure and what it shows in words; "" for a table.
    numbers : list of NumberTable
        The table, and the numbers that the paper quotes in its text.
    texts : list of TextTable
        Tables of another form.
    notes : list of str
        The sentences below the tables.
    answer : Answer
    values : TextTable or None
        The numbers that a figure draws; None for a table.
    is_of_record : bool
        Whether the figure, or the whole table, is the published one.
    links : list of (text, address)
        Its files.
    facts : list of ExperimentFacts
    """

    id: str
    title: str
    image: str
    alternative: str
    numbers: list[NumberTable]
    texts: list[TextTable]
    notes: list[str]
    values: TextTable | None
    answer: Answer
    is_of_record: bool
    links: list[tuple[str, str]]
    facts: list[ExperimentFacts]

    @property
    def name(self) -> str:
        """``figure_3`` as "Figure 3"; the title, if the paper has no number for it."""
        return (
            self.id.replace("_", " ").capitalize() if self._is_numbered else self.title
        )

    @property
    def subtitle(self) -> str:
        """The title, unless it is the name."""
        return self.title if self._is_numbered else ""

    @property
    def _is_numbered(self) -> bool:
        return any(character.isdigit() for character in self.id)


def artefact_view(
    name: str,
    context: Context,
    folder: PaperFolder,
    record: PublishedRecord | None,
    found: Answer,
    facts: list[ExperimentFacts],
) -> ArtefactView:
    """Gather what is shown of a figure or table."""
    config = context.config
    artefact = config["artefacts"][name]
    mine = written.read(folder, name)
    image, alternative, values = "", "", None
    endings: tuple[str, ...] = ("csv", "md")
    numbers, is_of_record = [], False
    texts = list(mine.tables)
    if artefact["kind"] == "figure":
        endings = ("svg", "pdf", "csv")
        svg, drawn, is_of_record = _figure(name, folder, record)
        image = _inline(svg)
        alternative = figure_in_words(artefact["title"], drawn)
        values = None if "no data" in drawn else values_of(drawn)
        texts = []
    elif artefact.get("layout", "cells") in _GRIDS:
        cells = read_table(folder.artefact(name, "csv"))
        published = record.cells(name) if record else pd.DataFrame()
        numbers.append(_grid(name, context, cells, published))
        is_of_record = bool(cells["reproduced"].isna().all()) and len(published) > 0
        texts = []
    elif record and _is_empty(mine.verdicts):
        path = record.artefact(name, "md")
        is_of_record = path is not None
        texts = [_from_markdown(path)] if path else texts
    if "quoted" in artefact:
        numbers.append(_quoted(name, context, mine, record))
        texts = texts[:-1]
    notes = [note for table in mine.tables for note in table.notes]
    source = record.folder if is_of_record and record else folder.path / "artefacts"
    run = RunFolder(folder.path.parent)
    return ArtefactView(
        id=name,
        title=artefact["title"],
        image=image,
        alternative=alternative,
        numbers=[table for table in numbers if table],
        texts=texts,
        notes=[] if texts else list(dict.fromkeys(notes)),
        values=values,
        answer=found,
        is_of_record=is_of_record,
        links=[
            (
                ending,
                address(source / f"{name}.{ending}", run),
            )
            for ending in endings
            if (source / f"{name}.{ending}").is_file()
        ],
        facts=facts,
    )


def _figure(
    name: str, folder: PaperFolder, record: PublishedRecord | None
) -> tuple[Path, pd.DataFrame, bool]:
    """Return a figure, the numbers that it draws, and whether it is the published."""
    numbers = read_table(folder.artefact(name, "csv"))
    published = record.artefact(name, "svg") if record else None
    if "no data" in numbers and record and published:
        return published, record.cells(name), True
    return folder.artefact(name, "svg"), numbers, False


def _inline(svg: Path) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.read_bytes()).decode()


def values_of(numbers: pd.DataFrame) -> TextTable:
    """Return the numbers that a figure draws as a table."""
    filled = numbers.dropna(axis="columns", how="all")
    shown = filled.head(_MOST_VALUES)
    more = len(filled) - len(shown)
    return TextTable(
        [str(name).replace("_", " ") for name in filled.columns],
        [[_value(value) for value in row] for row in shown.itertuples(index=False)],
        [f"{more} more rows are in the csv."] if more else [],
    )


def _value(value: Any) -> str:
    if pd.isna(value):
        return DASH
    if isinstance(value, float):
        return f"{value:.4g}".replace("-", "\N{MINUS SIGN}")
    return str(value)


def _grid(
    name: str, context: Context, cells: pd.DataFrame, published: pd.DataFrame
) -> NumberTable:
    artefact = context.config["artefacts"][name]
    labels = {key: context.label(key) for key in context.config["methods"]}
    return number_table(
        cells,
        published,
        corner=artefact.get("corner", "data set, training"),
        decimals=artefact["decimals"],
        is_judged=context.is_judged,
        reach=read_reach(context.config, name),
        methods=methods_of(artefact, labels),
    )


def _quoted(
    name: str, context: Context, mine: Written, record: PublishedRecord | None
) -> NumberTable:
    """Return the numbers that a paper quotes in its text for a figure or table."""
    cells = context.config["artefacts"][name]["quoted"]["cells"]
    places = {(cell["row"], cell["column"]) for cell in cells}
    rows = mine.verdicts
    is_quoted = [key in places for key in zip(rows["row"], rows["column"], strict=True)]
    return number_table(
        rows[is_quoted],
        record.verdicts[record.verdicts["artefact"] == name]
        if record
        else pd.DataFrame(),
        corner="quoted in the text",
        decimals=None,
        is_judged=context.is_judged,
        reach=read_reach(context.config, name),
        methods={},
    )


def _is_empty(verdicts: pd.DataFrame) -> bool:
    return len(verdicts) > 0 and bool(verdicts["reproduced"].isna().all())


def _from_markdown(path: Path) -> TextTable:
    """Return a published table from its Markdown."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [
        [cell.strip().replace("\\|", "|") for cell in line.strip("|").split(" | ")]
        for line in lines
        if line.startswith("|")
    ]
    notes = [line for line in lines[1:] if line and not line.startswith("|")]
    return TextTable(rows[0], rows[2:], notes)
