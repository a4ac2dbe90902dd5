import itertools
import math
from dataclasses import asdict
from functools import partial

import baycomp
import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.stats.multitest import multipletests

from mtmkl.statistics.comparison import (
    MIN_UNITS,
    all_pairs_wilcoxon,
    bayesian_signed_rank,
    compare_experiments,
    compare_pair,
    compare_rankings,
    dataset_matrix,
    friedman,
    holm_against_control,
    pairwise_table,
    practical_equivalence,
    ranking_matrix,
    smallest_wilcoxon_p,
    wilcoxon_p,
)


@pytest.fixture
def pair():
    rng = np.random.default_rng(11)
    second = rng.normal(10, 1, size=15)
    return second + rng.normal(0.4, 0.5, size=15), second


@pytest.fixture
def matrix():
    rng = np.random.default_rng(4)
    values = rng.normal(size=(9, 4)) + np.array([0.0, 0.5, 1.0, 1.5])
    values[0, 0] = values[0, 1]  # a tie
    return pd.DataFrame(values, columns=list("abcd"))


class TestPair:
    def test_matches_scipy(self, pair):
        result = compare_pair(*pair, higher_better=True)
        t = stats.ttest_rel(*pair)
        assert result.t == pytest.approx(t.statistic)
        assert result.p_t == pytest.approx(t.pvalue)
        assert result.p_wilcoxon == pytest.approx(stats.wilcoxon(*pair).pvalue)
        difference = pair[0] - pair[1]
        assert result.effect_size == pytest.approx(
            difference.mean() / difference.std(ddof=1)
        )
        assert result.interval_low < difference.mean() < result.interval_high
        assert math.isnan(result.t_corrected)

    def test_wins_follow_the_direction(self, pair):
        up = compare_pair(*pair, higher_better=True)
        down = compare_pair(*pair, higher_better=False)
        assert up.wins == int((pair[0] > pair[1]).sum())
        assert (up.wins, up.losses) == (down.losses, down.wins)
        assert up.p_first_better > 0.9
        assert down.p_first_better < 0.1

    def test_rounding_is_a_tie(self):
        values = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
        result = compare_pair(values, values * (1 + 1e-15), higher_better=True)
        assert result.ties == 5
        assert result.p_t == 1.0
        assert result.p_wilcoxon == 1.0

    # In k-fold cross-validation n_test / n_train = 1 / (k - 1): baycomp's case.
    def test_correction_matches_the_one_of_cross_validation(self, pair):
        result = compare_pair(*pair, higher_better=True, test_train_ratio=1 / 14)
        mean, variance, df = baycomp.CorrelatedTTest.compute_statistics(*pair[::-1])
        assert result.t_corrected == pytest.approx(mean / math.sqrt(variance))
        assert result.p_corrected == pytest.approx(
            2 * stats.t.sf(abs(result.t_corrected), df)
        )
        assert result.rho == pytest.approx(1 / 15)
        left, rope, right = baycomp.CorrelatedTTest.probs(*pair[::-1], rope=0.2)
        with_rope = compare_pair(
            *pair, higher_better=True, test_train_ratio=1 / 14, rope=0.2
        )
        assert with_rope.posterior == "correlated t"
        assert with_rope.p_first_better == pytest.approx(right)
        assert with_rope.p_equivalent == pytest.approx(rope)
        assert with_rope.p_second_better == pytest.approx(left)

    def test_ten_splits_at_ten_percent_divide_t_by_nine_and_a_half(self):
        rng = np.random.default_rng(0)
        result = compare_pair(
            rng.normal(size=10), rng.normal(size=10), higher_better=True,
            test_train_ratio=9.0,
        )  # fmt: skip
        assert result.t_divided_by == pytest.approx(9.539, abs=1e-3)
        assert result.t / result.t_corrected == pytest.approx(result.t_divided_by)

    def test_seed_decides_the_bootstrap(self, pair):
        one = compare_pair(*pair, higher_better=True, seed=1)
        again = compare_pair(*pair, higher_better=True, seed=1)
        other = compare_pair(*pair, higher_better=True, seed=2)
        assert one.interval_low == again.interval_low
        assert one.interval_low != other.interval_low

    # For a normal sample the percentile interval is near z sd / sqrt(n).
    def test_bootstrap_interval_is_that_of_the_mean(self):
        difference = stats.norm.ppf((np.arange(400) + 0.5) / 400)
        result = compare_pair(difference, np.zeros(400), higher_better=True)
        half = 1.96 * difference.std(ddof=1) / 20
        assert result.interval_low == pytest.approx(-half, rel=0.05)
        assert result.interval_high == pytest.approx(half, rel=0.05)

    @pytest.mark.parametrize(
        ("first", "second", "word"),
        [
            ([1.0, 2.0], [1.0], "paired"),
            ([1.0], [2.0], "at least two"),
            ([1.0, math.nan], [1.0, 2.0], "unit 2 of the first method is nan"),
            ([1.0, 2.0], [math.inf, 2.0], "unit 1 of the second method is inf"),
        ],
    )
    def test_bad_input(self, first, second, word):
        with pytest.raises(ValueError, match=word):
            compare_pair(first, second, higher_better=True)

    @pytest.mark.parametrize("ratio", [None, 0.5])
    @pytest.mark.parametrize(
        "first", [[66.0, 67.0], [66.0, 65.0, 68.0], [2.0, 3.0, 1.0, 9.0]]
    )
    def test_few_units_are_described_and_not_tested(self, first, ratio):
        result = compare_pair(
            first, np.ones(len(first)), higher_better=True, test_train_ratio=ratio
        )
        given = {
            name: value
            for name, value in asdict(result).items()
            if value != "" and not math.isnan(value)
        }
        assert given == {
            "n": len(first),
            "mean_first": pytest.approx(np.mean(first)),
            "mean_second": 1.0,
            "mean_difference": pytest.approx(np.mean(first) - 1),
            "wins": sum(value > 1 for value in first),
            "ties": sum(value == 1 for value in first),
            "losses": 0,
        }
        assert len(first) < MIN_UNITS

    def test_five_units_are_tested(self):
        first = np.array([2.0, 3.0, 1.0, 9.0, 4.0])
        result = compare_pair(first, np.ones(5), higher_better=True)
        assert result.p_t == pytest.approx(stats.ttest_1samp(first, 1).pvalue)
        assert result.interval_low < 2.8 < result.interval_high

    # 0.3 - 0.1 and 1.2 - 1.0 differ by rounding.
    @pytest.mark.parametrize("first", [np.full(6, 1.2), [0.3, 1.2, 1.2, 1.2, 1.2, 1.2]])
    def test_a_difference_without_spread_is_not_precise(self, first):
        second = np.asarray(first) - 0.2
        for ratio in (None, 0.5):
            result = compare_pair(
                first, second, higher_better=True, test_train_ratio=ratio
            )
            assert result.wins == 6
            assert result.p_wilcoxon == pytest.approx(2 / 2**6)
            for name in ("effect_size", "t", "p_t", "interval_low", "p_corrected"):
                assert math.isnan(getattr(result, name)), name
        assert math.isnan(result.p_first_better)
        assert result.posterior == "correlated t"

    def test_methods_that_are_equal_everywhere_favour_none(self):
        values = np.linspace(0, 1, 6)
        for ratio in (None, 0.5):
            result = compare_pair(
                values, values, higher_better=True, test_train_ratio=ratio
            )
            assert (result.p_t, result.p_wilcoxon) == (1.0, 1.0)
            assert result.p_first_better == result.p_second_better == 0.5


