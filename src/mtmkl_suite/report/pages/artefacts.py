"""Figures and tables on the page of their paper."""

import json
import math
import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pandas as pd

from mtmkl_suite.config.models import Artefact, Figure, Ranking, Table
from mtmkl_suite.files import read_table
from mtmkl_suite.judge.reach import DIFFERENT, STATUSES
from mtmkl_suite.judge.verdicts import NOT_JUDGED
from mtmkl_suite.report.context import NO_SCORES, NOT_IN_TIER, Context
from mtmkl_suite.report.figures.drawing import data_uri
from mtmkl_suite.report.pages.rendering import address
from mtmkl_suite.report.pages.verdicts import Answer
from mtmkl_suite.report.record.published_reach import (
    Reach,
    ReachOfCells,
    read_reach,
)
from mtmkl_suite.report.record.record import PublishedRecord, Written, read_written
from mtmkl_suite.report.tables.cells import RANK
from mtmkl_suite.report.tables.text import TextTable, value_text
from mtmkl_suite.run.folders import PaperFolder, RunFolder

_MOST_VALUES = 400
"""Rows of the values of a figure on its page; all are in its csv."""

_FIGURE_SPACE = "\N{FIGURE SPACE}"
_TWO_READINGS = "weaker of two readings: "
_AROUND = re.compile(r"^Table \d+: |, see docs/\S+")
"""Words around the reason why a printed number is uncertain."""

_MEAN_RANK_DECIMALS, _MAX_DECIMALS = 2, 4

Record = Mapping[Hashable, Any]

_MOST_CURVES = 6

_MOST_PANELS = 4

_LONGEST = 900

_DRAWN = (
    ("panel", "series", "x", "mean"),
    ("panel", "series", "organism", "mean"),
    ("panel", "series", "method", "mean rank"),
    ("", "solver", "count", "mean"),
    ("", "solver", "n", "seconds"),
    ("n_tasks", "solver", "iteration", "objective"),
    ("", "method", "train_size", "mean_rank"),
    ("", "method", "seconds", "score"),
)
"""Columns of a figure's numbers that are its panels, series, places and values."""


class NumberCell(NamedTuple):
    """A published number and ours as text, "" where there is none.

    Numbers of one column are padded to the same place of the decimal point. ``record``
    is the published record's, where the run has no verdict; ``note`` has the rule with
    the numbers put in, or why there is no number. ``status`` is that of the reach of a
    *different* number, and ``reach`` has more of it; ``in_print`` says why a printed
    number is not legible, or not certain.
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
    status: str = ""
    difference: str = ""
    in_print: str = ""

    @property
    def shown_verdict(self) -> str:
        """The verdict of the run, or of the record where the run has none."""
        return self.record_verdict or self.verdict

    @property
    def printed(self) -> str:
        """The published number alone, with a mark if it is hard to read."""
        alone, _, status = _alone(self.published).partition(" (")
        return f"{alone} ?" if status else alone

    @property
    def ours(self) -> str:
        """The number that the verdict is on, alone."""
        return _alone(self.record or self.reproduced)

    @property
    def details(self) -> str:
        """All that is known of the number, the rule of its verdict first."""
        of_run = "this run" if self.record else "reproduced"
        numbers = {
            "published": (self.published, ""),
            "published record": (self.record, self.record_n),
            of_run: (self.reproduced, self.n),
        }
        told = [self.shown_verdict, self.note]
        for name, (text, n) in numbers.items():
            if text.strip():
                told.append(f"{name} {text.strip()}" + f" ({n})" * bool(n))
        told += [f"other readings: {self.reach}"] * bool(self.reach)
        told += [f"in print: {self.in_print}"] * bool(self.in_print)
        return "; ".join(filter(None, told))


class NumberTable(NamedTuple):
    """Rows and columns of cells, with the methods that they stand for ("" for none)."""

    corner: str
    unit: str
    columns: list[tuple[str, str]]
    rows: list[tuple[str, str, list[NumberCell | None]]]
    is_of_ranks: bool = False

    @property
    def has_published(self) -> bool:
        """True if there is a printed number."""
        return any(cell and cell.printed for _, _, row in self.rows for cell in row)


def _alone(text: str) -> str:
    return re.sub(r" ± [\d.]+|, rank [\d.]+", "", text)


def number_table(
    cells: pd.DataFrame,
    published: pd.DataFrame,
    corner: str,
    decimals: int | None,
    methods: Mapping[str, str],
    *,
    is_judged: bool,
    reach: ReachOfCells,
) -> NumberTable:
    """Return a table from its cells and those of the published record.

    ``cells``: Of the run, with columns ``row, column, published, reproduced, verdict``
    and others of :data:`mtmkl_suite.report.tables.cells.CELL_COLUMNS`.
    """
    mine, record = _by_place(cells), _by_place(published)
    if decimals is None:
        decimals = _decimals_of(cells["published"])
    aligned = defaultdict(list)
    for key, cell in mine.items():
        aligned[key[1], cell.get("unit") == RANK].append(key)
    texts: dict[tuple[str, str], NumberCell] = {}
    for (_, is_rank), keys in aligned.items():
        places = _MEAN_RANK_DECIMALS if is_rank else decimals
        made = [
            _cell(
                mine[key],
                record.get(key, {}),
                decimals=places,
                is_judged=is_judged,
                reach=reach.get(key, Reach("")),
            )
            for key in keys
        ]
        texts |= dict(zip(keys, _aligned(made), strict=True))
    rows, columns = (dict.fromkeys(key[side] for key in mine) for side in (0, 1))
    units = list(cells["unit"].dropna().unique()) if "unit" in cells else []
    return NumberTable(
        corner=corner,
        unit=next((str(unit) for unit in units if unit != RANK), ""),
        columns=list(_named(columns, methods)),
        rows=[
            (row, method, [texts.get((row, name)) for name in columns])
            for row, method in _named(rows, methods)
        ],
        is_of_ranks=units == [RANK],
    )


def _named(
    names: Iterable[str], methods: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield rows or columns with the methods that they stand for, each by itself."""
    found = {name: methods.get(name, "") for name in names}
    several = {method for method, n in Counter(found.values()).items() if n > 1}
    yield from ((name, "" if m in several else m) for name, m in found.items())


