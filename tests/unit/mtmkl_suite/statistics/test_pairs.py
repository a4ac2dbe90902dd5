import itertools
import math
from dataclasses import asdict

import baycomp
import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from mtmkl_suite.statistics.pairs import (
    MIN_UNITS,
    bayesian_signed_rank,
    can_reject,
    compare_pair,
    holm,
    wilcoxon_p,
)


@pytest.fixture
def pair():
    rng = np.random.default_rng(11)
    second = rng.normal(10, 1, size=15)
    return second + rng.normal(0.4, 0.5, size=15), second


class TestPair:
    def test_matches_scipy(self, pair):
        result = compare_pair(*pair, higher_better=True)
        t = stats.ttest_rel(*pair)
        assert result.t == pytest.approx(t.statistic)
        assert result.p_t == pytest.approx(t.pvalue)
        assert result.p_wilcoxon == pytest.approx(stats.wilcoxon(*pair).pvalue)
        difference = pair[0] - pair[1]
        effect = difference.mean() / difference.std(ddof=1)
        assert result.effect_size == pytest.approx(effect)
        assert result.interval_low < difference.mean() < result.interval_high
        assert math.isnan(result.t_corrected)

    def test_wins_follow_the_direction(self, pair):
        up = compare_pair(*pair, higher_better=True)
        down = compare_pair(*pair, higher_better=False)
        assert up.wins == int((pair[0] > pair[1]).sum())
        assert (up.wins, up.losses) == (down.losses, down.wins)
        assert up.p_first_better > 0.9
        assert down.p_first_better < 0.1

    # Near zero, a score is what scores as large as those of other pairs left.
    def test_ties_are_those_of_the_whole_comparison(self):
        first, second = np.full(6, 1e-13), np.full(6, 3e-13)
        assert compare_pair(first, second, higher_better=True).losses == 6
        result = compare_pair(first, second, higher_better=True, scale=1.0)
        assert (result.ties, result.mean_difference) == (6, 0.0)

    # In k-fold cross-validation n_test / n_train = 1 / (k - 1): baycomp's case.
    def test_correction_matches_the_one_of_cross_validation(self, pair):
        result = compare_pair(*pair, higher_better=True, variance_ratio=1 / 14)
        mean, variance, df = baycomp.CorrelatedTTest.compute_statistics(*pair[::-1])
        assert result.t_corrected == pytest.approx(mean / math.sqrt(variance))
        p = 2 * stats.t.sf(abs(result.t_corrected), df)
        assert result.p_corrected == pytest.approx(p)
        assert result.rho == pytest.approx(1 / 15)
        interval = stats.t(df, mean, math.sqrt(variance)).interval(0.95)
        found = result.interval_low, result.interval_high
        assert found == pytest.approx(interval)
        reference = baycomp.CorrelatedTTest.probs(*pair[::-1], rope=0.2)
        found = compare_pair(*pair, higher_better=True, variance_ratio=1 / 14, rope=0.2)
        assert found.posterior == "correlated t"
        sides = found.p_second_better, found.p_equivalent, found.p_first_better
        assert sides == pytest.approx(reference)

    def test_the_same_examples_in_every_repeat_have_no_interval(self, pair):
        found = compare_pair(*pair, higher_better=True, variance_ratio=math.inf)
        assert math.isnan(found.interval_low)
        assert math.isnan(found.interval_high)

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

    @pytest.mark.parametrize("ratio", [0.0, 0.5])
    @pytest.mark.parametrize(
        "first", [[66.0, 67.0], [66.0, 65.0, 68.0], [2.0, 3.0, 1.0, 9.0]]
    )
    def test_few_units_are_described_and_not_tested(self, first, ratio):
        ones, options = np.ones(len(first)), {"variance_ratio": ratio}
        result = compare_pair(first, ones, higher_better=True, **options)
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

    # 0.3 - 0.1 and 1.2 - 1.0 differ by rounding.
    @pytest.mark.parametrize("first", [np.full(6, 1.2), [0.3, 1.2, 1.2, 1.2, 1.2, 1.2]])
    def test_a_difference_without_spread_is_not_precise(self, first):
        second = np.asarray(first) - 0.2
        for ratio in (0.0, 0.5):
            options = {"higher_better": True, "variance_ratio": ratio}
            result = compare_pair(first, second, **options)
            assert result.wins == 6
            assert result.p_wilcoxon == pytest.approx(2 / 2**6)
            for name in ("effect_size", "t", "p_t", "interval_low", "p_corrected"):
                assert math.isnan(getattr(result, name)), name
        assert math.isnan(result.p_first_better)
        assert result.posterior == "correlated t"

    def test_methods_that_are_equal_everywhere_favour_none(self):
        values = np.linspace(0, 1, 6)
        for ratio in (0.0, 0.5):
            options = {"higher_better": True, "variance_ratio": ratio}
            result = compare_pair(values, values, **options)
            assert (result.p_t, result.p_wilcoxon) == (1.0, 1.0)
            assert result.p_first_better == result.p_second_better == 0.5
            assert compare_pair(values, values, **options, rope=0.1).p_equivalent == 1


