import math
from dataclasses import replace
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
A, B = {"method": "a"}, {"method": "b"}
USUAL = {
    "paired_difference": {"lower": A, "higher": B},
    "equivalence": {"first": A, "second": B},
    "trend": {"where": {}, "axis": "n_tasks", "direction": "decreasing"},
    "within_range": {"where": {}},
}
HALVES = Overlap(1.0, 0.5, 0.5)


def run(test, scores, *overlaps, **args):
    about = {"experiment": "e", "metric": "mse"} | USUAL.get(test, {})
    return result_of(test, about | args, scores, *overlaps)


@pytest.fixture
def pair():
    rng = np.random.default_rng(3)
    base = rng.normal(size=N)
    return base, base + 0.3 + 0.2 * rng.normal(size=N)


@pytest.fixture
def scores(by_methods, pair):
    return by_methods(*pair)


class TestPairedDifference:
    # The interval is that of the difference, whatever margin is claimed.
    @pytest.mark.parametrize(
        ("at_least", "verdict"),
        [(0.0, "holds"), (0.3, "undecided"), (1.0, "does not hold")],
    )
    def test_matches_scipy(self, scores, pair, at_least, verdict):
        result = run("paired_difference", scores, at_least=at_least)
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
    def test_of_no_spread_none_and_one_unit(
        self, by_methods, first, second, verdict, p
    ):
        result = run("paired_difference", by_methods(first, second))
        assert result.verdict == verdict
        assert result.own.p == pytest.approx(p, nan_ok=True)
        why = "; one unit" if len(first) == 1 else "; not every value is finite"
        assert result.note.endswith(f"{why}, so no test") is math.isnan(p)
        assert ("1 repeat:" in result.note) == (len(first) == 1)

    def test_only_what_both_sides_have_is_compared(self, by_methods, pair):
        scores = by_methods(*pair, dataset="s[k=1]")
        extra = by_methods([], [1e6] * N, dataset="s[k=2]")
        found = run("paired_difference", pd.concat([scores, extra]))
        assert found.own == run("paired_difference", scores).own
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
        place, scores = ("e", "d", 0), table(rows)
        result = run("paired_difference", scores, {place: HALVES}, unit="task")
        reference = stats.ttest_rel(high.mean(axis=1), low.mean(axis=1))
        assert result.own.statistic == pytest.approx(reference.statistic)
        assert "5 tasks" in result.note
        # Tasks do not share samples because repeats do.
        assert result.corrected is None
        shared = {place: replace(HALVES, tasks_share=True)}
        result = run("paired_difference", scores, shared, unit="task")
        assert result.corrected.verdict == "undecided"

    def test_missing_side_is_no_data_and_named(self, scores):
        with pytest.raises(NoDataError, match="no scores: e, mse, z"):
            run("paired_difference", scores, higher={"method": "z"})

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
        assert note in run("paired_difference", table(rows)).note

    @pytest.mark.parametrize(
        ("at_most", "verdict"),
        [(1.0, "holds"), (0.3, "undecided"), (0.01, "does not hold")],
    )
    def test_a_slight_margin_has_an_upper_bound(self, scores, pair, at_most, verdict):
        result = run("paired_difference", scores, at_most=at_most)
        assert result.verdict == verdict
        assert result.own.p == pytest.approx(stats.ttest_rel(*pair[::-1]).pvalue)


