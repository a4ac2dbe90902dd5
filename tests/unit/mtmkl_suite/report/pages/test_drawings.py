import json
import math

import pandas as pd

from mtmkl_suite.report.pages.drawings import curves_of, figure_in_words, values_of


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
