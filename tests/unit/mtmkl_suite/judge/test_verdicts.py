import math

import pandas as pd
import pytest

from mtmkl_suite.config.models import Tolerance
from mtmkl_suite.judge.verdicts import (
    NOT_JUDGED,
    Published,
    Reproduced,
    acceptance_text,
    counts_text,
    judge,
    moved_text,
    weakest,
)

POINTS = Tolerance(absolute=0.5)
RMSE = Tolerance(relative=0.05)


LINEAR = Published(26.7, 2.0, 10)


@pytest.mark.parametrize(
    ("published", "ours", "tolerance", "verdict"),
    [
        # Table 2's linear row: with our sd 1.0 (n = 10), 2 SE = 2 sqrt(0.1 + 0.4) =
        # 1.41421; sd decides "close": 2.0.
        (LINEAR, Reproduced(26.7, 1.0, 10), POINTS, "reproduced"),
        (LINEAR, Reproduced(26.7 - 1.41, 1.0, 10), POINTS, "reproduced"),
        (LINEAR, Reproduced(26.7 - 1.42, 1.0, 10), POINTS, "close"),
        (LINEAR, Reproduced(26.7 + 1.99, 1.0, 10), POINTS, "close"),
        (LINEAR, Reproduced(26.7 + 2.01, 1.0, 10), POINTS, "different"),
        # Survey RMSE 1.93 without a spread: 5 % is 0.0965, twice that 0.193.
        (Published(1.93), Reproduced(2.02, 0.0, 1), RMSE, "reproduced"),
        (Published(1.93), Reproduced(2.03, 0.0, 1), RMSE, "close"),
        (Published(1.93), Reproduced(2.12, 0.0, 1), RMSE, "close"),
        (Published(1.93), Reproduced(2.13, 0.0, 1), RMSE, "different"),
        # Each spread counts with its own n: 2 SE is 2 x 3 / sqrt(9) = 2.
        (Published(20.0, 3.0, 9), Reproduced(21.9, 0.0, 100), POINTS, "reproduced"),
        (Published(20.0, 3.0, 9), Reproduced(22.1, 0.0, 100), POINTS, "close"),
        (Published(20.0, 0.0, 100), Reproduced(21.9, 3.0, 9), POINTS, "reproduced"),
        (Published(20.0, 0.0, 100), Reproduced(22.1, 3.0, 9), POINTS, "close"),
        # Exactly the tolerance is within it.
        (Published(22.7), Reproduced(23.2, 0.0, 1), POINTS, "reproduced"),
        (Published(0.1), Reproduced(0.6, 0.0, 1), POINTS, "reproduced"),
        (Published(16.5), Reproduced(16.0, 0.0, 1), POINTS, "reproduced"),
    ],
)
def test_the_larger_of_spread_and_tolerance_decides(
    published, ours, tolerance, verdict
):
    assert judge(published, ours, tolerance).verdict == verdict


def test_rule_shows_its_numbers():
    rule = judge(Published(3.88), Reproduced(3.5, 0.03, 9), RMSE).rule
    assert "0.38" in rule
    assert "2 SE 0.02" in rule
    assert "tol 0.194" in rule
    assert "2 tol 0.388" in rule


LOST, DASH = "lost in our copy", "did not run in the paper"


@pytest.mark.parametrize("full_protocol", [True, False])
@pytest.mark.parametrize(
    ("published", "ours", "verdict"),
    [
        (None, Reproduced(1.0, 0.0, 1), "no data"),
        (Published(1.0, None, 20), None, "no data"),
        (Published(None, status=LOST), Reproduced(1.0, 0.0, 1), LOST),
        (Published(None, status=DASH), Reproduced(1.0, 0.0, 1), DASH),
    ],
)
def test_missing_numbers_have_no_verdict(published, ours, verdict, full_protocol):
    found = judge(published, ours, POINTS, full_protocol=full_protocol)
    assert found.verdict == found.with_spread == verdict


# Two repeats: the spread of 4 accepts anything, the one of 0 nothing.
@pytest.mark.parametrize("ours", [Reproduced(22.7, 4.0, 2), Reproduced(40.0, 0.0, 1)])
def test_a_reduced_protocol_is_not_judged(ours):
    for published in (
        Published(22.7),
        Published(22.7, status="ambiguous", alternative=9),
    ):
        verdict = judge(published, ours, POINTS, full_protocol=False)
        assert verdict.verdict == NOT_JUDGED == "not judged (quick)"
        assert verdict.with_spread == NOT_JUDGED
        assert f"|difference| {abs(22.7 - ours.value):.4g};" in verdict.rule
        assert "reduced" in verdict.rule


def test_numbers_that_follow_from_others_are_counted_apart():
    names = ["close", "reproduced", "close", "different"]
    verdicts = pd.DataFrame({"verdict": names, "derived": [False, False, True, False]})
    own = "1 reproduced, 1 close, 1 different"
    assert counts_text(verdicts) == f"{own}; of 1 counted apart: 1 close"
    assert counts_text(verdicts[~verdicts["derived"]]) == own


