import math
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import DescrStatsW, ttost_paired

from mtmkl_suite.judge.claim_tests import (
    ClaimError,
    ahead_by_ranks,
    best_in,
    equivalence,
    monotone,
    paired_difference,
    trend,
    within_range,
)
from mtmkl_suite.judge.observations import NoDataError
from mtmkl_suite.judge.overlap import Overlap, variance_ratio

N = 12
ARGS = {"experiment": "e", "metric": "mse"}
SIDES = ARGS | {"first": {"method": "a"}, "second": {"method": "b"}}


def two_methods(table, first, second, **columns):
    rows = [
        {"method": name, "repeat": repeat, "value": value, **columns}
        for name, values in (("a", first), ("b", second))
        for repeat, value in enumerate(values)
    ]
    return table(rows)


@pytest.fixture
def pair():
    rng = np.random.default_rng(3)
    base = rng.normal(size=N)
    return base, base + 0.3 + 0.2 * rng.normal(size=N)


class TestPairedDifference:
    def test_matches_scipy(self, table, pair):
        scores = two_methods(table, *pair)
        result = paired_difference(
            scores, lower={"method": "a"}, higher={"method": "b"}, **ARGS
        )
        reference = stats.ttest_rel(pair[1], pair[0])
        interval = reference.confidence_interval(0.95)
        assert result.verdict == "holds"
        assert result.own.statistic == pytest.approx(reference.statistic)
        assert result.own.p == pytest.approx(reference.pvalue)
        assert result.own.interval == pytest.approx((interval.low, interval.high))
        assert "12 repeats" in result.note

    def test_opposite_direction_does_not_hold(self, table, pair):
        scores = two_methods(table, *pair)
        result = paired_difference(
            scores, lower={"method": "b"}, higher={"method": "a"}, **ARGS
        )
        assert result.verdict == "does not hold"

    def test_noise_is_undecided(self, table):
        first = [0.0, 1.0, 2.0, 3.0]
        scores = two_methods(table, first, [0.5, 0.5, 2.5, 2.5])
        result = paired_difference(
            scores, lower={"method": "a"}, higher={"method": "b"}, **ARGS
        )
        assert result.verdict == "undecided"

    def test_one_unit_is_undecided(self, table):
        scores = two_methods(table, [1.0], [2.0])
        result = paired_difference(
            scores, lower={"method": "a"}, higher={"method": "b"}, **ARGS
        )
        assert result.verdict == "undecided"
        assert math.isnan(result.own.p)
        assert "no test" in result.note

    def test_equal_but_for_rounding_is_undecided(self, table):
        first = np.array([0.1, 0.2, 0.3])
        scores = two_methods(table, first, first * (1 + 1e-15))
        result = paired_difference(
            scores, lower={"method": "a"}, higher={"method": "b"}, **ARGS
        )
        assert result.verdict == "undecided"
        assert result.own.p == 1.0

    def test_constant_difference_holds(self, table):
        scores = two_methods(table, [1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
        result = paired_difference(
            scores, lower={"method": "a"}, higher={"method": "b"}, **ARGS
        )
        assert result.verdict == "holds"
        assert result.own.p == 0.0

    def test_only_what_both_sides_have_is_compared(self, table, pair):
        # A variant where only b was run, with huge values, must not matter.
        scores = two_methods(table, *pair, dataset="s[k=1]")
        extra = table(
            [
                {"method": "b", "repeat": r, "dataset": "s[k=2]", "value": 1e6}
                for r in range(N)
            ]
        )
        both = pd.concat([scores, extra])
        args = {"lower": {"method": "a"}, "higher": {"method": "b"}, **ARGS}
        with_extra = paired_difference(both, **args)
        without = paired_difference(scores, **args)
        assert with_extra.own.statistic == pytest.approx(without.own.statistic)
        assert "12 unpaired" in with_extra.note

    def test_units_are_tasks_averaged_over_repeats(self, table):
        rng = np.random.default_rng(0)
        low = rng.normal(size=(5, 2))
        high = low + rng.normal(0.5, 0.1, size=(5, 2))
        rows = [
            {"method": m, "task": f"t{t}", "repeat": r, "value": v[t, r]}
            for m, v in (("a", low), ("b", high))
            for t in range(5)
            for r in range(2)
        ]
        rows += [{"method": m, "task": "all", "value": 99.0} for m in "ab"]
        result = paired_difference(
            table(rows),
            lower={"method": "a"},
            higher={"method": "b"},
            unit="task",
            **ARGS,
        )
        reference = stats.ttest_rel(high.mean(axis=1), low.mean(axis=1))
        assert result.own.statistic == pytest.approx(reference.statistic)
        assert "5 tasks" in result.note

    def test_missing_side_is_no_data_and_named(self, table, pair):
        scores = two_methods(table, *pair)
        with pytest.raises(NoDataError, match="no scores: e, mse, z"):
            paired_difference(
                scores, lower={"method": "a"}, higher={"method": "z"}, **ARGS
            )


class TestMargin:
    @pytest.mark.parametrize(
        ("at_least", "verdict"),
        [(0.0, "holds"), (0.3, "undecided"), (1.0, "does not hold")],
    )
    def test_a_claimed_margin_is_the_null(self, table, pair, at_least, verdict):
        sides = {"lower": {"method": "a"}, "higher": {"method": "b"}}
        scores = two_methods(table, *pair)
        result = paired_difference(scores, at_least=at_least, **sides, **ARGS)
        reference = stats.ttest_1samp(pair[1] - pair[0], at_least)
        assert result.verdict == verdict
        assert result.own.statistic == pytest.approx(reference.statistic)
        assert result.own.p == pytest.approx(reference.pvalue)
        # The interval is that of the difference, whatever is claimed.
        assert result.own.interval == pytest.approx(reference.confidence_interval())
        assert result.own.estimate == pytest.approx((pair[1] - pair[0]).mean())

    @pytest.mark.parametrize(
        ("at_most", "verdict"),
        [(1.0, "holds"), (0.3, "undecided"), (0.01, "does not hold")],
    )
    def test_a_slight_margin_has_an_upper_bound(self, table, pair, at_most, verdict):
        sides = {"lower": {"method": "a"}, "higher": {"method": "b"}}
        scores = two_methods(table, *pair)
        result = paired_difference(scores, at_most=at_most, **sides, **ARGS)
        assert result.verdict == verdict
        assert result.own.p == pytest.approx(stats.ttest_rel(*pair[::-1]).pvalue)


class TestBestIn:
    @pytest.fixture
    def scores(self, table):
        """Ten tasks: c is above a in all, above b in eight."""
        rows = [
            {"method": method, "task": f"t{k}", "repeat": r, "value": value + 0.1 * r}
            for k in range(10)
            for method, value in (("a", 0.0), ("b", 0.5 + (k > 7)), ("c", 1.0))
            for r in range(2)
        ]
        return table(rows)

    @pytest.mark.parametrize(
        ("others", "at_least", "count", "verdict"),
        [
            ("a", 1.0, 10, "holds"),
            ("ab", 0.8, 8, "holds"),
            ("ab", 8 / 9, 8, "undecided"),
            ("ab", 0.98, 8, "does not hold"),
        ],
    )
    def test_units_are_counted(self, scores, others, at_least, count, verdict):
        result = best_in(
            scores,
            higher={"method": "c"},
            others=[{"method": name} for name in others],
            at_least=at_least,
            **ARGS,
        )
        assert (result.own.statistic, result.n_units) == (count, 10)
        assert (result.verdict, result.corrected) == (verdict, None)
        low, high = result.own.interval
        assert low <= count / 10 <= high


class TestEquivalence:
    @pytest.mark.parametrize(
        ("margin", "verdict"),
        [(1.0, "holds"), (0.35, "undecided"), (0.05, "does not hold")],
    )
    def test_matches_statsmodels(self, table, pair, margin, verdict):
        result = equivalence(two_methods(table, *pair), margin=margin, **SIDES)
        p, _, _ = ttost_paired(pair[0], pair[1], -margin, margin)
        assert result.own.p == pytest.approx(p)
        interval = DescrStatsW(pair[0] - pair[1]).tconfint_mean(0.1)
        assert result.own.interval == pytest.approx(interval)
        assert result.verdict == verdict

    def test_identical_sides_are_equivalent(self, table):
        scores = two_methods(table, [1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
        assert equivalence(scores, margin=0.1, **SIDES).verdict == "holds"

    def test_constant_difference_beyond_the_margin(self, table):
        scores = two_methods(table, [1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
        assert equivalence(scores, margin=0.1, **SIDES).verdict == "does not hold"


class TestTrend:
    def curve(self, table, slope, noise=0.1, axis="n_tasks", levels=(10, 100, 1000)):
        rng = np.random.default_rng(5)
        values = {
            (r, level): slope * math.log10(level) + rng.normal(0, noise) + r
            for r in range(6)
            for level in levels
        }
        return values, table(
            [{"repeat": r, axis: k, "value": v} for (r, k), v in values.items()]
        )

    def test_matches_the_slopes_by_hand(self, table):
        values, scores = self.curve(table, -0.5)
        result = trend(
            scores, experiment="e", metric="mse", where={"method": "m"},
            axis="n_tasks", direction="decreasing", log_axis=True,
        )  # fmt: skip
        slopes = [
            stats.linregress([1, 2, 3], [values[r, k] for k in (10, 100, 1000)]).slope
            for r in range(6)
        ]
        reference = stats.ttest_1samp(slopes, 0)
        assert result.verdict == "holds"
        assert result.own.statistic == pytest.approx(reference.statistic)
        assert result.own.p == pytest.approx(reference.pvalue)

    @pytest.mark.parametrize(
        ("slope", "verdict"), [(0.5, "does not hold"), (0.0, "undecided")]
    )
    def test_other_verdicts(self, table, slope, verdict):
        _, scores = self.curve(table, slope)
        result = trend(
            scores, experiment="e", metric="mse", where={},
            axis="n_tasks", direction="decreasing", log_axis=True,
        )  # fmt: skip
        assert result.verdict == verdict

    def test_constant_curves_are_undecided(self, table):
        rows = [
            {"repeat": r, "n_tasks": k, "value": 0.1 * (r + 1)}
            for r in range(4)
            for k in (10, 20, 30)
        ]
        result = trend(
            table(rows), experiment="e", metric="mse", where={},
            axis="n_tasks", direction="decreasing",
        )  # fmt: skip
        assert result.verdict == "undecided"

    def test_gain_along_an_option_of_the_data_set(self, table):
        rng = np.random.default_rng(1)
        rows = []
        for r in range(5):
            for k in (0, 2, 4):
                rows += [
                    {"repeat": r, "dataset": f"s[n_irrelevant={k}]", "method": m,
                     "n_tasks": t, "value": v}
                    for m, t, v in (
                        ("alone", 200, 1 + 0.3 * k + 0.01 * rng.normal()),
                        ("joint", 200, 1 + 0.1 * k + 0.01 * rng.normal()),
                        ("joint", 10, 50.0),
                    )
                ]  # fmt: skip
        result = trend(
            table(rows), experiment="e", metric="mse", where={"method": "alone"},
            minus={"method": "joint", "n_tasks": 200}, axis="n_irrelevant",
            direction="increasing",
        )  # fmt: skip
        assert result.verdict == "holds"
        assert np.mean(result.own.interval) == pytest.approx(0.2, abs=0.01)

    def test_tasks_seen_at_one_level_are_left_out_and_counted(self, table):
        rows = [
            {"task": f"t{t}", "n_tasks": k, "value": -float(k) + 0.01 * t * k}
            for t in range(5)
            for k in ((10, 20) if t else (20,))
        ]
        result = trend(
            table(rows), experiment="e", metric="mse", where={}, axis="n_tasks",
            direction="decreasing", unit="task",
        )  # fmt: skip
        assert result.verdict == "holds"
        assert "4 tasks" in result.note
        assert "1 left out" in result.note

    def test_single_level_is_no_data(self, table):
        with pytest.raises(NoDataError, match="n_tasks has a single level"):
            trend(
                table([{"repeat": r} for r in range(3)]), experiment="e", metric="mse",
                where={}, axis="n_tasks", direction="decreasing",
            )  # fmt: skip


class TestMonotone:
    GAMMAS = (1e-3, 1.0, 10.0, 1e3)

    def path(self, table, curves):
        return table(
            [
                {"repeat": r, "setting": f'{{"gamma": {g}}}', "value": v,
                 "metric": "n_features"}
                for r, curve in enumerate(curves)
                for g, v in zip(self.GAMMAS, curve, strict=True)
            ]
        )  # fmt: skip

    def run(self, scores, direction="nonincreasing"):
        return monotone(
            scores, experiment="e", metric="n_features", where={"method": "m"},
            axis="gamma", direction=direction,
        )  # fmt: skip

    def test_holds(self, table):
        result = self.run(self.path(table, [[11, 9, 9, 2], [11, 10, 8, 0]]))
        assert result.verdict == "holds"
        assert result.own.statistic <= 0
        assert "0 of 2 curves" in result.note

    def test_one_curve_against_is_undecided(self, table):
        result = self.run(
            self.path(table, [[9, 8, 9.5, 1], [9, 9, 9, 1], [9, 9, 8.9, 1]])
        )
        assert result.verdict == "undecided"
        assert "from 1 to 10" in result.note

    def test_steady_rise_does_not_hold_and_is_corrected(self, table):
        rng = np.random.default_rng(2)
        curves = np.array([5.0, 4.0, 6.0, 3.0]) + 0.1 * rng.normal(size=(6, 4))
        result = self.run(self.path(table, curves))
        p = [
            stats.ttest_1samp(step, 0, alternative="greater").pvalue
            for step in np.diff(curves, axis=1).T
        ]
        assert result.verdict == "does not hold"
        assert result.own.p == pytest.approx(multipletests(p, method="holm")[1].min())
        assert self.run(self.path(table, curves), "nondecreasing").verdict == (
            "does not hold"
        )

    def test_other_direction(self, table):
        scores = self.path(table, [[1, 2, 2, 3], [0, 2, 3, 3]])
        assert self.run(scores, "nondecreasing").verdict == "holds"


class TestWithinRange:
    def run(self, table, values, **args):
        scores = table([{"repeat": r, "value": v} for r, v in enumerate(values)])
        return within_range(scores, experiment="e", metric="mse", where={}, **args)

    @pytest.mark.parametrize(
        ("low", "high", "verdict"),
        [
            (0.5, 1.5, "holds"),
            (0.5, None, "holds"),
            (None, 0.5, "does not hold"),
            (1.0, 2.0, "undecided"),
        ],
    )
    def test_verdicts(self, table, low, high, verdict):
        values = [0.9, 1.0, 1.1, 1.05]
        result = self.run(table, values, low=low, high=high)
        assert result.verdict == verdict
        assert result.own.statistic == pytest.approx(np.mean(values))
        assert result.own.interval == pytest.approx(DescrStatsW(values).tconfint_mean())

    def test_counts_what_lies_inside(self, table):
        assert (
            "3 in [20, 100]"
            in self.run(table, [10, 20, 50, 100], low=20, high=100).note
        )

    def test_one_unit_is_undecided(self, table):
        assert self.run(table, [1.0], low=0, high=2).verdict == "undecided"

    def test_needs_an_end(self, table):
        with pytest.raises(ClaimError, match="low, high"):
            self.run(table, [1.0, 2.0])


class TestSettings:
    def rows(self, method, settings, repeats=4):
        return [
            {"method": method, "repeat": repeat, "setting": setting,
             "value": value + repeat % 2}
            for setting, value in settings.items()
            for repeat in range(repeats)
        ]  # fmt: skip

    def run(self, scores):
        return paired_difference(
            scores, lower={"method": "a"}, higher={"method": "b"}, **ARGS
        )

    def test_grids_of_other_parameters_are_averaged(self, table):
        first = self.rows("a", {'{"C": 1}': 0.0, '{"C": 2}': 2.0})
        second = self.rows("b", {'{"nu": 1}': 5.0})
        result = self.run(table([*first, *second]))
        assert "mean 1.5 against 5.5" in result.note

    def test_what_grids_share_is_compared_by_itself(self, table):
        first = self.rows("a", {'{"C": 1}': 0.0, '{"C": 2}': 2.0})
        second = self.rows("b", {'{"C": 2}': 5.0})
        result = self.run(table([*first, *second]))
        assert "mean 2.5 against 5.5" in result.note


class TestNoTest:
    def test_values_that_are_not_finite_are_not_called_one_unit(self, table):
        scores = two_methods(table, [1.0, 2.0, math.inf], [1.0, 2.0, 3.0])
        by_pair = paired_difference(
            scores, lower={"method": "a"}, higher={"method": "b"}, **ARGS
        )
        assert by_pair.verdict == "undecided"
        assert by_pair.note.endswith("; not every value is finite, so no test")
        mean = within_range(scores, where={"method": "a"}, low=0.0, **ARGS)
        assert mean.verdict == "undecided"
        assert mean.note.endswith("; not every value is finite, so no interval")


class TestOverlap:
    """Each test with repeats that share samples."""

    PLACES: ClassVar = {
        ("e", "d", size): Overlap(1.0, test_share, train_share)
        for size, test_share, train_share in (
            (0, 0.5, 0.5),
            (10, 0.45, 0.1),
            (50, 0.25, 0.5),
        )
    }

    def test_equivalence_widens_its_interval(self, table):
        rng = np.random.default_rng(4)
        first = rng.normal(size=N)
        second = first + 0.1 * rng.normal(size=N)
        scores = two_methods(table, first, second)
        result = equivalence(scores, self.PLACES, margin=0.1, **SIDES)
        assert result.own.verdict == "holds"
        assert result.verdict == "undecided"
        low, high = result.own.interval
        wide_low, wide_high = result.corrected.interval
        assert (wide_high - wide_low) / (high - low) == pytest.approx(math.sqrt(1 + N))
        t = (0.1 - abs(np.mean(first - second))) / (
            np.std(first - second, ddof=1) * math.sqrt(1 / N + 1)
        )
        assert result.corrected.p == pytest.approx(stats.t.sf(t, N - 1))

    def test_range_that_the_corrected_interval_leaves(self, table):
        values = np.linspace(0.8, 1.0, N)
        scores = two_methods(table, values, values)
        args = ARGS | {"where": {"method": "a"}, "low": 0.8}
        result = within_range(scores, self.PLACES, **args)
        assert (result.own.verdict, result.verdict) == ("holds", "undecided")
        assert np.mean(result.corrected.interval) == pytest.approx(values.mean())

    def test_averaged_sizes_are_further_splits_of_the_same_examples(self, table):
        rng = np.random.default_rng(5)
        sizes = [
            two_methods(table, rng.normal(size=N), rng.normal(size=N), train_size=size)
            for size in (10, 50)
        ]
        args = ARGS | {"lower": {"method": "a"}, "higher": {"method": "b"}}
        result = paired_difference(pd.concat(sizes), self.PLACES, **args)
        splits = [self.PLACES["e", "d", size] for size in (10, 50)]
        assert result.variance_ratio == pytest.approx(variance_ratio(splits))
        # What only one side has is not compared, and so not counted.
        alone = pd.concat([sizes[0], sizes[1].query("method == 'a'")])
        result = paired_difference(alone, self.PLACES, **args)
        assert result.variance_ratio == pytest.approx(variance_ratio(splits[:1]))

    def test_sizes_that_are_compared_count_one_by_one(self, table):
        rng = np.random.default_rng(6)
        scores = pd.concat(
            [
                two_methods(table, *rng.normal(size=(2, N)), train_size=size)
                for size in (10, 50)
            ]
        )
        args = ARGS | {"where": {"method": "a"}, "axis": "train_size"}
        result = trend(scores, self.PLACES, direction="increasing", **args)
        largest = variance_ratio([self.PLACES["e", "d", 10]])
        assert result.variance_ratio == pytest.approx(largest)
        groups = trend(
            scores.assign(metric="n_groups"),
            self.PLACES,
            direction="increasing",
            **args | {"metric": "n_groups"},
        )
        largest = variance_ratio([self.PLACES["e", "d", 50]], role="learning")
        assert groups.variance_ratio == pytest.approx(largest)
        path = trend(
            scores.assign(metric="n_groups", setting='{"C": 1}'),
            self.PLACES,
            direction="increasing",
            **args | {"metric": "n_groups"},
        )
        largest = variance_ratio([self.PLACES["e", "d", 50]], role="train")
        assert path.variance_ratio == pytest.approx(largest)

    def test_a_curve_that_never_goes_the_wrong_way_is_no_test(self, table):
        scores = pd.concat(
            [
                two_methods(table, np.full(N, 5.0 - level), np.zeros(N), n_tasks=level)
                for level in (1, 2, 3)
            ]
        )
        args = ARGS | {"where": {"method": "a"}, "axis": "n_tasks"}
        same = {("e", "d", 0): Overlap(1.0, 0.5, 0.5, same_roles=True)}
        result = monotone(scores, same, direction="nonincreasing", **args)
        assert result.verdict == "holds"
        wrong = monotone(scores, same, direction="nondecreasing", **args)
        assert (wrong.own.verdict, wrong.verdict) == ("does not hold", "undecided")

    def test_tasks_stay_as_they_are(self, table):
        rng = np.random.default_rng(7)
        scores = table(
            [
                {"method": m, "task": f"t{t}", "value": rng.normal() + (m == "b")}
                for m in ("a", "b")
                for t in range(5)
            ]
        )
        args = ARGS | {"lower": {"method": "a"}, "higher": {"method": "b"}}
        result = paired_difference(scores, self.PLACES, unit="task", **args)
        assert result.corrected is None
        shared = {("e", "d", 0): Overlap(1.0, 0.5, 0.5, tasks_share=True)}
        result = paired_difference(scores, shared, unit="task", **args)
        assert result.corrected.verdict == "undecided"


class TestAheadByRanks:
    BASELINES: ClassVar = ["a", "b", "c"]
    ROWS: ClassVar = [{"experiment": f"e{k}", "metric": "accuracy"} for k in range(7)]

    def result(self, table, means, low, metric="accuracy"):
        rows = [
            {
                "experiment": f"e{k}",
                "metric": metric,
                "method": method,
                "repeat": repeat,
                "value": mean + 0.01 * k + (repeat - 0.5) * 0.001,
            }
            for k in range(7)
            for method, mean in means.items()
            for repeat in range(2)
        ]
        places = [{**row, "metric": metric} for row in self.ROWS]
        return ahead_by_ranks(
            table(rows),
            experiment="e0",
            rows=places,
            control="own",
            baselines=self.BASELINES,
            where={},
            low=low,
        )

    def test_counts_baselines_as_demsar_does(self, table):
        means = {"own": 0.9, "a": 0.8, "b": 0.7, "c": 0.6}
        # z = 1, 2 and 3 ranks over sqrt(4 * 5 / (6 * 7)): p = 0.147, 0.0038, 1.4e-5.
        for low, verdict in ((2, "holds"), (3, "does not hold")):
            result = self.result(table, means, low)
            assert (result.verdict, result.own.statistic) == (verdict, 2.0)
            assert result.n_units == 7
            assert "2 of 3 methods have a worse mean rank" in result.note

    def test_smaller_is_better_for_errors(self, table):
        means = {"own": 0.1, "a": 0.2, "b": 0.3, "c": 0.4}
        assert self.result(table, means, 2, metric="mse").verdict == "holds"

    def test_a_method_without_scores_is_no_data(self, table):
        with pytest.raises(NoDataError, match="e0"):
            self.result(table, {"own": 0.9, "a": 0.8, "b": 0.7}, 2)
