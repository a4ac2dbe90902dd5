import numpy as np
import pytest
from made_scores import digits_fitted

MODULE = "mtmkl_suite.evaluation.optimistic"


@pytest.fixture
def scores(tmp_path):
    """The accuracy of single-task MKL on digits under a selection, and per task."""
    fitted = digits_fitted(tmp_path)

    def run(selection, mode="select"):
        table = fitted(selection, {"C": [0.001, 0.1, 10.0]}, mode=mode)
        return table[table["metric"] == "accuracy"]

    return run


def of_all(table):
    return table.loc[table["task"] == "all", "value"].to_numpy(dtype=float)


def by_task(table):
    tasks = table[table["task"] != "all"]
    return tasks.pivot_table("value", "setting", "task").astype(float)


def test_the_best_common_point_is_that_of_the_path(scores):
    path, best = scores("validation", "path"), scores(f"{MODULE}:best_on_test")
    assert of_all(best) == [of_all(path).max()]


def test_the_best_points_of_tasks_are_those_of_the_path(scores):
    path = scores("validation", "path")
    best = scores(f"{MODULE}:best_of_each_task_on_test")
    expected = by_task(path).max()
    np.testing.assert_array_equal(by_task(best).iloc[0], expected)
    assert of_all(best)[0] == pytest.approx(expected.mean())
