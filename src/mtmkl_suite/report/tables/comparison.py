"""Tables of methods over data sets that no paper has printed.

The plan is a configured comparison: ``rows`` are data sets, ``columns`` methods,
``blocks`` train sizes, of which ``main`` is the one that decides. ``pairs`` are the
methods that are tested against each other. A data set counts if all of these have a
value on it, and another method is ranked if it has one on all of these data sets.
Methods may have joined after the plan was fixed; notes below the tables say so.
"""

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from mtmkl_suite.config.models import Comparison, ComparisonRow, MethodTable, Paper
from mtmkl_suite.judge.comparison import in_columns, ranking_matrix, values_in_pairs
from mtmkl_suite.judge.observations import variance_ratio_of
from mtmkl_suite.judge.sample import average
from mtmkl_suite.report.context import Context
from mtmkl_suite.report.text import (
    DASH,
    PrintedTable,
    interval,
    many,
    metric_words,
    number,
    p_text,
)
from mtmkl_suite.statistics.hierarchical import (
    CERTAIN,
    MIN_REPEATS,
    POSTERIOR_COLUMNS,
    compare_all_repeats,
    in_words,
)
from mtmkl_suite.statistics.matrix_tests import MatrixTests, compare_matrix
from mtmkl_suite.statistics.pairs import LEVEL, MIN_UNITS
from mtmkl_suite.statistics.score_tables import ScoreMatrix

_EVERYWHERE = "all data sets"
FIXED = "the pairs were fixed before the scores"
OUTCOMES = ("p_first_better", "p_equivalent", "p_second_better")
"""Columns of posterior probabilities."""


def ranked(
    context: Context, comparison: Comparison, block: str, *, only_tested: bool = False
) -> pd.DataFrame:
    """Return the part of a block without gaps that is ranked."""
    matrix = ranking_matrix(context.scores, comparison, block)
    pairs = values_in_pairs(matrix, comparison.pairs)
    return pairs if only_tested else matrix.loc[pairs.index].dropna(axis=1)


def compare_block(
    context: Context, comparison: Comparison, block: str, *, only_tested: bool = False
) -> MatrixTests | str:
    """Return the tests of a block of a comparison, or why there are none."""
    values = ranked(context, comparison, block, only_tested=only_tested)
    n, k = values.shape
    if n < 2 or k < 2:
        return (
            f"{many(k, 'method')} on {many(n, 'data set')} without gaps; a comparison "
            "needs two of each"
        )
    control = comparison.control
    return compare_matrix(
        ScoreMatrix(values=values, score=comparison.unit, higher_better=True),
        control=control if control in values else None,
        rope=comparison.rope,
        in_pairs=only_tested,
    )


def build_method_scores(context: Context, artefact: MethodTable) -> PrintedTable:
    """Return the score of every method on every data set, all blocks in the csv."""
    comparison = artefact.comparison
    gaps = _missing(context, artefact).itertuples(index=False, name=None)
    reasons = {(method, row): reason for method, row, reason in gaps}
    cells = pd.DataFrame(
        [
            {"block": block, "method": column, "data set": name, **_mean_sd(values)}
            | {"missing": "" if len(values) else reasons.get((column, name), "")}
            for block in comparison.blocks
            for name, row in comparison.rows.items()
            for rows in [_rows(context, comparison, block, row)]
            for found in [_by_repeat(rows, comparison)]
            for column in comparison.columns
            for values in [found.get(column, pd.Series(dtype=float)).dropna()]
        ]
    )
    main = cells[cells["block"] == comparison.main].set_index(["method", "data set"])
    by_place = main.to_dict("index")
    rows = comparison.rows
    body = [
        [column, *(_mean_sd_text(by_place[column, name]) for name in rows)]
        for column in comparison.columns
        if main.loc[column]["n"].sum()
    ]
    metrics = ", ".join(
        f"{name} {metric_words(row.metric)}" for name, row in rows.items()
    )
    notes = [
        f"Train size: {comparison.main}. In {comparison.unit}, mean ± "
        f"standard deviation over repeats: {metrics}.",
        "A dash: the method was not run there, or gives no scores; see the table "
        "of what is left out.",
        *notes_on_joined(context, comparison, [line[0] for line in body]),
    ]
    return PrintedTable(artefact.title, cells, ["method", *rows], body, notes)