def by_reach(
    tables: Iterable[NumberTable],
) -> list[tuple[str, int, dict[str, list[str]]]]:
    """Return each status of reach, how many numbers have it, and which, by row."""
    found: dict[str, dict[str, list[str]]] = {status: {} for status in STATUSES}
    for table in tables:
        for row, row_method, cells in table.rows:
            for cell, (column, method) in zip(cells, table.columns, strict=True):
                if cell and cell.status:
                    rows = found[cell.status]
                    rows.setdefault(row_method or row, []).append(method or column)
    counted = [(name, sum(map(len, r.values())), r) for name, r in found.items()]
    return [each for each in counted if each[1]]


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
    cell: Record, published: Record, *, decimals: int, is_judged: bool, reach: Reach
) -> NumberCell:
    has_number = _is_number(cell["reproduced"])
    verdict = _text(cell.get("verdict"))
    is_open = not has_number or not is_judged
    from_record = is_open and _is_number(published.get("reproduced"))
    note = _text(cell.get("missing")) or _deciding(_text(cell.get("rule")))
    if from_record:
        # That a smoke test leaves something out is no news of the record.
        note = "" if note in (NO_SCORES, NOT_IN_TIER) else note
        rule = _deciding(_text(published.get("rule")))
        note = "; ".join(filter(None, (rule, note)))
    shown = verdict if is_judged or not has_number else ""
    record_verdict = _text(published.get("verdict")) if from_record else ""
    if cell.get("status") == "illegible" and (has_number or from_record):
        # The number in the paper cannot be read: there is nothing to compare.
        shown = record_verdict = ""
    is_different = (record_verdict or shown) == DIFFERENT
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
        reach=reach.text() if is_different else "",
        status=reach.status if is_different else "",
        difference=_difference(cell, published if from_record else cell, decimals),
        in_print=_text(cell.get("in_print")),
    )


def _deciding(rule: str) -> str:
    """Return the rule of a number with two readings, the one that decides first."""
    if not rule.startswith(_TWO_READINGS):
        return rule
    readings = rule.removeprefix(_TWO_READINGS).split("; ")
    # A reproduced number exceeds no limit, a close one one, a different one both.
    exceeded = [reading.count(" > ") for reading in readings]
    if len(set(exceeded)) == 1:
        return f"the same under both readings, {'; '.join(readings)}"
    _, weaker = max(zip(exceeded, readings, strict=True))
    rest = "; ".join(reading for reading in readings if reading != weaker)
    return f"decided by the reading {weaker}; the other, {rest}"


