import itertools
import math

import numpy as np
import pytest

from mtmkl_suite.judge.explanations import (
    EXPLAINED,
    FOLLOWS,
    PARTLY,
    UNEXPLAINED,
    Number,
    Reading,
    at_least,
    explain_cells,
    shares_of,
    wrong_numbers,
)

ROLES = Reading("roles", "permuted", is_optimistic=False)
INPUTS = Reading("inputs", "raw", is_optimistic=False)
TEST = Reading("choice", "on_test", is_optimistic=True)

METHODS = "abcdef"
SHIFTS = (3.0, 4.5, 6.0, 7.5, 9.0, 10.5)  # published − reproduced in the main run


def number(published, reproduced, *, is_derived=False, sd=0.3, n=20):
    verdict = "reproduced" if abs(published - reproduced) <= 1 else "different"
    return Number(
        published, math.nan, 20, reproduced, sd, n, verdict, 0.5, "%", is_derived
    )


def table(shift=0.0, rows=("x",), *, only=METHODS, towards=None):
    """A table in which every cell is different, and ours shifted towards the print."""
    return {
        ("table", row, method): number(80.0 + by, 80.0 + (by if towards else shift))
        for row in rows
        for method, by in zip(METHODS, SHIFTS, strict=True)
        if method in only
    }


def statuses(frame):
    return frame.set_index(["row", "column"])["status"].to_dict()


def test_a_reading_that_hits_every_number_of_a_row_explains_it():
    cells, overview = explain_cells(table(), {ROLES: table(towards=True)})
    assert set(cells["status"]) == {EXPLAINED}
    assert set(cells["reading"]) == {"roles=permuted"}
    assert (cells["verdict_under_reading"] == "reproduced").all()
    assert overview.to_dict("records")[0] == {
        "reading": "roles=permuted", "kind": "legitimate", "touched": 6, "gained": 6,
        "lost": 0, "chance": 0.0, "rows": 1, "columns": 0,
    }  # fmt: skip


def test_a_reading_that_accepts_wrong_numbers_as_well_explains_nothing():
    # So uncertain that whatever is printed comes within the rule.
    vague = {
        cell: Number(n.published, n.published_sd, 20, 86.0, 15.0, 20, "close", 0.5, "%")
        for cell, n in table().items()
    }
    cells, _ = explain_cells(table(), {ROLES: vague})
    assert set(cells["status"]) == {PARTLY}
    assert (cells["chance"] == 1.0).all()


def test_cells_that_single_readings_fit_by_themselves_are_not_explained():
    under = {
        Reading("f", f"r{k}", is_optimistic=False): table(shift, rows=("x",))
        for k, shift in enumerate(SHIFTS)
    }
    cells, _ = explain_cells(table(), under)
    # Each cell is hit by one of the readings, and so are the wrong numbers.
    assert set(cells["status"]) == {PARTLY}
    assert len(set(cells["reading"])) == len(SHIFTS)
    assert (cells["chance"] == 1.0).all()


def test_a_reading_must_concern_half_of_a_line():
    main = table(rows="xyz")
    cells, _ = explain_cells(main, {ROLES: table(towards=True, rows="xyz", only="ab")})
    found = statuses(cells)
    # Of two columns the reading explains everything, of a row two of six cells.
    assert found["x", "a"] == EXPLAINED
    assert found["x", "c"] == UNEXPLAINED
    assert cells["note"].str.startswith("with its column").sum() == 6


def test_cells_that_leave_the_rule_count_against_a_reading():
    good = {("table", "x", f"g{k}"): number(80.0, 80.0) for k in range(4)}
    worse = {cell: number(80.0, 90.0) for cell in good}
    main = {**table(), **good}
    _, overview = explain_cells(main, {ROLES: {**table(towards=True), **worse}})
    row = overview.to_dict("records")[0]
    assert (row["gained"], row["lost"], row["rows"]) == (6, 4, 0)


def test_a_difference_that_all_cells_share_can_be_explained():
    # A difference that leads to the printed number makes no wrong one.
    places = [(r, c, 60.0 + 7 * r + 3 * c) for r in range(3) for c in range(6)]
    main = {("table", f"r{r}", f"c{c}"): number(x + 5.0, x) for r, c, x in places}
    hit = {cell: number(n.published, n.published) for cell, n in main.items()}
    cells, _ = explain_cells(main, {ROLES: hit})
    assert set(cells["status"]) == {EXPLAINED}
    assert cells["chance"].max() < 0.2
    missed = {cell: number(n.published, n.published + 2) for cell, n in main.items()}
    cells, _ = explain_cells(main, {ROLES: missed})
    assert set(cells["status"]) == {UNEXPLAINED}


