"""Names of published numbers in a paper's files, looked up before any work."""

import csv
from collections.abc import Collection, Iterator
from pathlib import Path

from mtmkl_suite.config.models import Artefact, Paper, Ranking, RankTests, Table
from mtmkl_suite.config.selectors import require
from mtmkl_suite.errors import ConfigError

NAMES = dict.fromkeys(("artefact", "id", "section", "row", "column"), str)
"""Columns of records and published tables that are names, also where all look like
numbers."""

Place = tuple[str, str]
"""Row and column of a published number."""

Wanted = tuple[str, str, Collection[Place]]
"""Key of a file's name, the name, and what is shown of the file."""


def check_published(config: Paper) -> None:
    """Check that tables and quoted numbers name published files, rows and columns."""
    wanted = (
        each
        for name, artefact in config.artefacts.items()
        for each in _of_artefact(f"artefacts.{name}", artefact)
    )
    check_places(wanted, config.published)


def check_places(wanted: Iterator[Wanted], folder: Path) -> None:
    """Check that published numbers are there."""
    if not folder.is_dir():
        return  # the experiments can be run without it
    files = sorted(path.name for path in folder.glob("*.csv"))
    known: dict[str, set[Place]] = {}
    for key, name, places in wanted:
        require(f"{key}.file", "file of published numbers", files, name)
        if name not in known:
            known[name] = _places(folder / name)
        for row, column in places:
            if (row, column) in known[name]:
                continue
            rows = {each for each, _ in known[name]}
            kind, value, there = (
                ("column", column, {c for r, c in known[name] if r == row})
                if row in rows
                else ("row", row, rows)
            )
            require(key, f"{kind} of {name}", sorted(there), value)


def _places(path: Path) -> set[Place]:
    with path.open(encoding="utf-8", newline="") as file:
        try:
            return {(line["row"], line["column"]) for line in csv.DictReader(file)}
        except KeyError as error:
            raise ConfigError(f"{path} has no column {error}") from error


def _of_artefact(key: str, artefact: Artefact) -> Iterator[Wanted]:
    if isinstance(artefact, Table | Ranking | RankTests):
        yield key, artefact.file, _shown(artefact)
    if quoted := artefact.quoted:
        places = [(cell.row, cell.column) for cell in quoted.cells]
        yield f"{key}.quoted", quoted.file, places


def _shown(table: Table | Ranking | RankTests) -> list[Place]:
    if isinstance(table, Table):
        return [(row, column) for row in table.rows for column in table.columns]
    if isinstance(table, RankTests):
        return []
    comparison = table.comparison
    return [
        (f"{label}, {block}", column)
        for label, row in comparison.rows.items()
        for block in row.blocks or comparison.blocks
        for column in comparison.columns
    ]
