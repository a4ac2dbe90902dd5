"""Printed tables recomputed: ranks, their tests, and where the printed ones differ.

A published comparison over data sets prints accuracies, ranks of the methods on each
data set, mean ranks, and tests of the mean ranks against a control. Everything but the
accuracies follows from them. :func:`read_comparisons` reads what was printed,
:func:`audit` recomputes it, and :func:`numbers_of_blocks` finds from how many data sets
printed test statistics can come.
"""

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from mtmkl.statistics.pairs import LEVEL
from mtmkl.statistics.ranks import FriedmanResult, friedman, holm_against_control

DIFFERENCE_COLUMNS = ("quantity", "dataset", "method", "printed", "recomputed")
"""Columns of :attr:`Audit.differences`."""

MEAN_RANK, STATISTIC, P_VALUE, ADJUSTED_LEVEL = (
    "mean rank", "test statistic", "p value", "adjusted α",
)  # fmt: skip
DOMINATED = "methods dominated"

# The last printed digit, rounded or cut off: both occur in one table.
_UNITS = {
    "rank": 0.0, MEAN_RANK: 0.01, STATISTIC: 0.01, P_VALUE: 1e-4, ADJUSTED_LEVEL: 1e-4,
}  # fmt: skip
_ROUNDING = 1e-9
_MAX_BLOCKS = 20


class AuditError(ValueError):
    """Printed numbers cannot be audited: a file or a number is missing."""


@dataclass(frozen=True)
class PrintedComparison:
    """One printed comparison of methods over data sets.

    Attributes
    ----------
    label : str
        Of the block of the table, such as "10 %".
    control : str
        The method that the others are tested against.
    accuracies, ranks : DataFrame of shape (data sets, methods)
        As printed; a rank of 1 is best.
    mean_ranks : Series
        Of each method.
    tests : DataFrame
        Index: methods but the control; columns "test statistic", "p value" and
        "adjusted α".
    n_dominated : int
        How many methods the text calls significantly worse than the control.
    """

    label: str
    control: str
    accuracies: pd.DataFrame
    ranks: pd.DataFrame
    mean_ranks: pd.Series
    tests: pd.DataFrame
    n_dominated: int


@dataclass(frozen=True)
class Audit:
    """A printed comparison, recomputed from its accuracies.

    Attributes
    ----------
    printed : PrintedComparison
    ranks : DataFrame of shape (data sets, methods)
        Equal accuracies share the mean of their ranks.
    friedman : FriedmanResult
        With the mean ranks; Iman and Davenport's refinement.
    tests : DataFrame
        Index: methods but the control; "test statistic", "p value" and "adjusted α"
        recomputed, and ``p_holm``. The adjusted level of the i-th smallest of m
        p-values is 0.05 / (m − i + 1); equal ones are taken in the order of the table.
    differences : DataFrame
        :data:`DIFFERENCE_COLUMNS`, one row a printed number that is off by more than a
        unit of its last digit (a rank: at all).
    n_rejected, n_rejected_as_printed : int
        Methods that Holm's procedure finds worse than the control, and those whose
        printed p is below the adjusted level printed for them.
    n_blocks_implied : tuple of int
        Numbers of data sets from which all printed test statistics can come.
    """

    printed: PrintedComparison
    ranks: pd.DataFrame
    friedman: FriedmanResult
    tests: pd.DataFrame
    differences: pd.DataFrame
    n_rejected: int
    n_rejected_as_printed: int
    n_blocks_implied: tuple[int, ...]


def read_comparisons(folder: Path) -> list[PrintedComparison]:
    """Read the comparisons that a paper prints from its published files."""
    paths = sorted(folder.glob("*.csv"))
    return printed_comparisons({path.name: pd.read_csv(path) for path in paths})


def auditable_papers(papers: Path) -> list[str]:
    """Return the papers whose comparisons can be read."""
    found = []
    for folder in sorted(papers.iterdir()):
        with suppress(AuditError):
            read_comparisons(folder / "published")
            found.append(folder.name)
    return found


def printed_comparisons(
    published: Mapping[str, pd.DataFrame],
) -> list[PrintedComparison]:
    """Return the comparisons that a paper prints.

    ``table_1.csv`` holds the accuracies with their ranks (column ``rank``) in rows
    "data set, block", and the mean ranks in rows "mean rank, block"; ``table_2.csv``
    the tests in rows "test statistic, block" and so on; ``texts.csv`` names the control
    and counts the "methods dominated" by it, in rows "control, block".
    """
    names = ("table_1.csv", "table_2.csv", "texts.csv")
    missing = [name for name in names if name not in published]
    if missing:
        raise AuditError(
            f"there is no printed {' and '.join(missing)}: nothing to audit"
        )
    accuracies, tests, texts = (published[name] for name in names)
    if "rank" not in accuracies:
        raise AuditError("table_1.csv has no printed ranks: nothing to audit")
    counts = texts[texts["column"] == DOMINATED]
    stated = counts["row"].str.rpartition(", ").set_index(2)[0]
    dominated = dict(zip(stated.index, counts["value"].astype(int), strict=True))
    cells = accuracies[accuracies["rank"].notna()]
    blocks = cells["row"].str.rpartition(", ")[2].drop_duplicates()
    comparisons = []
    for label in blocks:
        if label not in stated:
            raise AuditError(
                f"texts.csv has no {DOMINATED!r} of the block {label}: add it"
            )
        ending = f", {label}"
        mine = _without_ending(cells, ending)
        table = _wide(mine, "value")
        if table.isna().to_numpy().any():
            row, column = np.argwhere(table.isna().to_numpy())[0]
            raise AuditError(
                f"table_1.csv has no number for {table.columns[column]} on "
                f"{table.index[row]}, {label}: its ranks cannot be recomputed"
            )
        heading = accuracies[accuracies["row"] == MEAN_RANK + ending]
        comparisons.append(
            PrintedComparison(
                label=label,
                control=stated[label],
                accuracies=table,
                ranks=_wide(mine, "rank"),
                mean_ranks=heading.set_index("column")["value"].rename_axis(None),
                tests=_wide(_without_ending(tests, ending), "value").T,
                n_dominated=dominated[label],
            )
        )
    return comparisons


