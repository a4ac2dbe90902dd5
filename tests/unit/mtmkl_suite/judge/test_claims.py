import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from mtmkl_suite.config.models import Claim, ClaimSetting
from mtmkl_suite.judge.claim_tests import ClaimError
from mtmkl_suite.judge.claims import (
    COLUMNS,
    SETTING_COLUMNS,
    evaluate_settings,
    judged_sentences,
    over_tasks_in_words,
    repeats_needed,
    setting_in_words,
    summed,
)
from mtmkl_suite.judge.overlap import Overlap

ARGS = {
    "experiment": "e",
    "metric": "mse",
    "lower": {"method": "a"},
    "higher": {"method": "b"},
}
RANGE = {"experiment": "e", "metric": "mse", "where": {"method": "a"}, "low": 0.0}
PLACE, HALVES = ("e", "d", 0), Overlap(1.0, 0.5, 0.5)
METHODS = {name: SimpleNamespace(label=name.upper()) for name in "ab"}


def claim_of(**changes):
    document = {
        "id": "c1", "section": "6.1", "line": 1, "quote": "a is lower",
        "tested": "A is lower.", "test": "paired_difference", "args": ARGS,
    }  # fmt: skip
    return Claim(**document | changes)


CLAIM = claim_of()


def evaluate(claims, scores, **settings):
    return evaluate_settings(claims, scores, METHODS, **settings)


def sentence(claim, settings):
    """Return the one row of a sentence."""
    (row,) = judged_sentences([claim], settings).to_dict("records")
    return row


@pytest.fixture
def scores(by_methods):
    rng = np.random.default_rng(3)
    low = rng.normal(size=12)
    return by_methods(low, low + 0.3 + 0.2 * rng.normal(size=12))


