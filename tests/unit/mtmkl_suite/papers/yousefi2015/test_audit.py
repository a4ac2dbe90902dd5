import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mtmkl_suite.documents import config_dir
from mtmkl_suite.papers.yousefi2015.audit import (
    BELOW_LEVEL,
    audit_table,
    numbers_of_blocks,
)
from mtmkl_suite.report.tables.ranking import DOMINATED, rank_tests
from mtmkl_suite.statistics.ranks import friedman

METHODS = ["a", "b", "c", "control"]


def made_values(seed=3, n=9):
    """Return accuracies, methods by data sets."""
    rng = np.random.default_rng(seed)
    values = np.round(80 + rng.normal(size=(n, 4)) + [0, 1, 2, 4], 2)
    names = [f"set {k}" for k in range(n)]
    return pd.DataFrame(values, index=names, columns=METHODS)


def as_printed(wide):
    """Return a table of one number a row, as published ones are."""
    long = wide.rename(index="{}, all".format).rename_axis(
        index="row", columns="column"
    )
    return long.stack().rename("value").reset_index()


def consistent():
    """Return published tables whose numbers follow from the accuracies."""
    values = made_values()
    over_all = friedman(values, higher_better=True)
    tests = rank_tests(over_all, "control")
    ranks = as_printed(values.rank(axis=1, ascending=False))["value"]
    mean_ranks = over_all.ranks.round(2).to_frame("mean rank").T
    accuracies = as_printed(values).assign(rank=ranks)
    printed = tests.round({"test statistic": 2, "p value": 4, "adjusted α": 4})
    count = {"row": "control, all", "column": DOMINATED}
    count["value"] = (tests["p_holm"] < 0.05).sum()
    return {
        "table_1.csv": pd.concat([accuracies, as_printed(mean_ranks)]),
        "table_2.csv": as_printed(printed.drop(columns="p_holm").T),
        "texts.csv": pd.DataFrame([count]),
    }


def test_consistent_numbers_have_no_differences():
    published = consistent()
    found = audit_table(published).set_index("quantity")
    assert list(found.index) == ["data sets", DOMINATED, BELOW_LEVEL]
    counts = found.loc[[DOMINATED, BELOW_LEVEL], ["printed", "recomputed"]]
    assert (counts == published["texts.csv"]["value"][0]).all(axis=None)
    tests = published["table_2.csv"].set_index("row")["value"]
    assert found.loc["data sets", "printed"] in numbers_of_blocks(
        tests["test statistic, all"], len(METHODS)
    )


@pytest.mark.parametrize(
    ("file", "quantity", "by"),
    [
        ("table_1.csv", "mean rank", 0.02),
        ("table_2.csv", "test statistic", 0.02),
        ("table_2.csv", "p value", 0.0002),
    ],
)
def test_a_changed_number_is_found(file, quantity, by):
    published = consistent()
    table = published[file]
    is_changed = (table["row"] == f"{quantity}, all") & (table["column"] == "b")
    changed = table.assign(value=table["value"] + by * is_changed)
    found = audit_table({**published, file: changed})
    (differing,) = found[found["method"] != ""].to_dict("records")
    assert (differing["quantity"], differing["data set"]) == (quantity, "")
    assert differing["method"] == "b"


def test_adjusted_levels_follow_the_order_of_p():
    over_all = friedman(made_values(), higher_better=True)
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
