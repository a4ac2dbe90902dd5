"""Tables of methods ranked over data sets."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import Tolerance
from mtmkl_suite.judge.audit import MEAN_RANK, audit, printed_comparisons
from mtmkl_suite.judge.comparison import ranking_matrix
from mtmkl_suite.judge.verdicts import Verdict, weakest
from mtmkl_suite.report.pages.context import Context
from mtmkl_suite.report.record.published_reach import Marks
from mtmkl_suite.report.record.written import RANK
from mtmkl_suite.report.tables.joined import notes_on_printed_ranks
from mtmkl_suite.report.tables.lined_tables import (
    NO_DATA,
    OURS_LINE,
    numbers,
    origin_of,
    reasons_of,
    shown_lines,
    verdict_lines,
)
from mtmkl_suite.report.tables.numbers import DASH
from mtmkl_suite.report.tables.printed_table import PrintedTable
from mtmkl_suite.report.tables.rank_tests import mean_ranks, rank_cell
from mtmkl_suite.report.tables.tables import (
    CELL_COLUMNS,
    OURS,
    Cell,
    judge_cells,
    published_numbers,
    rule_note,
)

RANK_COLUMNS = (*CELL_COLUMNS, "published_rank", "reproduced_rank")
"""Columns of a ranking's csv."""


def build_ranking(context: Context, artefact: Mapping[str, Any]) -> PrintedTable:
    """Return a table of methods ranked over data sets, block by block.

    A row with ``readings`` has a printed number of which the metric is uncertain: it
    gets the weaker of the verdicts under its metric and under the readings. Ranks are
    those of its metric. Metrics ``beside`` are shown, and not judged.
    """
    comparison = artefact["comparison"]
    file, decimals = artefact["file"], artefact["decimals"]
    cells, acceptance = _metric_cells(context, artefact, _main_metric, in_paper=True)
    others, _ = _metric_cells(context, artefact, _readings, in_paper=True)
    beside, _ = _metric_cells(context, artefact, _beside, in_paper=False)
    if context.is_judged:
        cells = _weaker_of_readings(cells, others)
    ranks = pd.concat(
        [
            _ranks(ranking_matrix(context.scores, comparison, block), block)
            for block in comparison["blocks"]
        ]
    )
    keys = pd.MultiIndex.from_frame(cells[["row", "column"]])
    printed = context.published[file].set_index(["row", "column"])["rank"]
    cells = cells.assign(
        published_rank=printed.reindex(keys).to_numpy(),
        reproduced_rank=ranks.reindex(keys).to_numpy(),
    )
    headings = _mean_rank_cells(context, artefact)
    recomputed = {
        one.label: audit(one).friedman.ranks
        for one in printed_comparisons(context.published)
    }
    marks = Marks(context.reach, pd.concat([cells, headings]))
    lines: list[tuple[str, ...]] = []
    for block in comparison["blocks"]:
        for name, row in _rows_of(comparison, block):
            lines += _lines_of_row(
                block,
                name,
                _in_order(cells, f"{name}, {block}", comparison),
                [
                    (
                        f"{label}{mark}",
                        _in_order(more, f"{name} ({label}), {block}", comparison),
                    )
                    for more, labels, mark in (
                        (others, "readings", ""),
                        (beside, "beside", f" {OURS}"),
                    )
                    for label in row.get(labels, {})
                ],
                decimals,
                marks,
            )
        mean = _in_order(headings, f"{MEAN_RANK}, {block}", comparison)
        lines += [
            (block, MEAN_RANK, "published", *numbers(mean["published"], "g")),
            ("", "", "of the published accuracies",
             *numbers(recomputed[block][list(comparison["columns"])], ".2f")),
            ("", "", OURS_LINE, *numbers(mean["reproduced"], ".2f")),
            *verdict_lines(mean.reset_index(), marks),
        ]  # fmt: skip
    # The number of a second reading is printed once.
    shown = pd.concat([cells, others.assign(in_paper=False), beside, headings])
    return PrintedTable(
        title=artefact["title"],
        cells=shown.reindex(columns=list(RANK_COLUMNS)).reset_index(drop=True),
        header=("training", "data set", "", *comparison["columns"]),
        body=shown_lines(context, lines),
        notes=(
            f"In {artefact['unit']}: mean ± standard deviation over "
            f"{_repeats(cells)}, and the rank of the mean among the methods; equal "
            "means share theirs.",
            rule_note(context, artefact["tolerance"], artefact["unit"], acceptance),
            *_remarks_on_ranks(artefact, is_judged=context.is_judged),
            *marks.notes(),
            *notes_on_printed_ranks(context, comparison),
            *reasons_of(shown),
        ),
    )


