"""Tables from files, whose cells stay text until the meaning of a column is known.

The one reader of data sets and of scores. What could be read in two ways is refused;
what was left out, joined or converted is remarked on.
"""

import csv
import io
import lzma
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mtmkl.errors import some
from mtmkl_suite.errors import TableError

if TYPE_CHECKING:
    import pandas as pd

GAPS = ("", "na", "n/a", "#n/a", "<na>", "nan", "null", "?")
"""Spellings of a missing value, in lower case."""

GAPS_OF_NUMBERS = ("none", "-", "–", ".")
"""Further spellings, where all other values of the column are numbers."""

_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?)", re.A | re.I)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}", re.A)
_COMMENT = re.compile(r'\s*#|"?sep=."?\s*$')  # the second is for spreadsheets
_NAMELESS = re.compile(r"|Unnamed: \d+(_level_\d+|\.\d+)*")
_OF_ROWS = re.compile(
    r"X|V1|\.\.\.1|_c0|#|rn|(?i:index|idx|level_\d+|__index_level_\d+__|id|obs|"
    r"row[ _.]?(names?|numbers?|nr|no|num|id|index)?|(s\.?)?no\.?|nr\.?)"
)
_DAMAGED = (lzma.LZMAError, zipfile.BadZipFile, zlib.error)
_WHOLE, _DISTINCT, _COUNTING, _EACH = range(1, 5)
"""Whole numbers; each another; of all rows, or of some in order; of each in order."""
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200e\u200f\u2060\ufeff"))


@dataclass
class Table:
    """Cells of a file, and what was made of them."""

    cells: "pd.DataFrame"
    """Numbers where the file has them as such, text otherwise, ``""`` where it has
    nothing. The index has the line of each row, or its number: ``where``."""
    where: str = "row"
    row_names: "pd.Series | None" = None
    """Text in a first column without a name, which is not among the cells."""
    remarks: list[str] = field(default_factory=list)
    """Sentences on what was left out, joined or converted."""
    _spellings: dict[str, dict[str, list[Any]]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(map(str, self.cells))

    def gaps(self, name: str) -> "pd.Series":
        """Return the mask of missing values of a column."""
        values = self.cells[name]
        if is_numeric(values) or are_numbers(values):
            return values.isna()
        texts = values.str.lower()
        sure = texts.isin(GAPS)
        gaps = sure | texts.isin(GAPS_OF_NUMBERS)
        return gaps if not gaps.all() and are_numbers(values[~gaps]) else sure

    def labels(self, name: str, rows: Any = slice(None)) -> "pd.Series":
        """Return a column as names of groups, each in its shortest spelling.

        Spellings that differ by outer, repeated or invisible spaces, or in how letters
        are composed, are one; so are equal numbers, if all are numbers, and truth
        values by case. It is remarked on.
        """
        values = self.cells[name][rows].astype(str)
        found = list(dict.fromkeys(values))
        key: Any = str
        if are_numbers(found):
            key = Decimal
        elif {text.lower() for text in found} <= {"true", "false"}:
            key = str.lower
        groups: dict[Any, list[str]] = {}
        for text in found:
            groups.setdefault(key(text), []).append(text)
        spelled = self._spellings.get(name, {})
        for group in groups.values():
            raw = [each for text in group for each in spelled.get(text, [text])]
            if len(raw) > 1:
                texts = some(map(ascii, raw))
                self.remarks.append(f"Taken as one value of {name}: {texts}.")
        names = {
            text: min(group, key=lambda each: (len(each), each))
            for group in groups.values()
            for text in group
        }
        return values.map(names)


def read_table(
    path: Path, roles: Collection[str] = (), ignore: Collection[str] = ()
) -> Table:
    """Read ``.npz``, ``.parquet``, or else text in UTF-8, compressed or not.

    Columns of text are separated by tabs, semicolons, commas or bars, whichever the
    header has most of, or else by spaces. Where it is not by commas, decimal commas
    become points. Columns that the caller names as ``roles`` are no row numbers; the
    content of those to ``ignore`` does not matter. The error names the file, the line
    and the remedy.
    """
    if not path.exists():
        raise TableError(f"{path} does not exist")
    import pandas as pd

    mark = ","
    try:
        if path.suffix.lower() == ".npz":
            table = Table(pd.DataFrame(_arrays_of(path)))
        elif path.suffix.lower() == ".parquet":
            cells = pd.read_parquet(path)
            named = not isinstance(cells.index, pd.RangeIndex)
            table = Table(cells.reset_index() if named else cells)
        else:
            table, mark = _text_table(path)
        if table.cells.empty:
            raise TableError("the file has no rows")
        if table.where == "row":
            table.cells.index = pd.RangeIndex(1, len(table.cells) + 1)
        _clean_names(table)
        _clean_cells(table)
        if mark != ",":
            _convert_decimal_commas(table, ignore)
        _leave_out_row_numbers(table, {*roles, *ignore})
    except TableError as error:
        raise TableError(f"{path.name}: {error}") from None
    except UnicodeError:
        raise TableError(f"{path.name} is no UTF-8 text: save it as such") from None
    except (OSError, EOFError, *_DAMAGED) as error:
        raise TableError(f"{path.name} cannot be read: {error}") from error
    except ValueError as error:  # as all errors of parsers are
        raise TableError(f"{path.name} is not a table: {error}") from error
    return table


def clean(value: Any) -> str:
    """Return text with letters composed, and single spaces between its words."""
    text = value.decode() if isinstance(value, bytes) else str(value)
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_INVISIBLE)
    return " ".join(text.split())


