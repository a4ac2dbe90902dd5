import math
from dataclasses import fields

import pandas as pd
import pytest

from mtmkl_suite.report.pages.artefact_views import ArtefactView, values_of


@pytest.mark.parametrize(
    ("name", "shown"),
    [("figure_3", ("Figure 3", "Ranks")), ("table_ranks_regression", ("Ranks", ""))],
)
def test_what_a_paper_did_not_number_goes_by_its_title(name, shown):
    given = {field.name: None for field in fields(ArtefactView)}
    view = ArtefactView(**given | {"id": name, "title": "Ranks"})
    assert (view.name, view.subtitle) == shown


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
