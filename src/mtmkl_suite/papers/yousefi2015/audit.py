"""Audit of the printed comparison: numbers that do not follow from its accuracies.

The paper prints accuracies, ranks of the methods on each data set, mean ranks, and
tests of the mean ranks against its own method. Everything but the accuracies follows
from them.
"""

import math
from collections.abc import Mapping

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
from mtmkl_suite.statistics.ranks import friedman, rank_methods

BELOW_LEVEL = "printed p below the printed adjusted α"
AUDIT_COLUMNS = (
    "training", "quantity", "data set", "method", "printed", "recomputed",
)  # fmt: skip

# The last printed digit, rounded or cut off: both occur in one table.
_UNITS = {
    "rank": 0.0, MEAN_RANK: 0.01, STATISTIC: 0.01, P_VALUE: 1e-4, ADJUSTED_LEVEL: 1e-4,
}  # fmt: skip
_ROUNDING = 1e-9
_MAX_BLOCKS = 20


def audit_table(published: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Recompute ranks, mean ranks and tests of each block from printed accuracies.

    Equal accuracies share the mean of their ranks. Returns for each block counts of
    data sets and methods, then each printed number that is off by more than a unit of
    its last digit (a rank: at all). The number of data sets is missing where none, or
    more than one, fits the printed test statistics.
    """
    table, tests, texts = (
        published[f"{name}.csv"] for name in ("table_1", "table_2", "texts")
    )
    methods, dominated = table["column"].unique(), texts[texts["column"] == DOMINATED]
    values, ranks, tested = (
        each.pivot(index="row", columns="column", values=name)
        for each, name in ((table, "value"), (table, "rank"), (tests, "value"))
    )
    rows: list[tuple[object, ...]] = []
    for place, count in zip(dominated["row"], dominated["value"], strict=True):
        control, _, block = place.rpartition(", ")
        ending = f", {block}"
        has_ranks = table["row"].str.endswith(ending) & table["rank"].notna()
        accuracies = values.loc[table["row"][has_ranks].unique(), methods]
        over_all = friedman(accuracies, higher_better=True)
        recomputed = rank_tests(over_all, control)
        n_rejected = count_dominated(recomputed)
        theirs = {
            quantity: tested.loc[quantity + ending][recomputed.index]
            for quantity in (STATISTIC, P_VALUE, ADJUSTED_LEVEL)
        }
        n_below = np.count_nonzero(theirs[P_VALUE] < theirs[ADJUSTED_LEVEL])
        implied = numbers_of_blocks(theirs[STATISTIC], len(methods))
        n_sets = implied[0] if len(implied) == 1 else math.nan
        rows += [
            (block, "data sets", "", "", len(accuracies), n_sets),
            (block, DOMINATED, "", "", int(count), n_rejected),
            (block, BELOW_LEVEL, "", "", n_below, n_rejected),
        ]
        our_ranks = rank_methods(accuracies, higher_better=True)
        pairs = [
            ("rank", name.removesuffix(ending), ranks.loc[name], our_ranks.loc[name])
            for name in accuracies.index
        ]
        mean_ranks = values.loc[MEAN_RANK + ending]
        pairs.append((MEAN_RANK, "", mean_ranks, over_all.ranks))
        pairs += [(name, "", theirs[name], recomputed[name]) for name in theirs]
        rows += [
            (block, quantity, name, method, printed[method], number)
            for quantity, name, printed, ours in pairs
            for method, number in ours.items()
            if abs(printed[method] - number) > _UNITS[quantity] + _ROUNDING
        ]
    return pd.DataFrame(rows, columns=list(AUDIT_COLUMNS))


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
