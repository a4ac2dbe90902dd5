"""Tables of methods ranked over data sets, and of the tests of their mean ranks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mtmkl_suite.config.models import Comparison, Ranking, RankTests, Tolerance
from mtmkl_suite.judge.comparison import ranking_matrix, rows_of
from mtmkl_suite.judge.verdicts import Published, Reproduced, Verdict, weakest
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.published_reach import Marks
from mtmkl_suite.report.tables.cells import (
    CELL_COLUMNS,
    CELL_NOTE,
    NOT_JUDGED_NOTE,
    OURS,
    RANK,
    judge_cells,
    judged_cell,
    published_numbers,
    rule_note,
    with_verdicts,
)
from mtmkl_suite.report.tables.comparison import notes_on_printed_ranks
from mtmkl_suite.report.text import (
    DASH,
    PrintedTable,
    metric_words,
    repeats_text,
    with_sd,
)
from mtmkl_suite.statistics.pairs import LEVEL
from mtmkl_suite.statistics.ranks import (
    FriedmanResult,
    friedman,
    holm_against_control,
    rank_methods,
)

MEAN_RANK, STATISTIC, P_VALUE, ADJUSTED_LEVEL = (
    "mean rank", "test statistic", "p value", "adjusted α",
)  # fmt: skip
DOMINATED = "methods dominated"

RANK_COLUMNS = (*CELL_COLUMNS, "published_rank", "reproduced_rank")
"""Columns of a ranking's csv."""

TEST_COLUMNS = (*CELL_COLUMNS, "recomputed")
"""Columns of the csv of rank tests; ``recomputed`` is from the published accuracies."""

_ACCURACIES = "table_1.csv"
_NO_DATA = "no data"
_INCOMPLETE = "not every method has a value on every data set"
_FORMS = {STATISTIC: ".2f", P_VALUE: ".4f", ADJUSTED_LEVEL: ".4f"}
_SIDES = {"recomputed": "of the published accuracies", "reproduced": "reproduced"}


def mean_ranks(
    context: Context, comparison: Comparison, block: str
) -> FriedmanResult | None:
    """Return mean ranks and Friedman's test of a block, from reproduced means."""
    matrix = ranking_matrix(context.scores, comparison, block)
    if len(matrix) < 2 or matrix.isna().to_numpy().any():
        return None
    return friedman(matrix, higher_better=True)


def printed_mean_ranks(
    context: Context, comparison: Comparison, block: str
) -> FriedmanResult:
    """Return mean ranks and Friedman's test of a block, from published accuracies."""
    printed = context.published[_ACCURACIES]
    values = printed.pivot(index="row", columns="column", values="value")
    rows = [f"{name}, {block}" for name, _ in rows_of(comparison, block)]
    return friedman(values.loc[rows, list(comparison.columns)], higher_better=True)


def rank_tests(over_all: FriedmanResult, control: str) -> pd.DataFrame:
    """Return the tests of mean ranks against a control as papers print them.

    The adjusted level of the i-th smallest of m p-values is 0.05 / (m − i + 1); equal
    ones are taken in the order of the methods.
    """
    tests = holm_against_control(over_all.ranks, over_all.n_blocks, control)
    order = tests["p"].argsort(kind="stable").to_numpy()
    levels = np.empty(len(tests))
    levels[order] = LEVEL / np.arange(len(tests), 0, -1)
    named = tests.rename(columns={"z": STATISTIC, "p": P_VALUE})
    return named.assign(**{ADJUSTED_LEVEL: levels})


def count_dominated(tests: pd.DataFrame) -> int:
    """Return how many methods Holm's procedure finds worse than the control."""
    return int(((tests["p_holm"] < LEVEL) & (tests[STATISTIC] > 0)).sum())


