import json
import math

import pandas as pd
import pytest
from configured import artefact_of

from mtmkl_suite.judge.reach import NOT_TRIED, OUT_OF_REACH
from mtmkl_suite.report.pages.artefacts import (
    by_reach,
    curves_of,
    figure_in_words,
    methods_of,
    names_of,
    number_table,
    of_the_record,
    values_of,
)
from mtmkl_suite.report.record.published_reach import Reach


@pytest.mark.parametrize(
    ("name", "shown"),
    [("figure_3", ("Figure 3", "Ranks")), ("table_ranks_regression", ("Ranks", ""))],
)
def test_what_a_paper_did_not_number_goes_by_its_title(name, shown):
    assert names_of(name, "Ranks") == shown


def test_values_of_a_figure_are_a_table():
    numbers = pd.DataFrame(
        {
            "series": ["a", "b"],
            "n_tasks": [10, 20],
            "mean": [-0.123456, math.nan],
            "empty": [math.nan, math.nan],
        }
    )
    table = values_of(numbers)
    assert table.header == ["series", "n tasks", "mean"]
    assert table.rows == [["a", "10", "−0.1235"], ["b", "20", "–"]]
    assert table.notes == []


def test_curves_are_handed_to_the_page():
    points = {
        "panel": ["a", "a", "a", "b"], "series": ["s", "s", "t", "s"],
        "x": [2.0, 1.0, 1.0, 1.0], "mean": [0.123456, 3.0, 4.0, 5.0],
        "sd": [math.nan, 0.5, 0.5, 0.5],
    }  # fmt: skip
    # Of one point alone there is no curve.
    assert json.loads(curves_of(pd.DataFrame(points))) == [
        ["a", [["s", [1.0, 2.0], [3.0, 0.12346], [0.5, None]]], []]
    ]
    assert curves_of(pd.DataFrame({"row": [1], "value": [2.0]})) == ""


def test_numbers_of_a_few_repeats_are_not_among_those_of_the_record():
    run = pd.DataFrame({
        "row": ["new", "old"], "column": "x", "reproduced": [1.0, 2.0], "missing": "",
    })  # fmt: skip
    found = of_the_record(run, run.iloc[1:])
    assert list(found["reproduced"].isna()) == [True, False]
    assert list(found["missing"]) == ["not in the published record", ""]
    # A table that the record lacks is the run's own.
    assert of_the_record(run, run.assign(row="else")) is run


def test_bars_have_the_names_of_their_places():
    bars = {
        "panel": "a", "series": ["s", "s", "t"], "organism": ["E. coli", "B", "B"],
        "mean": [1.0, 2.0, 3.0],
    }  # fmt: skip
    ((_, curves, names),) = json.loads(curves_of(pd.DataFrame(bars)))
    assert names == ["E. coli", "B"]
    assert curves == [["s", [0.0, 1.0], [1.0, 2.0], [None, None]]]


def test_points_of_a_scatter_are_series_by_themselves():
    cost = {"method": ["a_b", "c"], "seconds": [2.0, 1.0], "score": [5.0, 6.0]}
    ((name, curves, names),) = json.loads(curves_of(pd.DataFrame(cost)))
    assert (name, names) == ("score against seconds", [])
    assert curves == [["c", [1.0], [6.0], [None]], ["a b", [2.0], [5.0], [None]]]


def test_long_tables_say_how_much_more_the_file_has():
    table = values_of(pd.DataFrame({"x": range(1000)}))
    assert len(table.rows) < 1000
    assert table.notes == [f"{1000 - len(table.rows)} more rows are in the csv."]


SPACE = "\N{FIGURE SPACE}"


def cell(row, column, published, reproduced, verdict, **more):
    return {
        "row": row, "column": column, "unit": "%", "published": published,
        "published_sd": None, "status": "legible", "reproduced": reproduced,
        "reproduced_sd": 0.5, "n": 10, "verdict": verdict, "rule": "|difference| 0.1",
        "missing": "",
    } | more  # fmt: skip


