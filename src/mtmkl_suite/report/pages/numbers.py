"""Published numbers beside ours, as grids on the page of their paper."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import pandas as pd

from mtmkl_suite.config.models import Artefact, Ranking, RankTests, Table
from mtmkl_suite.judge.reach import DIFFERENT
from mtmkl_suite.judge.verdicts import NO_NUMBER, NOT_JUDGED
from mtmkl_suite.report.published_reach import Reach, ReachOfCells
from mtmkl_suite.report.tables.cells import RANK
from mtmkl_suite.report.text import number

_FIGURE_SPACE = "\N{FIGURE SPACE}"

_MEAN_RANK_DECIMALS, _MAX_DECIMALS = 2, 4

_Row = Mapping[Hashable, Any]


class NumberCell(NamedTuple):
    """A published number and ours as text, "" where there is none.

    Numbers of one column are padded to the same place of the decimal point, and
    ``printed`` has a mark where a number can be read in two ways. ``details`` has all
    that is known of the number, the rule of its verdict first.
    """

    printed: str
    ours: str
    verdict: str
    difference: str
    details: str


def number_table(
    cells: pd.DataFrame,
    corner: str,
    decimals: int | None,
    methods: Mapping[str, str],
    *,
    is_judged: bool,
    reach: ReachOfCells,
) -> SimpleNamespace:
    """Return a table: its columns and rows with the methods that they stand for.

    ``cells``: With columns of :data:`mtmkl_suite.report.tables.cells.CELL_COLUMNS`, all
    of one unit, or with ranks of the numbers.
    """
    (unit,) = cells["unit"].dropna().unique()[:1].tolist() or [""]
    if unit == RANK:
        decimals = _MEAN_RANK_DECIMALS
    elif decimals is None:
        decimals = _decimals_of(cells["published"])
    found: dict[tuple[str, str], NumberCell] = {}
    for _, mine in cells.groupby("column", sort=False):
        keys = list(zip(mine["row"], mine["column"], strict=True))
        made = [
            _cell(cell, decimals, reach.get(key, Reach("")), is_judged=is_judged)
            for key, cell in zip(keys, mine.to_dict("records"), strict=True)
        ]
        found |= zip(keys, _aligned(made), strict=True)
    rows, columns = cells["row"].unique(), cells["column"].unique()
    return SimpleNamespace(
        corner=corner,
        unit="" if unit == RANK else unit,
        columns=_named(columns, methods),
        rows=[
            (row, method, [found.get((row, name)) for name in columns])
            for row, method in _named(rows, methods)
        ],
        is_of_ranks=unit == RANK,
        has_published=any(cell.printed for cell in found.values()),
    )


def _named(names: Iterable[str], methods: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return rows or columns with the methods, "" for none, that they alone are of."""
    found = {name: methods.get(name, "") for name in names}
    counts = Counter(found.values())
    return [(name, m if counts[m] == 1 else "") for name, m in found.items()]


def methods_of(artefact: Artefact, labels: Mapping[str, str]) -> dict[str, str]:
    """Return which rows and columns of a configured table are methods."""
    if isinstance(artefact, Ranking | RankTests):
        columns = artefact.comparison.methods.items()
        return {name: labels.get(method, name) for name, (method,) in columns}
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


def with_print(cells: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Return cells with what is said of printed numbers that are not legible."""
    unclear = printed[printed["status"] != "legible"]
    sources = unclear.set_index(["row", "column"])["source"].to_dict()
    keys = zip(cells["row"], cells["column"], strict=True)
    return cells.assign(in_print=[sources.get(key, "") for key in keys])


def ranks_apart(cells: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the numbers of a table, and its mean ranks."""
    return [part for _, part in cells.groupby(cells["unit"] == RANK)]


def _cell(cell: _Row, decimals: int, reach: Reach, *, is_judged: bool) -> NumberCell:
    is_legible = cell.get("status") not in NO_NUMBER
    has_number = not pd.isna(cell["reproduced"])
    verdict = _text(cell.get("verdict")) if is_judged or not has_number else ""
    if verdict == NOT_JUDGED or (has_number and not is_legible):
        verdict = ""
    printed, published = _sides(cell, "published", decimals)
    ours, reproduced = _sides(cell, "reproduced", decimals)
    status, in_print = _text(cell.get("status")), _text(cell.get("in_print"))
    if not printed and not is_legible:
        printed = published = status
    elif status not in ("", "legible"):
        printed, published = f"{printed} ?", f"{published} ({status})"
    n = f" (n = {int(cell['n'])})" if not pd.isna(cell.get("n")) else ""
    told = [
        verdict,
        _text(cell.get("missing")) or _text(cell.get("rule")),
        published and f"published {published}",
        reproduced and f"reproduced {reproduced}{n}",
        f"other readings: {reach.text()}"
        if verdict == DIFFERENT and reach.words
        else "",
        in_print and f"in print: {in_print}",
    ]
    return NumberCell(
        printed=printed,
        ours=ours,
        verdict=verdict,
        difference=_difference(cell, decimals),
        details="; ".join(filter(None, told)),
    )


def _sides(cell: _Row, side: str, decimals: int) -> tuple[str, str]:
    """Return a number alone, and with its spread and rank; "" for none."""
    if pd.isna(cell.get(side)):
        return "", ""
    alone = text = number(cell[side], f".{decimals}f")
    sd, rank = cell.get(f"{side}_sd"), cell.get(f"{side}_rank")
    if not pd.isna(sd) and sd > 0 and (side == "published" or cell.get("n") != 1):
        text += f" ± {sd:.{decimals}f}"
    return alone, text if rank is None or pd.isna(rank) else f"{text}, rank {rank:g}"


def _difference(cell: _Row, decimals: int) -> str:
    if pd.isna(cell["reproduced"]) or pd.isna(cell.get("published")):
        return ""
    value = cell["reproduced"] - cell["published"]
    # There is no room for more in a narrow column, and no need.
    return number(value, f"+.{min(decimals, 1) if abs(value) >= 10 else decimals}f")


def _aligned(cells: Sequence[NumberCell]) -> Iterable[NumberCell]:
    """Pad the numbers of a column, so that their decimal points stand in one line."""
    texts = [text for cell in cells for text in (cell.printed, cell.ours)]
    width = max(map(_width, texts), default=0)
    for cell in cells:
        yield cell._replace(
            **{
                side: _FIGURE_SPACE * (width - _width(text)) + text
                for side in ("printed", "ours")
                if _width(text := getattr(cell, side))
            }
        )


def _width(text: str) -> int:
    """Count the characters before the decimal point; 0 for what is no number."""
    whole = text.partition(" ")[0].partition(".")[0]
    return len(whole) if whole[-1:].isdigit() else 0


def _decimals_of(printed: pd.Series) -> int:
    texts = [f"{value:g}" for value in printed.dropna()]
    found = max((len(text.partition(".")[2]) for text in texts), default=2)
    return min(found + 1, _MAX_DECIMALS)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
