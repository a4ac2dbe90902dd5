import pandas as pd
import pytest

from mtmkl_suite.config.models import Claim, Tolerance
from mtmkl_suite.judge.reach import (
    NOT_TRIED,
    OUT_OF_REACH,
    READ_ONE_WAY,
    WITH_TEST_DATA,
    WITHIN_REACH,
    Number,
    Reading,
    changed,
    reach_of_claims,
    reach_of_numbers,
)
from mtmkl_suite.judge.verdicts import Published, Reproduced, judge

ROLES = Reading("roles", "permuted", label="Roles: permuted")
INPUTS = Reading("inputs", "raw", label="Inputs: raw")
TEST = Reading("choice", "on_test", "optimistic", "Choice: on test (uses test data)")
BOUND = Reading("choice", "best", "bound", "Choice: best (uses test data)")

CELL = ("table", "x", "a")


def number(published, reproduced, *, other=None, sd=0.0, unit="%", is_derived=False):
    """A printed number and ours over ten repeats; up to 1 apart is within the rule.

    ``other``: What the printed number may be, too.
    """
    status = "legible" if other is None else "ambiguous"
    printed = Published(published, status=status, alternative=other)
    ours = Reproduced(reproduced, sd, 10)
    tolerance = Tolerance(absolute=0.5)
    verdict = judge(printed, ours, tolerance).verdict
    return Number(printed, ours, verdict, tolerance, unit, is_derived)


def reach(main, **under):
    """Reach of one printed 80 that is ``main`` here, under readings by their names."""
    names = {"roles": ROLES, "inputs": INPUTS, "test": TEST, "bound": BOUND}
    before = {CELL: number(80.0, main)}
    found = {
        names[name]: changed(before, {CELL: number(80.0, x)})
        for name, x in under.items()
    }
    return row_of(before, found)


def row_of(main, under, **settings):
    (row,) = reach_of_numbers(main, under, **settings).to_dict("records")
    return row


@pytest.mark.parametrize(
    ("under", "status", "nearest"),
    [
        ({"roles": 79.5, "inputs": 70.0}, WITHIN_REACH, ROLES),
        ({"roles": 79.0}, WITHIN_REACH, ROLES),  # just close
        ({"roles": 78.9}, OUT_OF_REACH, ROLES),
        ({"test": 80.0, "roles": 79.5}, WITHIN_REACH, ROLES),
        ({"test": 80.0, "roles": 78.0}, WITH_TEST_DATA, TEST),
        ({"bound": 80.5}, WITH_TEST_DATA, BOUND),
        ({"test": 78.0, "roles": 77.0}, OUT_OF_REACH, ROLES),
        ({"test": 78.0}, OUT_OF_REACH, TEST),
        ({"roles": 79.6, "inputs": 80.3}, WITHIN_REACH, INPUTS),
        # Of two equally near the first that is configured.
        ({"inputs": 80.5, "roles": 79.5}, WITHIN_REACH, INPUTS),
        ({"roles": 79.5, "inputs": 80.5}, WITHIN_REACH, ROLES),
    ],
)
def test_status_and_nearest_reading(under, status, nearest):
    row = reach(75.0, **under)
    assert (row["status"], row["nearest"]) == (status, nearest.name)
    assert row["note"].startswith("uses test data; ") == (not nearest.is_legitimate)


@pytest.mark.parametrize(
    ("main", "under", "status", "note"),
    [
        (75.0, -79.5, WITHIN_REACH, "read as -80: 0.5 from the printed number, 5 in"),
        (75.0, 79.5, WITHIN_REACH, "read as 80: 0.5 from the printed number, 5 in"),
        (75.0, -70.0, OUT_OF_REACH, "read as -80: 10 from the printed number, 5 in"),
        (-80.0, 0.0, READ_ONE_WAY, "read as -80 the main run is within the rule"),
    ],
)
def test_a_number_that_may_have_lost_its_sign_is_within_reach_either_way(
    main, under, status, note
):
    before = {CELL: number(80.0, main, other=-80.0)}
    under = {ROLES: {CELL: number(80.0, under, other=-80.0)}}
    row = row_of(before, under)
    assert row["status"] == status
    assert row["note"].startswith(note)


def test_what_no_reading_changes_is_not_tried():
    for under in ({}, {"roles": 75.0}):
        row = reach(75.0, **under)
        assert (row["status"], row["note"]) == (NOT_TRIED, "no reading changes it")
        assert (row["low"], row["high"], row["n_readings"]) == (75.0, 75.0, 0)
        assert pd.isna(row["nearest"])
        assert pd.isna(row["nearest_value"])


def test_range_and_counts_are_of_legitimate_readings_and_the_main_run():
    row = reach(75.0, roles=72.0, inputs=79.5, test=90.0, bound=60.0)
    assert (row["low"], row["high"]) == (72.0, 79.5)
    assert (row["n_readings"], row["n_within"], row["nearest_value"]) == (2, 1, 79.5)
    assert row["note"] == "0.5 from the printed number, 5 in the main run"
    assert (reach(75.0, roles=79.0)["low"], reach(81.5, roles=83.0)["low"]) == (
        75,
        81.5,
    )


