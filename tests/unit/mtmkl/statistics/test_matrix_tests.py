import demsar2006
import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from scipy import stats
from statsmodels.stats.multitest import multipletests

from mtmkl.statistics.matrix_tests import compare_matrix, connected_groups
from mtmkl.statistics.score_tables import ScoreMatrix, ScoresError


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

    def test_ties_are_corrected_as_scipy_does(self, demsar):
        referee = stats.friedmanchisquare(*demsar2006.as_ranked().to_numpy().T)
        table = demsar.overall().set_index("note")["statistic"]
        assert demsar.friedman.chi2 == pytest.approx(referee.statistic)
        assert table["corrected for ties"] == pytest.approx(referee.statistic)

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


class TestAgainstOthers:
    def test_pairs_of_mean_ranks(self, ties):
        found = compare_matrix(scores(ties), control="a")
        p = scikit_posthocs.posthoc_nemenyi_friedman(ties.to_numpy())
        ranks = found.methods["mean_rank"][list("abcd")].to_numpy()
        apart = np.abs(ranks[:, None] - ranks) >= found.critical_difference
        np.testing.assert_array_equal(apart, p.to_numpy() < 0.05)
        z = scikit_posthocs.posthoc_siegel_friedman(ties.to_numpy())
        np.testing.assert_allclose(found.against_control["p"], z.to_numpy()[0, 1:])

    def test_wilcoxon_with_holm(self, ties):
        found = compare_matrix(scores(ties)).pairs
        p = [
            stats.wilcoxon(ties[one], ties[two]).pvalue
            for one, two in zip(found["first"], found["second"], strict=True)
        ]
        assert found["p_wilcoxon"].tolist() == pytest.approx(p)
        assert found["p_wilcoxon_holm"].tolist() == pytest.approx(
            multipletests(p, method="holm")[1]
        )

    def test_the_direction_turns_ranks_and_gains(self, ties):
        up, down = (
            compare_matrix(scores(ties, higher_better=each), control="a", rope=0.1)
            for each in (True, False)
        )
        assert up.methods.index[0] == "d"
        assert down.methods.index[0] == "a"
        np.testing.assert_allclose(up.against_control["z"], -down.against_control["z"])
        assert up.methods["best"]["d"] == (ties["d"] == ties.max(axis=1)).sum()


def test_two_methods_have_no_friedman_test(ties):
    found = compare_matrix(scores(ties[["a", "b"]]))
    assert found.friedman is None
    assert found.overall()["test"].tolist() == [
        "Nemenyi's critical difference of mean ranks"
    ]
    assert len(found.pairs) == 1


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
        ({"control": "z"}, "'z' is no method; there are a, b, c, d"),
        ({"rope": -1.0}, "rope is -1.0"),
        ({"rope": float("nan")}, "rope is nan"),
    ],
)
def test_refusals(ties, options, words):
    with pytest.raises(ScoresError, match=words):
        compare_matrix(scores(ties), **options)


def test_groups_are_the_largest():
    ranks = pd.Series({"a": 1.0, "b": 1.5, "c": 2.0, "d": 4.0, "e": 4.2})
    assert connected_groups(ranks, 0.9) == [["a", "b"], ["b", "c"], ["d", "e"]]
    assert connected_groups(ranks, 1.2) == [["a", "b", "c"], ["d", "e"]]
    # A difference as large as the critical one is significant.
    assert connected_groups(ranks, 0.5) == [["d", "e"]]
    assert connected_groups(ranks, 9.0) == [["a", "b", "c", "d", "e"]]
