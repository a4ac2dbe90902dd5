import math
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import DescrStatsW, ttost_paired

from mtmkl_suite.judge.claim_tests import ClaimError
from mtmkl_suite.judge.claims import result_of
from mtmkl_suite.judge.observations import NoDataError
from mtmkl_suite.judge.overlap import Overlap, variance_ratio

N = 12
ARGS = {"experiment": "e", "metric": "mse"}
A, B = {"method": "a"}, {"method": "b"}


def two_methods(table, first, second, **columns):
    return table(
        [
            {"method": name, "repeat": repeat, "value": value, **columns}
            for name, values in (("a", first), ("b", second))
            for repeat, value in enumerate(values)
        ]
    )


def paired_difference(scores, *overlaps, **args):
    args = ARGS | {"lower": A, "higher": B} | args
    return result_of("paired_difference", args, scores, *overlaps)


def equivalence(scores, *overlaps, **args):
    args = ARGS | {"first": A, "second": B} | args
    return result_of("equivalence", args, scores, *overlaps)


def trend(scores, *overlaps, **args):
    args = ARGS | {"where": {}, "axis": "n_tasks", "direction": "decreasing"} | args
    return result_of("trend", args, scores, *overlaps)


def within_range(scores, *overlaps, **args):
    args = ARGS | {"where": {}} | args
    return result_of("within_range", args, scores, *overlaps)


@pytest.fixture
def pair():
    rng = np.random.default_rng(3)
    base = rng.normal(size=N)
    return base, base + 0.3 + 0.2 * rng.normal(size=N)