def test_a_spread_that_brings_a_number_within_the_rule_beats_a_nearer_one():
    main = {CELL: number(80.0, 75.0)}
    wide = {CELL: number(80.0, 77.0, sd=4.0)}
    nearer = {CELL: number(80.0, 78.0)}
    row = row_of(main, {ROLES: nearer, INPUTS: wide})
    assert (row["status"], row["nearest"]) == (WITHIN_REACH, INPUTS.name)


def test_other_numbers_of_the_row_tell_how_much_being_within_reach_means():
    main = {
        CELL: number(80.0, 75.0),
        ("table", "x", "near"): number(80.5, 90.0),
        ("table", "x", "far"): number(60.0, 60.0),
        ("table", "x", "low"): number(70.2, 70.2),
        ("table", "x", "accepted"): number(75.5, 75.5),
        ("table", "x", "rank"): number(80.0, 80.0, unit="rank"),
        ("table", "x", "mean"): number(80.0, 80.0, is_derived=True),
        ("table", "y", "a"): number(80.0, 80.0),
        ("other", "x", "a"): number(80.0, 80.0),
    }
    under = {ROLES: {CELL: number(80.0, 79.8)}, INPUTS: {CELL: number(80.0, 70.0)}}
    table = reach_of_numbers(main, under).set_index("column")
    # Left out: what the main run accepts as well, other units, rows and tables.
    assert table.loc["a", ["others", "others_within"]].tolist() == [3, 2]
    only_test = {TEST: {CELL: number(80.0, 79.8)}}
    table = reach_of_numbers(main, only_test).set_index("column")
    assert table.loc["a", "others"] == 0
    assert table.loc["near", "status"] == NOT_TRIED


def test_a_reading_changes_numbers_that_differ_from_the_main_run():
    main = {CELL: number(80.0, 75.0), ("table", "y", "a"): number(80.0, 75.0)}
    same = number(80.0, 75.0 + 1e-12)
    none = Number(Published(80.0), None, "no data")
    found = changed(
        main, {CELL: same, ("table", "y", "a"): none, ("t", "z", "a"): same}
    )
    assert found == {}
    assert list(changed(main, {CELL: number(80.0, 75.1)})) == [CELL]


def test_a_reduced_run_has_ranges_without_a_verdict():
    none = Number(Published(80.0), None, "no data")
    main = {CELL: none, ("table", "y", "a"): none}
    under = {
        ROLES: {CELL: number(80.0, 78.0)},
        INPUTS: {CELL: number(80.0, 70.0)},
        TEST: {CELL: number(80.0, 99.0)},
    }
    row = row_of(main, under, is_judged=False)
    assert (row["low"], row["high"], row["n_readings"]) == (70.0, 78.0, 2)
    assert row["status"] == "not judged (quick)"
    assert pd.isna(row["reproduced"])


def claims(**verdicts):
    """Results of claims; a mark stands for another mean, and so another note."""
    rows = [(name, v.rstrip("*"), f"mean {v}") for name, v in verdicts.items()]
    table = pd.DataFrame(rows, columns=["id", "verdict", "note"]).assign(setting="")
    return table.assign(own_verdict=table["verdict"], new_verdict=table["verdict"])


def sentences(names):
    return [
        Claim.model_construct(id=name, quantifier="all", settings=[]) for name in names
    ]


def test_a_claim_has_the_number_of_its_readings_by_verdict():
    same = {"e": "undecided"}
    main = claims(a="undecided", b="holds", c="does not hold", d="no data", **same)
    under = {
        ROLES: claims(a="holds", b="holds*", c="does not hold", d="holds", **same),
        INPUTS: claims(
            a="does not hold", b="undecided", c="no data", d="holds", **same
        ),
        TEST: claims(a="holds", b="holds", c="holds", d="holds", **same),
    }
    table = reach_of_claims(sentences("abcde"), main, under).set_index("row")
    assert list(table.index) == ["a", "b", "c", "e"]
    counts = table[["n_readings", "holds", "undecided", "does_not_hold"]]
    assert counts.loc["a"].tolist() == [2, 1, 0, 1]
    # The same verdict by other means is a result of a reading, the same mean is none.
    assert counts.loc["b"].tolist() == [2, 1, 1, 0]
    # Choices by test data are counted apart.
    assert counts.loc["c"].tolist() == counts.loc["e"].tolist() == [0, 0, 0, 0]
    assert table["note"].tolist() == [
        "holds under Roles: permuted; with test data holds under 1 of 1",
        "undecided under Inputs: raw",
        "with test data holds under 1 of 1",
        "",
    ]
    assert table["status"].tolist() == ["", "", "", NOT_TRIED]
    assert set(table["kind"]) == {"claim"}


def test_a_reading_stands_in_the_settings_that_it_changes():
    first, second = claims(a="holds"), claims(a="undecided").assign(setting="second")
    main = pd.concat([first, second], ignore_index=True)
    under = {ROLES: second.assign(note="other", new_verdict="holds")}
    under[ROLES][["verdict", "own_verdict"]] = "holds"
    under[INPUTS] = claims(a="does not hold")
    (row,) = reach_of_claims(sentences("a"), main, under).to_dict("records")
    assert (row["holds"], row["does_not_hold"], row["n_readings"]) == (1, 1, 2)