def build_ranking(context: Context, artefact: Ranking) -> PrintedTable:
    """Return a table of methods ranked over data sets, block by block.

    A row with ``readings`` has a printed number of which the metric is uncertain: it
    gets the weaker of the verdicts under its metric and under the readings. Ranks are
    those of its metric. Metrics ``beside`` are shown, and not judged.
    """
    comparison = artefact.comparison
    file, decimals = artefact.file, artefact.decimals
    cells, acceptance = _metric_cells(context, artefact, "metric")
    others, _ = _metric_cells(context, artefact, "readings")
    beside, _ = _metric_cells(context, artefact, "beside")
    if context.is_judged:
        cells = _weaker_of_readings(cells, others)
    ranks = pd.concat(
        [
            _ranks(ranking_matrix(context.scores, comparison, block), block)
            for block in comparison.blocks
        ]
    )
    keys = pd.MultiIndex.from_frame(cells[["row", "column"]])
    printed = context.published[file].set_index(["row", "column"])["rank"]
    cells = cells.assign(
        published_rank=printed.reindex(keys).to_numpy(),
        reproduced_rank=ranks.reindex(keys).to_numpy(),
    )
    headings = _mean_rank_cells(context, artefact)
    marks = Marks(context.reach, pd.concat([cells, headings]))
    body = []
    for block in comparison.blocks:
        for name, row in rows_of(comparison, block):
            main = cells[cells["row"] == f"{name}, {block}"]
            lines = [
                _with_ranks(main, side, decimals)
                for side in ("published", "reproduced")
            ]
            parts = [(others, label, label) for label in row.readings]
            parts += [(beside, label, f"{label} {OURS}") for label in row.beside]
            more = []
            for of, label, heading in parts:
                mine = of[of["row"] == f"{name} ({label}), {block}"]
                texts = _with_ranks(mine, "reproduced", decimals)
                more.append([f"{heading}: {text}" for text in texts])
            body.append(_row(block, name, main, lines, marks, more))
        mean = headings[headings["row"] == f"{MEAN_RANK}, {block}"]
        theirs = printed_mean_ranks(context, comparison, block).ranks
        mean = mean.assign(recomputed=theirs[mean["column"]].to_numpy())
        body.append(_row_over_all(block, MEAN_RANK, mean, ".2f", marks))
    counts = cells["n"].dropna()
    repeats = repeats_text(counts) if len(counts) else "repeats"
    # The number of a second reading is printed once.
    shown = pd.concat([cells, others.assign(in_paper=False), beside, headings])
    notes = (
        f"In {artefact.unit}: mean ± standard deviation over "
        f"{repeats}, and the rank of the mean among the methods; equal means share "
        "theirs.",
        *[CELL_NOTE] * context.is_judged,
        rule_note(context, artefact.tolerance, artefact.unit, acceptance),
        *_remarks_on_ranks(artefact, is_judged=context.is_judged),
        *marks.notes(),
        *notes_on_printed_ranks(context, comparison),
        *_reasons_of(shown),
    )
    cells = shown.reindex(columns=list(RANK_COLUMNS)).reset_index(drop=True)
    header = ("training", "data set", *comparison.columns)
    return PrintedTable(artefact.title, cells, header, body, notes)


def _metric_cells(
    context: Context, artefact: Ranking, part: str
) -> tuple[pd.DataFrame, str]:
    """Return the cells of some metrics of every row, judged if they are the paper's."""
    comparison = artefact.comparison
    in_paper = part != "beside"
    labels: list[str] = []
    cells = []
    for block, selector in comparison.blocks.items():
        for name, row in rows_of(comparison, block):
            metrics = {name: row.metric}
            if part != "metric":
                metrics = {f"{name} ({k})": m for k, m in getattr(row, part).items()}
            for label, metric in metrics.items():
                key = f"{name if in_paper else label}, {block}"
                labels += [f"{label}, {block}"] * len(comparison.columns)
                of = {"experiment": row.experiment, "metric": metric, "setting": ""}
                cells += [
                    (key, column, {**selector, **of, "method": method}, in_paper)
                    for column, (method,) in comparison.methods.items()
                ]
    frame, acceptance = judge_cells(context, cells, artefact, comparison.scale)
    return frame.assign(row=labels, printed_row=frame["row"]), acceptance