def are_numbers(texts: Iterable[str]) -> bool:
    """Tell whether all texts are decimal numbers, or infinite, in ASCII."""
    return all(map(_NUMBER.fullmatch, texts))


def no_number(text: str) -> str:
    """Return the end of a sentence on a text that is almost a number, "" otherwise."""
    signs = "".join(dict.fromkeys(re.sub(r"[\d.+\s-]", "", text, flags=re.A)))
    if not signs or not re.search(r"\d", text) or re.search(r"[^\W\d_]", text):
        return ""
    comma = " (decimal commas need semicolons between columns)"
    return f"; {signs!r} is no part of a number{comma if signs == ',' else ''}"


def is_numeric(values: "pd.Series") -> bool:
    """Tell whether a column has real numbers as such, not as text."""
    return values.dtype.kind in "biuf"


def _arrays_of(path: Path) -> dict[str, Any]:
    """Return vectors by name, and the columns of the features by number."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except ValueError as error:
        raise TableError(f"cannot be read: {error}") from error
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    chosen = "X" if "X" in tables else tables[0] if len(tables) == 1 else None
    if chosen is None:
        raise TableError(
            "needs features as one array of two dimensions, or as 'X'; it has "
            f"{', '.join(f'{n} {a.shape}' for n, a in arrays.items())}"
        )
    X = arrays[chosen]
    vectors = {name: a for name, a in arrays.items() if a.shape == (len(X),)}
    inputs = {f"x{k + 1}": X[:, k] for k in range(X.shape[1])}
    if clash := [name for name in vectors if name in inputs]:
        raise TableError(f"rename array {clash[0]!r}: features are so")
    return vectors | inputs


def _text_table(path: Path) -> tuple[Table, str]:
    """Return the cells of a text, and the sign between them."""
    import pandas as pd
    from pandas.io.common import get_handle  # type: ignore[import-not-found]

    with get_handle(path, "rb", compression="infer", is_text=False) as opened:
        text = opened.handle.read().decode("utf-8-sig")
    if "\0" in text:
        raise UnicodeError
    lines = list(io.StringIO(text, newline=""))
    told = (line for line in lines if line.strip() and not _COMMENT.match(line))
    mark = _separator(next(told, ""))
    comments: list[int] = []
    (first, header), *rows = list(_records(lines, mark, comments)) or [(0, [])]
    if not header:
        raise TableError("this is not a table, it is empty")
    quoted = all(lines[line - 1].lstrip().startswith('"') for line, _ in rows)
    header = _fitted(header, [cells for _, cells in rows], quoted=quoted)
    n = len(header)
    for line, cells in rows:
        if len(cells) < n or any(map(str.strip, cells[n:])):
            raise TableError(
                f"line {line} has {len(cells)} cell{'s' * (len(cells) != 1)} and the "
                f"header in line {first} has {n} ({some(header)}): delete what is "
                f"above the header, name each column, and quote cells with {mark!r} in "
                "them, such as decimal commas"
            )
    for k in comments:
        if _width(lines[k - 1].lstrip(" \t#"), mark) == n > 1:
            raise TableError(
                f"line {k} begins with # and has as many cells as the table: delete "
                "the line if it is a comment, the # if not, or put the cell in quotes"
            )
    found = [cells[:n] for _, cells in rows]
    index = [line for line, _ in rows]
    table = Table(pd.DataFrame(found, index, header, dtype=object), "line")
    if comments:
        table.remarks.append(f"Comments were left out: line {some(comments)}.")
    return table, mark


def _width(line: str, mark: str) -> int:
    if mark == " ":
        return len(line.split())
    return len(next(csv.reader([line], delimiter=mark, skipinitialspace=True), []))


def _separator(header: str) -> str:
    counts = {mark: _width(header, mark) for mark in "\t;,|"}
    most = max(counts, key=lambda mark: counts[mark])
    return most if counts[most] > 1 else " " if _width(header, " ") > 1 else ","


def _records(
    lines: Sequence[str], mark: str, comments: list[int]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line and the cells of each record; collect lines of comments.

    A comment may have a single quotation mark, and a cell in quotes may have a line
    that looks like a comment.
    """
    begins = True

    def fed() -> Iterator[str]:
        nonlocal begins
        for number, line in enumerate(lines, 1):
            if begins and _COMMENT.match(line):
                if "#" in line:
                    comments.append(number)
                line = "\n"
            begins = False
            yield line if mark != " " else " ".join(line.split()) + "\n"

    # With spaces as separators none are left to skip.
    reader = csv.reader(
        fed(), delimiter=mark, skipinitialspace=mark != " ", strict=True
    )
    while True:
        begins, line = True, reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise TableError(f"line {line} cannot be read: {error}") from None
        if cells is None:
            return
        if any(map(str.strip, cells)):
            yield line, cells


