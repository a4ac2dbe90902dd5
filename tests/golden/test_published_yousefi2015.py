"""Yousefi et al. 2015: a second transcription, by columns, and the audit of it."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mtmkl_suite.documents import config_dir
from mtmkl_suite.papers.yousefi2015.audit import BELOW_LEVEL, audit_table
from mtmkl_suite.report.tables.ranking import DOMINATED

FOLDER = config_dir() / "papers" / "yousefi2015" / "published"
SIX = ["Robot", "Vehicle", "Image", "Pen", "MNIST", "Letter"]
SEVEN = ["Robot", "Vehicle", "Image", "Pen", "MNIST", "Landmine", "Letter"]
DATASETS = {"10 %": SIX, "20 %": SEVEN, "50 %": SEVEN}

ACCURACIES = {
    "10 %": {
        "STL": "84.51 79.73 97.08 98.16 94.09 84.12",
        "MTL": "84.82 80.38 97.43 98.28 94.87 83.12",
        "CMTL": "84.15 80.23 97.09 95.78 94.49 85.62",
        "Whom": "88.90 83.14 97.27 98.28 95.56 86.82",
        "FlexClus": "88.34 82.45 98.05 98.67 94.59 83.72",
        "CoClus": "87.83 86.79 97.24 99.26 93.09 85.46",
        "MeTaG": "88.77 83.53 97.05 98.57 96.13 85.41",
        "Our Method": "88.67 84.51 98.19 99.12 96.70 87.41",
    },
    "20 %": {
        "STL": "87.67 85.88 97.41 98.57 96.13 58.76 88.75",
        "MTL": "88.23 86.16 98.02 99.01 96.71 61.89 89.98",
        "CMTL": "85.08 82.29 97.32 96.06 96.56 65.28 88.24",
        "Whom": "90.76 85.67 98.46 99.14 96.76 62.53 88.88",
        "FlexClus": "90.15 85.29 97.44 99.13 95.04 62.46 83.79",
        "CoClus": "88.43 87.15 97.50 99.30 94.09 63.52 82.26",
        "MeTaG": "89.12 85.78 97.29 99.02 96.84 62.59 87.99",
        "Our Method": "90.34 87.76 98.54 99.63 97.86 65.82 90.72",
    },
    "50 %": {
        "STL": "91.26 88.33 98.40 98.77 97.20 63.76 91.18",
        "MTL": "91.49 88.71 98.43 99.23 97.37 64.98 91.62",
        "CMTL": "86.26 83.91 97.56 96.17 97.31 66.76 90.97",
        "Whom": "91.70 87.3 98.58 99.32 97.78 65.57 91.25",
        "FlexClus": "91.26 86.72 98.04 99.33 96.60 64.87 86.47",
        "CoClus": "89.04 87.55 98.52 99.34 95.87 65.15 86.27",
        "MeTaG": "91.27 86.81 98.49 99.21 98.46 66.24 90.66",
        "Our Method": "92.41 89.83 99.07 99.77 98.64 67.15 92.49",
    },
}
MEAN_RANKS = {
    "STL": "7 6 5.64",
    "MTL": "5.42 4.43 3.85",
    "CMTL": "6.33 6.14 6.29",
    "Whom": "3.25 3.29 3.29",
    "FlexClus": "4.33 5.57 6.21",
    "CoClus": "4 4.57 5.29",
    "MeTaG": "5 4.71 4.42",
    "Our Method": "1.67 1.14 1",
}
# Test statistic, p value and adjusted level at 10, 20 and 50 %.
TESTS = {
    "STL": "3.93 0.0005 0.0071  3.71 0.00021 0.0083  3.55 0.0004 0.0100",
    "MTL": "2.13 0.0138 0.0083  2.51 0.0121 0.0250  2.18 0.0291 0.0250",
    "CMTL": "3.49 0.0022 0.0100  3.82 0.0001 0.0071  4.04 0.0001 0.0071",
    "Whom": "1.25 0.2869 0.0125  1.64 0.1017 0.0500  1.75 0.0809 0.0500",
    "FlexClus": "2.40 0.0777 0.01667  3.38 0.0007 0.0100  3.98 0.0001 0.0083",
    "CoClus": "2.62 0.1214 0.0250  2.62 0.0088 0.01667  3.27 0.0011 0.0125",
    "MeTaG": "2.29 0.1214 0.0500  2.73 0.0064 0.0125  2.61 0.0089 0.01667",
}
BLOCKS = list(DATASETS)


def numbers(text):
    return [float(word) for word in text.split()]


def frame(columns, index):
    return pd.DataFrame(
        {name: numbers(text) for name, text in columns.items()}, index=index
    )


def in_block(table, block, values="value"):
    """Return rows × columns of a block, in the order of the file."""
    mine = table[table["row"].str.endswith(f", {block}")]
    mine = mine.assign(row=mine["row"].str.removesuffix(f", {block}"))
    wide = mine.pivot(index="row", columns="column", values=values)
    wide = wide.loc[mine["row"].unique(), mine["column"].unique()]
    return wide.rename_axis(index=None, columns=None)


@pytest.fixture(scope="module")
def published():
    return {path.name: pd.read_csv(path) for path in FOLDER.glob("*.csv")}


@pytest.fixture(scope="module")
def printed(published):
    found, table = {}, published["table_1.csv"]
    for block in BLOCKS:
        values = in_block(table, block)
        found[block] = SimpleNamespace(
            accuracies=values.drop("mean rank"),
            ranks=in_block(table, block, "rank").drop("mean rank"),
            mean_ranks=values.loc["mean rank"],
            tests=in_block(published["table_2.csv"], block).T,
        )
    return found


@pytest.fixture(scope="module")
def audits(published):
    """Counts (printed, recomputed) and the printed numbers that are off, by block."""
    found = {}
    for label, table in audit_table(published).groupby("training"):
        counts = table[table["method"] == ""].set_index("quantity")
        counts = counts[["printed", "recomputed"]]
        found[label] = counts, table[table["method"] != ""]
    return found


def mean_ranks(block):
    return block.accuracies.rank(axis=1, ascending=False).mean()


@pytest.mark.parametrize("block", BLOCKS)
def test_table_1_is_transcribed_cell_by_cell(printed, block):
    datasets = DATASETS[block]
    pd.testing.assert_frame_equal(
        printed[block].accuracies, frame(ACCURACIES[block], datasets)
    )
    # All ranks but one, which is printed twice, are those of the accuracies.
    ranks = printed[block].accuracies.rank(axis=1, ascending=False)
    if block == "20 %":
        ranks.loc["Pen", "MeTaG"] = 4.0
    pd.testing.assert_frame_equal(printed[block].ranks, ranks)


def test_heading_of_table_1_is_transcribed(printed):
    means = pd.DataFrame({label: one.mean_ranks for label, one in printed.items()}).T
    pd.testing.assert_frame_equal(means, frame(MEAN_RANKS, BLOCKS))


def test_table_2_is_transcribed_cell_by_cell(printed):
    found = pd.concat([printed[label].tests for label in BLOCKS], axis=1)
    wanted = np.array([numbers(text) for text in TESTS.values()])
    assert list(found.index) == list(TESTS)
    assert list(found.columns) == ["test statistic", "p value", "adjusted α"] * 3
    np.testing.assert_array_equal(found.to_numpy(), wanted)


def test_numbers_quoted_in_the_text(audits):
    counts = [audits[label][0].loc[DOMINATED, "printed"] for label in BLOCKS]
    assert counts == [3, 6, 5]
    texts = pd.read_csv(FOLDER / "texts.csv").set_index(["row", "column"])["value"]
    assert texts["all experiments", "runs"] == 20
    assert texts["Letter, 10 %", "tasks with a common feature space"] == 3
    assert texts["Letter", "samples of J"] == 189


def test_audit_of_the_block_at_10_percent(printed, audits):
    assert printed["10 %"].accuracies.shape == (6, 8)
    assert mean_ranks(printed["10 %"])["MeTaG"] == pytest.approx(4.0)
    counts, differences = audits["10 %"]
    wrong = differences.groupby("quantity", sort=False)["method"].apply(list)
    assert wrong["mean rank"] == ["MeTaG"]
    assert "rank" not in wrong
    # Every statistic and every p value is wrong, but three methods are rejected.
    assert wrong["test statistic"] == wrong["p value"] == list(TESTS)
    assert counts.loc[DOMINATED].tolist() == [3, 3]
    assert counts.loc[BELOW_LEVEL].tolist() == [2, 3]


def test_statistics_at_10_percent_come_from_seven_data_sets(printed, audits):
    assert audits["10 %"][0].loc["data sets"].tolist() == [6, 7]
    statistics = printed["10 %"].tests["test statistic"]
    sums = statistics * np.sqrt(7 * 8 * 9 / 6)
    np.testing.assert_allclose(sums, [36, 19.5, 32, 11.5, 22, 24, 21], atol=0.05)
    # Not the six sets of the table and one more, which adds 7 to a difference at most.
    six = printed["10 %"].accuracies.rank(axis=1, ascending=False).sum()
    assert 24 - (six["CoClus"] - six["Our Method"]) == 10


def test_p_values_at_10_percent_fit_five_data_sets_and_a_control_of_1_60(printed):
    p_printed = printed["10 %"].tests["p value"]
    others = mean_ranks(printed["10 %"]).drop("Our Method")

    def p_values(control, n):
        return 2 * stats.norm.sf((others - control) / np.sqrt(8 * 9 / (6 * n)))

    # To a unit of the last digit; nothing near the table's own 1.67 and six sets does.
    np.testing.assert_allclose(p_printed, p_values(1.6, 5), atol=1.1e-4)
    for n in (5, 6, 7):
        assert np.abs(p_printed - p_values(10 / 6, n)).max() > 0.01
    # They rank CoClus and MeTaG alike, as the accuracies do and the heading does not.
    assert p_printed["CoClus"] == p_printed["MeTaG"]
    assert others["CoClus"] == others["MeTaG"]
