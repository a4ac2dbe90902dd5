import json
from types import SimpleNamespace

import numpy as np
import pytest

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.data.splits import make_splits, save_splits
from mtmkl_suite.evaluation.jobs import FitJob
from mtmkl_suite.papers.yousefi2015 import choices
from mtmkl_suite.run.fits import run_fit
from mtmkl_suite.run.pipeline import load_variant

GRID = [0.001, 0.1, 10.0]


@pytest.fixture
def scores(tmp_path):
    """The accuracy of single-task MKL on digits under a selection, and per task."""
    config = load_paper("yousefi2015", "quick")
    experiment = config.experiments["digits"]
    (variant,) = experiment.variants
    data = load_variant(variant, 1)
    protocol = config.protocols["percent"].named("percent")
    splits = tmp_path / "splits.npz"
    save_splits(splits, make_splits(data, protocol, 1))

    def run(selection, *, record_path=False):
        stl = config.methods["stl"].model_copy(
            update={"selection": selection, "grid": {"C": GRID}}
        )
        digits = experiment.model_copy(
            update={"record_tasks": True, "record_path": record_path}
        )
        changed = config.model_copy(
            update={
                "methods": {**config.methods, "stl": stl},
                "experiments": {"digits": digits},
            }
        )
        plan = FitJob("digits", variant.id, "stl", 0, (0,))
        cache = tmp_path / selection
        return run_fit(changed, plan, seed=1, splits=splits, cache=cache).scores

    return run


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
    # One-vs-one tasks of three classes with 10 examples each.
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