class TestSignedRank:
    # Equal gains, none at all, and sums of two at the end of the region.
    @pytest.mark.parametrize("rope", [0.0, 0.25, 1.0])
    @pytest.mark.parametrize("seed", range(3))
    def test_ties_match_baycomp(self, seed, rope):
        rng = np.random.default_rng(seed)
        gain = rng.integers(-2, 4, size=14) / 2
        first, equal, second = bayesian_signed_rank(gain, rope, seed=seed)
        reference = baycomp.SignedRankTest.probs(
            np.zeros(14), gain, rope=rope, nsamples=20000, random_state=1
        )
        found = (second, first) if rope == 0 else (second, equal, first)
        np.testing.assert_allclose(found, reference, atol=0.03)

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
        signs = itertools.product((0, 1), repeat=len(values))
        sums = [np.dot(each, ranks) for each in signs]
        p = np.mean([abs(s - middle) >= abs(found - middle) - 1e-9 for s in sums])
        assert wilcoxon_p(difference) == pytest.approx(p)

    # Ties of more than 13 units: a normal distribution, whose variance n (n + 1)
    # (2 n + 1) / 24 is less by Σ (t³ − t) / 48 for groups of t equal ones (Hollander
    # and Wolfe 1999, sec. 3.1).
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("zeros", [0, 3])
    def test_ties_of_many_units_have_the_normal_p(self, seed, zeros):
        rng = np.random.default_rng(seed)
        signs = rng.choice([-1, 1, 1], size=28)
        values = signs * rng.integers(1, 7, size=28)
        n, ranks = values.size, stats.rankdata(np.abs(values))
        found, middle = ranks[values > 0].sum(), n * (n + 1) / 4
        _, tied = np.unique(np.abs(values), return_counts=True)
        variance = n * (n + 1) * (2 * n + 1) / 24 - (tied**3 - tied).sum() / 48
        p = 2 * stats.norm.sf(abs(found - middle) / math.sqrt(variance))
        assert wilcoxon_p([*values, *[0] * zeros]) == pytest.approx(p)

    # Seven units reach 2 / 2^7, which Holm's correction multiplies.
    def test_power_limit(self):
        assert [can_reject(7, n) for n in (1, 3, 4, 10)] == [True, True, False, False]
        assert not can_reject(4, 1)
        assert can_reject(60, 1000)


class TestHolm:
    # Equal ones, and some whose multiple is above 1.
    @pytest.mark.parametrize("seed", range(5))
    def test_matches_statsmodels(self, seed):
        p = np.random.default_rng(seed).random(9) ** 3
        p[:3] = p[3]
        np.testing.assert_array_equal(holm(p), multipletests(p, method="holm")[1])

    def test_of_nothing_is_nothing(self):
        assert holm([]).size == 0