def build(cells, published=(), *, is_judged=True, decimals=1, reach=None):
    return number_table(
        pd.DataFrame(cells),
        pd.DataFrame(published),
        corner="Method",
        decimals=decimals,
        is_judged=is_judged,
        reach=reach or {},
        methods={"MTL": "MTL"},
    )


def test_a_cell_has_all_of_a_number():
    table = build([cell("MTL", "error", 9.75, 10.25, "close")])
    assert (table.corner, table.unit) == ("Method", "%")
    assert table.columns == [("error", "")]
    ((label, method, (found,)),) = table.rows
    assert label == method == "MTL"
    assert found.reproduced == "10.2 ± 0.5"
    assert found.n == "n = 10"
    assert (found.printed.strip(), found.ours, found.difference) == (
        "9.8", "10.2", "+0.5",
    )  # fmt: skip
    assert found.details == (
        "close; |difference| 0.1; published 9.8; reproduced 10.2 ± 0.5 (n = 10)"
    )
    assert found.verdict == found.shown_verdict == "close"
    assert found.note == "|difference| 0.1"


def test_decimal_points_of_a_column_stand_in_one_line():
    table = build(
        [cell("a", "x", 9.5, 100.0, "different"), cell("b", "x", -3.0, 1.0, "close")]
    )
    first, second = (cells[0] for _, _, cells in table.rows)
    assert first.published == f"{SPACE * 2}9.5"
    assert first.reproduced == "100.0 ± 0.5"
    assert second.published == f"{SPACE}\N{MINUS SIGN}3.0"


def test_the_record_stands_in_for_what_was_not_computed():
    run = cell("MTL", "x", 2.0, None, "no data", missing="data set 'a' is absent")
    record = cell("MTL", "x", 2.0, 2.5, "different")
    ((_, _, (found,)),) = build(
        [run], [record], reach={("MTL", "x"): Reach("not tried", "not tried")}
    ).rows
    assert found.reproduced == ""
    assert found.record == "2.5 ± 0.5"
    assert (found.verdict, found.shown_verdict) == ("", "different")
    assert found.note == "|difference| 0.1; data set 'a' is absent"
    assert (found.ours, found.difference) == ("2.5", "+0.5")
    assert found.details.startswith("different; |difference| 0.1; data set 'a'")
    assert found.reach == "not tried"


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ("6 > max(2 SE 1, tol 1), > max(sd 1, 2 tol 2)",
         "decided by the reading b: |difference| 6 > max(2 SE 1, tol 1), > max(sd 1, "
         "2 tol 2); the other, a: |difference| 0.5 <= max(2 SE 1, tol 1)"),
        ("0.6 <= max(2 SE 1, tol 1)",
         "the same under both readings, a: |difference| 0.5 <= max(2 SE 1, tol 1); b: "
         "|difference| 0.6 <= max(2 SE 1, tol 1)"),
    ],
)  # fmt: skip
def test_the_reading_that_decides_is_named(second, told):
    rule = (
        "weaker of two readings: a: |difference| 0.5 <= max(2 SE 1, tol 1); b: "
        f"|difference| {second}"
    )
    unsure = {"rule": rule, "status": "ambiguous", "in_print": "Table 1; sign is lost"}
    table = build([cell("MTL", "x", 2.0, 2.5, "different", **unsure)])
    ((_, _, (found,)),) = table.rows
    assert found.note == told
    assert found.printed == "2.0 ?"
    assert found.details.endswith("; in print: Table 1; sign is lost")


def test_numbers_are_listed_by_their_reach():
    far = Reach("out of reach by 2", OUT_OF_REACH)
    cells = [
        cell("a", "MTL", 2.0, 9.0, "different"),
        cell("b", "x", 2.0, 9.0, "different"),
        cell("b", "MTL", 2.0, 9.0, "different"),
        cell("c", "x", 2.0, 2.0, "reproduced"),
    ]
    reach = {
        ("a", "MTL"): far, ("b", "x"): far, ("b", "MTL"): Reach("not tried", NOT_TRIED),
        ("c", "x"): far,
    }  # fmt: skip
    assert by_reach([build(cells, reach=reach)]) == [
        (OUT_OF_REACH, 2, {"a": ["MTL"], "b": ["x"]}),
        (NOT_TRIED, 1, {"b": ["MTL"]}),
    ]