class TestSignedRank:
    def test_matches_baycomp(self, pair):
        gain = pair[0] - pair[1]
        first, equal, second = bayesian_signed_rank(gain, 0.2, seed=3)
        referee = baycomp.SignedRankTest.probs(
            pair[1], pair[0], rope=0.2, nsamples=20000, random_state=0
        )
        np.testing.assert_allclose((second, equal, first), referee, atol=0.02)
        assert first + equal + second == pytest.approx(1)

    def test_without_a_region(self, pair):
        first, equal, second = bayesian_signed_rank(pair[0] - pair[1])
        assert math.isnan(equal)
        assert first + second == pytest.approx(1)

    def test_wilcoxon_of_no_difference(self):
        assert wilcoxon_p(np.zeros(5)) == 1.0

    @pytest.mark.parametrize("test", [wilcoxon_p, bayesian_signed_rank])
    def test_what_is_no_number_is_refused(self, test):
        with pytest.raises(ValueError, match="2 is nan"):
            test([1.0, math.nan, 2.0])

    # Equal sizes share their ranks, zeros are dropped; all signs are equally likely.
    @pytest.mark.parametrize(
        "difference",
        [[1, 1, 2, 2, -1, 3], [1, -1, 1, -1, 1, 1, 1], [0, 1, 2, 0, -1.5, 3, 3, 3]],
    )
    def test_ties_have_the_p_of_all_signs(self, difference):
        values = np.array([value for value in difference if value != 0])
        ranks = stats.rankdata(np.abs(values))
        found = ranks[values > 0].sum()
        middle = ranks.sum() / 2
        sums = [
            np.dot(signs, ranks)
            for signs in itertools.product((0, 1), repeat=len(values))
        ]
        p = np.mean([abs(s - middle) >= abs(found - middle) - 1e-9 for s in sums])
        assert wilcoxon_p(difference) == pytest.approx(p)

    # Seven data sets: 2 / 2^7.
    def test_smallest_p(self):
        assert smallest_wilcoxon_p(7) == pytest.approx(2 / 2**7)
        assert smallest_wilcoxon_p(0) == 1.0


