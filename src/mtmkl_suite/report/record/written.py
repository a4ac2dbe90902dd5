"""What an artefact leaves for record and report: verdicts, and tables as text."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import pandas as pd

from mtmkl.files import read_json, write_json
from mtmkl_suite.report.tables.numbers import DASH, is_number
from mtmkl_suite.run.folders import PaperFolder

VERDICT_COLUMNS = (
    "artefact", "row", "column", "unit", "published", "published_sd", "status",
    "reproduced", "reproduced_sd", "n", "verdict", "verdict_with_spread", "data",
    "rule", "derived",
)  # fmt: skip
"""Columns of ``verdicts.csv``: one line for each published number.

``derived`` says whether it follows from other numbers of the paper.
"""

RANK = "rank"
"""Unit of mean ranks over data sets, which follow from the numbers that are ranked."""

_TYPES = {
    **dict.fromkeys(
        ("published", "published_sd", "reproduced", "reproduced_sd"), "float64"
    ),
    "n": "Int64",
}


@dataclass(frozen=True)
class TextTable:
    """A table as text, each row as long as the header, and notes below it."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def has_numbers(self, column: int) -> bool:
        """Tell whether a column has numbers, and nothing else but gaps."""
        texts = [row[column] for row in self.rows]
        filled = [text for text in texts if text not in ("", DASH)]
        return bool(filled) and all(map(is_number, filled))


@dataclass(frozen=True)
class Written:
    """What record and report take of an artefact.

    Attributes
    ----------
    tables : list of TextTable
        The table, and the numbers that the paper quotes in its text.
    verdicts : DataFrame
        :data:`VERDICT_COLUMNS`, in the order of the table.
    """

    tables: list[TextTable]
    verdicts: pd.DataFrame


def write(folder: PaperFolder, name: str, written: Written) -> None:
    """Write it next to the artefact, as JSON."""
    rows = written.verdicts.astype(object)
    document = {
        "tables": [asdict(table) for table in written.tables],
        "verdicts": rows.where(rows.notna(), None).to_dict("records"),
    }
    write_json(folder.artefact(name, "json"), document)


def read(folder: PaperFolder, name: str) -> Written:
    """Return what :func:`write` has written."""
    document = read_json(folder.artefact(name, "json"))
    verdicts = pd.DataFrame(document["verdicts"], columns=list(VERDICT_COLUMNS))
    tables = [TextTable(**table) for table in document["tables"]]
    # Results of before there was this column have no such numbers.
    verdicts["derived"] = verdicts["derived"].eq(True)
    return Written(tables, verdicts.astype(_TYPES))