def _fitted(header: list[str], rows: Sequence[list[str]], *, quoted: bool) -> list[str]:
    """Return a header without empty cells at its end, and with one for R's row names.

    R writes row names in quotation marks and no name for their column. Where nothing
    is ``quoted`` in each row, it may be the last name that is missing.
    """
    named = max(k + 1 for k, text in enumerate(header) if text.strip())
    full = max((k + 1 for c in rows for k, t in enumerate(c) if t.strip()), default=0)
    if full <= len(header):
        return header[: max(full, named)]
    are_of_r = quoted and {len(cells) for cells in rows} == {len(header) + 1}
    if are_of_r and len({cells[0] for cells in rows}) == len(rows):
        return ["", *header]
    return header


def _clean_names(table: Table) -> None:
    names = list(map(clean, table.cells))
    for k in (k for k, name in enumerate(names) if not name):
        names[k] = f"Unnamed: {k}"  # as pandas calls it
        while names.count(names[k]) > 1:
            names[k] += ".1"
    for k, name in enumerate(names):
        if name in names[:k]:
            raise TableError(
                f"columns {names.index(name) + 1} and {k + 1} are both named {name!r}: "
                "delete or rename one"
            )
    table.cells.columns = names


def _clean_cells(table: Table) -> None:
    for name in table.names:
        values = table.cells[name]
        if is_numeric(values):
            continue
        if table.where == "row":
            values = values.astype(object).where(values.notna(), "")
        cleaned = {each: clean(each) for each in dict.fromkeys(values)}
        others = {text for raw, text in cleaned.items() if raw != text}
        if others or table.where == "row":
            table.cells[name] = values.map(cleaned).astype(object)
            spelled = table._spellings[name] = {}
            for raw, text in cleaned.items():
                if text in others:
                    spelled.setdefault(text, []).append(raw)


