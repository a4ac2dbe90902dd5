"""Tables of methods ranked over data sets, and of the tests of their mean ranks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mtmkl.reporting.context import Context
from mtmkl.reporting.tables import (
    CELL_COLUMNS,
    NOT_JUDGED_NOTE,
    OURS,
    Cell,
    PrintedTable,
    judge_cells,
    published_numbers,
    rule_note,
)
from mtmkl.statistics.audit import (
    ADJUSTED_LEVEL,
    DOMINATED,
    MEAN_RANK,
    P_VALUE,
    STATISTIC,
    audit,
    count_dominated,
    printed_comparisons,
    rank_tests,
)
from mtmkl.statistics.pairs import LEVEL
from mtmkl.statistics.ranks import FriedmanResult, friedman, ranking_matrix
from mtmkl.statistics.verdicts import (
    Published,
    Reproduced,
    Tolerance,
    Verdict,
    judge,
    weakest,
)

RANK_COLUMNS = (*CELL_COLUMNS, "published_rank", "reproduced_rank")
"""Columns of a ranking's csv."""

TEST_COLUMNS = (*CELL_COLUMNS, "recomputed")
"""Columns of the csv of rank tests; ``recomputed`` is from the published accuracies."""

_DASH = "–"
_OURS_LINE = "ours"  # "reproduced" would read as a verdict
_VERDICT = "verdict"
_NO_DATA = "no data"
_INCOMPLETE = "not every method has a value on every data set"
_DECIMALS = {MEAN_RANK: 2, STATISTIC: 2, P_VALUE: 4, ADJUSTED_LEVEL: 4, DOMINATED: 0}


@dataclass(frozen=True)
class LinedTable(PrintedTable):
    """A table with several lines a row: published, reproduced, verdict.

    Attributes
    ----------
    title, cells
        As for every table.
    headings : tuple of str
    lines : tuple of tuple of str
        Each as long as the headings.
    remarks : tuple of str
        Sentences below the table.
    """

    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...]

    def header(self) -> list[str]:
        """Return the headings of the columns."""
        return list(self.headings)

    def body(self) -> Sequence[Sequence[str]]:
        """Return the lines."""
        return self.lines

    def notes(self) -> list[str]:
        """Return the sentences below the table."""
        return list(self.remarks)


def mean_ranks(
    context: Context, comparison: Mapping[str, Any], block: str
) -> FriedmanResult | None:
    """Return mean ranks and Friedman's test of a block, from reproduced means.

    Parameters
    ----------
    context : Context
    comparison : mapping
        Of a configured ranking.
    block : str
        One of its labels.

    Returns
    -------
    FriedmanResult or None
        None unless every method has a value on every data set of the block.
    """
    matrix = ranking_matrix(context.scores, comparison, block)
    if len(matrix) < 2 or matrix.isna().to_numpy().any():
        return None
    return friedman(matrix, higher_better=True)