def _difference(printed: Record, ours: Record, decimals: int) -> str:
    if not (_is_number(printed.get("published")) and _is_number(ours["reproduced"])):
        return ""
    value = ours["reproduced"] - printed["published"]
    if abs(value) >= 10:
        # There is no room for more in a narrow column, and no need.
        decimals = min(decimals, 1)
    return f"{value:+.{decimals}f}".replace("-", "\N{MINUS SIGN}")


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


def artefact_view(
    name: str,
    context: Context,
    folder: PaperFolder,
    record: PublishedRecord | None,
    answer: Answer,
    facts: list[dict[str, Any]],
    *,
    is_here: bool = True,
) -> SimpleNamespace:
    """Return what is shown of a figure or table: its numbers, answer and files.

    ``image`` is a data URI and ``alternative`` the figure in words, both "" for a
    table; ``numbers`` has the numbers that the paper quotes in its text last, ``texts``
    are tables of another form, ``values`` what a figure draws, and ``curves`` those of
    them that the page can draw. ``layout`` is that of tables of its kind. A quick
    run shows the record, if there is one, and ``own`` is then the like of the run; what
    ``is_here`` says it did not make is of the record alone.
    """
    artefact = context.config.artefacts[name]
    of_record = record.verdicts[record.verdicts["artefact"] == name] if record else None
    gap: dict[str, Any] = {"reproduced": math.nan, "rule": "", "missing": NOT_IN_TIER}
    if is_here:
        mine = read_written(folder, name)
    else:
        assert of_record is not None
        mine = Written([], of_record.assign(**gap))
    texts = list(mine.tables[: -1 if artefact.quoted else None])
    view = SimpleNamespace(
        id=name, title=artefact.title, image="", alternative="", values=None, curves="",
        texts=texts, is_of_record=False, answer=answer, facts=facts, own=None,
        layout=getattr(artefact, "layout", name),
    )  # fmt: skip
    view.name, view.subtitle = names_of(name, artefact.title)
    endings: tuple[str, ...] = ("csv", "md")
    numbers: list[tuple[Any, ...]] = []
    if isinstance(artefact, Figure):
        endings = ("svg", "pdf", "csv")
        svg = folder.artefact(name, "svg")
        drawn = pd.DataFrame({"no data": []})
        if is_here:
            drawn = read_table(folder.artefact(name, "csv"))
        has_data = "no data" not in drawn
        recorded = record.artefact(name, "svg") if record else None
        is_open = context.is_smoke_test or not has_data
        # One of equations alone is the same in both.
        is_same = is_here and recorded and _same(recorded, svg)
        if record and recorded and is_open and not is_same:
            if has_data:
                view.own = _drawing(artefact.title, svg, drawn) | {
                    "texts": [],
                    "notes": [],
                }
            svg, drawn, view.is_of_record = recorded, record.cells(name), True
        vars(view).update(_drawing(artefact.title, svg, drawn))
        view.values = None if "no data" in drawn else values_of(drawn)
        view.curves = curves_of(drawn)
        view.texts = []
    elif isinstance(artefact, Table | Ranking):
        published = record.cells(name) if record else pd.DataFrame()
        cells = published.assign(**gap)
        if is_here:
            cells = read_table(folder.artefact(name, "csv"))
        labels = {key: context.label(key) for key in context.config.methods}
        corner = "data set, training"
        if isinstance(artefact, Table):
            corner = artefact.corner
        grid = corner, artefact.decimals, methods_of(artefact, labels)
        view.is_of_record = cells["reproduced"].isna().all() and len(published) > 0
        if context.is_smoke_test and len(published):
            cells = of_the_record(cells, published)
        cells = _with_print(cells, context.published.get(artefact.file))
        numbers.append((cells, published, *grid))
        view.texts = []
    elif record and (path := record.artefact(name, "md")):
        is_open = bool(len(mine.verdicts) and mine.verdicts["reproduced"].isna().all())
        is_open = is_open or not is_here
        if context.is_smoke_test or is_open:
            view.is_of_record = True
            view.own = None if is_open else {"image": "", "texts": texts, "notes": []}
            view.texts = [_from_markdown(path)]
    if artefact.quoted is not None:
        places = {(cell.row, cell.column) for cell in artefact.quoted.cells}
        rows = mine.verdicts
        keys = zip(rows["row"], rows["column"], strict=True)
        published = pd.DataFrame() if of_record is None else of_record
        quoted = rows[[key in places for key in keys]]
        printed = context.published.get(artefact.quoted.file)
        quoted = _with_print(quoted, printed)
        numbers.append((quoted, published, "quoted in the text", None, {}))
    reach, is_judged = read_reach(context.config, name), context.is_judged
    tables = [
        number_table(*part, *grid, is_judged=is_judged, reach=reach)
        for cells, published, *grid in numbers
        for part in _ranks_apart(cells, published)
    ]
    view.numbers = [table for table in tables if table.rows]
    view.reach = by_reach(view.numbers)
    notes = dict.fromkeys(note for table in mine.tables for note in table.notes)
    view.notes = [] if view.texts else list(notes)
    path = record.artefact(name, "md") if record and view.numbers else None
    shown = (each for table in view.numbers for _, _, row in table.rows for each in row)
    if path and any(each and each.record for each in shown):
        # What is shown is the record: notes of a few repeats would contradict it.
        if not view.is_of_record:
            view.own = view.own or {"image": "", "texts": []}
            view.own["notes"] = view.notes
        view.notes = _notes(path)
    view.uncertain = _uncertain(view.numbers)
    source = folder.path / "artefacts"
    if view.is_of_record and record:
        source = record.folder
    paths = [source / f"{name}.{ending}" for ending in endings]
    run = RunFolder(folder.path.parent)
    view.links = [(p.suffix[1:], address(p, run)) for p in paths if p.is_file()]
    return view