def build_method_ranks(context: Context, artefact: MethodTable) -> PrintedTable:
    """Return mean ranks by train size, and their tests."""
    comparison = artefact.comparison
    found = {
        block: compare_block(context, comparison, block) for block in comparison.blocks
    }
    tables = [_rank_cells(block, each) for block, each in found.items()]
    cells = pd.concat(tables, ignore_index=True)
    main = found[comparison.main]
    of_blocks = [f"mean rank, {block}" for block in found]
    mean_of = f"mean, {comparison.unit}"
    header = ["method", *of_blocks, mean_of, "above control", "p, Holm"]
    ranks = cells.pivot(index="method", columns="block", values="mean_rank")
    ranks = ranks.reindex(columns=list(found))
    body = [
        [
            row["method"],
            *(number(rank, ".2f") for rank in ranks.loc[row["method"]]),
            number(row["mean"], ".2f"),
            # The control itself has no test.
            DASH if pd.isna(row["z"]) else number(row["above_control"], "+.2f"),
            p_text(row["p_holm"]),
        ]
        for row in cells[cells["block"] == comparison.main].to_dict("records")
    ]
    notes = [
        f"Control: {comparison.control}. Mean, difference and p: "
        f"{comparison.main}; p of the difference of mean ranks, corrected by "
        "Holm's procedure over the methods.",
        *_reversed_note(main),
        *(_friedman_note(block, each) for block, each in found.items()),
        *notes_on_joined(context, comparison, [line[0] for line in body]),
    ]
    return PrintedTable(artefact.title, cells, header, body, notes)


def build_method_pairs(context: Context, artefact: MethodTable) -> PrintedTable:
    """Return all pairs of the tested methods, in the block that decides."""
    comparison = artefact.comparison
    found = compare_block(context, comparison, comparison.main, only_tested=True)
    header = [
        "first", "second", f"difference, {comparison.unit}", "95 % interval",
        "wins–ties–losses", "p, Wilcoxon", "p, Holm", "P(first better)",
        "P(equal)", "P(second better)",
    ]  # fmt: skip
    if isinstance(found, str):
        cells = pd.DataFrame(columns=["first", "second"])
        return PrintedTable(artefact.title, cells, header, [], [f"No data: {found}."])
    body = [
        [
            row["first"],
            row["second"],
            number(row["mean_difference"], "+.2f"),
            interval(row["interval_low"], row["interval_high"], ".2f"),
            f"{row['wins']}–{row['ties']}–{row['losses']}",
            *(p_text(row[p]) for p in ("p_wilcoxon", "p_wilcoxon_holm", *OUTCOMES)),
        ]
        for row in found.pairs.to_dict("records")
    ]
    notes = [
        f"{found.n} data sets: {', '.join(map(str, found.scores.values.index))}; "
        f"train size: {comparison.main}.",
        found.power_limit(),
        *_reversed_note(found),
        "Posterior probabilities of the Bayesian signed-rank test; differences up "
        f"to {comparison.rope:g} {comparison.unit} count as none.",
        *notes_on_joined(context, comparison, (), FIXED),
    ]
    return PrintedTable(artefact.title, found.pairs, header, body, notes)


