"""Figures and tables on the page of their paper."""

import base64
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from mtmkl.files import read_table
from mtmkl_suite.config.models import Artefact, Figure, Quoted, Ranking, Table
from mtmkl_suite.judge.reach import DIFFERENT
from mtmkl_suite.judge.verdicts import NOT_JUDGED
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.figures.alternatives import figure_in_words
from mtmkl_suite.report.pages.documentation import address
from mtmkl_suite.report.pages.experiments import ExperimentFacts
from mtmkl_suite.report.pages.verdicts import Answer
from mtmkl_suite.report.record.published_reach import ReachOfCells, read_reach
from mtmkl_suite.report.record.record import PublishedRecord, Written, read_written
from mtmkl_suite.report.tables.cells import RANK
from mtmkl_suite.report.tables.text import TextTable, value_text
from mtmkl_suite.run.folders import PaperFolder, RunFolder

_MOST_VALUES = 400
"""Rows of the values of a figure on its page; all are in its csv."""

_FIGURE_SPACE = "\N{FIGURE SPACE}"
_MEAN_RANK_DECIMALS, _MAX_DECIMALS = 2, 4

Record = Mapping[Hashable, Any]


class NumberCell(NamedTuple):
    """A published number and ours as text, "" where there is none.

    Numbers of one column are padded to the same place of the decimal point. ``record``
    is the published record's, where the run has no verdict; ``note`` has the rule with
    the numbers put in, or why there is no number.
    """

    published: str = ""
    reproduced: str = ""
    n: str = ""
    verdict: str = ""
    record: str = ""
    record_n: str = ""
    record_verdict: str = ""
    note: str = ""
    reach: str = ""

    @property
    def shown_verdict(self) -> str:
        """The verdict of the run, or of the record where the run has none."""
        return self.record_verdict or self.verdict


class NumberTable(NamedTuple):
    """Rows and columns of cells, with the methods that they stand for ("" for none)."""

    corner: str
    unit: str
    columns: list[tuple[str, str]]
    rows: list[tuple[str, str, list[NumberCell | None]]]


def number_table(
    cells: pd.DataFrame,
    published: pd.DataFrame,
    *,
    corner: str,
    decimals: int | None,
    is_judged: bool,
    reach: ReachOfCells,
    methods: Mapping[str, str],
) -> NumberTable:
    """Return a table from its cells and those of the published record.

    ``cells``: Of the run, with columns ``row, column, published, reproduced, verdict``
    and others of :data:`mtmkl_suite.report.tables.cells.CELL_COLUMNS`.
    """
    mine = _by_place(cells)
    record = _by_place(published)
    rows = list(dict.fromkeys(row for row, _ in mine))
    columns = list(dict.fromkeys(column for _, column in mine))
    if decimals is None:
        decimals = _decimals_of(cells["published"])
    texts: dict[tuple[str, str], NumberCell] = {}
    for column in columns:
        for is_rank in (False, True):
            keys = [
                (row, column)
                for row in rows
                if (row, column) in mine
                and (mine[row, column].get("unit") == RANK) == is_rank
            ]
            places = _MEAN_RANK_DECIMALS if is_rank else decimals
            made = [
                _cell(
                    mine[key],
                    record.get(key, {}),
                    decimals=places,
                    is_judged=is_judged,
                    reach=found.text() if (found := reach.get(key)) else "",
                )
                for key in keys
            ]
            texts |= dict(zip(keys, _aligned(made), strict=True))
    units = list(cells["unit"].dropna().unique()) if "unit" in cells else []
    return NumberTable(
        corner=corner,
        unit=next((str(unit) for unit in units if unit != RANK), ""),
        columns=[(name, methods.get(name, "")) for name in columns],
        rows=[
            (row, methods.get(row, ""), [texts.get((row, name)) for name in columns])
            for row in rows
        ],
    )


def methods_of(artefact: Artefact, labels: Mapping[str, str]) -> dict[str, str]:
    """Return which rows and columns of a configured table are methods."""
    if isinstance(artefact, Ranking):
        columns = artefact.comparison.columns.items()
        return {name: labels.get(method, name) for name, method in columns}
    if not isinstance(artefact, Table):
        return {}
    parts = (
        artefact.rows, artefact.extra_rows, artefact.columns, artefact.extra_columns,
    )  # fmt: skip
    return {
        name: labels[selector["method"]]
        for part in parts
        for name, selector in part.items()
        if isinstance(selector.get("method"), str) and selector["method"] in labels
    }


def _by_place(cells: pd.DataFrame) -> dict[tuple[str, str], Record]:
    return {
        (str(cell["row"]), str(cell["column"])): cell
        for cell in cells.to_dict("records")
    }


def _cell(
    cell: Record,
    published: Record,
    *,
    decimals: int,
    is_judged: bool,
    reach: str,
) -> NumberCell:
    has_number = _is_number(cell["reproduced"])
    verdict = _text(cell.get("verdict"))
    is_open = not has_number or not is_judged
    from_record = is_open and _is_number(published.get("reproduced"))
    note = _text(cell.get("missing")) or _text(cell.get("rule"))
    if from_record:
        note = "; ".join(t for t in (note, _text(published.get("rule"))) if t)
    shown = verdict if is_judged or not has_number else ""
    record_verdict = _text(published.get("verdict")) if from_record else ""
    if cell.get("status") == "illegible" and (has_number or from_record):
        # The number in the paper cannot be read: there is nothing to compare.
        shown = record_verdict = ""
    return NumberCell(
        published=_published(cell, decimals),
        reproduced=_mean_sd(cell, "reproduced", decimals),
        n=_n(cell) if has_number else "",
        # What the record answers needs no "no data" beside it.
        verdict="" if from_record or shown == NOT_JUDGED else shown,
        record=_mean_sd(published, "reproduced", decimals) if from_record else "",
        record_n=_n(published) if from_record else "",
        record_verdict=record_verdict,
        note=note,
        reach=reach if (record_verdict or shown) == DIFFERENT else "",
    )


