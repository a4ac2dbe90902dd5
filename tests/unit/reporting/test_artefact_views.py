import math

import pandas as pd

from mtmkl.reporting.artefact_views import values_of


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


def test_long_tables_say_how_much_more_the_file_has():
    table = values_of(pd.DataFrame({"x": range(1000)}))
    assert len(table.rows) < 1000
    assert table.notes == [f"{1000 - len(table.rows)} more rows are in the csv."]