def build_method_posteriors(context: Context, artefact: MethodTable) -> PrintedTable:
    """Return pairs of ranked methods by all repeats; the decided ones are printed."""
    comparison = artefact.comparison
    values = ranked(context, comparison, comparison.main)
    ranks = values.rank(axis=1, ascending=False).mean()
    order = list(ranks.sort_values(kind="stable").index)  # the better of two first
    tables, notes = [], []
    for block in comparison.blocks:
        found = ranked_repeats(context, comparison, block, order)
        if isinstance(found, str):
            notes.append(f"{block}: no data: {found}.")
            continue
        rope = comparison.rope
        pairs = compare_all_repeats(*found, higher_better=True, rope=rope)
        tables.append(pairs.assign(block=block))
    others = [block for block in comparison.blocks if block != comparison.main]
    header = [
        "in words", "P(first better)", "P(equal)", "P(second better)",
        *(f"the same, {block}" for block in others),
    ]  # fmt: skip
    columns = ["block", *POSTERIOR_COLUMNS]
    cells = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    cells = cells.reindex(columns=columns)
    is_main = cells["block"] == comparison.main
    shown = cells[is_main & (cells["probability"] > CERTAIN)]
    by_place = cells.set_index(["block", "first", "second"]).to_dict("index")
    body = [
        [
            in_words(row),
            *(p_text(row[name]) for name in OUTCOMES),
            *(
                p_text(
                    by_place.get((block, row["first"], row["second"]), {}).get(
                        "p_" + row["conclusion"].replace(" ", "_"), math.nan
                    )
                )
                for block in others
            ),
        ]
        for row in shown.sort_values("probability", ascending=False).to_dict("records")
    ]
    if is_main.any():
        reversed_ = shown["reversed_without"].ne("").sum()
        notes = [
            f"Of {is_main.sum()} pairs {len(shown)} are decided with a probability "
            f"above {CERTAIN:g} (train size: {comparison.main}); leaving one data set "
            f"out reverses {reversed_ or 'none'} of these. The csv has all pairs.",
            "Posterior probabilities of the hierarchical model of Corani, Benavoli et "
            "al. (2017) that on a further data set the first method is better, the two "
            "are equal, or the second is better; repeats are correlated as they share "
            f"samples, and differences up to {comparison.rope:g} {comparison.unit} "
            "count as none. A few data sets far from the others move the mean "
            "difference more than these.",
            *notes,
        ]
    return PrintedTable(artefact.title, cells, header, body, notes)


def ranked_repeats(
    context: Context, comparison: Comparison, block: str, order: Sequence[str]
) -> tuple[dict[str, pd.DataFrame], dict[str, float]] | str:
    """Return repeats and variance ratios by data set, or why there are none."""
    values = ranked(context, comparison, block)
    columns = [column for column in order if column in values]
    repeats, ratios = {}, {}
    for name in map(str, values.index):
        found = _rows(context, comparison, block, comparison.rows[name])
        repeats[name] = _by_repeat(found, comparison)[columns].dropna()
        # Methods at the same places have the same splits.
        distinct = {
            frozenset(zip(each["dataset"], each["train_size"], strict=True)): each
            for _, each in found[found["method"].isin(columns)].groupby("method")
        }
        found_ratios = [
            variance_ratio_of(each, context.overlaps, "repeat")
            for each in distinct.values()
        ]
        ratios[name] = max(found_ratios, default=0.0)
    counts = [len(table) for table in repeats.values()]
    if len(values) < MIN_UNITS or min(counts) < MIN_REPEATS:
        return (
            f"{many(len(values), 'data set')} of {min(counts, default=0)} repeats or "
            f"more; a comparison by all repeats needs {MIN_UNITS} of {MIN_REPEATS}"
        )
    return repeats, ratios


def build_left_out(context: Context, artefact: MethodTable) -> PrintedTable:
    """Return which methods were not run on which data sets, and why."""
    cells = _missing(context, artefact)
    grouped: dict[tuple[str, str], list[str]] = {}
    every = list(artefact.comparison.rows)
    for (method, reason), rows in cells.groupby(["method", "reason"], sort=False):
        names = list(rows["data set"])
        where = _EVERYWHERE if names == every else ", ".join(names)
        grouped.setdefault((where, str(reason)), []).append(str(method))
    notes = [] if grouped else ["Every method was run on every data set."]
    body = [[", ".join(names), *key] for key, names in grouped.items()]
    return PrintedTable(artefact.title, cells, list(map(str, cells)), body, notes)


def _missing(context: Context, artefact: MethodTable) -> pd.DataFrame:
    """Return method, data set and reason of every gap of the block that decides."""
    comparison = artefact.comparison
    configured = {
        (method, row): entry.reason
        for entry in artefact.left_out
        for method in entry.methods
        for row in entry.rows or comparison.rows
    }
    gaps = ranking_matrix(context.scores, comparison, comparison.main).isna()
    rows = [
        (
            column,
            name,
            configured.get((column, name))
            or context.missing_reason(row.experiment, methods),
        )
        for column, methods in comparison.methods.items()
        for name, row in comparison.rows.items()
        if gaps.loc[name, column]
    ]
    return pd.DataFrame(rows, columns=["method", "data set", "reason"])


