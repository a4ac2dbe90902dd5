import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mtmkl_suite.documents import config_dir
from mtmkl_suite.papers.yousefi2015.audit import (
    BELOW_LEVEL,
    PrintedComparison,
    audit,
    audit_table,
    numbers_of_blocks,
)
from mtmkl_suite.report.tables.ranking import DOMINATED, rank_tests
from mtmkl_suite.statistics.ranks import friedman

METHODS = ["a", "b", "c", "control"]


def consistent(seed=3, n=9):
    """Return a comparison whose printed numbers follow from its accuracies."""
    rng = np.random.default_rng(seed)
    values = pd.DataFrame(
        np.round(80 + rng.normal(size=(n, 4)) + [0, 1, 2, 4], 2),
        index=[f"set {k}" for k in range(n)],
        columns=METHODS,
    )
    over_all = friedman(values, higher_better=True)
    tests = rank_tests(over_all, "control")
    return PrintedComparison(
        label="all",
        control="control",
        accuracies=values,
        ranks=values.rank(axis=1, ascending=False),
        mean_ranks=over_all.ranks.round(2),
        tests=tests.drop(columns="p_holm").round(
            {"test statistic": 2, "p value": 4, "adjusted α": 4}
        ),
        n_dominated=int((tests["p_holm"] < 0.05).sum()),
    )


def test_consistent_numbers_have_no_differences():
    printed = consistent()
    found = audit(printed).set_index("quantity")
    assert list(found.index) == ["data sets", DOMINATED, BELOW_LEVEL]
    counts = found.loc[[DOMINATED, BELOW_LEVEL], ["printed", "recomputed"]]
    assert (counts == printed.n_dominated).all(axis=None)
    implied = numbers_of_blocks(printed.tests["test statistic"], len(METHODS))
    assert len(printed.accuracies) in implied


@pytest.mark.parametrize(
    ("quantity", "by"),
    [("mean rank", 0.02), ("test statistic", 0.02), ("p value", 0.0002)],
)
def test_a_changed_number_is_found(quantity, by):
    printed = consistent()
    part, at = "tests", ("b", quantity)
    if quantity == "mean rank":
        part, at = "mean_ranks", "b"
    table = getattr(printed, part).copy()
    table.loc[at] += by
    changed = dataclasses.replace(printed, **{part: table})
    found = audit(changed)
    (differing,) = found[found["method"] != ""].to_dict("records")
    assert (differing["quantity"], differing["data set"]) == (quantity, "")
    assert differing["method"] == "b"


def test_adjusted_levels_follow_the_order_of_p():
    over_all = friedman(consistent().accuracies, higher_better=True)
    tests = rank_tests(over_all, "control").sort_values("p value")
    np.testing.assert_allclose(tests["adjusted α"], [0.05 / 3, 0.05 / 2, 0.05])
    z = (over_all.ranks["a"] - over_all.ranks["control"]) / np.sqrt(4 * 5 / (6 * 9))
    assert tests.loc["a", "test statistic"] == pytest.approx(z)
    assert tests.loc["a", "p value"] == pytest.approx(2 * stats.norm.sf(abs(z)))


@pytest.mark.parametrize("n", [3, 7, 11])
def test_number_of_data_sets_is_among_those_its_statistics_fit(n):
    sums = np.array([40.0, 31.5, 22.0, 18.5, 12.0, 9.5, 3.0])
    z = sums / np.sqrt(n * 8 * 9 / 6)
    assert n in numbers_of_blocks(z.round(2), 8)
    assert n in numbers_of_blocks(np.floor(100 * z) / 100, 8)
    assert numbers_of_blocks(z[:1].round(2), 8) != (n,)  # one number says little


def test_the_table_has_the_counts_and_what_differs():
    folder = config_dir() / "papers" / "yousefi2015" / "published"
    table = audit_table({path.name: pd.read_csv(path) for path in folder.glob("*.csv")})
    rows = table.set_index(["training", "quantity", "method"])
    assert list(table["training"].unique()) == ["10 %", "20 %", "50 %"]
    # The printed statistics of the first block can only come from seven data sets.
    assert rows.loc["10 %", "data sets", ""]["recomputed"] == 7
    assert rows.loc["10 %", "data sets", ""]["printed"] == 6
    assert rows.loc["20 %", "mean rank", "MeTaG"]["recomputed"] == pytest.approx(34 / 7)
    assert rows.loc["20 %", "rank", "MeTaG"]["data set"] == "Pen"
    counts = table[(table["training"] == "50 %") & (table["method"] == "")]
    assert len(counts) == (table["training"] == "50 %").sum() == 3
