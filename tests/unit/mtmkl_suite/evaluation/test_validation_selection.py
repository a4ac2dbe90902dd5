"""Choosing on validation rows: selection "validation"."""

import itertools
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from made_scores import made_job
from sklearn.base import BaseEstimator, ClassifierMixin

from mtmkl.datasets.container import MultiTaskData
from mtmkl_suite.data.splits import make_splits
from mtmkl_suite.evaluation.cells import FitJob, MethodFailedError, run_job
from mtmkl_suite.metrics import area_under_curve

FITS = []
ANGLES = [0.0, 0.5, 1.0, 2.0, 4.0, 40.0]


class Tilted(ClassifierMixin, BaseEstimator):
    """Scores by x_0 + angle·x_1, whatever it is fitted on."""

    def __init__(self, angle=0.0, offset=0.0):
        self.angle = angle
        self.offset = offset

    def fit(self, X, y, task=None):
        FITS.append((self.angle, self.offset, len(y)))
        self.n_iter_ = 1
        return self

    def decision_function(self, X, task=None):
        return X[:, 0] + self.angle * X[:, 1] + self.offset

    def predict(self, X, task=None):
        return np.where(self.decision_function(X) > 0, 1.0, -1.0)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 2))
    y = np.where(X @ [1.0, 2.0] + 0.3 * rng.normal(size=240) > 0, 1.0, -1.0)
    return MultiTaskData(X=X, y=y, task=np.arange(240) % 3, name="toy")


@pytest.fixture
def splits(data):
    protocol = {"id": "p", "kind": "halves", "repeats": 2, "train_sizes": [20]}
    return make_splits(data, protocol, 0)


def make_job(tmp_path, *, method=Tilted, experiment=None, along=(), **settings):
    FITS.clear()
    usual = {"selection": "validation", "grid": {"angle": ANGLES}}
    experiment = {"metrics": ["auc", "misclassified"], **(experiment or {})}
    plan = FitJob("e", "toy", "m", 0, (0, 1))
    return made_job(
        tmp_path, method, method=usual | settings, entry={"along": list(along)},
        experiment=experiment, plan=plan,
    )  # fmt: skip


def mean_area(data, rows, angle):
    score = data.X[rows] @ [1.0, angle]
    own = (data.task[rows] == t for t in range(3))
    return np.mean([area_under_curve(data.y[rows][k], score[k]) for k in own])


def test_the_best_on_validation_rows_is_scored_on_test_rows(tmp_path, data, splits):
    scores, _ = run_job(make_job(tmp_path), lambda repeat: data, splits)
    # No fit but those of the path, on training rows alone.
    assert [n for *_, n in FITS] == [60] * 12
    for repeat in range(2):
        split = splits[20, repeat]
        areas = [mean_area(data, split.validation, angle) for angle in ANGLES]
        best = ANGLES[int(np.argmax(areas))]
        rows = scores[scores["repeat"] == repeat].set_index("metric")
        assert json.loads(rows.loc["auc", "params"]) == {"angle": best}
        area = mean_area(data, split.test, best)
        assert rows.loc["auc", "value"] == pytest.approx(area)
        assert rows.loc["validation_auc", "value"] == pytest.approx(max(areas))
        assert rows.loc["auc", "at_grid_edge"] == float(best in (0.0, 40.0))
        wrong = np.sign(data.X[split.test] @ [1.0, best]) != data.y[split.test]
        assert rows.loc["misclassified", "value"] == wrong.sum()


def test_no_value_to_choose_by_is_named(tmp_path, data, splits):
    one_label = replace(data, y=np.ones(240))
    with pytest.raises(MethodFailedError, match="'auc' has no value on the validation"):
        run_job(make_job(tmp_path), lambda repeat: one_label, splits)


def test_some_parameters_are_walked_along(tmp_path, data, splits):
    grid = {"offset": [-1.0, 0.0], "angle": [0.0, 2.0, 40.0]}
    job = make_job(tmp_path, grid=grid, along=("offset",))
    scores, _ = run_job(job, lambda repeat: data, splits)
    chosen = scores[scores["metric"] == "auc"]
    offsets = [json.loads(text) for text in chosen["setting"]]
    assert offsets == [{"offset": -1.0}, {"offset": 0.0}] * 2
    # The offset changes no ranking, the angle is chosen for each.
    assert {json.loads(text)["angle"] for text in chosen["params"]} == {2.0}


def test_the_whole_path_is_recorded_if_wanted(tmp_path, data, splits):
    job = make_job(tmp_path, experiment={"record_path": True})
    scores, _ = run_job(job, lambda repeat: data, splits)
    areas = scores[(scores["metric"] == "auc") & (scores["setting"] != "")]
    assert len(areas) == 12
    for _, row in areas.iterrows():
        angle = json.loads(row["setting"])["angle"]
        expected = mean_area(data, splits[20, row["repeat"]].test, angle)
        assert row["value"] == pytest.approx(expected)
    assert len(scores[scores["metric"] == "validation_auc"]) == 14


def test_a_point_has_its_own_seconds_and_a_choice_those_of_all(
    tmp_path, data, splits, monkeypatch
):
    ticks = itertools.count()
    clock = SimpleNamespace(process_time=lambda: next(ticks))
    monkeypatch.setattr("mtmkl_suite.evaluation.selectors.time", clock)
    job = make_job(tmp_path, experiment={"record_path": True})
    scores, _ = run_job(job, lambda repeat: data, splits)
    rows = scores[scores["metric"] == "auc"]
    assert rows["fit_seconds"].tolist() == [1.0] * 6 + [6.0] + [1.0] * 6 + [6.0]


@pytest.mark.parametrize(
    "change",
    [
        {"experiment": {"record_path": True}},
        {"experiment": {"metrics": ["auc", "auc_pooled"], "select_by": "auc_pooled"}},
        {"along": ("angle",)},
    ],
)
def test_a_change_of_what_matters_fits_again(tmp_path, data, splits, change):
    run_job(make_job(tmp_path), lambda repeat: data, splits)
    run_job(make_job(tmp_path, **change), lambda repeat: data, splits)
    assert FITS
