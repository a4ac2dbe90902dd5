import json

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


def test_each_fit_counts_once_and_ends_are_those_of_the_grid():
    table = scores([{"C": 1.0}, {"C": 1.0}, {"C": 10}, {"C": 0.1}, None])
    found = chosen_parameters(table, "one", {"svm": {"C": [0.1, 1, 10, 100]}})
    (row,) = found.to_dict("records")
    assert (row["n"], row["chosen"]) == (4, {"1": 2, "10": 1, "0.1": 1})
    assert (row["at_low_end"], row["at_high_end"]) == (0.25, 0.0)
    assert next(iter(row["chosen"])) == "1"


def test_each_task_with_a_value_of_its_own_counts():
    table = scores([{"C": [1, 10, 10]}, {"C": [0.1, 10, 1]}])
    found = chosen_parameters(table, "one", {"svm": {"C": [0.1, 1, 10]}})
    (row,) = found.to_dict("records")
    assert (row["n"], row["chosen"]) == (6, {"10": 3, "1": 2, "0.1": 1})
    assert row["at_high_end"] == 0.5


def test_a_list_that_is_a_value_counts_as_one():
    kernels = [["linear"], ["linear", "gaussian"]]
    table = scores([{"kernels": kernels[1]}, {"kernels": kernels[0]}])
    found = chosen_parameters(table, "one", {"svm": {"kernels": kernels}})
    (row,) = found.to_dict("records")
    assert row["n"] == 2
    assert row["chosen"] == {'["linear", "gaussian"]': 1, '["linear"]': 1}
    assert pd.isna(row["at_low_end"])


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


@pytest.mark.parametrize("grid", [[1], [True, False], ["a", "b"]])
def test_a_grid_of_one_value_or_of_no_numbers_has_no_ends(grid):
    found = chosen_parameters(scores([{"C": grid[0]}]), "one", {"svm": {"C": grid}})
    assert found[["at_low_end", "at_high_end"]].isna().all(axis=None)
