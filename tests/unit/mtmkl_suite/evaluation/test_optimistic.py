import numpy as np
import pytest

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.data.splits import make_splits, save_splits
from mtmkl_suite.evaluation.jobs import FitJob
from mtmkl_suite.run.fits import run_fit
from mtmkl_suite.run.pipeline import load_variant

MODULE = "mtmkl_suite.evaluation.optimistic"


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

    def run(selection, mode="select"):
        grid = {"C": [0.001, 0.1, 10.0]}
        stl = config.methods["stl"].model_copy(
            update={"selection": selection, "grid": grid}
        )
        digits = experiment.model_copy(update={"record_tasks": True, "mode": mode})
        changed = config.model_copy(
            update={
                "methods": {**config.methods, "stl": stl},
                "experiments": {"digits": digits},
            }
        )
        plan = FitJob("digits", variant.id, "stl", 0, (0,))
        fits = run_fit(changed, plan, seed=1, splits=splits, cache=tmp_path / selection)
        table = fits.scores
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
