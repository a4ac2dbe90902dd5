"""Tables of published and reproduced numbers as the report shows them, a cell each."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mtmkl_suite.judge.reach import DIFFERENT
from mtmkl_suite.judge.verdicts import NOT_JUDGED
from mtmkl_suite.report.record.published_reach import ReachOfCells
from mtmkl_suite.report.record.written import RANK

_FIGURE_SPACE = "\N{FIGURE SPACE}"
_MEAN_RANK_DECIMALS = 2
_MAX_DECIMALS = 4

Record = Mapping[Hashable, Any]


@dataclass(frozen=True)
class NumberCell:
    """A published number and what was reproduced of it.

    Attributes
    ----------
    published, reproduced, record : str
        Numbers of one column are padded to the same place of the decimal point; "" for
        none. ``record`` is what the published record has where the run has no verdict.
    n, record_n : str
        How many repeats, such as "n = 10".
    verdict, record_verdict : str
        "" where there is none.
    note : str
        The rule with the numbers put in, or why there is no number.
    reach : str
        By other readings.
    method : str
        The method, where a row or column stands for one.
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
    method: str = ""

    @property
    def shown_verdict(self) -> str:
        """The verdict of the run, or of the record where the run has none."""
        return self.record_verdict or self.verdict


@dataclass(frozen=True)
class NumberTable:
    """Rows and columns of :class:`NumberCell`.

    Attributes
    ----------
    corner, unit : str
        ``corner`` is the heading of the first column.
    columns : list of (label, method)
        Where columns are no methods, the method is "".
    rows : list of (label, method, cells)
        None for a cell that the table does not have.
    """

    corner: str
    unit: str
    columns: list[tuple[str, str]]
    rows: list[tuple[str, str, list[NumberCell | None]]]

    def __bool__(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.rows)


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
    and others of :data:`mtmkl_suite.report.tables.tables.CELL_COLUMNS`.
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
                    method=methods.get(column, "") or methods.get(key[0], ""),
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


def methods_of(
    artefact: Mapping[str, Any], labels: Mapping[str, str]
) -> dict[str, str]:
    """Return which rows and columns of a configured table are methods."""
    if "comparison" in artefact:
        columns = artefact["comparison"]["columns"].items()
        return {name: labels.get(method, name) for name, method in columns}
    parts = ("rows", "extra_rows", "columns", "extra_columns")
    selectors = [item for part in parts for item in artefact.get(part, {}).items()]
    return {
        name: labels[selector["method"]]
        for name, selector in selectors
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
    method: str,
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
        method=method,
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
        yield NumberCell(**{**vars(cell), **padded})


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