def test_a_number_that_is_none_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        Reproduced.from_sample([1.0, math.nan])


@pytest.mark.parametrize("values", [(52.75, 54.35), (54.35, 52.75)])
def test_ambiguous_number_gets_the_weaker_verdict(values):
    published = Published(values[0], status="ambiguous", alternative=values[1])
    verdict = judge(published, Reproduced(52.75, 0.0, 5), POINTS)
    assert verdict.verdict == "different"
    assert "52.75" in verdict.rule
    assert "54.35" in verdict.rule


def test_a_number_of_uncertain_meaning_is_judged_once():
    printed = Published(60.0, status="ambiguous", alternative=60.0)
    verdict = judge(printed, Reproduced(60.2, 0.1, 5), POINTS)
    assert verdict.verdict == "reproduced"
    assert "readings" not in verdict.rule


def test_summary_of_a_sample():
    ours = Reproduced.from_sample([1.0, 2.0, 4.0])
    assert ours.n == 3
    assert ours.value == pytest.approx(7 / 3)
    assert ours.sd == pytest.approx(math.sqrt(7 / 3))
    assert ours.scaled(100).sd == pytest.approx(100 * math.sqrt(7 / 3))
    assert Reproduced.from_sample([]) is None
    assert Reproduced.from_sample([2.0]).sd == 0.0


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"status": "smudged"}, "smudged"),
        ({"value": None}, "needs a value"),
        ({"status": "ambiguous"}, "second reading"),
        ({"n": 0}, "n 0"),
    ],
)
def test_bad_published_numbers_are_errors(change, word):
    with pytest.raises(ValueError, match=word):
        Published(**({"value": 1.0} | change))


def test_tolerance_is_absolute_or_relative():
    with pytest.raises(ValueError, match="either"):
        Tolerance()
    with pytest.raises(ValueError, match="either"):
        Tolerance(absolute=1.0, relative=0.1)


def test_published_row_of_a_file():
    row = {"value": 16.5, "sd": 4.0, "n": 10, "status": "legible", "alternative": ""}
    assert Published.from_row(row) == Published(16.5, 4.0, 10)
    bare = row | {"sd": math.nan, "n": math.nan}
    assert Published.from_row(bare) == Published(16.5, None, 1)


# Table 3 with the numbers reproduced exactly and without our spread: a rule that
# cannot tell 9.8 from 9.5, and 16.5 from 16.5, accepts 4 of the 12 other pairs.
def test_other_cells_that_the_rule_accepts():
    published = {
        "linear": Published(16.5, 4.0, 10),
        "linear mtl": Published(16.5, 2.6, 10),
        "gaussian": Published(9.8, 3.1, 10),
        "gaussian mtl": Published(9.5, 3.0, 10),
    }
    ours = {name: Reproduced(p.value, 0.0, 10) for name, p in published.items()}
    published["gaussian, C = 1"] = Published(None, status=LOST)
    text = acceptance_text(published, ours, Tolerance(absolute=1.0))
    assert text.startswith("of 12 pairs")
    assert text.endswith("4 (33%) reproduced and 0 (0%) close")


class TestWithOurSpread:
    """A mean of 20 runs without a spread, and ours of 20 with sd 4: 2 SE is 2.53."""

    OURS = Reproduced(80.0, 4.0, 20)

    # Alone, ours has 2 SE = 1.79.
    @pytest.mark.parametrize(
        ("published", "verdict", "with_spread"),
        [
            (81.7, "reproduced", "reproduced"),
            (81.9, "close", "reproduced"),
            (82.5, "close", "reproduced"),
            (82.6, "close", "close"),
            (84.1, "different", "different"),
        ],
    )
    def test_both_means_have_it(self, published, verdict, with_spread):
        found = judge(Published(published, None, 20), self.OURS, POINTS)
        assert (found.verdict, found.with_spread) == (verdict, with_spread)

    @pytest.mark.parametrize(
        "published", [Published(82.5, 0.0, 20), Published(82.5, None, 1)]
    )
    def test_a_printed_spread_and_a_single_run_stay(self, published):
        found = judge(published, self.OURS, POINTS)
        assert found.verdict == found.with_spread == "close"

    def test_the_weaker_of_two_readings(self):
        readings = {
            "a": judge(Published(82.5, None, 20), self.OURS, POINTS),
            "b": judge(Published(83.0, None, 20), self.OURS, POINTS),
        }
        assert weakest(readings).with_spread == "close"
        ambiguous = Published(82.5, None, 20, "ambiguous", 81.0)
        found = judge(ambiguous, self.OURS, POINTS)
        assert (found.verdict, found.with_spread) == ("close", "reproduced")

    def test_how_many_move(self):
        verdicts = pd.DataFrame(
            {
                "verdict": ["close", "close", "different", "reproduced"],
                "verdict_with_spread": ["reproduced", "close", "close", "reproduced"],
            }
        )
        assert moved_text(verdicts) == (
            "2 of 4 (1 close → reproduced, 1 different → close)"
        )
        assert moved_text(verdicts[1:2]) == "none"