def _rows_of(
    comparison: Mapping[str, Any], block: str
) -> Iterable[tuple[str, Mapping[str, Any]]]:
    for name, row in comparison["rows"].items():
        if block in row.get("blocks", comparison["blocks"]):
            yield name, row


def _main_metric(name: str, row: Mapping[str, Any]) -> dict[str, str]:
    return {name: row["metric"]}


def _readings(name: str, row: Mapping[str, Any]) -> dict[str, str]:
    return {f"{name} ({k})": metric for k, metric in row.get("readings", {}).items()}


def _beside(name: str, row: Mapping[str, Any]) -> dict[str, str]:
    return {f"{name} ({k})": metric for k, metric in row.get("beside", {}).items()}


def _metric_cells(
    context: Context, artefact: Mapping[str, Any], metrics: Any, *, in_paper: bool
) -> tuple[pd.DataFrame, str]:
    """Return the cells of some metrics of every row, judged if they are the paper's."""
    comparison = artefact["comparison"]
    labels: list[str] = []
    cells = []
    for block, selector in comparison["blocks"].items():
        for name, row in _rows_of(comparison, block):
            for label, metric in metrics(name, row).items():
                for column, method in comparison["columns"].items():
                    where = {
                        **selector,
                        "experiment": row["experiment"],
                        "metric": metric,
                        "method": method,
                        "setting": "",
                    }
                    key = name if in_paper else label
                    cells.append(Cell(f"{key}, {block}", column, where, in_paper))
                    labels.append(f"{label}, {block}")
    frame, acceptance = judge_cells(
        context,
        cells,
        experiment=None,
        file=artefact["file"],
        unit=artefact["unit"],
        scale=comparison["scale"],
        tolerance=Tolerance(**artefact["tolerance"]),
    )
    return frame.assign(row=labels, printed_row=frame["row"]), acceptance