class TestEvaluate:
    def test_a_reduced_protocol_is_not_judged(self, scores):
        missing = claim_of(id="c2", args=ARGS | {"experiment": "not_run"})
        judged, reduced = (
            evaluate([CLAIM, missing], scores, full_protocol=full)
            for full in (True, False)
        )
        assert tuple(judged.columns) == SETTING_COLUMNS
        assert judged["verdict"].tolist() == ["holds", "no data"]
        assert judged["note"][1] == "no scores"
        assert judged["interval_low"][0] < judged["interval_high"][0]
        assert reduced["verdict"].tolist() == ["not judged (quick)", "no data"]
        numbers = [
            "statistic", "p", "interval_low", "interval_high", "own_verdict",
            "new_verdict", "estimate", "n",
        ]  # fmt: skip
        assert judged.loc[0, numbers].notna().all()
        assert reduced.loc[0, numbers].isna().all()
        others = judged.columns.difference([*numbers, "verdict"])
        pd.testing.assert_frame_equal(judged[others], reduced[others])

    def test_repeats_that_share_examples_are_tested_as_such(self, scores):
        independent, shared, same = (
            evaluate([CLAIM], scores, overlaps={PLACE: overlap}).iloc[0]
            for overlap in (
                Overlap(0.0, 0.5, 0.5),
                Overlap(1.0, 0.9, 0.1),
                Overlap(1.0, 0.9, 0.1, same_roles=True),
            )
        )
        assert independent["verdict"] == independent["own_verdict"] == "holds"
        assert math.isnan(independent["p_corrected"])
        # c = 9, n = 12.
        assert shared["rho"] == pytest.approx(0.9)
        assert shared["t_divided_by"] == pytest.approx(math.sqrt(1 + 12 * 9))
        t = shared["statistic"] / shared["t_divided_by"]
        assert shared["p_corrected"] == pytest.approx(2 * stats.t.sf(t, 11))
        assert (shared["own_verdict"], shared["new_verdict"]) == ("holds", "undecided")
        assert shared["verdict"] == "undecided"
        own = ["statistic", "p", "interval_low", "interval_high", "own_verdict"]
        pd.testing.assert_series_equal(shared[own], independent[own], check_names=False)
        middle = shared[["corrected_low", "corrected_high"]].mean()
        assert middle == pytest.approx(shared[["interval_low", "interval_high"]].mean())
        assert (same["rho"], same["verdict"]) == (1.0, "undecided")

    @pytest.mark.parametrize("margin", [0.0, 0.01])
    def test_undecided_claims_say_how_many_repeats_would_decide(
        self, by_methods, margin
    ):
        difference = np.array([0.1, 0.5, -0.2, 0.4, 0.0])
        scores = by_methods(np.zeros(5), difference)
        overlaps = {PLACE: Overlap(1.0, 0.02, 0.98)}
        tested = claim_of(args=ARGS | {"at_least": margin})
        claim = evaluate([tested], scores, overlaps=overlaps).iloc[0]
        assert claim["verdict"] == "undecided"
        assert claim["n"] == 5
        mean, sd = difference.mean() - margin, difference.std(ddof=1)
        assert claim["n_needed_own"] == repeats_needed(mean, sd)
        assert claim["n_needed"] == repeats_needed(mean, sd, 0.02 / 0.98)
        assert 5 < claim["n_needed_own"] < claim["n_needed"] < 100

    @pytest.fixture
    def single(self, table):
        """Five tasks of which the first is far better by b, and their means."""
        rng = np.random.default_rng(5)
        values = rng.normal(size=(2, 4, 5))
        values[1] += [3.0, 0.4, 0.3, 0.5, 0.2]
        return table(
            [
                {"method": name, "repeat": repeat, "task": task, "value": value}
                for name, of_method in zip("ab", values, strict=True)
                for repeat, own in enumerate(of_method)
                for task, value in {"all": own.mean(), **dict(enumerate(own))}.items()
            ]
        )

    def over_tasks(self, scores, claim=CLAIM, **changes):
        settings = {"overlaps": {PLACE: HALVES}, "sample_of": {"d": "fields"}}
        row = evaluate([claim], scores, **settings | changes).iloc[0]
        return row[[name for name in SETTING_COLUMNS if name.startswith("tasks_")]]

    def test_tasks_are_the_units_of_a_second_test(self, single):
        found = self.over_tasks(single)
        by_task = single[single["task"] != "all"].pivot_table(
            index="task", columns="method", values="value"
        )
        test = stats.ttest_rel(by_task["b"], by_task["a"])
        assert found["tasks_p"] == pytest.approx(test.pvalue)
        interval = test.confidence_interval()
        assert found[["tasks_low", "tasks_high"]].tolist() == pytest.approx(interval)
        assert found[["tasks_n", "tasks_of", "tasks_verdict"]].tolist() == [
            5, "fields", "undecided",
        ]  # fmt: skip
        words = "over 5 fields, a statement about fields like these: undecided (p = "
        assert over_tasks_in_words(found).startswith(words)
        # The first test is what it is without tasks.
        for scores in (single, single[single["task"] == "all"]):
            row = evaluate([CLAIM], scores, overlaps={PLACE: HALVES}).iloc[0]
            assert row["n"] == 4
            assert over_tasks_in_words(row) == ""

    def test_tasks_may_be_recorded_in_another_experiment(self, single):
        expected = self.over_tasks(single)
        is_whole = single["task"] == "all"
        scores = pd.concat([single[is_whole], single.assign(experiment="e2")])
        places = {PLACE: HALVES, ("e2", "d", 0): HALVES}
        assert self.over_tasks(scores, overlaps=places).isna().all()
        claim = claim_of(args=ARGS | {"over_tasks": {"experiment": "e2"}})
        found = self.over_tasks(scores, claim, overlaps=places)
        pd.testing.assert_series_equal(found, expected)

    @pytest.mark.parametrize(
        "changes",
        [
            {"sample_of": {}},
            {"overlaps": {PLACE: replace(HALVES, tasks_share=True)}},
            {"claim": claim_of(args=ARGS | {"unit": "task"})},
            {"claim": claim_of(test="within_range", args=RANGE)},
        ],
    )
    def test_no_sample_no_comparison_or_no_second_test(self, single, changes):
        assert self.over_tasks(single, **changes).isna().all()

    def test_a_score_of_all_examples_together_is_no_mean_of_tasks(self, single):
        single.loc[single["task"] == "all", "value"] += 0.01
        assert self.over_tasks(single).isna().all()

    def test_data_sets_that_sample_different_things_are_no_sample(self, single):
        both = pd.concat([single, single.assign(dataset="d2")])
        places = {PLACE: HALVES, ("e", "d2", 0): HALVES}
        fields, mixed = (
            self.over_tasks(
                both, overlaps=places, sample_of={"d": "fields", "d2": kind}
            )
            for kind in ("fields", "schools")
        )
        assert fields["tasks_of"] == "fields"
        assert mixed.isna().all()

    def test_a_missing_overlap_is_not_taken_for_independence(self, scores):
        with pytest.raises(KeyError, match="'d'"):
            evaluate([CLAIM], scores, overlaps={})

    def test_errors_inside_a_test_name_the_claim(self, scores):
        bad = claim_of(args=ARGS | {"lower": {"school": 1}})
        with pytest.raises(ClaimError, match=r"c1.*school"):
            evaluate([bad], scores)

    def test_a_side_may_name_an_experiment_of_its_own(self, scores):
        elsewhere = scores.assign(experiment="f", value=scores["value"] + 10)
        both = pd.concat([scores, elsewhere], ignore_index=True)
        higher = {"method": "a", "experiment": "f"}
        change = {"lower": {"method": "b"}, "higher": higher}
        frame = evaluate([claim_of(args=ARGS | change)], both)
        assert frame["verdict"].tolist() == ["holds"]

    def test_claims_on_a_step_take_its_table(self, scores):
        sides = {"lower": {"solver": "s"}, "higher": {"solver": "r"}}
        about = {"experiment": "e", "step": "times", "column": "seconds"}
        claim = claim_of(test="ratio", args=about | sides)
        times = pd.DataFrame(
            {"solver": [*"srsr"], "repeat": [0, 0, 1, 1], "seconds": [9, 18, 10, 20]}
        )
        frame = evaluate([claim], scores, steps={"times": times})
        assert frame["verdict"].tolist() == ["holds"]
        assert frame["statistic"][0] == pytest.approx(2.0)
        frame = evaluate([claim], scores)
        assert frame["verdict"].tolist() == ["no data"]
        assert frame["note"].tolist() == ["no numbers of the step"]


