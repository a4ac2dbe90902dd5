import pandas as pd
import pytest

from mtmkl_suite.report.pages.drawings import figure_in_words


@pytest.mark.parametrize(
    ("title", "columns", "words"),
    [
        # Curves by their ends, many of them counted.
        ("Error",
         {"panel": "n_tasks", "series": "MTL", "x": [200, 10], "mean": [0.25, 0.5]},
         "Error. Panel n tasks: MTL 0.5 at 10, 0.25 at 200."),
        ("Error", {"series": [f"s{k}" for k in range(9)], "x": 1, "mean": 2.0},
         "; 3 more curves."),
        ("Matrix", {"panel": "|A|", "row": [1, 2], "task": [1, 1], "value": [0.5, 2.0]},
         "Matrix |A|: 2 rows by 1 tasks, values from 0.5 to 2"),
        ("Norm.", {"mean_norm": [1.0, 20.0]}, "Norm. mean norm from 1 to 20."),
        ("Error", {"no data": ["data set 'a' is absent"]},
         "No data: data set 'a' is absent."),
    ],
)  # fmt: skip
def test_figures_are_told_in_words(title, columns, words):
    assert words in figure_in_words(title, pd.DataFrame(columns))
