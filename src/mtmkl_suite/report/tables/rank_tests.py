"""Tables of the tests of mean ranks: as printed, recomputed, and ours."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from mtmkl.statistics.pairs import LEVEL
from mtmkl.statistics.ranks import FriedmanResult, friedman
from mtmkl_suite.config.models import Comparison, Tolerance
from mtmkl_suite.judge.audit import (
    ADJUSTED_LEVEL,
    DOMINATED,
    P_VALUE,
    STATISTIC,
    audit,
    count_dominated,
    printed_comparisons,
    rank_tests,
)
from mtmkl_suite.judge.comparison import ranking_matrix
from mtmkl_suite.judge.verdicts import Published, Reproduced, judge
from mtmkl_suite.report.pages.context import Context
from mtmkl_suite.report.record.published_reach import Marks
from mtmkl_suite.report.tables.joined import notes_on_printed_ranks
from mtmkl_suite.report.tables.lined_tables import (
    OURS_LINE,
    numbers,
    origin_of,
    reasons_of,
    shown_lines,
    verdict_lines,
)
from mtmkl_suite.report.tables.printed_table import PrintedTable
from mtmkl_suite.report.tables.tables import (
    CELL_COLUMNS,
    NOT_JUDGED_NOTE,
    published_numbers,
)

TEST_COLUMNS = (*CELL_COLUMNS, "recomputed")
"""Columns of the csv of rank tests; ``recomputed`` is from the published accuracies."""

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


def build_rank_tests(context: Context, artefact: Mapping[str, Any]) -> PrintedTable:
    """Return the tests of mean ranks against the control, block by block.

    Published, recomputed from the published accuracies, and from reproduced means.
    """
    comparison, tolerances = artefact["comparison"], artefact["tolerances"]
    control = comparison["control"]
    printed = published_numbers(context, artefact["file"])
    dominated = published_numbers(context, "texts.csv")
    audits = {one.label: audit(one) for one in printed_comparisons(context.published)}
    rivals = [column for column in comparison["columns"] if column != control]
    origin = origin_of(context, comparison)
    rows: list[dict[str, Any]] = []
    lines: list[tuple[str, ...]] = []
    remarks: list[str] = []
    for block in comparison["blocks"]:
        found = audits[block]
        over_all = mean_ranks(context, comparison, block)
        ours = None if over_all is None else rank_tests(over_all, control)
        for quantity in (STATISTIC, P_VALUE, ADJUSTED_LEVEL):
            mine = [
                rank_cell(
                    f"{quantity}, {block}",
                    rival,
                    printed.get((f"{quantity}, {block}", rival)),
                    recomputed=float(found.tests.loc[rival, quantity]),
                    reproduced=(
                        None if ours is None else float(ours.loc[rival, quantity])
                    ),
                    over_all=over_all,
                    tolerance=Tolerance(**tolerances[quantity]),
                    full_protocol=context.is_judged,
                    data=origin,
                )
                for rival in rivals
            ]
            rows += mine
            marks = Marks(context.reach, pd.DataFrame(mine))
            lines += _lines_of_test(block, quantity, mine, marks)
        count = rank_cell(
            f"{DOMINATED}, {block}",
            control,
            dominated.get((f"{control}, {block}", DOMINATED)),
            recomputed=float(found.n_rejected),
            reproduced=None if ours is None else float(count_dominated(ours)),
            over_all=over_all,
            tolerance=Tolerance(**tolerances[DOMINATED]),
            full_protocol=context.is_judged,
            data=origin,
        )
        rows.append(count)
        sides = [("of the published accuracies", found.friedman)]
        sides += [("reproduced", over_all)] if over_all is not None else []
        for side, one in sides:
            rows += _friedman_rows(block, side, one, origin)
            n = found.n_rejected if one is found.friedman else int(count["reproduced"])
            remarks.append(
                f"{block}, {side}: Friedman χ² = {one.chi2:.2f}, p = {one.p:.2g}; "
                f"Iman–Davenport F = {one.f:.2f}, p = {one.p_iman_davenport:.2g}; "
                f"{n} of {len(rivals)} methods worse than {control} by Holm's test at "
                f"{LEVEL:g} over {one.n_blocks} data sets (in the text "
                f"{count['published']:g})."
            )
    cells = pd.DataFrame(rows, columns=list(TEST_COLUMNS))
    return PrintedTable(
        title=artefact["title"],
        cells=cells,
        header=("training", "", "", *rivals),
        body=shown_lines(context, lines),
        notes=(
            *remarks,
            _rule_of_tests(tolerances) if context.is_judged else NOT_JUDGED_NOTE,
            *notes_on_printed_ranks(context, comparison),
            *reasons_of(cells),
        ),
    )


def rank_cell(
    row: str,
    column: str,
    published: Published | None,
    *,
    recomputed: float,
    reproduced: float | None,
    over_all: FriedmanResult | None,
    tolerance: Tolerance,
    full_protocol: bool,
    data: str,
) -> dict[str, Any]:
    """Return a cell whose number is one over all data sets, so without a spread."""
    if published is None:
        raise ValueError(f"no published number {row!r}, {column!r}")
    n = 0 if over_all is None else over_all.n_blocks
    ours = None if reproduced is None else Reproduced(reproduced, 0.0, n)
    verdict = judge(published, ours, tolerance, full_protocol=full_protocol)
    return dict.fromkeys(TEST_COLUMNS) | {
        "row": row,
        "column": column,
        "unit": "",
        "published": published.value,
        "published_n": published.n,
        "status": published.status,
        "reproduced": reproduced,
        "reproduced_sd": None if ours is None else 0.0,
        "n": None if ours is None else n,
        "verdict": verdict.verdict,
        "verdict_with_spread": verdict.with_spread,
        "rule": _INCOMPLETE if ours is None else verdict.rule,
        "data": data,
        "in_paper": True,
        "missing": _INCOMPLETE if ours is None else "",
        "recomputed": recomputed,
    }


def _friedman_rows(
    block: str, side: str, over_all: FriedmanResult, data: str
) -> list[dict[str, Any]]:
    values = {
        "Friedman χ²": over_all.chi2,
        "Friedman p": over_all.p,
        "Iman–Davenport F": over_all.f,
        "Iman–Davenport p": over_all.p_iman_davenport,
    }
    return [
        dict.fromkeys(TEST_COLUMNS)
        | {
            "row": f"{name}, {block}",
            "column": side,
            "unit": "",
            "reproduced": value if side == "reproduced" else None,
            "recomputed": value if side != "reproduced" else None,
            "n": over_all.n_blocks,
            "verdict": "",
            "verdict_with_spread": "",
            "status": "",
            "rule": "",
            "data": data if side == "reproduced" else "",
            "in_paper": False,
            "missing": "",
        }
        for name, value in values.items()
    ]


def _lines_of_test(
    block: str, quantity: str, cells: list[dict[str, Any]], marks: Marks
) -> list[tuple[str, ...]]:
    shown = pd.DataFrame(cells)
    form = f".{_DECIMALS[quantity]}f"
    return [
        (block, quantity, "published", *numbers(shown["published"], "g")),
        ("", "", "of the published accuracies", *numbers(shown["recomputed"], form)),
        ("", "", OURS_LINE, *numbers(shown["reproduced"], form)),
        *verdict_lines(shown, marks),
    ]


def _rule_of_tests(tolerances: Mapping[str, Mapping[str, float]]) -> str:
    sizes = [f"{value['absolute']:g} for {name}" for name, value in tolerances.items()]
    return (
        "Reproduced: |published − reproduced| ≤ tol; close: ≤ 2 tol; tol = "
        f"{'; '.join(sizes)}."
    )