@pytest.mark.parametrize(
    ("quantifier", "holds", "undecided", "fails", "verdict"),
    [
        ("all", 3, 0, 0, "holds"),
        ("all", 2, 1, 0, "undecided"),
        ("all", 9, 0, 1, "does not hold"),
        ("most", 3, 0, 2, "holds"),
        ("most", 2, 0, 2, "does not hold"),
        ("most", 2, 1, 2, "undecided"),
        ("some", 1, 0, 9, "holds"),
        ("some", 0, 1, 9, "undecided"),
        ("some", 0, 0, 3, "does not hold"),
    ],
)
def test_settings_are_summed_by_the_quantifier(
    quantifier, holds, undecided, fails, verdict
):
    verdicts = ["holds"] * holds + ["undecided"] * undecided
    verdicts += ["does not hold"] * fails
    assert summed(quantifier, verdicts[::-1]) == verdict


class TestSentences:
    def test_a_sentence_is_judged_in_the_product_of_its_settings(self, scores):
        sides = {"lower.method": ["a", "b"], "higher.method": ["b"], "metric": "mse"}
        claim = claim_of(settings=sides)
        assert [each.args["lower"]["method"] for each in claim.settings] == ["a", "b"]
        found = evaluate([claim], scores)
        assert found["setting"].tolist() == ["A, B, mse", "B, B, mse"]
        row = sentence(claim, found)
        assert tuple(row) == COLUMNS
        assert (row["settings"], row["own_holds"], row["own_undecided"]) == (2, 1, 1)
        assert row["verdict"] == row["own_verdict"] == row["new_verdict"] == "undecided"
        ends = found["interval_low"].min(), found["interval_high"].max()
        assert (row["effect_low"], row["effect_high"]) == ends
        assert row["effect"] == found["estimate"].median()
        assert (row["measure"], row["metric"]) == ("difference", "mse")

    def test_both_tests_have_their_verdict_and_their_interval(self, scores):
        found = evaluate([CLAIM], scores, overlaps={PLACE: Overlap(1, 0.9, 0.1)})
        row = sentence(CLAIM, found)
        assert (row["own_verdict"], row["new_verdict"]) == ("holds", "undecided")
        assert (row["own_holds"], row["new_holds"]) == (1, 0)
        assert row["verdict"] == "undecided"
        assert row["effect_low"] == found["corrected_low"][0]

    def test_an_effect_is_the_median_and_has_an_interval_if_all_have(self, scores):
        both = [
            scores.assign(experiment=name, value=scores["value"] * factor)
            for name, factor in (("e", 1.0), ("f", 2.0), ("g", 9.0))
        ]
        claim = claim_of(settings={"experiment": [*"efg"], "metric": ["mse", "rmse"]})
        found = evaluate([claim], pd.concat(both))
        found = found[found["verdict"] != "no data"]
        row = sentence(claim, found)
        assert row["effect"] == found["estimate"].iloc[1] < found["estimate"].mean()
        assert row["metric"] == "mse, rmse"
        both[2] = both[2][both[2]["repeat"] == 0]
        row = sentence(claim, evaluate([claim], pd.concat(both)))
        assert row["settings"] == 3
        assert math.isnan(row["effect_low"])
        assert math.isnan(row["effect_high"])

    def test_settings_without_data_are_left_out_and_none_is_no_verdict(self, scores):
        claim = claim_of(settings={"experiment": ["e", "not_run"]})
        found = evaluate([claim], scores)
        for frame, verdict, n in (
            (found, "holds", 1),
            (found[1:], "no data", 0),
            (evaluate([claim], scores, full_protocol=False), "not judged (quick)", 0),
        ):
            row = sentence(claim, frame)
            assert (row["verdict"], row["settings"]) == (verdict, n)