class TestFriedman:
    # Iman and Davenport's F is the F of a two-way analysis of variance of the ranks.
    def test_matches_an_analysis_of_variance_of_ranks(self, matrix):
        result = friedman(matrix, higher_better=True)
        ranks = matrix.rank(axis=1, ascending=False)
        long = ranks.reset_index().melt("index", var_name="method", value_name="rank")
        fit = smf.ols("rank ~ C(method) + C(index)", data=long).fit()
        names = [name for name in fit.params.index if name.startswith("C(method)")]
        test = fit.f_test(np.eye(len(fit.params))[fit.params.index.isin(names)])
        assert result.f == pytest.approx(float(test.fvalue))
        assert result.p_iman_davenport == pytest.approx(float(test.pvalue))

    def test_matches_scipy(self, matrix):
        result = friedman(matrix, higher_better=True)
        referee = stats.friedmanchisquare(*matrix.to_numpy().T)
        assert result.chi2 == pytest.approx(referee.statistic)
        assert result.p == pytest.approx(referee.pvalue)
        assert result.n_blocks == 9
        assert result.ranks.idxmin() == "d"
        down = friedman(matrix, higher_better=False)
        np.testing.assert_allclose(down.ranks, 5 - result.ranks)

    @pytest.mark.parametrize("seed", range(8))
    def test_ties_match_independent_implementations(self, seed):
        rng = np.random.default_rng(seed)
        values = pd.DataFrame(rng.integers(0, 3, size=(7, 4)).astype(float))
        values.iloc[0] = 1.0  # all tied on one data set
        result = friedman(values, higher_better=True)
        referee = stats.friedmanchisquare(*values.to_numpy().T)
        assert result.chi2 == pytest.approx(referee.statistic)
        assert result.p == pytest.approx(referee.pvalue)
        # Durbin's test of a complete design is Friedman's.
        p, statistic, _ = scikit_posthocs.test_durbin(values.to_numpy())
        assert result.chi2 == pytest.approx(statistic)
        assert result.p == pytest.approx(p)
        # Conover (1999), sec. 5.8: with A the sum of squared ranks.
        n, k = values.shape
        ranks = np.array([stats.rankdata(row) for row in values.to_numpy()])
        spread = (ranks**2).sum() - n * k * (k + 1) ** 2 / 4
        t1 = (k - 1) * ((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum() / spread
        t2 = (n - 1) * t1 / (n * (k - 1) - t1)
        assert result.chi2 == pytest.approx(t1)
        assert result.f == pytest.approx(t2)
        assert result.p_iman_davenport == pytest.approx(
            stats.f.sf(t2, k - 1, (n - 1) * (k - 1))
        )

    def test_full_ties_have_p_one(self):
        result = friedman(pd.DataFrame(np.full((5, 3), 0.8)), higher_better=True)
        assert (result.chi2, result.p) == (0.0, 1.0)
        assert (result.f, result.p_iman_davenport) == (0.0, 1.0)
        assert result.ranks.tolist() == [2.0, 2.0, 2.0]

    # By enumeration: how often n random orders of the same ranks agree.
    @pytest.mark.parametrize("row", [[1.0, 2.0, 3.0], [1.0, 1.0, 2.0, 3.0]])
    @pytest.mark.parametrize("n", [2, 3])
    def test_agreement_has_the_p_of_all_orders(self, row, n):
        result = friedman(pd.DataFrame([row] * n), higher_better=True)
        orders = list(itertools.permutations(row))
        drawn = itertools.product(orders, repeat=n)
        p = np.mean([len(set(orders)) == 1 for orders in drawn])
        assert result.f == math.inf
        assert result.p_iman_davenport == pytest.approx(p)

    def test_what_is_no_number_is_refused(self, matrix):
        matrix.index = [f"set {k}" for k in range(9)]
        matrix.loc["set 3", "c"] = math.nan
        for test in (partial(friedman, higher_better=True), all_pairs_wilcoxon):
            with pytest.raises(ValueError, match="c has no value on set 3"):
                test(matrix)
        ranks = pd.Series({"a": 1.0, "b": math.nan, "c": 2.0})
        with pytest.raises(ValueError, match="b has no mean rank"):
            holm_against_control(ranks, 5, "a")
        with pytest.raises(ValueError, match="0 data sets"):
            holm_against_control(ranks.fillna(3.0), 0, "a")

    # Demšar (2006), sec. 3.2.2: mean ranks of four classifiers on 14 data sets.
    def test_control_matches_the_literature(self):
        ranks = pd.Series({"c45": 3.143, "m": 2.0, "cf": 2.893, "m+cf": 1.964})
        table = holm_against_control(ranks, 14, "c45")
        assert table["z"].abs().round(2).to_dict() == {
            "m": 2.34, "cf": 0.51, "m+cf": 2.42,
        }  # fmt: skip
        assert table["p"].round(3).to_dict() == {"m": 0.019, "cf": 0.608, "m+cf": 0.016}
        assert table["p_holm"].to_numpy() == pytest.approx(
            multipletests(table["p"], method="holm")[1]
        )

    def test_control_must_exist(self):
        with pytest.raises(ValueError, match="nobody"):
            holm_against_control(pd.Series({"a": 1.0, "b": 2.0}), 5, "nobody")

    def test_too_few_are_refused(self, matrix):
        with pytest.raises(ValueError, match="at least 2 and 3"):
            friedman(matrix[["a", "b"]], higher_better=True)


class TestAllPairs:
    def test_rounding_is_a_tie(self, matrix):
        twice = matrix[["a"]].assign(b=matrix["a"] * (1 + 1e-15))
        assert all_pairs_wilcoxon(twice)["p"].tolist() == [1.0]

    def test_matches_scikit_posthocs(self, matrix):
        table = all_pairs_wilcoxon(matrix)
        referee = scikit_posthocs.posthoc_wilcoxon(
            matrix.melt(var_name="method"), "value", "method", p_adjust="holm"
        )
        for first, second, p in zip(
            table["first"], table["second"], table["p_holm"], strict=True
        ):
            assert p == pytest.approx(referee.loc[first, second])
        assert len(table) == 6

    def test_power_limit(self):
        rng = np.random.default_rng(0)
        seven = pd.DataFrame(rng.normal(size=(7, 5)), columns=list("abcde"))
        assert not all_pairs_wilcoxon(seven)["can_reject"].any()
        assert all_pairs_wilcoxon(seven[["a", "b"]])["can_reject"].all()


class TestTables:
    def scores(self, table, values, **columns):
        return table(
            [
                {"method": m, "repeat": r, "value": v, **columns}
                for m, series in values.items()
                for r, v in enumerate(series)
            ]
        )

    def test_every_pair_with_holm_over_the_table(self, table):
        rng = np.random.default_rng(9)
        values = {m: rng.normal(k, 1, size=8) for k, m in enumerate("abc")}
        frame = pairwise_table(
            self.scores(table, values), "e", "mse", methods=["a", "b", "c", "absent"],
            printed_p={("a", "c"): 0.01},
        )  # fmt: skip
        pairs = list(itertools.combinations("abc", 2))
        assert list(zip(frame["first"], frame["second"], strict=True)) == pairs
        p = [stats.wilcoxon(values[a], values[b]).pvalue for a, b in pairs]
        np.testing.assert_allclose(frame["p_wilcoxon"], p)
        np.testing.assert_allclose(
            frame["p_wilcoxon_holm"], multipletests(p, method="holm")[1]
        )
        assert frame["p_printed"].tolist()[1] == 0.01
        assert frame["p_printed"].isna().sum() == 2
        assert frame["can_reject"].all()

    def test_methods_take_part_with_all_their_tasks(self, table):
        rows = [
            {"method": "a", "repeat": r, "n_tasks": t, "value": v}
            for r in range(3)
            for t, v in ((10, 9.0), (200, 1.0 + r))
        ]
        rows += [{"method": "b", "repeat": r, "value": 2.0} for r in range(3)]
        frame = pairwise_table(table(rows), "e", "mse", methods=["a", "b"])
        assert frame.loc[0, "mean_first"] == pytest.approx(2.0)

    # a and b share three repeats, a and c eight.
    def test_holm_is_over_the_tested_pairs(self, table):
        rng = np.random.default_rng(2)
        values = {m: rng.normal(k, 1, size=8) for k, m in enumerate("ac")}
        values["b"] = rng.normal(size=3)
        frame = pairwise_table(
            self.scores(table, values), "e", "mse", methods=["a", "b", "c"]
        ).set_index(["first", "second"])
        p = stats.wilcoxon(values["a"], values["c"]).pvalue
        assert frame["n"].tolist() == [3, 8, 3]
        assert frame.loc[("a", "c"), "p_wilcoxon_holm"] == pytest.approx(p)
        assert frame["p_wilcoxon_holm"].isna().tolist() == [True, False, True]
        assert frame["can_reject"].tolist() == [False, True, False]

    def test_a_metric_that_overflows_has_no_difference(self, table):
        values = {"a": [1.0, math.inf, 3.0], "b": [1.0, 1.0, 1.0]}
        frame = pairwise_table(
            self.scores(table, values), "e", "mse", methods=["a", "b"]
        )
        assert frame["n"].tolist() == [2]
        assert frame["mean_difference"].tolist() == [1.0]

    def test_no_scores_no_rows(self, table):
        assert pairwise_table(table([{}]), "e", "mse", methods=["x", "y"]).empty

    def test_blocks_are_data_sets(self, table):
        rows = [
            {"dataset": d, "method": m, "task": t, "repeat": r, "value": v + r}
            for d, v in (("one", 1.0), ("two", 2.0))
            for m in "ab"
            for t in ("all", "t1", "t2")
            for r in (0, 1)
        ]
        rows += [{"dataset": "three", "method": "a", "value": 0.0}]
        matrix = dataset_matrix(table(rows), "mse", methods=["b", "a"])
        assert matrix.index.tolist() == ["one", "two"]
        assert matrix.columns.tolist() == ["b", "a"]
        assert matrix.loc["two"].tolist() == [2.5, 2.5]

    def test_variants_of_one_data_set_are_no_blocks(self, table):
        scores = table([{"dataset": "s[k=1]"}, {"dataset": "s[k=2]"}])
        with pytest.raises(ValueError, match="variants of s"):
            dataset_matrix(scores, "mse")


PLAN = {
    "protocols": {"draws": {"kind": "given"}, "splits": {"kind": "random"},
                  "same": {"kind": "first_rows"}},
    "methods": {"a": {"class": "A"}, "b": {"class": "B"},
                "floor": {"class": "TaskMeanControl"}},
    "experiments": {
        name: {
            "protocol": protocol, "mode": mode, "metrics": ["mse", "n_features"],
            "methods": [{"method": "a"}, {"method": "b"}, {"method": "floor"}],
        }
        for name, protocol, mode in (
            ("drawn", "draws", "select"), ("split", "splits", "select"),
            ("surveyed", "same", "select"), ("walked", "draws", "path"),
        )
    },
}  # fmt: skip


class TestPlan:
    def test_units_and_correction_follow_the_protocol(self, table):
        rng = np.random.default_rng(1)
        scores = table(
            [
                {"experiment": e, "method": m, "repeat": r, "task": t,
                 "value": rng.normal()}
                for e in PLAN["experiments"]
                for m in ("a", "b", "floor")
                for r in range(5)
                for t in ("all", "t1", "t2", "t3", "t4", "t5", "t6")
            ]
        )  # fmt: skip
        frame = compare_experiments(
            PLAN, scores, test_train_ratios={"split": 0.5, "drawn": 0.5},
            ropes={("split", "mse"): 0.1},
        ).set_index("experiment")  # fmt: skip
        assert frame.index.tolist() == ["drawn", "split", "surveyed"]
        assert frame["unit"].tolist() == ["repeat", "repeat", "task"]
        assert frame["n"].tolist() == [5, 5, 6]
        assert frame["rho"].isna().tolist() == [True, False, True]
        assert frame.loc["split", "rho"] == pytest.approx(1 / 3)
        assert frame["rope"].tolist() == [0.0, 0.1, 0.0]

    def test_regions_come_from_the_tables(self):
        config = {
            "artefacts": {
                "f": {"kind": "figure"},
                "t": {"kind": "table", "experiment": "school", "file": "t.csv",
                      "scale": 100, "tolerance": {"absolute": 0.5},
                      "columns": {"EV": {"metric": "explained_variance"}}},
                "s": {"kind": "table", "experiment": "survey", "file": "s.csv",
                      "scale": 1, "tolerance": {"relative": 0.05},
                      "columns": {"RMSE": {"metric": "rmse"}}},
            }
        }  # fmt: skip
        published = {
            "t.csv": pd.DataFrame({"value": [22.7, 23.8]}),
            "s.csv": pd.DataFrame({"value": [1.0, 2.0, 4.0]}),
        }
        assert practical_equivalence(config, published) == {
            ("school", "explained_variance"): pytest.approx(0.005),
            ("survey", "rmse"): pytest.approx(0.1),
        }


ROWS = {
    "One": {"experiment": "one", "metric": "auc"},
    "Two": {"experiment": "two", "metric": "auc", "blocks": ["late"]},
}
RANKED = {
    "columns": {"A": "a", "B": "b"}, "rows": ROWS, "scale": 100,
    "blocks": {"early": {"train_size": 1}, "late": {"train_size": 2}},
}  # fmt: skip


class TestRankings:
    def scores(self, table, **changed):
        return table(
            [
                {
                    "experiment": e, "dataset": e, "method": m, "metric": "auc",
                    "train_size": size, "repeat": r, "value": (k + r + size) / 10,
                }
                | changed
                for e in ("one", "two")
                for k, m in enumerate("ab")
                for size in (1, 2)
                for r in (0, 1)
            ]
        )  # fmt: skip

    def test_rows_columns_and_blocks_are_the_plans(self, table):
        scores = self.scores(table)
        early = ranking_matrix(scores, RANKED, "early")
        assert early.index.tolist() == ["One"]
        assert early.loc["One"].tolist() == pytest.approx([15.0, 25.0])
        late = ranking_matrix(scores, RANKED, "late")
        assert late.index.tolist() == ["One", "Two"]
        assert late["B"].tolist() == pytest.approx([35.0, 35.0])

    def test_what_was_not_run_is_missing(self, table):
        scores = self.scores(table)
        kept = scores[(scores["experiment"] != "two") | (scores["method"] != "b")]
        late = ranking_matrix(kept, RANKED, "late")
        assert late.isna().to_numpy().tolist() == [[False, False], [False, True]]

    def test_nothing_run_is_all_missing(self, table):
        none = self.scores(table).iloc[:0]
        assert ranking_matrix(none, RANKED, "late").isna().to_numpy().all()
        config = {"artefacts": {"t": {"layout": "ranking", "comparison": RANKED}}}
        assert compare_rankings(config, none, ropes={}).empty

    def test_rows_must_be_data_sets_and_larger_values_better(self, table):
        scores = self.scores(table, dataset="s[k=1]")
        with pytest.raises(ValueError, match="variants of s"):
            ranking_matrix(scores, RANKED, "late")
        rows = {"One": {"experiment": "one", "metric": "mse"}}
        with pytest.raises(ValueError, match="a smaller mse is better"):
            ranking_matrix(scores, RANKED | {"rows": rows}, "early")
