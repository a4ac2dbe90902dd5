import numpy as np
import pandas as pd
import pytest

from mtmkl.statistics.claim_tests import ClaimError
from mtmkl.statistics.claims import COLUMNS, check_claims, evaluate_claims
from mtmkl.statistics.step_tests import TESTS

CLAIM = {
    "id": "c1",
    "section": "6.1",
    "claim": "a is lower.",
    "test": "paired_difference",
    "args": {"experiment": "e", "metric": "mse"}
    | {"lower": {"method": "a"}, "higher": {"method": "b"}},
}


@pytest.fixture
def scores(table):
    rng = np.random.default_rng(3)
    low = rng.normal(size=12)
    high = low + 0.3 + 0.2 * rng.normal(size=12)
    return table(
        [
            {"method": name, "repeat": repeat, "value": value}
            for name, values in (("a", low), ("b", high))
            for repeat, value in enumerate(values)
        ]
    )


class TestEvaluate:
    def test_columns_and_order(self, scores):
        missing = CLAIM | {
            "id": "c2",
            "args": CLAIM["args"] | {"experiment": "not_run"},
        }
        frame = evaluate_claims([CLAIM, missing], scores, ["a", "b"])
        assert tuple(frame.columns) == COLUMNS
        assert frame["verdict"].tolist() == ["holds", "no data"]
        assert "not_run" in frame["note"][1]
        assert frame["interval_low"][0] < frame["interval_high"][0]

    def test_a_reduced_protocol_is_not_judged(self, scores):
        missing = CLAIM | {"args": CLAIM["args"] | {"experiment": "not_run"}}
        judged, reduced = (
            evaluate_claims([CLAIM, missing], scores, ["a", "b"], full_protocol=full)
            for full in (True, False)
        )
        assert reduced["verdict"].tolist() == ["not judged (quick)", "no data"]
        numbers = ["statistic", "p", "interval_low", "interval_high"]
        assert judged.loc[0, numbers].notna().all()
        assert reduced.loc[0, numbers].isna().all()
        pd.testing.assert_frame_equal(
            judged.drop(columns=[*numbers, "verdict"]),
            reduced.drop(columns=[*numbers, "verdict"]),
        )

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"test": "divination"}, ["c1", "divination", "paired_difference"]),
            ({"args": CLAIM["args"] | {"depth": 3}}, ["c1", "depth"]),
            ({"args": {"experiment": "e"}}, ["c1", "metric"]),
            ({"args": CLAIM["args"] | {"lower": {"method": "q"}}}, ["c1", "q"]),
        ],
    )
    def test_errors_name_the_claim(self, table, change, words):
        with pytest.raises(ClaimError) as error:
            evaluate_claims([CLAIM | change], table([{}]), ["a", "b"])
        for word in words:
            assert word in str(error.value)

    def test_errors_inside_a_test_name_the_claim(self, scores):
        bad = CLAIM | {"args": CLAIM["args"] | {"unit": "school"}}
        with pytest.raises(ClaimError, match=r"c1.*school"):
            evaluate_claims([bad], scores, ["a", "b"])

    def test_a_side_may_name_an_experiment_of_its_own(self, scores):
        elsewhere = scores.assign(experiment="f", value=scores["value"] + 10)
        both = pd.concat([scores, elsewhere], ignore_index=True)
        change = {
            "lower": {"method": "b"},
            "higher": {"method": "a", "experiment": "f"},
        }
        frame = evaluate_claims(
            [CLAIM | {"args": CLAIM["args"] | change}], both, ["a", "b"]
        )
        assert frame["verdict"].tolist() == ["holds"]
        assert "a, experiment f" in frame["note"][0]

    def test_claims_on_a_step_take_its_table(self, scores):
        sides = {"lower": {"solver": "s"}, "higher": {"solver": "r"}}
        about = {"experiment": "e", "step": "times", "column": "seconds"}
        claim = CLAIM | {"test": "ratio", "args": about | sides}
        times = pd.DataFrame(
            [
                {"solver": solver, "repeat": repeat, "seconds": seconds * (9 + repeat)}
                for solver, seconds in (("s", 1.0), ("r", 2.0))
                for repeat in range(3)
            ]
        )
        frame = evaluate_claims([claim], scores, [], steps={"times": times})
        assert frame["verdict"].tolist() == ["holds"]
        assert frame["statistic"][0] == pytest.approx(2.0)
        frame = evaluate_claims([claim], scores, [])
        assert frame["verdict"].tolist() == ["no data"]

    def test_configured_claims_are_well_formed(self):
        from mtmkl.config import load_paper

        for tier in ("quick", "paper"):
            config = load_paper("argyriou2008", tier)
            check_claims(config["claims"], config["methods"])
            assert {claim["test"] for claim in config["claims"]} <= set(TESTS)
