import json
from types import SimpleNamespace

import numpy as np
import pytest
from made_scores import digits_fitted

from mtmkl_suite.papers.yousefi2015 import choices

GRID = [0.001, 0.1, 10.0]


@pytest.fixture
def scores(tmp_path):
    """The accuracy of single-task MKL on digits under a selection, and per task."""
    fitted = digits_fitted(tmp_path)
    return lambda selection, **options: fitted(selection, {"C": GRID}, **options)


def by_task(table, metric):
    rows = table[(table["metric"] == metric) & (table["task"] != "all")]
    return rows.pivot_table("value", "setting", "task").astype(float)


def test_each_task_gets_its_best_point_on_validation_rows(scores):
    path = scores("validation", record_path=True)
    found = scores(f"{choices.__name__}:for_each_task")
    chosen = json.loads(found["params"].iloc[0])["C"]
    on_validation = by_task(path, "validation_accuracy")
    on_test = by_task(path, "accuracy")
    best = by_task(found, "accuracy").iloc[0]
    assert set(chosen) <= set(GRID)
    for value, task in zip(chosen, best.index, strict=True):
        setting = json.dumps({"C": value})
        assert on_validation.loc[setting, task] == on_validation[task].max()
        assert on_test.loc[setting, task] == pytest.approx(best[task])


def test_folds_choose_from_the_grid_without_validation_rows(scores):
    found = scores(f"{choices.__name__}:by_folds")
    assert json.loads(found["params"].iloc[0])["C"] in GRID
    assert not found["metric"].str.startswith("validation").any()


def test_an_example_has_one_fold_in_all_tasks_and_labels_are_dealt_evenly():
    # One-vs-one tasks of three classes with 10 samples each.
    pairs = [(0, 1), (0, 2), (1, 2)]
    sample, task, y = [], [], []
    for t, (first, second) in enumerate(pairs):
        for label, own in ((1.0, first), (-1.0, second)):
            sample += range(10 * own, 10 * own + 10)
            task += [t] * 10
            y += [label] * 10
    train = SimpleNamespace(sample=np.array(sample), task=np.array(task), y=np.array(y))
    part = SimpleNamespace(train=train, n_tasks=3, repeat=0)
    fold = choices._folds(part)
    for each in range(30):
        assert np.unique(fold[train.sample == each]).size == 1
    for t in range(3):
        for label in (1.0, -1.0):
            own = fold[(train.task == t) & (train.y == label)]
            assert np.bincount(own).tolist() == [2] * 5