def audit(printed: PrintedComparison) -> Audit:
    """Recompute ranks, mean ranks and tests from printed accuracies."""
    ranks = printed.accuracies.rank(axis=1, ascending=False)
    over_all = friedman(printed.accuracies, higher_better=True)
    tests = rank_tests(over_all, printed.control)
    recomputed = tests.reindex(printed.tests.index)
    differences = [
        row
        for dataset in ranks.index
        for row in _differing(
            "rank", printed.ranks.loc[dataset], ranks.loc[dataset], dataset=dataset
        )
    ]
    differences += _differing(MEAN_RANK, printed.mean_ranks, over_all.ranks)
    for quantity in (STATISTIC, P_VALUE, ADJUSTED_LEVEL):
        differences += _differing(
            quantity, printed.tests[quantity], recomputed[quantity]
        )
    as_printed = printed.tests[P_VALUE] < printed.tests[ADJUSTED_LEVEL]
    return Audit(
        printed=printed,
        ranks=ranks,
        friedman=over_all,
        tests=recomputed,
        differences=pd.DataFrame(differences, columns=list(DIFFERENCE_COLUMNS)),
        n_rejected=count_dominated(tests),
        n_rejected_as_printed=int(as_printed.sum()),
        n_blocks_implied=numbers_of_blocks(
            printed.tests[STATISTIC], len(printed.mean_ranks)
        ),
    )


def audit_text(found: Audit) -> list[str]:
    """Return what an audit found in a few lines; the differences follow them."""
    printed, over_all = found.printed, found.friedman
    n, k = printed.accuracies.shape
    implied = ", ".join(map(str, found.n_blocks_implied)) or f"none up to {_MAX_BLOCKS}"
    lines = [
        f"{printed.label}: {n} data sets, {k} methods, control {printed.control!r}",
        f"  Friedman: χ² = {over_all.chi2:.3f}, p = {over_all.p:.2g}; "
        f"Iman–Davenport: F = {over_all.f:.3f}, p = {over_all.p_iman_davenport:.2g}",
        f"  Holm at {LEVEL:g}: {found.n_rejected} of {k - 1} methods worse than the "
        f"control; in the text {printed.n_dominated}; printed p below the printed "
        f"adjusted α: {found.n_rejected_as_printed}",
        f"  numbers of data sets that all printed test statistics fit: {implied}",
    ]
    outcome = (
        "every printed number follows from the printed accuracies"
        if found.differences.empty
        else "printed numbers that do not follow from the printed accuracies:"
    )
    return [*lines, f"  {outcome}"]


def rank_tests(over_all: FriedmanResult, control: str) -> pd.DataFrame:
    """Return the tests of mean ranks against a control as papers print them."""
    tests = holm_against_control(over_all.ranks, over_all.n_blocks, control)
    order = tests["p"].argsort(kind="stable").to_numpy()
    levels = np.empty(len(tests))
    levels[order] = LEVEL / np.arange(len(tests), 0, -1)
    named = tests.rename(columns={"z": STATISTIC, "p": P_VALUE})
    return named.assign(**{ADJUSTED_LEVEL: levels})


def count_dominated(tests: pd.DataFrame) -> int:
    """Return how many methods Holm's procedure finds worse than the control."""
    return int(((tests["p_holm"] < LEVEL) & (tests[STATISTIC] > 0)).sum())


def numbers_of_blocks(
    statistics: ArrayLike, n_methods: int, *, decimals: int = 2
) -> tuple[int, ...]:
    """Return the numbers N ≤ 20 of data sets that printed test statistics can have.

    Over N data sets z is d / √(N k (k + 1) / 6) with d a difference of sums of ranks, a
    multiple of ½.
    """
    z = np.asarray(statistics, dtype=float)
    unit = 10.0**-decimals
    found = []
    for n in range(2, _MAX_BLOCKS + 1):
        step = 0.5 / math.sqrt(n * n_methods * (n_methods + 1) / 6)
        low = np.ceil((z - unit / 2) / step - _ROUNDING)
        if (low * step <= z + unit + _ROUNDING).all():
            found.append(n)
    return tuple(found)


def _differing(
    quantity: str, printed: pd.Series, recomputed: pd.Series, *, dataset: str = ""
) -> list[tuple[str, str, str, float, float]]:
    """Return rows of the printed numbers that are off by more than a last digit."""
    pairs = zip(printed.index, printed, recomputed[printed.index], strict=True)
    allowed = _UNITS[quantity] + _ROUNDING
    return [
        (quantity, dataset, str(method), float(theirs), float(ours))
        for method, theirs, ours in pairs
        if abs(theirs - ours) > allowed
    ]


def _without_ending(table: pd.DataFrame, ending: str) -> pd.DataFrame:
    mine = table[table["row"].str.endswith(ending)]
    return mine.assign(row=mine["row"].str.removesuffix(ending))


def _wide(table: pd.DataFrame, values: str) -> pd.DataFrame:
    """Return rows × columns in the order of the file."""
    wide = table.pivot(index="row", columns="column", values=values)
    wide = wide.reindex(
        index=table["row"].drop_duplicates(), columns=table["column"].drop_duplicates()
    )
    return wide.rename_axis(index=None, columns=None)