class TestPairedDifference:
    # The interval is that of the difference, whatever margin is claimed.
    @pytest.mark.parametrize(
        ("at_least", "verdict"),
        [(0.0, "holds"), (0.3, "undecided"), (1.0, "does not hold")],
    )
    def test_matches_scipy(self, table, pair, at_least, verdict):
        result = paired_difference(two_methods(table, *pair), at_least=at_least)
        reference = stats.ttest_1samp(pair[1] - pair[0], at_least)
        assert result.verdict == verdict
        assert result.own.statistic == pytest.approx(reference.statistic)
        assert result.own.p == pytest.approx(reference.pvalue)
        assert result.own.interval == pytest.approx(reference.confidence_interval())
        assert result.own.estimate == pytest.approx((pair[1] - pair[0]).mean())
        assert "12 repeats" in result.note

    @pytest.mark.parametrize(
        ("first", "second", "verdict", "p"),
        [
            ([1.0, 2.0, 3.0], [2.0, 3.0, 4.0], "holds", 0.0),
            ([2.0, 3.0, 4.0], [1.0, 2.0, 3.0], "does not hold", 0.0),
            ([0.0, 1.0, 2.0, 3.0], [0.5, 0.5, 2.5, 2.5], "undecided", 1.0),
            ([0.1, 0.2, 0.3], np.array([0.1, 0.2, 0.3]) * (1 + 1e-15), "undecided", 1),
            ([1.0], [2.0], "undecided", math.nan),
            ([1.0, 2.0, math.inf], [1.0, 2.0, 3.0], "undecided", math.nan),
        ],
    )
    def test_of_no_spread_none_and_one_unit(self, table, first, second, verdict, p):
        result = paired_difference(two_methods(table, first, second))
        assert result.verdict == verdict
        assert result.own.p == pytest.approx(p, nan_ok=True)
        why = "; one unit" if len(first) == 1 else "; not every value is finite"
        assert result.note.endswith(f"{why}, so no test") is math.isnan(p)
        assert ("1 repeat:" in result.note) == (len(first) == 1)

    def test_only_what_both_sides_have_is_compared(self, table, pair):
        scores = two_methods(table, *pair, dataset="s[k=1]")
        extra = {"method": "b", "dataset": "s[k=2]", "value": 1e6}
        both = pd.concat([scores, table([extra | {"repeat": r} for r in range(N)])])
        found = paired_difference(both)
        assert found.own == paired_difference(scores).own
        assert "12 unpaired" in found.note

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
        result = paired_difference(table(rows), unit="task")
        reference = stats.ttest_rel(high.mean(axis=1), low.mean(axis=1))
        assert result.own.statistic == pytest.approx(reference.statistic)
        assert "5 tasks" in result.note

    def test_missing_side_is_no_data_and_named(self, table, pair):
        with pytest.raises(NoDataError, match="no scores: e, mse, z"):
            paired_difference(two_methods(table, *pair), higher={"method": "z"})

    # Grids of other parameters are averaged, what grids share is compared by itself.
    @pytest.mark.parametrize(
        ("setting", "note"),
        [('{"nu": 1}', "mean 1.5 against 5.5"), ('{"C": 2}', "mean 2.5 against 5.5")],
    )
    def test_settings(self, table, setting, note):
        points = [("a", '{"C": 1}', 0.0), ("a", '{"C": 2}', 2.0), ("b", setting, 5.0)]
        rows = [
            {"method": m, "repeat": r, "setting": s, "value": value + r % 2}
            for m, s, value in points
            for r in range(4)
        ]
        assert note in paired_difference(table(rows)).note

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
        """Ten tasks: c is above a in all, above b in eight, level with it in one."""
        values = {"a": [0.0] * 10, "b": [0.5] * 8 + [1.5, 1.0], "c": [1.0] * 10}
        rows = [
            {"method": m, "task": f"t{k}", "repeat": r, "value": value + 0.1 * r}
            for m, each in values.items()
            for k, value in enumerate(each)
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
        args = {
            "higher": {"method": "c"},
            "others": [{"method": name} for name in others],
            "at_least": at_least,
            "unit": "task",
        }
        result = result_of("best_in", ARGS | args, scores)
        assert (result.own.statistic, result.n_units) == (count, 10)
        assert (result.verdict, result.corrected) == (verdict, None)
        assert (result.own.estimate, result.variance_ratio) == (count / 10, 0.0)
        low, high = result.own.interval
        assert low <= count / 10 <= high


class TestEquivalence:
    @pytest.mark.parametrize(
        ("margin", "verdict"),
        [(1.0, "holds"), (0.35, "undecided"), (0.05, "does not hold")],
    )
    def test_matches_statsmodels(self, table, pair, margin, verdict):
        result = equivalence(two_methods(table, *pair), margin=margin)
        p, _, _ = ttost_paired(pair[0], pair[1], -margin, margin)
        assert result.own.p == pytest.approx(p)
        interval = DescrStatsW(pair[0] - pair[1]).tconfint_mean(0.1)
        assert result.own.interval == pytest.approx(interval)
        assert result.verdict == verdict

    @pytest.mark.parametrize(
        ("shift", "verdict"),
        [(0, "holds"), (1, "does not hold"), (-1, "does not hold")],
    )
    def test_a_constant_difference(self, table, shift, verdict):
        scores = two_methods(table, [1.0, 2.0, 3.0], np.arange(1.0, 4) + shift)
        assert equivalence(scores, margin=0.1).verdict == verdict


class TestTrend:
    @pytest.mark.parametrize(
        ("slope", "verdict"),
        [(-0.5, "holds"), (0.5, "does not hold"), (0.0, "undecided")],
    )
    def test_matches_the_slopes_by_hand(self, table, slope, verdict):
        rng = np.random.default_rng(5)
        levels = (10, 100, 1000)
        values = {
            (r, level): slope * math.log10(level) + rng.normal(0, 0.1) + r
            for r in range(6)
            for level in levels
        }
        scores = table(
            [{"repeat": r, "n_tasks": k, "value": v} for (r, k), v in values.items()]
        )
        result = trend(scores, log_axis=True)
        slopes = [
            stats.linregress([1, 2, 3], [values[r, k] for k in levels]).slope
            for r in range(6)
        ]
        reference = stats.ttest_1samp(slopes, 0)
        assert result.verdict == verdict
        assert result.own.statistic == pytest.approx(reference.statistic)
        assert result.own.p == pytest.approx(reference.pvalue)
        assert "; mean " in result.note
        assert f"{np.mean([values[r, 10] for r in range(6)]):.4g} at 10" in result.note
        with pytest.raises(ClaimError, match="values <= 0"):
            trend(scores.assign(n_tasks=scores["n_tasks"] - 10), log_axis=True)

    def test_constant_curves_are_undecided(self, table):
        rows = [
            {"repeat": r, "n_tasks": k, "value": 0.1 * (r + 1)}
            for r in range(4)
            for k in (10, 20, 30)
        ]
        assert trend(table(rows)).verdict == "undecided"

    def test_gain_along_an_option_of_the_data_set(self, table):
        rng = np.random.default_rng(1)
        rows = [
            {"repeat": r, "dataset": f"s[n_irrelevant={k}]", "method": m,
             "n_tasks": t, "value": v + 0.01 * rng.normal()}
            for r in range(5)
            for k in (0, 2, 4)
            for m, t, v in (("alone", 200, 1 + 0.3 * k), ("joint", 200, 1 + 0.1 * k),
                            ("joint", 10, 50.0))
        ]  # fmt: skip
        result = trend(
            table(rows), where={"method": "alone"}, axis="n_irrelevant",
            minus={"method": "joint", "n_tasks": 200}, direction="increasing",
        )  # fmt: skip
        assert result.verdict == "holds"
        assert np.mean(result.own.interval) == pytest.approx(0.2, abs=0.01)

    def test_tasks_seen_at_one_level_are_left_out_and_counted(self, table):
        rows = [
            {"task": f"t{t}", "n_tasks": k, "value": -float(k) + 0.01 * t * k}
            for t in range(5)
            for k in ((10, 20) if t else (20,))
        ]
        result = trend(table(rows), unit="task")
        assert result.verdict == "holds"
        assert "4 tasks" in result.note
        assert "1 left out" in result.note
        with pytest.raises(NoDataError, match="n_tasks has a single level"):
            trend(table([{"repeat": r} for r in range(3)]))


class TestMonotone:
    GAMMAS = (1e-3, 1.0, 10.0, 1e3)

    def run(self, table, curves, direction="nonincreasing"):
        rows = [
            {"repeat": r, "setting": f'{{"gamma": {g}}}', "value": v,
             "metric": "n_features"}
            for r, curve in enumerate(curves)
            for g, v in zip(self.GAMMAS, curve, strict=False)
        ]  # fmt: skip
        args = {"experiment": "e", "metric": "n_features", "where": {"method": "m"},
                "axis": "gamma", "direction": direction}  # fmt: skip
        return result_of("monotone", args, table(rows))

    def test_holds_without_a_wrong_step_on_average(self, table):
        result = self.run(table, [[11, 9, 9, 2], [11, 10, 8, 0]])
        assert result.verdict == "holds"
        assert result.own.statistic <= 0
        assert "0 of 2 curves" in result.note
        rising = self.run(table, [[1, 2, 2, 3], [0, 2, 3, 3]], "nondecreasing")
        assert rising.verdict == "holds"
        assert self.run(table, [[2, 1], [3, 2]]).verdict == "holds"
        with pytest.raises(NoDataError, match="no unit has two levels of gamma"):
            self.run(table, [[2], [3]])

    def test_one_curve_against_is_undecided(self, table):
        result = self.run(table, [[9, 8, 9.5, 1], [9, 9, 9, 1], [9, 9, 8.9, 1]])
        assert result.verdict == "undecided"
        assert "from 1 to 10" in result.note

    def test_steady_rise_does_not_hold_and_is_corrected(self, table):
        rng = np.random.default_rng(2)
        curves = np.array([5.0, 4.0, 6.0, 3.0]) + 0.1 * rng.normal(size=(6, 4))
        p = [
            stats.ttest_1samp(step, 0, alternative="greater").pvalue
            for step in np.diff(curves, axis=1).T
        ]
        result = self.run(table, curves)
        assert result.verdict == "does not hold"
        assert result.own.p == pytest.approx(multipletests(p, method="holm")[1].min())
        assert self.run(table, curves, "nondecreasing").verdict == "does not hold"


class TestWithinRange:
    @pytest.mark.parametrize(
        ("low", "high", "verdict"),
        [
            (0.5, 1.5, "holds"),
            (0.5, math.inf, "holds"),
            (-math.inf, 0.5, "does not hold"),
            (1.0, 2.0, "undecided"),
        ],
    )
    def test_verdicts(self, table, low, high, verdict):
        values = [0.9, 1.0, 1.1, 1.05]
        scores = table([{"repeat": r, "value": v} for r, v in enumerate(values)])
        result = within_range(scores, low=low, high=high)
        assert result.verdict == verdict
        assert result.own.statistic == pytest.approx(np.mean(values))
        assert result.own.interval == pytest.approx(DescrStatsW(values).tconfint_mean())

    def test_counts_what_lies_inside_and_needs_an_end_and_two_units(self, table):
        scores = table([{"repeat": r, "value": 10.0 * 2**r} for r in range(4)])
        assert "3 in [20, 80]" in within_range(scores, low=20, high=80).note
        with pytest.raises(ClaimError, match="low, high"):
            within_range(scores)
        one = within_range(scores[:1], low=0, high=20)
        assert one.verdict == "undecided"
        not_finite = within_range(scores.replace(80.0, math.inf), low=0.0)
        assert not_finite.note.endswith("; not every value is finite, so no interval")


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
        result = equivalence(scores, self.PLACES, margin=0.1)
        assert (result.own.verdict, result.verdict) == ("holds", "undecided")
        (low, high), wide = result.own.interval, result.corrected.interval
        assert np.ptp(wide) / (high - low) == pytest.approx(math.sqrt(1 + N))
        t = (0.1 - abs(np.mean(first - second))) / (
            np.std(first - second, ddof=1) * math.sqrt(1 / N + 1)
        )
        assert result.corrected.p == pytest.approx(stats.t.sf(t, N - 1))

    def test_range_that_the_corrected_interval_leaves(self, table):
        values = np.linspace(0.8, 1.0, N)
        scores = two_methods(table, values, values)
        result = within_range(scores, self.PLACES, where=A, low=0.8)
        assert (result.own.verdict, result.verdict) == ("holds", "undecided")
        assert np.mean(result.corrected.interval) == pytest.approx(values.mean())

    @pytest.fixture
    def sizes(self, table):
        rng = np.random.default_rng(5)
        return [
            two_methods(table, *rng.normal(size=(2, N)), train_size=size)
            for size in (10, 50)
        ]

    def test_averaged_sizes_are_further_splits_of_the_same_examples(self, sizes):
        result = paired_difference(pd.concat(sizes), self.PLACES)
        splits = [self.PLACES["e", "d", size] for size in (10, 50)]
        assert result.variance_ratio == pytest.approx(variance_ratio(splits))
        # What only one side has is not compared, and so not counted.
        alone = pd.concat([sizes[0], sizes[1].query("method == 'a'")])
        result = paired_difference(alone, self.PLACES)
        assert result.variance_ratio == pytest.approx(variance_ratio(splits[:1]))

    @pytest.mark.parametrize(
        ("columns", "size", "role"),
        [
            ({}, 10, {}),
            ({"metric": "n_groups"}, 50, {"role": "learning"}),
            ({"metric": "n_groups", "setting": '{"C": 1}'}, 50, {"role": "train"}),
        ],
    )
    def test_sizes_that_are_compared_count_one_by_one(self, sizes, columns, size, role):
        scores = pd.concat(sizes).assign(**columns)
        metric = columns.get("metric", "mse")
        result = trend(scores, self.PLACES, where=A, axis="train_size", metric=metric)
        largest = variance_ratio([self.PLACES["e", "d", size]], **role)
        assert result.variance_ratio == pytest.approx(largest)

    @pytest.mark.parametrize("sides", [(10, 50), (50, 10)])
    def test_sides_of_different_sizes_count_as_the_one_that_shares_more(
        self, sizes, sides
    ):
        lower, higher = ({"method": "a", "train_size": size} for size in sides)
        scores = pd.concat(sizes)
        result = paired_difference(scores, self.PLACES, lower=lower, higher=higher)
        assert result.variance_ratio == pytest.approx(0.45 / 0.55)

    def test_a_curve_that_never_goes_the_wrong_way_is_no_test(self, table):
        scores = pd.concat(
            [
                two_methods(table, np.full(N, 5.0 - level), np.zeros(N), n_tasks=level)
                for level in (1, 2, 3)
            ]
        )
        same = {("e", "d", 0): Overlap(1.0, 0.5, 0.5, same_roles=True)}
        args = {"where": A, "axis": "n_tasks"}
        found, wrong = (
            result_of("monotone", ARGS | args | {"direction": direction}, scores, same)
            for direction in ("nonincreasing", "nondecreasing")
        )
        assert found.verdict == "holds"
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
        assert paired_difference(scores, self.PLACES, unit="task").corrected is None
        shared = {("e", "d", 0): Overlap(1.0, 0.5, 0.5, tasks_share=True)}
        result = paired_difference(scores, shared, unit="task")
        assert result.corrected.verdict == "undecided"


class TestAheadByRanks:
    def result(self, table, means, low, metric="accuracy"):
        rows = [
            {"experiment": f"e{k}", "metric": metric, "method": method,
             "repeat": repeat, "value": mean + 0.01 * k + (repeat - 0.5) * 0.001}
            for k in range(7)
            for method, mean in means.items()
            for repeat in range(2)
        ]  # fmt: skip
        args = {
            "experiment": "e0",
            "rows": [{"experiment": f"e{k}", "metric": metric} for k in range(7)],
            "control": "own",
            "baselines": ["a", "b", "c"],
            "where": {},
            "low": low,
        }
        return result_of("ahead_by_ranks", args, table(rows))

    def test_counts_baselines_as_demsar_does(self, table):
        means = {"own": 0.9, "a": 0.8, "b": 0.7, "c": 0.6}
        # z = 1, 2 and 3 ranks over sqrt(4 * 5 / (6 * 7)): p = 0.147, 0.0038, 1.4e-5.
        for low, verdict in ((2, "holds"), (3, "does not hold")):
            result = self.result(table, means, low)
            assert (result.verdict, result.own.statistic) == (verdict, 2.0)
            assert (result.n_units, result.variance_ratio) == (7, 0.0)
            assert "2 of 3 methods have a worse mean rank" in result.note
        means["own"] = 0.5  # z = -1, -2 and -3: as far away, on the other side
        assert self.result(table, means, 1).own.statistic == 0
        errors = {"own": 0.1, "a": 0.2, "b": 0.3, "c": 0.4}
        assert self.result(table, errors, 2, metric="mse").verdict == "holds"
        with pytest.raises(NoDataError, match="e0"):
            self.result(table, {"own": 0.9, "a": 0.8, "b": 0.7}, 2)