def test_a_cell_within_the_rule_is_partly_explained_though_another_reading_is_nearer():
    main = table(only="a")
    (cell,) = main
    nearer = {cell: Number(83.0, math.nan, 20, 81.8, 0.3, 20, "different", 0.5, "%")}
    wider = {cell: Number(83.0, math.nan, 20, 81.0, 2.5, 20, "close", 0.5, "%")}
    for first, second in ((ROLES, TEST), (TEST, ROLES)):
        cells, _ = explain_cells(main, {first: nearer, second: wider})
        assert cells["status"].tolist() == [PARTLY]
        assert cells["reading"].tolist() == [second.name]
    # Of two within the rule the one that does not use test data counts.
    hit = {cell: number(83.0, 83.0)}
    cells, _ = explain_cells(main, {ROLES: wider, TEST: hit})
    assert cells["reading"].tolist() == [ROLES.name]


def test_more_readings_need_better_evidence():
    # Two cells with five wrong numbers each, the printed one counted: p = 1/36.
    main = {**table(only="ab"), **table(rows="y", only="cdef")}
    hit = table(towards=True, only="ab")
    cells, _ = explain_cells(main, {ROLES: hit})
    assert statuses(cells)["x", "a"] == EXPLAINED
    missed = {INPUTS: table(-1.0, only="ab")}
    cells, _ = explain_cells(main, {ROLES: hit, **missed})
    assert statuses(cells)["x", "a"] == PARTLY


def test_legitimate_readings_come_before_those_that_use_test_data():
    under = {TEST: table(towards=True), ROLES: table(towards=True)}
    cells, _ = explain_cells(table(), under)
    assert set(cells["reading"]) == {"roles=permuted"}
    cells, _ = explain_cells(table(), {TEST: table(towards=True)})
    assert cells["note"].str.startswith("uses test data; ").all()


def test_what_follows_from_other_cells_is_counted_apart():
    derived = {("ranks", "x", "a"): number(1.0, 4.0, is_derived=True)}
    cells, overview = explain_cells({**table(), **derived}, {ROLES: {}})
    assert shares_of(cells) == {"table": {UNEXPLAINED: 6}, "ranks": {FOLLOWS: 1}}
    assert overview["touched"].tolist() == [0]


def test_a_reading_that_changes_nothing_explains_nothing():
    cells, _ = explain_cells(table(), {ROLES: table()})
    assert set(cells["status"]) == {UNEXPLAINED}
    assert set(cells["note"]) == {"no reading changes it"}


def test_wrong_numbers_have_the_differences_of_other_cells():
    wrong = wrong_numbers(("table", "x", "a"), table())
    assert sorted(wrong) == [84.5, 86.0, 87.5, 89.0, 90.5]
    # What the main run accepts is not wrong.
    near = {**table(), ("table", "y", "a"): number(60.0, 59.0)}
    assert sorted(wrong_numbers(("table", "x", "a"), near)) == sorted(wrong)
    # With few differences what is printed elsewhere joins.
    few = {("table", "x", c): number(80.0 + by, 80.0) for c, by in (("a", 3), ("b", 5))}
    few["table", "x", "c"] = number(70.0, 70.0)
    assert sorted(wrong_numbers(("table", "x", "a"), few)) == [70.0, 85.0, 85.0]
    # What the rule cannot tell from the printed number is not wrong either.
    few["table", "x", "b"] = number(84.0, 80.0)
    assert wrong_numbers(("table", "x", "a"), few) == [70.0]


@pytest.mark.parametrize("count", range(5))
def test_probability_of_as_many_hits_by_chance(count):
    probabilities = [0.1, 0.5, 0.25, 0.9]
    expected = sum(
        np.prod(
            [p if hit else 1 - p for p, hit in zip(probabilities, hits, strict=True)]
        )
        for hits in itertools.product([0, 1], repeat=4)
        if sum(hits) >= count
    )
    assert at_least(count, probabilities) == pytest.approx(expected)
