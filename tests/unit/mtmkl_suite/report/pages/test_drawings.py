import pandas as pd

from mtmkl_suite.report.pages.drawings import figure_in_words


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
