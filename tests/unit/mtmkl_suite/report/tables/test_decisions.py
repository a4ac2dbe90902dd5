import math

import pandas as pd
import pytest
from compared_methods import COMPARISON, DECISIONS, MEANS, context

from mtmkl_suite.report.artefacts import build
from mtmkl_suite.report.tables.decisions import (
    NO_DATA,
    NO_RECORD,
    against_control,
    cost,
    decide,
    held_up,
)

FEATURES = [name for name in MEANS if name != "Images"]


def decided(ours, rope=0.5, control=(80.0, 80.0, 80.0), seconds=(2.0, 8.0)):
    """Return the decision between a control and one method, and what is said of it."""
    names = [f"D{k}" for k in range(len(ours))]
    values = pd.DataFrame({"Alone": control[: len(ours)], "Ours": ours}, index=names)
    seconds_ = pd.DataFrame(
        {name: [each] * len(ours) for name, each in zip(values, seconds, strict=True)},
        index=names,
    )
    comparison = COMPARISON.model_copy(update={"rope": rope, "columns": {}})
    methods = decide(values, seconds_, comparison)
    said = [each(methods, comparison) for each in (held_up, against_control, cost)]
    return methods, *said


def test_every_sentence_has_its_numbers():
    lines = build(context(FEATURES), DECISIONS).body
    label, where, best, control, cost = lines[0]
    assert label == "Few samples"
    assert where == "A, B, C, D, E, F; 10 % for training"
    # Means with 10 %: Ours 67.0, Alone 62.5, Linear 54.3.
    assert best == (
        "Ours has the best mean rank, 1.0 of 3 methods, mean 67.0. All others are more "
        "than 0.5 points below it."
    )
    assert control.startswith(
        "Ours: +4.5 points over Alone, better on 6 of 6 data sets, probability of a "
        "gain of more than 0.5: "
    )
    assert control.endswith(
        "1 method is more than 0.5 below the control, Linear (−8.2)."
    )
    assert cost == "Ours: 8 s, 4 times Alone (2 s); none as good is cheaper."


def test_a_setting_without_data_sets_or_scores_decides_nothing():
    table = build(context(FEATURES), DECISIONS)
    assert [line[1:3] for line in table.body[1:]] == [
        ["Images", NO_RECORD],
        ["none", NO_DATA],
    ]
    assert set(table.cells["setting"]) == {"Few samples"}


@pytest.mark.parametrize("given", [{"names": ()}, {"tier": "quick"}])
def test_only_the_full_protocol_decides(given):
    table = build(context(**given), DECISIONS)
    assert {line[2] for line in table.body} == {NO_RECORD, NO_DATA}
    assert table.cells.empty


def test_equal_within_the_region_holds_up_and_may_be_cheaper():
    methods, best, control, took = decided([80.4, 80.4, 80.4])
    assert "No more than 0.5 points below it, or above: Alone (80.0)." in best
    assert took.endswith("The cheapest as good: Alone, 2 s.")
    assert "No method is more than 0.5 below the control." in control
    # Fewer data sets than a test takes have no probability.
    assert math.isnan(methods.loc["Ours", "p_better"])
    assert "probability" not in control


# As floats the means differ by more than a tenth.
def test_a_difference_that_is_the_region_but_for_rounding_is_within_it():
    low, high = (70.1, 71.3, 77.7), (70.2, 71.4, 77.8)
    _, best, _, _ = decided(high, rope=0.1, control=low)
    assert "or above: Alone (73.0)" in best
    _, _, control, _ = decided(low, rope=0.1, control=high)
    assert "No method is more than 0.1 below the control." in control


def test_the_control_may_be_the_best():
    _, _, control, took = decided([70.0, 79.0])
    assert control == (
        "Nothing ranks above the control, Alone. 1 method is more than 0.5 below the "
        "control, Ours (−5.5)."
    )
    assert took == "Alone: 2 s; none as good is cheaper."


def test_seconds_are_means_as_on_the_page_of_the_comparison():
    values = pd.DataFrame({"Alone": [80.0, 80.0], "Ours": [81.0, 82.0]})
    seconds = pd.DataFrame({"Alone": [1.0, 1.0], "Ours": [1.0, 100.0]})
    found = decide(values, seconds, COMPARISON)
    assert found.loc["Ours", "seconds"] == pytest.approx(50.5)


def test_large_factors_of_cost_are_whole_numbers():
    *_, took = decided([90.0, 90.0, 90.0], seconds=(0.01, 1.5))
    assert "150 times Alone" in took