def test_without_a_record_there_is_no_data_and_why():
    run = cell("MTL", "x", 2.0, None, "no data", missing="data set 'a' is absent")
    ((_, _, (found,)),) = build([run]).rows
    assert (found.verdict, found.record) == ("no data", "")


def test_a_judged_number_needs_no_record():
    mine, record = (cell("MTL", "x", 2.0, v, "close") for v in (2.1, 2.2))
    ((_, _, (found,)),) = build([mine], [record]).rows
    assert (found.verdict, found.record) == ("close", "")


def test_an_unjudged_number_stands_beside_the_record():
    mine = cell("MTL", "x", 2.0, 2.1, "not judged (quick)")
    record = cell("MTL", "x", 2.0, 2.2, "reproduced")
    ((_, _, (found,)),) = build([mine], [record], is_judged=False).rows
    assert found.reproduced == "2.1 ± 0.5"
    assert (found.verdict, found.record_verdict) == ("", "reproduced")


def test_what_cannot_be_read_is_not_compared():
    mine = cell("MTL", "x", None, 2.1, "no data", status="illegible")
    ((_, _, (found,)),) = build([mine]).rows
    assert (found.published, found.verdict) == ("illegible", "")
    ((_, _, (found,)),) = build([mine], [mine], is_judged=False).rows
    assert (found.record.strip(), found.shown_verdict) == ("2.1 ± 0.5", "")


def test_mean_ranks_have_decimals_of_their_own():
    cells = [
        cell("Heart", "MTL", 90.0, 91.25, "close", reproduced_rank=1.5),
        cell("mean rank", "MTL", 2.0, 2.125, "close", unit="rank"),
    ]
    table = build(cells)
    texts = [cells[0].reproduced for _, _, cells in table.rows]
    assert table.unit == "%"
    assert texts[0].endswith("91.2 ± 0.5, rank 1.5")
    assert texts[1].endswith("2.12 ± 0.50")


def test_quoted_numbers_get_a_digit_more_than_printed():
    ((_, _, (found,)),) = build(
        [cell("a", "x", 0.31, 0.24304, "different")], decimals=None
    ).rows
    assert found.reproduced.startswith("0.243 ±")


def test_methods_are_found_in_rows_or_columns():
    labels = {"mtl": "MTL", "stl": "STL"}
    rows = {"Ours": {"method": "mtl"}, "all": {"method": ["mtl", "stl"]}}
    table = artefact_of({"rows": rows, "columns": {"x": {}}})
    assert methods_of(table, labels) == {"Ours": "MTL"}
    ranking = {"layout": "ranking", "comparison": {"columns": {"S": "stl"}}}
    assert methods_of(artefact_of(ranking), labels) == {"S": "STL"}


def test_curves_are_told_by_their_ends():
    points = pd.DataFrame(
        {"panel": "n_tasks", "series": "MTL", "x": [200, 10], "mean": [0.25, 0.5]}
    )
    assert figure_in_words("Error", points) == (
        "Error. Panel n tasks: MTL 0.5 at 10, 0.25 at 200."
    )


def test_many_curves_are_counted():
    points = pd.DataFrame({"series": [f"s{k}" for k in range(9)], "x": 1, "mean": 2.0})
    assert "3 more curves" in figure_in_words("Error", points)


def test_a_matrix_is_told_by_size_and_range():
    entries = pd.DataFrame(
        {"panel": "|A|", "row": [1, 2], "task": [1, 1], "value": [0.5, 2.0]}
    )
    assert "Matrix |A|: 2 rows by 1 tasks, values from 0.5 to 2" in figure_in_words(
        "Matrix", entries
    )


def test_other_numbers_are_told_by_their_ranges():
    assert figure_in_words("Norm.", pd.DataFrame({"mean_norm": [1.0, 20.0]})) == (
        "Norm. mean norm from 1 to 20."
    )


def test_missing_data_are_told():
    table = pd.DataFrame({"no data": ["data set 'a' is absent"]})
    assert "No data: data set 'a' is absent." in figure_in_words("Error", table)