def of_the_record(cells: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Return cells without numbers of a few repeats beside those of the record."""
    known, ours = (
        pd.MultiIndex.from_frame(each[["row", "column"]].astype(str))
        for each in (published.dropna(subset="reproduced"), cells)
    )
    is_known = ours.isin(known)
    if not is_known.any():
        return cells
    gap = {"reproduced": math.nan, "missing": "not in the published record"}
    return cells.assign(**{k: cells[k].where(is_known, v) for k, v in gap.items()})


def _with_print(cells: pd.DataFrame, printed: pd.DataFrame | None) -> pd.DataFrame:
    """Return cells with what is said of printed numbers that are not legible."""
    if printed is None:
        return cells.assign(in_print="")
    sources = {
        (str(row["row"]), str(row["column"])): str(row["source"])
        for row in printed.to_dict("records")
        if row["status"] != "legible"
    }
    keys = zip(cells["row"].astype(str), cells["column"].astype(str), strict=True)
    return cells.assign(in_print=[sources.get(key, "") for key in keys])


def _uncertain(tables: Iterable[NumberTable]) -> str:
    """Say why numbers of some tables can be read in two ways, each reason once."""
    shown = (cell for table in tables for _, _, row in table.rows for cell in row)
    return "; ".join(
        dict.fromkeys(
            _AROUND.sub("", cell.in_print.rpartition("; ")[2])
            for cell in shown
            if cell and cell.printed.endswith("?") and cell.in_print
        )
    )


def _ranks_apart(
    cells: pd.DataFrame, published: pd.DataFrame
) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Yield the numbers of a table, and then its mean ranks."""
    if "unit" not in cells:
        yield cells, published
        return
    is_rank = cells["unit"] == RANK
    for part in (cells[~is_rank], cells[is_rank]):
        if len(part):
            yield part, published


def names_of(artefact: str, title: str) -> tuple[str, str]:
    """Return ``figure_3`` as "Figure 3" with its title below; else the title alone."""
    if not any(character.isdigit() for character in artefact):
        return title, ""
    return artefact.replace("_", " ").capitalize(), title


def _same(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()


def _drawing(title: str, svg: Path, numbers: pd.DataFrame) -> dict[str, str]:
    """Return a figure as a data URI, and in words."""
    return {
        "image": data_uri(svg.read_bytes()),
        "alternative": figure_in_words(title, numbers),
    }


def curves_of(numbers: pd.DataFrame) -> str:
    """Return the curves of a figure as JSON, "" if it has none.

    That is a list of panels, ``[name, [[series, x, means, standard deviations]],
    names of the x]``, the last empty where they are numbers.
    """
    sought = ([c for c in each if c] for each in _DRAWN)
    found = next((c for c in sought if set(c) <= set(numbers.columns)), None)
    if found is None:
        return ""
    points = numbers.dropna(subset=found)
    of_panel, (series, x, mean) = found[:-3], found[-3:]
    value = f"{_plain(mean)} against {_plain(x)}" * (mean != "mean" or not of_panel)
    spread = points.get("sd", math.nan)
    points = points.assign(sd=spread).astype({mean: float})
    panels = []
    for panel, mine in points.groupby(of_panel or (lambda _: ""), sort=False):
        names: list[str] = []
        if not pd.api.types.is_numeric_dtype(mine[x]):
            places, named = pd.factorize(mine[x])
            mine, names = mine.assign(**{x: places}), [str(name) for name in named]
        mine = mine.sort_values(x, kind="stable")
        # Of one place alone there is no curve.
        curves = [
            [_plain(name), *(_rounded(rows[side]) for side in (x, mean, "sd"))]
            for name, rows in mine.groupby(series, sort=False)
            if rows[x].nunique() > 1 or len(mine) == mine[series].nunique() > 1
        ]
        of = "".join(map(str, panel if isinstance(panel, tuple) else [panel]))
        if of_panel not in ([], ["panel"]):
            of = f"{of_panel[0]} {of}"
        of = "; ".join(filter(None, (_plain(of), value)))
        panels += [[of, curves, names]] if curves else []
    return json.dumps(panels, ensure_ascii=False) if panels else ""


def _rounded(values: pd.Series) -> list[float | None]:
    return [None if pd.isna(v) else float(f"{v:.5g}") for v in values]


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


def _notes(path: Path) -> Sequence[str]:
    """Return what stands below a published table in its Markdown."""
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return [line for line in lines if line and not line.startswith("|")]


def _from_markdown(path: Path) -> TextTable:
    """Return a published table from its Markdown."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [
        [cell.strip().replace("\\|", "|") for cell in line.strip("|").split(" | ")]
        for line in lines
        if line.startswith("|")
    ]
    return TextTable(rows[0], rows[2:], _notes(path))


def figure_in_words(title: str, numbers: pd.DataFrame) -> str:
    """Return the alt text of a figure."""
    if "no data" in numbers:
        return f"{title}. No data: {numbers['no data'].iloc[0]}."
    parts: list[str] = []
    if {"series", "x", "mean"} <= set(numbers.columns):
        parts += _curves(numbers.dropna(subset=["series", "x", "mean"]))
    if {"row", "task", "value"} <= set(numbers.columns):
        parts += _matrices(numbers.dropna(subset=["row", "task", "value"]))
    if not parts:
        shown = numbers.select_dtypes("number").dropna(axis="columns", how="all")
        parts = [
            f"{_plain(name)} from {values.min():.3g} to {values.max():.3g}"
            for name, values in shown.items()
        ]
    text = f"{title.rstrip('.')}. {'; '.join(parts)}."
    return textwrap.shorten(text, _LONGEST, placeholder=" …")


def _panels(numbers: pd.DataFrame) -> list[tuple[Any, pd.DataFrame]]:
    if numbers.empty or "panel" not in numbers:
        return [("", numbers)] if len(numbers) else []
    return list(numbers.groupby("panel", sort=False))[:_MOST_PANELS]


def _curves(points: pd.DataFrame) -> Iterator[str]:
    for panel, mine in _panels(points):
        series = []
        for name, curve in list(mine.groupby("series", sort=False))[:_MOST_CURVES]:
            ordered = curve.sort_values("x")
            first, last = ordered.iloc[0], ordered.iloc[-1]
            text = f"{name} {first['mean']:.3g} at {first['x']:.3g}"
            if last["x"] != first["x"]:
                text += f", {last['mean']:.3g} at {last['x']:.3g}"
            series.append(text)
        more = mine["series"].nunique() - len(series)
        if more > 0:
            series.append(f"{more} more curves")
        heading = f"Panel {_plain(panel)}: " if panel else ""
        yield heading + "; ".join(series)


def _matrices(entries: pd.DataFrame) -> Iterator[str]:
    for panel, mine in _panels(entries):
        sizes = f"{mine['row'].nunique()} rows by {mine['task'].nunique()} tasks"
        ends = f"{mine['value'].min():.3g} to {mine['value'].max():.3g}"
        yield f"Matrix {panel}: {sizes}, values from {ends}"


def _plain(name: object) -> str:
    return str(name).replace("_", " ")