def _weaker_of_readings(cells: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Give every cell with a second reading the weaker of its verdicts."""
    second = {
        (cell["printed_row"], cell["column"]): cell
        for cell in others.to_dict("records")
    }
    verdicts = []
    for cell in cells.to_dict("records"):
        verdict = _verdict_of(cell)
        other = second.get((cell["row"], cell["column"]))
        if other is not None:
            name = other["row"].rpartition(", ")[0]
            verdict = weakest(
                {
                    cell["row"].rpartition(", ")[0]: verdict,
                    name: _verdict_of(other),
                }
            )
        verdicts.append(verdict)
    return cells.assign(
        verdict=[each.verdict for each in verdicts],
        verdict_with_spread=[each.with_spread for each in verdicts],
        rule=[each.rule for each in verdicts],
    )


def _verdict_of(cell: Mapping[Any, Any]) -> Verdict:
    return Verdict(cell["verdict"], cell["rule"], cell["verdict_with_spread"])


def _ranks(matrix: pd.DataFrame, block: str) -> pd.Series:
    """Return ranks by (row, column); none where a method has no value."""
    ranks = matrix.dropna().rank(axis=1, ascending=False)
    return pd.Series(
        {
            (f"{name}, {block}", column): rank
            for name, row in ranks.iterrows()
            for column, rank in row.items()
        },
        dtype=float,
    )


def _mean_rank_cells(context: Context, artefact: Mapping[str, Any]) -> pd.DataFrame:
    comparison = artefact["comparison"]
    printed = published_numbers(context, artefact["file"])
    rows = []
    for block in comparison["blocks"]:
        over_all = mean_ranks(context, comparison, block)
        for column in comparison["columns"]:
            row = f"{MEAN_RANK}, {block}"
            if (row, column) not in printed:
                raise ValueError(f"{artefact['file']} has no row {row!r}, {column!r}")
            cell = rank_cell(
                row,
                column,
                printed[row, column],
                recomputed=float("nan"),
                reproduced=None if over_all is None else float(over_all.ranks[column]),
                over_all=over_all,
                tolerance=Tolerance(**artefact["rank_tolerance"]),
                full_protocol=context.is_judged,
                data=origin_of(context, comparison),
            )
            rows.append(cell | {"unit": RANK})
    return pd.DataFrame(rows, columns=list(CELL_COLUMNS))


def _lines_of_row(
    block: str,
    name: str,
    main: pd.DataFrame,
    others: Sequence[tuple[str, pd.DataFrame]],
    decimals: int,
    marks: Marks,
) -> list[tuple[str, ...]]:
    lines: list[tuple[str, ...]] = [
        (block, name, "published", *_with_ranks(main, "published", decimals)),
        ("", "", OURS_LINE, *_with_ranks(main, "reproduced", decimals)),
    ]
    for label, more in others:
        lines.append(
            (
                "",
                "",
                f"{OURS_LINE}, {label}",
                *_with_ranks(more, "reproduced", decimals),
            )
        )
    return [*lines, *verdict_lines(main.reset_index(), marks)]


def _with_ranks(cells: pd.DataFrame, side: str, decimals: int) -> list[str]:
    """Return "mean ± sd (rank)" of one side."""
    texts = []
    for cell in cells.to_dict("records"):
        if pd.isna(cell[side]):
            texts.append(NO_DATA if side == "reproduced" else DASH)
            continue
        text = f"{cell[side]:.{decimals}f}"
        if cell[f"{side}_sd"] > 0:
            text += f" ± {cell[f'{side}_sd']:.{decimals}f}"
        rank = cell.get(f"{side}_rank")
        texts.append(text if rank is None or pd.isna(rank) else f"{text} ({rank:g})")
    return texts


def _in_order(
    cells: pd.DataFrame, row: str, comparison: Mapping[str, Any]
) -> pd.DataFrame:
    mine = cells[cells["row"] == row].set_index("column")
    return mine.loc[list(comparison["columns"])]


def _repeats(cells: pd.DataFrame) -> str:
    counts = cells["n"].dropna()
    if counts.empty:
        return "repeats"
    fewest, most = int(counts.min()), int(counts.max())
    shown = str(most) if fewest == most else f"{fewest}–{most}"
    return f"{shown} repeat{'s' * (most > 1)}"


def _remarks_on_ranks(artefact: Mapping[str, Any], *, is_judged: bool) -> list[str]:
    """Say how mean ranks are judged, and which of its readings ranks a row."""
    remarks = []
    if is_judged:
        tolerance = artefact["rank_tolerance"]["absolute"]
        remarks.append(f"Mean ranks: tol = {tolerance:g}, without a spread.")
    for name, row in artefact["comparison"]["rows"].items():
        if "readings" not in row:
            continue
        metric = row["metric"].replace("_", " ")
        remark = (
            f"{name}: what the printed number measures is uncertain; ranks are by "
            f"{metric}"
        )
        if is_judged:
            readings = ", ".join([metric, *row["readings"]])
            remark += f", the verdict is the weaker of the readings {readings}."
            beside = row.get("beside", {})
            remark += "".join(f" {OURS} {label} is not judged." for label in beside)
        else:
            remark += "."
        remarks.append(remark)
    return remarks