class TestBestIn:
    @pytest.mark.parametrize(
        ("others", "at_least", "count", "verdict"),
        [
            ("a", 1.0, 10, "holds"),
            ("ab", 0.8, 8, "holds"),
            ("ab", 8 / 9, 8, "undecided"),
            ("ab", 0.98, 8, "does not hold"),
        ],
    )
    def test_units_are_counted(self, table, others, at_least, count, verdict):
        # Of ten tasks c is above a in all, above b in eight, level with it in one.
        values = {"a": [0.0] * 10, "b": [0.5] * 8 + [1.5, 1.0], "c": [1.0] * 10}
        rows = [
            {"method": m, "task": f"t{k}", "repeat": r, "value": value + 0.1 * r}
            for m, each in values.items()
            for k, value in enumerate(each)
            for r in range(2)
        ]
        args = {"others": [{"method": name} for name in others], "unit": "task"}
        args |= {"higher": {"method": "c"}, "at_least": at_least}
        result = run("best_in", table(rows), **args)
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
    def test_matches_statsmodels(self, scores, pair, margin, verdict):
        result = run("equivalence", scores, margin=margin)
        p, _, _ = ttost_paired(pair[0], pair[1], -margin, margin)
        assert result.own.p == pytest.approx(p)
        interval = DescrStatsW(pair[0] - pair[1]).tconfint_mean(0.1)
        assert result.own.interval == pytest.approx(interval)
        assert result.verdict == verdict

    @pytest.mark.parametrize(
        ("shift", "verdict"),
        [(0, "holds"), (1, "does not hold"), (-1, "does not hold")],
    )
    def test_a_constant_difference(self, by_methods, shift, verdict):
        scores = by_methods([1.0, 2.0, 3.0], np.arange(1.0, 4) + shift)
        assert run("equivalence", scores, margin=0.1).verdict == verdict


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
        result = run("trend", scores, log_axis=True)
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
            run("trend", scores.assign(n_tasks=scores["n_tasks"] - 10), log_axis=True)

    def test_constant_curves_are_undecided(self, table):
        rows = [
            {"repeat": r, "n_tasks": k, "value": 0.1 * (r + 1)}
            for r in range(4)
            for k in (10, 20, 30)
        ]
        assert run("trend", table(rows)).verdict == "undecided"

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
        result = run(
            "trend", table(rows), where={"method": "alone"}, axis="n_irrelevant",
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
        result = run("trend", table(rows), unit="task")
        assert result.verdict == "holds"
        assert "4 tasks" in result.note
        assert "1 left out" in result.note
        with pytest.raises(NoDataError, match="n_tasks has a single level"):
            run("trend", table([{"repeat": r} for r in range(3)]))


class TestMonotone:
    GAMMAS = (1e-3, 1.0, 10.0, 1e3)

    def run(self, table, curves, direction="nonincreasing"):
        rows = [
            {"repeat": r, "setting": f'{{"gamma": {g}}}', "value": v}
            for r, curve in enumerate(curves)
            for g, v in zip(self.GAMMAS, curve, strict=False)
        ]
        args = {"where": {"method": "m"}, "axis": "gamma", "direction": direction}
        return run("monotone", table(rows), **args)

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
    def test_verdicts(self, by_methods, low, high, verdict):
        values = [0.9, 1.0, 1.1, 1.05]
        result = run("within_range", by_methods(values), low=low, high=high)
        assert result.verdict == verdict
        assert result.own.statistic == pytest.approx(np.mean(values))
        assert result.own.interval == pytest.approx(DescrStatsW(values).tconfint_mean())

    def test_counts_what_lies_inside_and_needs_an_end_and_two_units(self, by_methods):
        scores = by_methods([10.0, 20.0, 40.0, 80.0])
        assert "3 in [20, 80]" in run("within_range", scores, low=20, high=80).note
        with pytest.raises(ClaimError, match="low, high"):
            run("within_range", scores)
        one = run("within_range", scores[:1], low=0, high=20)
        assert one.verdict == "undecided"
        not_finite = run("within_range", scores.replace(80.0, math.inf), low=0.0)
        assert not_finite.note.endswith("; not every value is finite, so no interval")


class TestOverlap:
    """Each test with repeats that share samples."""

    PLACES: ClassVar = {
        ("e", "d", 0): HALVES,
        ("e", "d", 10): Overlap(1.0, 0.45, 0.1),
        ("e", "d", 50): Overlap(1.0, 0.25, 0.5),
    }

    def test_equivalence_widens_its_interval(self, by_methods):
        rng = np.random.default_rng(4)
        first = rng.normal(size=N)
        second = first + 0.1 * rng.normal(size=N)
        scores = by_methods(first, second)
        result = run("equivalence", scores, self.PLACES, margin=0.1)
        assert (result.own.verdict, result.verdict) == ("holds", "undecided")
        (low, high), wide = result.own.interval, result.corrected.interval
        assert np.ptp(wide) / (high - low) == pytest.approx(math.sqrt(1 + N))
        t = (0.1 - abs(np.mean(first - second))) / (
            np.std(first - second, ddof=1) * math.sqrt(1 / N + 1)
        )
        assert result.corrected.p == pytest.approx(stats.t.sf(t, N - 1))

    def test_range_that_the_corrected_interval_leaves(self, by_methods):
        values = np.linspace(0.8, 1.0, N)
        result = run("within_range", by_methods(values), self.PLACES, low=0.8)
        assert (result.own.verdict, result.verdict) == ("holds", "undecided")
        assert np.mean(result.corrected.interval) == pytest.approx(values.mean())

    @pytest.fixture
    def sizes(self, by_methods):
        values = np.random.default_rng(5).normal(size=(2, 2, N))
        sizes = zip(values, (10, 50), strict=True)
        return [by_methods(*each, train_size=size) for each, size in sizes]

    def test_averaged_sizes_are_further_splits_of_the_same_examples(self, sizes):
        result = run("paired_difference", pd.concat(sizes), self.PLACES)
        splits = [self.PLACES["e", "d", size] for size in (10, 50)]
        assert result.variance_ratio == pytest.approx(variance_ratio(splits))
        # What only one side has is not compared, and so not counted.
        alone = pd.concat([sizes[0], sizes[1].query("method == 'a'")])
        result = run("paired_difference", alone, self.PLACES)
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
        args = {"axis": "train_size", "metric": columns.get("metric", "mse")}
        result = run("trend", scores, self.PLACES, where=A, **args)
        largest = variance_ratio([self.PLACES["e", "d", size]], **role)
        assert result.variance_ratio == pytest.approx(largest)

    @pytest.mark.parametrize("sides", [(10, 50), (50, 10)])
    def test_sides_of_different_sizes_count_as_the_one_that_shares_more(
        self, sizes, sides
    ):
        lower, higher = ({"method": "a", "train_size": size} for size in sides)
        sides = {"lower": lower, "higher": higher}
        result = run("paired_difference", pd.concat(sizes), self.PLACES, **sides)
        assert result.variance_ratio == pytest.approx(0.45 / 0.55)

    def test_a_curve_that_never_goes_the_wrong_way_is_no_test(self, by_methods):
        levels = [by_methods([5.0 - k] * N, n_tasks=k) for k in (1, 2, 3)]
        same = {("e", "d", 0): replace(HALVES, same_roles=True)}
        args = {"where": A, "axis": "n_tasks"}
        found, wrong = (
            run("monotone", pd.concat(levels), same, direction=direction, **args)
            for direction in ("nonincreasing", "nondecreasing")
        )
        assert found.verdict == "holds"
        assert (wrong.own.verdict, wrong.verdict) == ("does not hold", "undecided")


class TestAheadByRanks:
    def result(self, table, means, low, metric="accuracy"):
        rows = [
            {"experiment": f"e{k}", "metric": metric, "method": method,
             "repeat": repeat, "value": mean + 0.01 * k + (repeat - 0.5) * 0.001}
            for k in range(7)
            for method, mean in means.items()
            for repeat in range(2)
        ]  # fmt: skip
        args = {"control": "own", "baselines": [*"abc"], "where": {}, "low": low}
        args["rows"] = [{"experiment": f"e{k}", "metric": metric} for k in range(7)]
        return result_of("ahead_by_ranks", {"experiment": "e0", **args}, table(rows))

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
