"""Numbers that pages of the documentation quote, written anew from the record.

``docs/quoted.txt`` lists the sentences of each page, with a gap for each number:
``{table|rows|column|format}``.

- table: a file below ``figures/``, by default of the page's paper;
- rows: conditions with ``;`` between them, each a value that a row has in any column,
  or ``column=value``, or ``? query`` as pandas takes it;
- column: ``min`` or ``max`` before it takes one of several values, a minus sign takes a
  second column off the first; rows without a column are counted;
- format: Python's, or ``word``.

What is left out is that of the number before, as long as no table is named.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from mtmkl_suite.files import write_text

_WORDS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)  # fmt: skip
_NUMBER = rf"([+−]?\d[\d.,]*(?<![.,])|\b(?:{'|'.join(_WORDS)})\b)"
_GAP = re.compile(r"\{([^}]*)\}")


def write_quoted_numbers(root: Path) -> None:
    """Write the numbers of all pages that are listed, if any are."""
    for page, sentences in _sentences(root):
        path = root / page
        before = path.read_text("utf-8")
        after = requoted(before, sentences, root, path.stem)
        if after != before:
            write_text(path, after)


def requoted(text: str, sentences: list[str], root: Path, paper: str) -> str:
    """Return a page with the record's numbers; an error if it lacks a sentence."""
    end = 0
    for sentence in sentences:
        words = [_spaced(part) for part in _GAP.split(sentence)[::2]]
        pattern = re.compile(_NUMBER.join(words))
        # Rows of several tables may be alike: the next one is meant.
        found = pattern.search(text, end) or pattern.search(text)
        if found is None:
            raise ValueError(f"the page of {paper} does not say: {sentence}")
        numbers = _numbers(_GAP.findall(sentence), root / "figures", paper)
        for k, number in reversed([*enumerate(numbers, start=1)]):
            text = text[: found.start(k)] + number + text[found.end(k) :]
        end = found.start() + 1
    return text


def _sentences(root: Path) -> Iterator[tuple[str, list[str]]]:
    if not (root / "docs/quoted.txt").is_file():
        return
    for part in (root / "docs/quoted.txt").read_text("utf-8").split("\n# ")[1:]:
        page, *sentences = part.split("\n- ")
        yield page.strip(), [" ".join(each.split()) for each in sentences]


def _spaced(text: str) -> str:
    """Return a pattern of a text that may be broken into lines, or quoted ones."""
    return re.sub(r"(\\ )+", r"\\s+(?:> )?", re.escape(text))


def _numbers(gaps: list[str], figures: Path, paper: str) -> Iterator[str]:
    name, conditions, column, form = "", [""], "", ""
    for gap in gaps:
        of_table, of_rows, *rest = [*gap.split("|"), ""][: max(2, gap.count("|") + 1)]
        if of_table:
            name, conditions, column, form = of_table, [""], "", ""
        if rest:
            column, form = [*rest, ""][:2]
        if of_rows:
            given = [each.strip() for each in of_rows.split(";")]
            conditions = [
                each or conditions[position] for position, each in enumerate(given)
            ]
        table = _table(figures / (name if "/" in name else f"{paper}/{name}"))
        for condition in filter(None, conditions):
            table = _rows(table, condition)
        yield _text(_value(table, column), form)


def _rows(table: pd.DataFrame, condition: str) -> pd.DataFrame:
    if condition.startswith("?"):
        return table.query(condition[1:].strip(), engine="python")
    column, is_named, value = condition.partition("=")
    if is_named and column in table:
        return table[table[column].astype(str) == value]
    return table[(table == condition).any(axis=1)]


def _value(rows: pd.DataFrame, column: str) -> Any:
    if not column:
        return len(rows)
    take, _, rest = column.partition(" ")
    if take in ("min", "max"):
        return getattr(_column(rows, rest), take)()
    (value,) = _column(rows, column)
    return value


def _column(rows: pd.DataFrame, column: str) -> "pd.Series[Any]":
    first, _, second = column.partition(" − ")
    return rows[first] - rows[second] if second else rows[first]


def _text(value: Any, form: str) -> str:
    if form == "word":
        return dict(enumerate(_WORDS)).get(value, str(value))
    return format(value, form or "d").replace("-", "−")


@cache
def _table(path: Path) -> pd.DataFrame:
    (file,) = path.parent.glob(f"{path.name}.csv*")
    table = pd.read_csv(file, dtype={"row": str, "column": str})
    if "basis" in table:
        table["ours"] = table["basis"].str.startswith("ours")
    return table
