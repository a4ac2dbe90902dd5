import numpy as np
import pandas as pd
import pytest

from mtmkl_suite.judge.sample import (
    SelectionError,
    average,
    axis_values,
    dataset_options,
    fits,
    higher_is_better,
    is_mean_of_tasks,
    read_scores,
    select,
)


def test_subsets_are_averaged_before_repeats(table):
    # Repeat 0 has three subsets on data set a and one on b: weights 1/2, not 3/4.
    rows = [
        {"dataset": "a", "repeat": 0, "subset": k, "value": v}
        for k, v in enumerate([1.0, 2.0, 3.0])
    ]
    rows += [{"dataset": "b", "repeat": 0, "value": 10.0}]
    rows += [{"dataset": "a", "repeat": 1, "value": 5.0}]
    found = select(table(rows), {"method": "m", "experiment": "e", "metric": "mse"})
    np.testing.assert_allclose(average(found, ["repeat"]), [(2.0 + 10.0) / 2, 5.0])


def test_unit_task_leaves_out_the_row_over_all_tasks(table):
    scores = table(
        [
            {"task": "all", "value": 100.0},
            {"task": "t1", "value": 1.0},
            {"task": "t1", "repeat": 1, "value": 3.0},
            {"task": "t2", "value": 5.0},
        ]
    )
    rows = select(scores, {"metric": "mse"}, unit="task")
    assert average(rows, ["task"]).to_dict() == {"t1": 2.0, "t2": 5.0}


def test_one_fit_of_another_value_tells_that_it_is_no_mean_of_tasks(table):
    rows = [
        {"dataset": name, "repeat": repeat, "task": task, "value": value}
        for name, off in (("a", 0.0), ("b", 0.01))
        for repeat in (0, 1)
        for task, value in (("t1", 1.0), ("t2", 3.0), ("all", 2.0 + off * repeat))
    ]
    found = is_mean_of_tasks(table(rows))
    assert found.to_dict() == {("e", "a", "mse"): True, ("e", "b", "mse"): False}


def test_columns_of_fits_can_be_asked_for_as_metrics(table):
    scores = table(
        [
            {"metric": "mse", "n_iter": 30, "setting": '{"gamma": 1}'},
            {"metric": "n_features", "n_iter": 30, "setting": '{"gamma": 1}'},
            {"metric": "mse", "n_iter": 70, "setting": '{"gamma": 2}'},
        ]
    )
    rows = select(scores, {"metric": "n_iter"})
    assert sorted(rows["value"]) == [30.0, 70.0]
    assert len(fits(scores)) == 2


def test_values_that_are_not_numbers_are_no_observations(table):
    scores = table([{"value": np.nan}, {"repeat": 1, "value": 2.0}])
    rows = select(scores, {"metric": "mse"})
    assert average(rows, ["repeat"]).tolist() == [2.0]


def test_axis_comes_from_column_setting_or_dataset(table):
    scores = table(
        [
            {"n_tasks": 10, "setting": '{"gamma": 0.1}', "dataset": "s[a=1,b=6]"},
            {"n_tasks": 20, "setting": '{"gamma": 1000.0}', "dataset": "s[a=2,b=6]"},
        ]
    )
    assert axis_values(scores, "n_tasks").tolist() == [10.0, 20.0]
    assert axis_values(scores, "gamma").tolist() == [0.1, 1000.0]
    assert axis_values(scores, "a").tolist() == [1.0, 2.0]


def test_unknown_axis_column_unit_and_metric_are_named(table):
    scores = table([{"setting": '{"kernel": {"name": "gaussian"}}'}])
    with pytest.raises(SelectionError, match="'nowhere' is neither"):
        axis_values(scores, "nowhere")
    with pytest.raises(SelectionError, match="'kernel' is not a number"):
        axis_values(scores, "kernel")
    with pytest.raises(SelectionError, match="colour"):
        select(scores, {"colour": "red"})
    with pytest.raises(SelectionError, match="school"):
        select(scores, {}, unit="school")
    with pytest.raises(SelectionError, match="n_features"):
        higher_is_better("n_features")


def test_dataset_options():
    assert dataset_options("school") == {}
    assert dataset_options("s[bias=True,n=6]") == {"bias": "True", "n": "6"}


def test_reading_keeps_text_and_every_digit(tmp_path, table):
    text = {"setting": "", "params": "", "task": "1", "train_unit": "%"}
    scores = table([{"value": 0.1 + 0.2, **text}])
    path = tmp_path / "scores.csv.gz"
    scores.to_csv(path, index=False)
    back = read_scores(path)
    assert back.loc[0, "value"] == 0.1 + 0.2
    assert back.loc[0, [*text]].to_dict() == text
    pd.testing.assert_index_equal(back.columns, scores.columns)
