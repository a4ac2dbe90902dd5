import json
from types import SimpleNamespace

import numpy as np
from made_scores import digits_fitted

from mtmkl_suite.papers.yousefi2015 import choices

GRID = [0.001, 0.1, 10.0]


def test_folds_choose_from_the_grid_without_validation_rows(tmp_path):
    scores = digits_fitted(tmp_path)
    found = scores(f"{choices.__name__}:by_folds", {"C": GRID})
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