@pytest.mark.parametrize("effect", [0.1, 0.3, 0.7, 1.5, 4.0])
def test_independent_repeats_are_planned_as_statsmodels_does(effect):
    n = TTestPower().solve_power(effect_size=effect, power=0.8, alpha=0.05)
    assert repeats_needed(effect * 3, 3.0) == max(2, math.ceil(n))
    assert repeats_needed(-effect * 3, 3.0) == max(2, math.ceil(n))


def test_planned_power_is_reached_by_repeats_that_share_examples():
    mean, c = 0.9, 0.05
    n = repeats_needed(mean, 1.0, c)
    assert repeats_needed(mean, 1.0) < n < math.inf
    rng = np.random.default_rng(0)
    trials = 4000
    common = rng.normal(scale=math.sqrt(c), size=(trials, 1))

    def power(n):
        values = mean + common + rng.normal(size=(trials, n))
        t = values.mean(axis=1) / (values.std(axis=1, ddof=1) * math.sqrt(1 / n + c))
        return np.mean(np.abs(t) > stats.t.ppf(0.975, n - 1))

    error = 3 * math.sqrt(0.8 * 0.2 / trials)
    assert power(n) > 0.8 - error
    assert power(n - 2) < 0.8


@pytest.mark.parametrize(
    ("mean", "sd", "ratio", "n"),
    [
        # The statistic stays below 0.5 / √0.25 = 1, whatever the number.
        (0.5, 1.0, 0.25, math.inf),
        (0.5, 1.0, math.inf, math.inf),
        (0.0, 1.0, 0.0, math.inf),
        (1.0, 0.0, 0.0, 2),
        (0.0, 0.0, 0.0, math.inf),
    ],
)
def test_common_examples_and_no_spread_are_ends_of_planning(mean, sd, ratio, n):
    assert repeats_needed(mean, sd, ratio) == n


@pytest.mark.parametrize(
    ("varied", "words"),
    [
        ({}, ""),
        ({"higher.method": "p2", "experiment": "toy_sd"}, "p = 2, toy sd"),
        ({"lower.train_size, higher.train_size": 20}, "training size 20"),
        ({"where.n_tasks": 5, "low": 3, "rows": [{}]}, "5 tasks, at least 3"),
        ({"higher.setting": '{"alpha": 148.41315}'}, "alpha = 148.4"),
        ({"where.dataset": "toy[n_a=5]"}, "data set toy (n a = 5)"),
        ({"over_tasks.experiment": "e"}, ""),
    ],
)
def test_what_varies_is_in_words(varied, words):
    setting = ClaimSetting(varied=varied, args={"experiment": "e"})
    assert setting_in_words(setting, {"p2": "p = 2"}) == words
