import json
import math

import pandas as pd
import pytest
from made_scores import made_row

from mtmkl_suite.judge.choices import chosen_parameters


def scores(params, **values):
    rows = [
        made_row("one", "svm", metric, 0, repeat=repeat)
        | {"params": json.dumps(found) if found else ""}
        | values
        for repeat, found in enumerate(params)
        for metric in ("auc", "accuracy")
    ]
    return pd.DataFrame(rows)


def chosen(params, grid):
    found = chosen_parameters(scores(params), "one", {"svm": grid})
    (row,) = found.to_dict("records")
    return row


def test_each_fit_counts_once_and_ends_are_those_of_the_grid():
    params = [{"C": 1.0}, {"C": 1.0}, {"C": 10}, {"C": 0.1}, None]
    row = chosen(params, {"C": [0.1, 1, 10, 100]})
    assert (row["n"], row["chosen"]) == (4, {"1": 2, "10": 1, "0.1": 1})
    assert (row["at_low_end"], row["at_high_end"]) == (0.25, 0.0)
    assert next(iter(row["chosen"])) == "1"


def test_each_task_with_a_value_of_its_own_counts():
    row = chosen([{"C": [1, 10, 10]}, {"C": [0.1, 10, 1]}], {"C": [0.1, 1, 10]})
    assert (row["n"], row["chosen"]) == (6, {"10": 3, "1": 2, "0.1": 1})
    assert row["at_high_end"] == 0.5


def test_other_experiments_methods_and_parameters_are_left_out():
    table = pd.concat(
        [
            scores([{"C": 1, "tol": 3}]),
            scores([{"C": 1}], experiment="two"),
            scores([{"C": 1}], method="other"),
        ]
    )
    found = chosen_parameters(table, "one", {"svm": {"C": [1, 2], "gamma": [1]}})
    assert found[["method", "parameter", "n"]].to_numpy().tolist() == [["svm", "C", 1]]


@pytest.mark.parametrize("grid", [[1], [True, False], ["a", "b"], [["a", "b"], ["c"]]])
def test_a_grid_of_one_value_or_of_no_numbers_has_no_ends(grid):
    row = chosen([{"C": grid[0]}], {"C": grid})
    # A list that is a value counts as one.
    assert row["chosen"] == {json.dumps(grid[0]): 1}
    assert math.isnan(row["at_low_end"])
    assert math.isnan(row["at_high_end"])
