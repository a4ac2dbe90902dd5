from dataclasses import replace

import demsar2006
import numpy as np
import pandas as pd
import pytest

from mtmkl_suite.statistics.hierarchical import compare_all_repeats
from mtmkl_suite.statistics.matrix_tests import compare_matrix, connected_groups
from mtmkl_suite.statistics.score_checks import ScoresError
from mtmkl_suite.statistics.score_tables import ScoreMatrix


def scores(values, *, higher_better=True):
    return ScoreMatrix(values, "auc", higher_better)


@pytest.fixture(scope="module")
def demsar():
    return compare_matrix(scores(demsar2006.as_ranked()), control="C4.5", rope=0.01)


@pytest.fixture
def ties():
    rng = np.random.default_rng(5)
    values = rng.integers(0, 6, size=(12, 4)) + np.arange(4) * 1.5
    return pd.DataFrame(np.round(values), columns=list("abcd"))


class TestPublishedExample:
    def test_mean_ranks(self, demsar):
        printed = {"C4.5": 3.143, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}
        assert demsar.methods["mean_rank"].round(3).to_dict() == printed
        assert demsar.methods.index[0] == "C4.5+m+cf"

    def test_friedman_and_iman_davenport_without_correction_for_ties(self, demsar):
        table = demsar.overall()
        plain = table[table["note"] == "without correction for ties"]
        found = dict(zip(plain["test"], plain["statistic"], strict=True))
        assert found["Friedman χ²"] == pytest.approx(9.28, abs=0.005)
        assert found["Iman–Davenport F"] == pytest.approx(3.69, abs=0.005)
        assert set(plain["df"]) == {"3", "3, 39"}

    def test_critical_difference(self, demsar):
        assert demsar.critical_difference == pytest.approx(1.25, abs=0.005)

    def test_holm_against_the_control(self, demsar):
        found = demsar.against_control
        assert found["z"].round(2).to_dict() == {
            "C4.5+m": -2.34, "C4.5+cf": -0.51, "C4.5+m+cf": -2.42,
        }  # fmt: skip
        assert (found["p_holm"] < 0.05).to_dict() == {
            "C4.5+m": True, "C4.5+cf": False, "C4.5+m+cf": True,
        }  # fmt: skip


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (4, "too few"),
        (5, "no pair can be significant at 0.05"),
        (12, "over 6 pairs makes it 0.0029."),
    ],
)
def test_power_limit(ties, n, words):
    assert words in compare_matrix(scores(ties.iloc[:n])).power_limit()


def test_the_smallest_p_is_that_of_differences_of_one_sign():
    values = pd.DataFrame({"a": np.arange(6.0), "b": np.arange(6.0) * 2 + 1})
    found = compare_matrix(scores(values))
    p = found.pairs["p_wilcoxon"].iloc[0]
    assert p == pytest.approx(2 / 2**6)
    assert f"6 data sets can give is {p:.2g}" in found.power_limit()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"control": "z"}, r"unknown method 'z' \(known: a, b, c, d\)"),
        ({"rope": -1.0}, "rope is -1.0"),
        ({"rope": float("nan")}, "rope is nan"),
        ({"test_share": 1.0}, "test share is 1.0"),
    ],
)
def test_refusals(ties, options, words):
    with pytest.raises(ScoresError, match=words):
        compare_matrix(scores(ties), **options)


def test_repeats_are_compared_where_there_are_enough():
    rng = np.random.default_rng(3)
    tables = {
        name: pd.DataFrame(rng.normal([1.0, 0.0], 0.5, (6, 2)), columns=["a", "b"])
        for name in "qrstu"
    }
    means = pd.DataFrame({name: each.mean() for name, each in tables.items()}).T
    repeated = ScoreMatrix(means, "auc", True, repeats=tables)
    found = compare_matrix(repeated, rope=0.2, test_share=0.25).posteriors
    reference = compare_all_repeats(
        tables, dict.fromkeys(tables, 1 / 3), higher_better=True, rope=0.2
    )
    pd.testing.assert_frame_equal(found, reference)
    assert found["n_repeats"].tolist() == [30]
    for few in (
        {"values": means.iloc[:4]}, {"repeats": {}},
        {"repeats": {**tables, "u": tables["u"].iloc[:2]}},
    ):  # fmt: skip
        each = replace(repeated, **few)
        assert compare_matrix(each, test_share=0.25).posteriors is None
    assert compare_matrix(repeated).posteriors is None


def conclusions(found, couples):
    """Return the sentence on each question that a comparison answers."""
    holm = {
        frozenset((row["first"], row["second"])): row["p_wilcoxon_holm"]
        for row in found.pairs.to_dict("records")
    }
    p = found.against_control["p_holm"].to_dict()
    p = {(name, "a"): each for name, each in p.items()}
    differ = found.friedman.p_iman_davenport < 0.05
    return [
        f"{found.methods.index[0]} has the best mean rank",
        "the methods differ" if differ else "no difference is shown",
        *(
            f"{one} {'differs' if p < 0.05 else 'does not differ'} significantly from "
            f"{other}"
            for (one, other), p in [
                *p.items(),
                *((c, holm[frozenset(c)]) for c in couples),
            ]
        ),
    ]


def test_every_conclusion_that_is_another_without_a_data_set_is_told(ties):
    n_told = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        values = ties.iloc[rng.permutation(12)[:7], :3] + rng.normal(0, 2, (7, 3))
        found = compare_matrix(scores(values), control="a")
        couples = list(zip(found.pairs["first"], found.pairs["second"], strict=True))
        rest = {
            name: conclusions(
                compare_matrix(scores(values.drop(index=name)), control="a"), couples
            )
            for name in values.index
        }
        expected = []
        for k, said in enumerate(conclusions(found, couples)):
            names = [str(name) for name, each in rest.items() if each[k] != said]
            expected += [f"{said} (without {', '.join(names)})"] if names else []
        assert found.reversed_without() == expected
        n_told += len(expected)
    assert n_told > 1


def test_groups_are_the_largest():
    ranks = pd.Series({"a": 1.0, "b": 1.5, "c": 2.0, "d": 4.0, "e": 4.2})
    assert connected_groups(ranks, 0.9) == [["a", "b"], ["b", "c"], ["d", "e"]]
    assert connected_groups(ranks, 1.2) == [["a", "b", "c"], ["d", "e"]]
    # A difference as large as the critical one is significant.
    assert connected_groups(ranks, 0.5) == [["d", "e"]]
    assert connected_groups(ranks, 9.0) == [["a", "b", "c", "d", "e"]]