def _weaker_of_readings(cells: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Give every cell with a second reading the weaker of its verdicts."""
    parts = ["verdict", "rule", "verdict_with_spread"]
    cells = cells.copy()
    for other in others.to_dict("records"):
        is_same = cells["row"] == other["printed_row"]
        is_same &= cells["column"] == other["column"]
        for place in cells.index[is_same]:
            both = (cells.loc[place], other)
            found = weakest({
                each["row"].rpartition(", ")[0]: Verdict(*(each[k] for k in parts))
                for each in both
            })  # fmt: skip
            cells.loc[place, parts] = [found.verdict, found.rule, found.with_spread]
    return cells


def _ranks(matrix: pd.DataFrame, block: str) -> pd.Series:
    """Return ranks by (row, column); none where a method has no value."""
    ranks = rank_methods(matrix.dropna(), higher_better=True)
    ranks.index = [f"{name}, {block}" for name in ranks.index]
    return pd.Series(ranks.stack(), dtype=float)


def _mean_rank_cells(context: Context, artefact: Ranking) -> pd.DataFrame:
    comparison = artefact.comparison
    printed = published_numbers(context, artefact.file)
    place = {"unit": RANK, "data": _origin_of(context, comparison)}
    rows = []
    for block in comparison.blocks:
        row, over_all = f"{MEAN_RANK}, {block}", mean_ranks(context, comparison, block)
        ranks: Any = {} if over_all is None else over_all.ranks
        n = len(list(rows_of(comparison, block)))
        for column in comparison.columns:
            theirs, tolerance = printed[row, column], artefact.rank_tolerance
            cell = rank_cell(context, theirs, ranks.get(column), n, tolerance)
            rows.append(cell | {"row": row, "column": column, **place})
    return pd.DataFrame(rows, columns=list(CELL_COLUMNS))


def _with_ranks(cells: pd.DataFrame, side: str, decimals: int) -> list[str]:
    """Return "mean ± sd (rank)" of one side."""
    texts = []
    for cell in cells.to_dict("records"):
        if pd.isna(cell[side]):
            texts.append(_NO_DATA if side == "reproduced" else DASH)
            continue
        text = with_sd(cell[side], cell[f"{side}_sd"], decimals)
        rank = cell.get(f"{side}_rank")
        texts.append(text if rank is None or pd.isna(rank) else f"{text} ({rank:g})")
    return texts


def _remarks_on_ranks(artefact: Ranking, *, is_judged: bool) -> list[str]:
    """Say how mean ranks are judged, and which of its readings ranks a row."""
    tolerance = artefact.rank_tolerance.absolute
    remarks = [f"Mean ranks: tol = {tolerance:g}, without a spread."] * is_judged
    for name, row in artefact.comparison.rows.items():
        metric = metric_words(row.metric)
        judged = ""
        if is_judged:
            readings = ", ".join([metric, *row.readings])
            judged = f", the verdict is the weaker of the readings {readings}"
        beside = [f" {OURS} {label} is not judged." for label in row.beside]
        if row.readings:
            remarks.append(
                f"{name}: what the printed number measures is uncertain; ranks are by "
                f"{metric}{judged}.{''.join(beside * is_judged)}"
            )
    return remarks


def build_rank_tests(context: Context, artefact: RankTests) -> PrintedTable:
    """Return the tests of mean ranks: published, recomputed from print, reproduced."""
    comparison, tolerances = artefact.comparison, artefact.tolerances
    control = comparison.control
    printed = published_numbers(context, artefact.file)
    texts = published_numbers(context, "texts.csv")
    baselines = [column for column in comparison.columns if column != control]
    origin = _origin_of(context, comparison)
    rows: list[dict[str, Any]] = []
    body = []
    remarks: list[str] = []
    for block in comparison.blocks:
        in_text = texts[f"{control}, {block}", DOMINATED]
        printed[f"{DOMINATED}, {block}", control] = in_text
        sides = {"recomputed": printed_mean_ranks(context, comparison, block)}
        if over_all := mean_ranks(context, comparison, block):
            sides["reproduced"] = over_all
        n = sides["recomputed"].n_blocks
        found = {side: _quantities(one, control) for side, one in sides.items()}
        for quantity, recomputed in found["recomputed"].items():
            row, tolerance = f"{quantity}, {block}", tolerances[quantity]
            reproduced: Any = found.get("reproduced", {}).get(quantity, {})
            mine = []
            for column, value in zip(
                map(str, recomputed.index), recomputed, strict=True
            ):
                theirs, ours = printed[row, column], reproduced.get(column)
                cell = rank_cell(context, theirs, ours, n, tolerance)
                cell |= {"row": row, "column": column, "unit": "", "data": origin}
                mine.append(cell | {"recomputed": float(value)})
            rows += mine
            if form := _FORMS.get(quantity):
                shown = pd.DataFrame(mine, columns=list(TEST_COLUMNS))
                marks = Marks(context.reach, shown)
                body.append(_row_over_all(block, quantity, shown, form, marks))
        for side, one in sides.items():
            rows += _friedman_rows(block, side, one, origin)
            remarks.append(
                f"{block}, {_SIDES[side]}: Friedman χ² = {one.chi2:.2f}, p = "
                f"{one.p:.2g}; Iman–Davenport F = {one.f:.2f}, p = "
                f"{one.p_iman_davenport:.2g}; {found[side][DOMINATED][control]} of "
                f"{len(baselines)} methods worse than "
                f"{context.label(comparison.methods[control][0])} by Holm's test at "
                f"{LEVEL:g} over {one.n_blocks} data sets (in the text "
                f"{in_text.value:g})."
            )
    cells = pd.DataFrame(rows, columns=list(TEST_COLUMNS))
    notes = (
        *remarks,
        *[CELL_NOTE] * context.is_judged,
        _rule_of_tests(tolerances) if context.is_judged else NOT_JUDGED_NOTE,
        *notes_on_printed_ranks(context, comparison),
        *_reasons_of(cells),
    )
    header = ("training", "", *baselines)
    return PrintedTable(artefact.title, cells, header, body, notes)


def _quantities(over_all: FriedmanResult, control: str) -> dict[str, pd.Series]:
    """Return the numbers that papers print of the tests of mean ranks, by column."""
    tests = rank_tests(over_all, control)
    found = {name: tests[name] for name in _FORMS}
    return found | {DOMINATED: pd.Series({control: count_dominated(tests)})}


def rank_cell(
    context: Context,
    theirs: Published,
    value: float | None,
    n: int,
    tolerance: Tolerance,
) -> dict[str, Any]:
    """Return a cell whose number is one over n data sets, so without a spread."""
    ours = None if value is None else Reproduced(float(value), 0.0, n)
    return judged_cell(context, theirs, ours, tolerance, "" if ours else _INCOMPLETE)


def _friedman_rows(
    block: str, side: str, over_all: FriedmanResult, data: str
) -> list[dict[str, Any]]:
    empty = ("unit", "verdict", "verdict_with_spread", "status", "rule", "missing")
    cell = dict.fromkeys(empty, "") | {"column": _SIDES[side], "n": over_all.n_blocks}
    cell |= {"data": data if side == "reproduced" else "", "in_paper": False}
    return [
        cell | {"row": f"{name}, {block}", side: value}
        for name, value in (
            ("Friedman χ²", over_all.chi2),
            ("Friedman p", over_all.p),
            ("Iman–Davenport F", over_all.f),
            ("Iman–Davenport p", over_all.p_iman_davenport),
        )
    ]


def _row_over_all(
    block: str, quantity: str, cells: pd.DataFrame, form: str, marks: Marks
) -> list[str]:
    lines = (
        _numbers(cells["published"], "g"),
        [f"recomputed: {text}" for text in _numbers(cells["recomputed"], form)],
        _numbers(cells["reproduced"], form),
    )
    return _row(block, quantity, cells, lines, marks)


def _rule_of_tests(tolerances: Mapping[str, Tolerance]) -> str:
    sizes = [f"{value.absolute:g} for {name}" for name, value in tolerances.items()]
    return (
        "Reproduced: |published − reproduced| ≤ tol; close: ≤ 2 tol; tol = "
        f"{'; '.join(sizes)}."
    )


def _row(
    block: str,
    name: str,
    cells: pd.DataFrame,
    lines: Sequence[Sequence[str]],
    marks: Marks,
    more: Iterable[Sequence[str]] = (),
) -> list[str]:
    """Return a row of the table: lines on each cell, the last with its verdict.

    What other readings explain stands beside the verdict; ``more`` are lines below.
    """
    *above, ours = lines
    texts = zip(*above, with_verdicts(ours, cells, marks), *more, strict=True)
    return [block, name, *map("\n".join, texts)]


def _numbers(values: Iterable[float | None], form: str) -> list[str]:
    """Return numbers as text."""
    return [_NO_DATA if pd.isna(value) else f"{value:{form}}" for value in values]


def _origin_of(context: Context, comparison: Comparison) -> str:
    """Return where the data of a comparison come from."""
    origins = [context.origin(row.experiment) for row in comparison.rows.values()]
    return ", ".join(dict.fromkeys(filter(None, origins)))


def _reasons_of(cells: pd.DataFrame) -> list[str]:
    """Return sentences on what is missing."""
    reasons = [reason for reason in cells["missing"].dropna().unique() if reason]
    return [f"No data: {reason}" for reason in reasons]
