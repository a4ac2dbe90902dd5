import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mtmkl.documents import config_dir
from mtmkl.statistics.ranks import friedman
from mtmkl_suite.judge.audit import (
    AuditError,
    PrintedComparison,
    audit,
    audit_text,
    auditable_papers,
    numbers_of_blocks,
    rank_tests,
    read_comparisons,
)

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
    found = audit(printed)
    assert found.differences.empty
    assert found.n_rejected == printed.n_dominated == found.n_rejected_as_printed
    assert len(printed.accuracies) in found.n_blocks_implied
    assert "every printed number follows" in audit_text(found)[-1]


@pytest.mark.parametrize(
    ("quantity", "by"),
    [("mean rank", 0.02), ("test statistic", 0.02), ("p value", 0.0002)],
)
def test_a_changed_number_is_found(quantity, by):
    printed = consistent()
    if quantity == "mean rank":
        means = printed.mean_ranks.copy()
        means["b"] += by
        changed = dataclasses.replace(printed, mean_ranks=means)
    else:
        tests = printed.tests.copy()
        tests.loc["b", quantity] += by
        changed = dataclasses.replace(printed, tests=tests)
    differences = audit(changed).differences
    assert differences[["quantity", "dataset", "method"]].to_numpy().tolist() == [
        [quantity, "", "b"]
    ]


def test_a_changed_rank_is_found():
    printed = consistent()
    ranks = printed.ranks.copy()
    ranks.loc["set 2", "c"] += 0.5
    found = audit(dataclasses.replace(printed, ranks=ranks))
    row = found.differences.iloc[0]
    assert len(found.differences) == 1
    assert (row["quantity"], row["dataset"], row["method"]) == ("rank", "set 2", "c")
    assert row["printed"] - row["recomputed"] == pytest.approx(0.5)
    assert "do not follow" in audit_text(found)[-1]


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


def test_statistics_off_the_lattice_fit_no_number_of_data_sets():
    steps = np.array([40.0, 31.5, 22.0, 18.5, 12.0, 9.5, 3.0])
    z = (steps + 0.25) / np.sqrt(7 * 8 * 9 / 6)
    assert 7 not in numbers_of_blocks(z.round(2), 8)


def test_missing_files_and_ranks_are_named(tmp_path):
    folder = tmp_path / "someone2000"
    folder.mkdir()
    with pytest.raises(AuditError, match=r"no printed table_1\.csv and table_2"):
        read_comparisons(folder)
    header = "row,column,value\n"
    (folder / "table_1.csv").write_text(header + '"A, 10 %",a,1\n')
    (folder / "table_2.csv").write_text(header)
    (folder / "texts.csv").write_text(header + '"b, 20 %",methods dominated,1\n')
    with pytest.raises(AuditError, match="no printed ranks"):
        read_comparisons(folder)
    (folder / "table_1.csv").write_text('row,column,value,rank\n"A, 10 %",a,1,1\n')
    with pytest.raises(AuditError, match="no 'methods dominated' of the block 10 %"):
        read_comparisons(folder)
    (folder / "table_1.csv").write_text(
        'row,column,value,rank\n"A, 20 %",a,,1\n"A, 20 %",b,1,2\n'
    )
    with pytest.raises(AuditError, match="no number for a on A, 20 %"):
        read_comparisons(folder)
    assert auditable_papers(tmp_path) == []


def test_papers_that_can_be_audited():
    found = auditable_papers(config_dir() / "papers")
    assert "yousefi2015" in found
    assert "argyriou2008" not in found