def _published(cell: Record, decimals: int) -> str:
    if not _is_number(cell.get("published")):
        return "illegible" if cell.get("status") == "illegible" else ""
    text = _mean_sd({**cell, "n": 2}, "published", decimals)
    status = _text(cell.get("status"))
    return text if status in ("", "legible") else f"{text} ({status})"


def _mean_sd(cell: Record, side: str, decimals: int) -> str:
    if not _is_number(cell.get(side)):
        return ""
    text = f"{cell[side]:.{decimals}f}".replace("-", "\N{MINUS SIGN}")
    sd, n = cell.get(f"{side}_sd") or 0.0, cell.get("n")
    if _is_number(sd) and sd > 0 and n != 1:
        text += f" ± {sd:.{decimals}f}"
    rank = cell.get(f"{side}_rank")
    return f"{text}, rank {rank:g}" if _is_number(rank) else text


def _n(cell: Record) -> str:
    return f"n = {int(cell['n'])}" if _is_number(cell.get("n")) else ""


def _aligned(cells: Sequence[NumberCell]) -> Iterable[NumberCell]:
    """Pad the numbers of a column, so that their decimal points stand in one line."""
    sides = ("published", "reproduced", "record")
    texts = [getattr(cell, side) for cell in cells for side in sides]
    width = max((_width(text) for text in texts), default=0)
    for cell in cells:
        padded = {
            side: _FIGURE_SPACE * (width - _width(text)) + text
            for side in sides
            if _width(text := getattr(cell, side))
        }
        yield cell._replace(**padded)


def _width(text: str) -> int:
    """Count the characters before the decimal point; 0 for what is no number."""
    whole = text.partition(" ")[0].partition(",")[0].partition(".")[0]
    return len(whole) if whole[-1:].isdigit() else 0


def _decimals_of(printed: pd.Series) -> int:
    texts = [f"{value:g}" for value in printed.dropna()]
    found = max((len(text.partition(".")[2]) for text in texts), default=2)
    return min(found + 1, _MAX_DECIMALS)


def _is_number(value: Any) -> bool:
    if value is None or value is pd.NA or isinstance(value, str):
        return False
    return not math.isnan(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


@dataclass(frozen=True)
class ArtefactView:
    """A figure or table with its numbers, answer and files.

    ``image`` is a data URI and ``alternative`` the figure in words, both "" for a
    table; ``numbers`` has the numbers that the paper quotes in its text last, ``texts``
    are tables of another form, and ``values`` what a figure draws.
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
    artefact = config.artefacts[name]
    mine = read_written(folder, name)
    image, alternative, values = "", "", None
    endings: tuple[str, ...] = ("csv", "md")
    numbers, is_of_record = [], False
    texts = list(mine.tables)
    if isinstance(artefact, Figure):
        endings = ("svg", "pdf", "csv")
        svg, drawn, is_of_record = _figure(name, folder, record)
        image = _inline(svg)
        alternative = figure_in_words(artefact.title, drawn)
        values = None if "no data" in drawn else values_of(drawn)
        texts = []
    elif isinstance(artefact, Table | Ranking):
        cells = read_table(folder.artefact(name, "csv"))
        published = record.cells(name) if record else pd.DataFrame()
        numbers.append(_grid(name, artefact, context, cells, published))
        is_of_record = bool(cells["reproduced"].isna().all()) and len(published) > 0
        texts = []
    elif record and _is_empty(mine.verdicts):
        path = record.artefact(name, "md")
        is_of_record = path is not None
        texts = [_from_markdown(path)] if path else texts
    if artefact.quoted is not None:
        numbers.append(_quoted(name, artefact.quoted, context, mine, record))
        texts = texts[:-1]
    notes = [note for table in mine.tables for note in table.notes]
    source = record.folder if is_of_record and record else folder.path / "artefacts"
    run = RunFolder(folder.path.parent)
    return ArtefactView(
        id=name,
        title=artefact.title,
        image=image,
        alternative=alternative,
        numbers=[table for table in numbers if table.rows],
        texts=texts,
        notes=[] if texts else list(dict.fromkeys(notes)),
        values=values,
        answer=found,
        is_of_record=is_of_record,
        links=[
            (path.suffix[1:], address(path, run))
            for path in (source / f"{name}.{ending}" for ending in endings)
            if path.is_file()
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
        [[value_text(value) for value in row] for row in shown.itertuples(index=False)],
        [f"{more} more rows are in the csv."] if more else [],
    )


def _grid(
    name: str,
    artefact: Table | Ranking,
    context: Context,
    cells: pd.DataFrame,
    published: pd.DataFrame,
) -> NumberTable:
    labels = {key: context.label(key) for key in context.config.methods}
    return number_table(
        cells,
        published,
        corner=artefact.corner if isinstance(artefact, Table) else "data set, training",
        decimals=artefact.decimals,
        is_judged=context.is_judged,
        reach=read_reach(context.config, name),
        methods=methods_of(artefact, labels),
    )


def _quoted(
    name: str,
    quoted: Quoted,
    context: Context,
    mine: Written,
    record: PublishedRecord | None,
) -> NumberTable:
    """Return the numbers that a paper quotes in its text for a figure or table."""
    places = {(cell.row, cell.column) for cell in quoted.cells}
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