def _rows(
    context: Context, comparison: Comparison, block: str, row: ComparisonRow
) -> pd.DataFrame:
    """Return the scores of a data set, columns in place of methods."""
    scores = context.by_experiment.get(row.experiment, context.scores[:0])
    return in_columns(scores, comparison, block, row, row.metric)


def _by_repeat(rows: pd.DataFrame, comparison: Comparison) -> pd.DataFrame:
    """Return the mean of each repeat (rows) by column."""
    return average(rows, ["repeat", "method"]).unstack("method") * comparison.scale


def _mean_sd(values: pd.Series) -> dict[str, float]:
    sd = values.std(ddof=1) if len(values) > 1 else 0.0
    return {"mean": values.mean(), "sd": sd, "n": len(values)}


def _mean_sd_text(cell: Mapping[Hashable, Any]) -> str:
    if not cell["n"]:
        return DASH
    return f"{number(cell['mean'], '.1f')} ± {cell['sd']:.1f}"


def _rank_cells(block: str, found: MatrixTests | str) -> pd.DataFrame:
    columns = [
        "block", "method", "n", "mean_rank", "mean", "best", "z", "p", "p_holm",
        "above_control", "friedman_chi2", "friedman_p", "iman_davenport_f",
        "iman_davenport_p", "critical_difference",
    ]  # fmt: skip
    if isinstance(found, str):
        return pd.DataFrame(columns=columns)
    table = found.methods.copy()
    if found.against_control is not None:
        table = table.join(found.against_control)
        table["above_control"] = table["mean"] - table["mean"].loc[str(found.control)]
    if found.friedman is not None:
        over_all = found.friedman
        table = table.assign(
            friedman_chi2=over_all.chi2, friedman_p=over_all.p,
            iman_davenport_f=over_all.f, iman_davenport_p=over_all.p_iman_davenport,
        )  # fmt: skip
    table["critical_difference"] = found.critical_difference
    table = table.rename_axis("method").reset_index()
    return table.assign(block=block, n=found.n).reindex(columns=columns)


def _friedman_note(block: str, found: MatrixTests | str) -> str:
    if isinstance(found, str):
        return f"{block}: no data: {found}."
    names = ", ".join(map(str, found.scores.values.index))
    size = f"{len(found.methods)} methods on {found.n} data sets ({names})"
    if found.friedman is None:
        return f"{block}: {size}."
    over_all = found.friedman
    differ = "differ" if over_all.p_iman_davenport < LEVEL else "no difference shown"
    return (
        f"{block}: {size}; {differ}: Friedman χ² = {over_all.chi2:.2f}, p "
        f"{p_text(over_all.p)}; Iman and Davenport F = {over_all.f:.2f}, p "
        f"{p_text(over_all.p_iman_davenport)}; Nemenyi's critical difference of two "
        f"mean ranks {found.critical_difference:.2f}."
    )


def _reversed_note(found: MatrixTests | str) -> list[str]:
    reversed_ = [] if isinstance(found, str) else found.reversed_without()
    told = f"These change if one data set is left out: {'; '.join(reversed_)}."
    return [told] * bool(reversed_)


def joined_columns(config: Paper, comparison: Comparison) -> list[str]:
    """Return the columns of a comparison whose methods have joined."""
    own = set(config.own or [])
    return [name for name, methods in comparison.methods.items() if set(methods) <= own]


def notes_on_joined(
    context: Context,
    comparison: Comparison,
    compared: Collection[str],
    why: str = "it lacks scores on one of the data sets",
) -> list[str]:
    """Say of each method that joined whether it is among those compared, or why not."""
    said = {True: ", and is compared here", False: f". It is left out: {why}"}
    return [
        f"{name} joined the methods of the plan{said[name in compared]}."
        for name in joined_columns(context.config, comparison)
    ]


def notes_on_printed_ranks(context: Context, comparison: Comparison) -> list[str]:
    """Say of each method that joined that it has no rank beside printed ones."""
    configured = context.config.experiments
    present = {
        entry.method
        for row in comparison.rows.values()
        if row.experiment in configured
        for entry in configured[row.experiment].methods
    }
    return [
        f"{context.label(name)} joined and is not ranked here: the ranks are those of "
        "the methods that the paper printed."
        for name in (context.config.own or [])
        if name in present
    ]
