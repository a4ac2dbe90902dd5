"""Audit of the printed comparison: numbers that do not follow from its accuracies.

The paper prints accuracies, ranks of the methods on each data set, mean ranks, and
tests of the mean ranks against its own method. Everything but the accuracies follows
from them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from mtmkl_suite.report.tables.ranking import (
    ADJUSTED_LEVEL,
    DOMINATED,
    MEAN_RANK,
    P_VALUE,
    STATISTIC,
    count_dominated,
    rank_tests,
)
from mtmkl_suite.statistics.ranks import friedman

BELOW_LEVEL = "printed p below the printed adjusted α"
DIFFERENCE_COLUMNS = ("quantity", "data set", "method", "printed", "recomputed")

# The last printed digit, rounded or cut off: both occur in one table.
_UNITS = {
    "rank": 0.0, MEAN_RANK: 0.01, STATISTIC: 0.01, P_VALUE: 1e-4, ADJUSTED_LEVEL: 1e-4,
}  # fmt: skip
_ROUNDING = 1e-9
_MAX_BLOCKS = 20


@dataclass(frozen=True)
class PrintedComparison:
    """A printed block of the comparison, methods by data sets; a rank of 1 is best.

    ``tests`` has the methods but the control as index; ``n_dominated`` is how many the
    text calls significantly worse than the control.
    """

    label: str
    control: str
    accuracies: pd.DataFrame
    ranks: pd.DataFrame
    mean_ranks: pd.Series
    tests: pd.DataFrame
    n_dominated: int


def printed_comparisons(
    published: Mapping[str, pd.DataFrame],
) -> list[PrintedComparison]:
    """Return the blocks of the comparison that the paper prints.

    ``table_1.csv`` holds the accuracies with their ranks (column ``rank``) in rows
    "data set, block", and the mean ranks in rows "mean rank, block"; ``table_2.csv``
    the tests in rows "test statistic, block" and so on; ``texts.csv`` names the control
    and counts the "methods dominated" by it, in rows "control, block".
    """
    names = ("table_1.csv", "table_2.csv", "texts.csv")
    accuracies, tests, texts = (published[name] for name in names)
    dominated = texts[texts["column"] == DOMINATED]
    cells = accuracies[accuracies["rank"].notna()]
    comparisons = []
    for place, count in zip(dominated["row"], dominated["value"], strict=True):
        control, _, label = place.rpartition(", ")
        ending = f", {label}"
        mine = _without_ending(cells, ending)
        heading = accuracies[accuracies["row"] == MEAN_RANK + ending]
        comparisons.append(
            PrintedComparison(
                label=label,
                control=control,
                accuracies=_wide(mine, "value"),
                ranks=_wide(mine, "rank"),
                mean_ranks=heading.set_index("column")["value"].rename_axis(None),
                tests=_wide(_without_ending(tests, ending), "value").T,
                n_dominated=int(count),
            )
        )
    return comparisons


def audit(printed: PrintedComparison) -> pd.DataFrame:
    """Recompute ranks, mean ranks and tests from printed accuracies.

    Equal accuracies share the mean of their ranks. Returns counts of data sets and
    methods, then each printed number that is off by more than a unit of its last digit
    (a rank: at all). The number of data sets is missing where none, or more than one,
    fits the printed test statistics.
    """
    ranks = printed.accuracies.rank(axis=1, ascending=False)
    over_all = friedman(printed.accuracies, higher_better=True)
    tests = rank_tests(over_all, printed.control)
    n_rejected = count_dominated(tests)
    as_printed = printed.tests[P_VALUE] < printed.tests[ADJUSTED_LEVEL]
    implied = numbers_of_blocks(printed.tests[STATISTIC], len(printed.mean_ranks))
    n_sets = implied[0] if len(implied) == 1 else math.nan
    rows: list[tuple[str, str, str, float, float]] = [
        ("data sets", "", "", len(printed.accuracies), n_sets),
        (DOMINATED, "", "", printed.n_dominated, n_rejected),
        (BELOW_LEVEL, "", "", int(as_printed.sum()), n_rejected),
    ]
    for dataset in ranks.index:
        pair = printed.ranks.loc[dataset], ranks.loc[dataset]
        rows += _differing("rank", *pair, dataset=dataset)
    rows += _differing(MEAN_RANK, printed.mean_ranks, over_all.ranks)
    for quantity in (STATISTIC, P_VALUE, ADJUSTED_LEVEL):
        rows += _differing(quantity, printed.tests[quantity], tests[quantity])
    # Of any type: counts are whole numbers where they stand alone.
    return pd.DataFrame(rows, columns=list(DIFFERENCE_COLUMNS)).astype(object)


def audit_table(published: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return what does not follow in each block, after its counts."""
    tables = {each.label: audit(each) for each in printed_comparisons(published)}
    both = pd.concat(tables, names=["training"]).reset_index("training")
    return both.reset_index(drop=True)


def numbers_of_blocks(statistics: ArrayLike, n_methods: int) -> tuple[int, ...]:
    """Return the numbers N ≤ 20 of data sets that printed test statistics can have.

    Over N data sets z is d / √(N k (k + 1) / 6) with d a difference of sums of ranks, a
    multiple of ½.
    """
    z, unit = np.asarray(statistics, dtype=float), _UNITS[STATISTIC]
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