def _convert_decimal_commas(table: Table, ignore: Collection[str]) -> None:
    """Replace decimal commas by points, unless either may separate thousands."""
    found = {}
    for name, texts in table.cells.items():
        given = texts[~texts.str.lower().isin((*GAPS, *GAPS_OF_NUMBERS))]
        if name in ignore or not are_numbers(given.str.replace(",", ".")):
            continue
        for sign in ",.":
            marked = given[given.str.contains(sign, regex=False)]
            if not marked.empty:
                found[name, sign] = marked
        table.cells[name] = texts.str.replace(",", ".")
    commas = {name: marked for (name, sign), marked in found.items() if sign == ","}
    points = {name: marked for (name, sign), marked in found.items() if sign == "."}
    thousands = {
        key for key, each in found.items() if all(map(_THOUSANDS.fullmatch, each))
    }
    for name, comma in commas.items():
        for other, point in points.items():
            if name == other or thousands & {(name, ","), (other, ".")}:
                raise TableError(
                    f"{comma.iloc[0]!r} in column {name!r}, line {comma.index[0]}, and "
                    f"{point.iloc[0]!r} in column {other!r}, line {point.index[0]}: is "
                    "one of these signs for thousands? Write decimals alone, with one "
                    "sign"
                )
        if thousands >= {(each, ",") for each in commas}:
            raise TableError(
                f"{comma.iloc[0]!r} in column {name!r}, line {comma.index[0]}: does "
                "the comma separate thousands or decimals? Write a point or nothing"
            )
    if commas:
        first = next(iter(commas.values())).iloc[0]
        table.remarks.append(
            f"Commas are decimal in {some(commas)}: {first} is "
            f"{first.replace(',', '.')}."
        )


def _leave_out_row_numbers(table: Table, named: Collection[str]) -> None:
    """Take row numbers and row names out of the cells.

    Columns without a name must be these, or empty.
    """
    is_first = True
    for k, name in enumerate(table.names):
        values, what = table.cells[name], ""
        nameless = _NAMELESS.fullmatch(name) is not None
        is_first &= nameless
        if name in named:
            continue
        if nameless:
            if is_first and _counting(values) >= _WHOLE:
                what = f"row numbers ({some(values, 3)})"
            elif values.isin(["", np.nan]).all():
                what = "empty and without a name"
            elif k == 0 and values.is_unique and not are_numbers(map(str, values)):
                table.row_names, what = values, f"row names ({some(values, 3)})"
            if not what:
                raise TableError(
                    f"column {k + 1} ({some(values, 3)}) has no name: name or delete it"
                )
        elif _OF_ROWS.fullmatch(name):
            least = _COUNTING if name in ("X", "V1") else _DISTINCT
            if _counting(values) >= least:
                what = f"row numbers ({some(values, 3)})"
        elif str(values.iloc[0]) in ("0", "1") and _counting(values) == _EACH:
            at = f"Column {name!r} counts the rows"
            table.remarks.append(f"{at}: does it belong to the table?")
        if what:
            del table.cells[name]
            at = "first column" if nameless and k == 0 else f"column {name!r}"
            table.remarks.append(f"Left out: {at}, {what}.")


def _counting(values: Iterable[Any]) -> int:
    """Return how well values count rows, from 0 to 4."""
    texts = list(map(str, values))
    if not are_numbers(texts):
        return 0
    numbers = np.array(texts, dtype=float)
    if not (np.isfinite(numbers) & (numbers >= 0) & (numbers % 1 == 0)).all():
        return 0
    steps, sizes = np.diff(numbers), np.diff(np.sort(numbers))
    if (sizes == 0).any():
        return _WHOLE
    if (steps == 1).all():
        return _EACH
    return _COUNTING if (sizes == 1).all() or (steps > 0).all() else _DISTINCT