def build_ranking(context: Context, artefact: Mapping[str, Any]) -> LinedTable:
    """Return a table of methods ranked over data sets, block by block.

    A row with ``readings`` has a printed number of which the metric is uncertain: it
    gets the weaker of the verdicts under its metric and under the readings. Ranks are
    those of its metric. Metrics ``beside`` are shown, and not judged.

    Parameters
    ----------
    context : Context
    artefact : mapping
        A configured table of layout ``ranking``.

    Raises
    ------
    ValueError
        If a published number is missing, or a cell selects several of ours.
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
            )
        mean = _in_order(headings, f"{MEAN_RANK}, {block}", comparison)
        lines += [
            (block, MEAN_RANK, "published", *_numbers(mean["published"], "g")),
            ("", "", "of the published accuracies",
             *_numbers(recomputed[block][list(comparison["columns"])], ".2f")),
            ("", "", _OURS_LINE, *_numbers(mean["reproduced"], ".2f")),
            ("", "", _VERDICT, *mean["verdict"]),
        ]  # fmt: skip
    shown = pd.concat([cells, _not_in_paper(others), beside, headings])
    return LinedTable(
        title=artefact["title"],
        cells=shown.reindex(columns=list(RANK_COLUMNS)).reset_index(drop=True),
        headings=("training", "data set", "", *comparison["columns"]),
        lines=_shown(context, lines),
        remarks=(
            f"In {artefact['unit']}: mean ± standard deviation over "
            f"{_repeats(cells)}, and the rank of the mean among the methods; equal "
            "means share theirs.",
            rule_note(context, artefact["tolerance"], artefact["unit"], acceptance),
            *_remarks_on_ranks(artefact, is_judged=context.is_judged),
            *_reasons(shown),
        ),
    )


def build_rank_tests(context: Context, artefact: Mapping[str, Any]) -> LinedTable:
    """Return the tests of mean ranks against the control, block by block.

    Published, recomputed from the published accuracies, and from reproduced means.

    Parameters
    ----------
    context : Context
    artefact : mapping
        A configured table of layout ``rank_tests``.

    Raises
    ------
    ValueError
        If a published number is missing.
    """
    comparison, tolerances = artefact["comparison"], artefact["tolerances"]
    control = comparison["control"]
    printed = published_numbers(context, artefact["file"])
    dominated = published_numbers(context, "texts.csv")
    audits = {one.label: audit(one) for one in printed_comparisons(context.published)}
    rivals = [column for column in comparison["columns"] if column != control]
    origin = _origin(context, comparison)
    rows: list[dict[str, Any]] = []
    lines: list[tuple[str, ...]] = []
    remarks: list[str] = []
    for block in comparison["blocks"]:
        found = audits[block]
        over_all = mean_ranks(context, comparison, block)
        ours = None if over_all is None else rank_tests(over_all, control)
        for quantity in (STATISTIC, P_VALUE, ADJUSTED_LEVEL):
            mine = [
                _test_row(
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
            lines += _lines_of_test(block, quantity, mine)
        count = _test_row(
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
    return LinedTable(
        title=artefact["title"],
        cells=cells,
        headings=("training", "", "", *rivals),
        lines=_shown(context, lines),
        remarks=(
            *remarks,
            _rule_of_tests(tolerances) if context.is_judged else NOT_JUDGED_NOTE,
            *_reasons(cells),
        ),
    )


def _rule_of_tests(tolerances: Mapping[str, Mapping[str, float]]) -> str:
    sizes = [f"{value['absolute']:g} for {name}" for name, value in tolerances.items()]
    return (
        "Reproduced: |published − reproduced| ≤ tol; close: ≤ 2 tol; tol = "
        f"{'; '.join(sizes)}."
    )


def _shown(
    context: Context, lines: Iterable[tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    """Leave out the lines of verdicts where there are none."""
    return tuple(line for line in lines if context.is_judged or line[2] != _VERDICT)


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
    """Give every cell with a second reading the weaker of both verdicts."""
    second = {
        (cell["printed_row"], cell["column"]): cell
        for cell in others.to_dict("records")
    }
    verdicts = []
    for cell in cells.to_dict("records"):
        verdict = Verdict(cell["verdict"], cell["rule"])
        other = second.get((cell["row"], cell["column"]))
        if other is not None:
            name = other["row"].rpartition(", ")[0]
            verdict = weakest(
                {
                    cell["row"].rpartition(", ")[0]: verdict,
                    name: Verdict(other["verdict"], other["rule"]),
                }
            )
        verdicts.append((verdict.verdict, verdict.rule))
    return cells.assign(
        verdict=[name for name, _ in verdicts], rule=[rule for _, rule in verdicts]
    )


def _not_in_paper(cells: pd.DataFrame) -> pd.DataFrame:
    """Return second readings as lines of ours: the number is printed once."""
    return cells.assign(in_paper=False)


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
            cell = _test_row(
                row,
                column,
                printed[row, column],
                recomputed=float("nan"),
                reproduced=None if over_all is None else float(over_all.ranks[column]),
                over_all=over_all,
                tolerance=Tolerance(**artefact["rank_tolerance"]),
                full_protocol=context.is_judged,
                data=_origin(context, comparison),
            )
            rows.append(cell | {"unit": "rank"})
    return pd.DataFrame(rows, columns=list(CELL_COLUMNS))


def _test_row(
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
            "status": "",
            "rule": "",
            "data": data if side == "reproduced" else "",
            "in_paper": False,
            "missing": "",
        }
        for name, value in values.items()
    ]


def _lines_of_row(
    block: str,
    name: str,
    main: pd.DataFrame,
    others: Sequence[tuple[str, pd.DataFrame]],
    decimals: int,
) -> list[tuple[str, ...]]:
    lines = [
        (block, name, "published", *_with_ranks(main, "published", decimals)),
        ("", "", _OURS_LINE, *_with_ranks(main, "reproduced", decimals)),
    ]
    for label, more in others:
        lines.append(
            (
                "",
                "",
                f"{_OURS_LINE}, {label}",
                *_with_ranks(more, "reproduced", decimals),
            )
        )
    return [*lines, ("", "", _VERDICT, *main["verdict"])]


def _lines_of_test(
    block: str, quantity: str, cells: list[dict[str, Any]]
) -> list[tuple[str, ...]]:
    shown = pd.DataFrame(cells)
    form = f".{_DECIMALS[quantity]}f"
    return [
        (block, quantity, "published", *_numbers(shown["published"], "g")),
        ("", "", "of the published accuracies", *_numbers(shown["recomputed"], form)),
        ("", "", _OURS_LINE, *_numbers(shown["reproduced"], form)),
        ("", "", _VERDICT, *shown["verdict"]),
    ]


def _with_ranks(cells: pd.DataFrame, side: str, decimals: int) -> list[str]:
    """Return "mean ± sd (rank)" of one side."""
    texts = []
    for cell in cells.to_dict("records"):
        if pd.isna(cell[side]):
            texts.append(_NO_DATA if side == "reproduced" else _DASH)
            continue
        text = f"{cell[side]:.{decimals}f}"
        if cell[f"{side}_sd"] > 0:
            text += f" ± {cell[f'{side}_sd']:.{decimals}f}"
        rank = cell.get(f"{side}_rank")
        texts.append(text if rank is None or pd.isna(rank) else f"{text} ({rank:g})")
    return texts


def _numbers(values: Iterable[float | None], form: str) -> list[str]:
    return [_NO_DATA if pd.isna(value) else f"{value:{form}}" for value in values]


def _in_order(
    cells: pd.DataFrame, row: str, comparison: Mapping[str, Any]
) -> pd.DataFrame:
    mine = cells[cells["row"] == row].set_index("column")
    return mine.loc[list(comparison["columns"])]


def _origin(context: Context, comparison: Mapping[str, Any]) -> str:
    origins = [context.origin(row["experiment"]) for row in comparison["rows"].values()]
    return ", ".join(dict.fromkeys(filter(None, origins)))


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


def _reasons(cells: pd.DataFrame) -> list[str]:
    reasons = [reason for reason in cells["missing"].dropna().unique() if reason]
    return [f"No data: {reason}" for reason in reasons]
