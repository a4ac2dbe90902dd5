"""Tables of methods ranked over data sets, and of the tests of their mean ranks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mtmkl_suite.config.models import (
    Comparison,
    Ranking,
    RankTests,
    Tolerance,
)
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
    VERDICT_MARKS,
    judge_cells,
    judged_cell,
    published_numbers,
    rule_note,
)
from mtmkl_suite.report.tables.comparison import notes_on_printed_ranks
from mtmkl_suite.report.text import (
    DASH,
    PrintedTable,
    metric_words,
    repeats_text,
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
_DECIMALS = {STATISTIC: 2, P_VALUE: 4, ADJUSTED_LEVEL: 4, DOMINATED: 0}


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
            parts = [(others, label, "") for label in row.readings]
            parts += [(beside, label, f" {OURS}") for label in row.beside]
            more = []
            for of, label, mark in parts:
                mine = of[of["row"] == f"{name} ({label}), {block}"]
                texts = _with_ranks(mine, "reproduced", decimals)
                more.append([f"{label}{mark}: {text}" for text in texts])
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
    data = {"data": _origin_of(context, comparison)}
    rows = []
    for block in comparison.blocks:
        over_all = mean_ranks(context, comparison, block)
        for column in comparison.columns:
            row = f"{MEAN_RANK}, {block}"
            cell = rank_cell(
                context,
                printed[row, column],
                None if over_all is None else float(over_all.ranks[column]),
                over_all,
                artefact.rank_tolerance,
            )
            rows.append(cell | {"row": row, "column": column, "unit": RANK, **data})
    return pd.DataFrame(rows, columns=list(CELL_COLUMNS))


def _with_ranks(cells: pd.DataFrame, side: str, decimals: int) -> list[str]:
    """Return "mean ± sd (rank)" of one side."""
    texts = []
    for cell in cells.to_dict("records"):
        if pd.isna(cell[side]):
            texts.append(_NO_DATA if side == "reproduced" else DASH)
            continue
        text = f"{cell[side]:.{decimals}f}"
        if cell[f"{side}_sd"] > 0:
            text += f" ± {cell[f'{side}_sd']:.{decimals}f}"
        rank = cell.get(f"{side}_rank")
        texts.append(text if rank is None or pd.isna(rank) else f"{text} ({rank:g})")
    return texts


def _remarks_on_ranks(artefact: Ranking, *, is_judged: bool) -> list[str]:
    """Say how mean ranks are judged, and which of its readings ranks a row."""
    remarks = []
    if is_judged:
        tolerance = artefact.rank_tolerance.absolute
        remarks.append(f"Mean ranks: tol = {tolerance:g}, without a spread.")
    for name, row in artefact.comparison.rows.items():
        if not row.readings:
            continue
        metric = metric_words(row.metric)
        uncertain = "what the printed number measures is uncertain; ranks are by"
        remark = f"{name}: {uncertain} {metric}"
        if is_judged:
            readings = ", ".join([metric, *row.readings])
            remark += f", the verdict is the weaker of the readings {readings}"
        remark += "."
        if is_judged:
            remark += "".join(f" {OURS} {label} is not judged." for label in row.beside)
        remarks.append(remark)
    return remarks


def build_rank_tests(context: Context, artefact: RankTests) -> PrintedTable:
    """Return the tests of mean ranks: published, recomputed from print, reproduced."""
    comparison, tolerances = artefact.comparison, artefact.tolerances
    control = comparison.control
    printed = published_numbers(context, artefact.file)
    dominated = published_numbers(context, "texts.csv")
    baselines = [column for column in comparison.columns if column != control]
    origin = _origin_of(context, comparison)
    place = {"unit": "", "data": origin}
    rows: list[dict[str, Any]] = []
    body = []
    remarks: list[str] = []
    for block in comparison.blocks:
        theirs = printed_mean_ranks(context, comparison, block)
        recomputed = rank_tests(theirs, control)
        n_rejected = count_dominated(recomputed)
        over_all = mean_ranks(context, comparison, block)
        ours = None if over_all is None else rank_tests(over_all, control)
        for quantity in (STATISTIC, P_VALUE, ADJUSTED_LEVEL):
            mine = [
                rank_cell(
                    context,
                    printed[f"{quantity}, {block}", baseline],
                    None if ours is None else float(ours[quantity][baseline]),
                    over_all,
                    tolerances[quantity],
                )
                | {"row": f"{quantity}, {block}", "column": baseline, **place}
                | {"recomputed": float(recomputed[quantity][baseline])}
                for baseline in baselines
            ]
            rows += mine
            shown, form = pd.DataFrame(mine), f".{_DECIMALS[quantity]}f"
            marks = Marks(context.reach, shown)
            body.append(_row_over_all(block, quantity, shown, form, marks))
        count = rank_cell(
            context,
            dominated[f"{control}, {block}", DOMINATED],
            None if ours is None else float(count_dominated(ours)),
            over_all,
            tolerances[DOMINATED],
        )
        count |= {"row": f"{DOMINATED}, {block}", "column": control, **place}
        rows.append(count | {"recomputed": float(n_rejected)})
        sides = [("of the published accuracies", theirs)]
        sides += [("reproduced", over_all)] if over_all is not None else []
        for side, one in sides:
            rows += _friedman_rows(block, side, one, origin)
            n = n_rejected if one is theirs else int(count["reproduced"])
            remarks.append(
                f"{block}, {side}: Friedman χ² = {one.chi2:.2f}, p = {one.p:.2g}; "
                f"Iman–Davenport F = {one.f:.2f}, p = {one.p_iman_davenport:.2g}; "
                f"{n} of {len(baselines)} methods worse than "
                f"{context.label(comparison.methods[control][0])} by Holm's test at "
                f"{LEVEL:g} over {one.n_blocks} data sets (in the text "
                f"{count['published']:g})."
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


def rank_cell(
    context: Context,
    theirs: Published,
    reproduced: float | None,
    over_all: FriedmanResult | None,
    tolerance: Tolerance,
) -> dict[str, Any]:
    """Return a cell whose number is one over all data sets, so without a spread."""
    ours = None
    if reproduced is not None and over_all is not None:
        ours = Reproduced(reproduced, 0.0, over_all.n_blocks)
    return judged_cell(context, theirs, ours, tolerance, "" if ours else _INCOMPLETE)


def _friedman_rows(
    block: str, side: str, over_all: FriedmanResult, data: str
) -> list[dict[str, Any]]:
    is_ours = side == "reproduced"
    empty = ("unit", "verdict", "verdict_with_spread", "status", "rule", "missing")
    cell = dict.fromkeys(empty, "") | {"column": side, "n": over_all.n_blocks}
    cell |= {"data": data if is_ours else "", "in_paper": False}
    return [
        cell
        | {"row": f"{name}, {block}", "reproduced" if is_ours else "recomputed": value}
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
    verdicts = [VERDICT_MARKS.get(each, "") for each in cells["verdict"]]
    beside = zip(ours, verdicts, marks.texts(cells), strict=True)
    judged = [" ".join(filter(None, each)) for each in beside]
    texts = zip(*above, judged, *more, strict=True)
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
