import json
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from made_scores import made_job
from sklearn.base import BaseEstimator, RegressorMixin

from mtmkl.datasets.container import MultiTaskData
from mtmkl.methods import MultiTaskMKLClassifier
from mtmkl_suite.data.scaling import scaled_targets
from mtmkl_suite.data.splits import Split
from mtmkl_suite.evaluation.cells import (
    COLUMNS,
    FitJob,
    MethodFailedError,
    drawn_points,
    held_params,
    run_job,
)

FITS = []


class ShrunkMean(RegressorMixin, BaseEstimator):
    """Predicts each task's mean times 1/(1 + gamma): enough to be selected."""

    def __init__(self, gamma=1.0, kernel="none"):
        self.gamma = gamma
        self.kernel = kernel

    def fit(self, X, y, task=None):
        FITS.append(len(y))
        means = np.bincount(task, y) / np.bincount(task)
        self.coef_ = means / (1 + np.asarray(self.gamma))
        self.n_iter_ = 1
        return self

    def predict(self, X, task=None):
        return self.coef_[task]


class Perfect(ShrunkMean):
    """Has seen the test rows."""

    fits_on_test = True

    def fit(self, X, y, task=None):
        self.y_ = y
        return self

    def predict(self, X, task=None):
        return self.y_


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    task = np.repeat(np.arange(6), 12)
    X, y = rng.normal(size=(72, 2)), 5.0 + task + rng.normal(size=72)
    return MultiTaskData(X=X, y=y, task=task, name="toy")


@pytest.fixture
def splits():
    rows = np.arange(72)
    train, test = rows[rows % 3 > 0], rows[rows % 3 == 0]
    return {
        (0, repeat): Split(
            train=train, validation=[], test=test, fold=np.arange(48) % 4,
            task_order=np.random.default_rng(repeat).permutation(6),
        )
        for repeat in range(3)
    }  # fmt: skip


def make_job(tmp_path, *, method_class=ShrunkMean, method=None, **changes):
    FITS.clear()
    usual = {"selection": "common", "grid": {"gamma": [0.0, 1.0, 10.0]}}
    settings = {"experiment": {"metrics": ["mse"]}} | changes
    return made_job(tmp_path, method_class, method=usual | (method or {}), **settings)


def run(tmp_path, data, splits, **changes):
    """Run a job anew; return its scores and arrays."""
    return run_job(make_job(tmp_path, **changes), lambda repeat: data, splits)


def test_scores_have_the_columns_and_the_choice(tmp_path, data, splits):
    scores, arrays = run(tmp_path, data, splits)
    assert tuple(scores.columns) == COLUMNS
    assert list(scores["repeat"]) == [0, 1, 2]
    assert set(scores["task"]) == {"all"}
    assert {json.loads(p)["gamma"] for p in scores["params"]} == {0.0}
    assert set(scores["data_digest"]) == {data.digest()}
    assert arrays == {}
    # Finished cells are not fitted again.
    again, _ = run(tmp_path, data, splits)
    assert FITS == []
    assert again.to_csv() == scores.to_csv()


@pytest.mark.parametrize(
    "change",
    [
        {"code_version": "v2"},
        {"seed": 2},
        {"method": {"grid": {"gamma": [0.0, 1.0]}}},
        {"grid": [{"gamma": 0.0}, {"gamma": 10.0}]},
        {"experiment": {"metrics": ["rmse"]}},
    ],
)
def test_a_change_of_what_matters_fits_again(tmp_path, data, splits, change):
    run(tmp_path, data, splits)
    run(tmp_path, data, splits, **change)
    assert FITS


def test_points_of_a_search_alone_are_fitted(tmp_path, data, splits):
    grid = {"gamma": [0.0, 0.5, 1.0, 2.0, 4.0, 8.0]}
    job = make_job(tmp_path, method={"grid": grid, "search": {"points": 3}})
    job = replace(job, grid=drawn_points(job.method, "m", 1))
    scores, _ = run_job(job, lambda repeat: data, splits)
    # A cell fits each of three points on each of four folds, then the chosen.
    assert len(FITS) == 3 * (3 * 4 + 1)
    tried = {point["gamma"] for point in job.grid}
    assert {json.loads(p)["gamma"] for p in scores["params"]} <= tried


def test_a_kill_costs_one_cell(tmp_path, data, splits):
    def load(repeat):
        if repeat == 2:
            raise KeyboardInterrupt
        return data

    with pytest.raises(KeyboardInterrupt):
        run_job(make_job(tmp_path), load, splits)
    done = len(FITS)
    resumed, _ = run(tmp_path, data, splits)
    assert len(FITS) == done / 2
    whole, _ = run(tmp_path / "else", data, splits)
    timeless = [c for c in COLUMNS if c != "fit_seconds"]
    assert resumed[timeless].to_csv() == whole[timeless].to_csv()


def test_task_subsets_follow_the_order_of_the_split(tmp_path, data, splits):
    experiment = {"metrics": ["mse"], "record_tasks": True}
    entry = {"n_tasks": [2, 6]}
    scores, _ = run(tmp_path, data, splits, entry=entry, experiment=experiment)
    pairs = scores.query("n_tasks == 2 and repeat == 1 and task != 'all'")
    for subset, pair in enumerate(splits[0, 1].task_order.reshape(3, 2)):
        names = set(pairs[pairs["subset"] == subset]["task"])
        assert names == {data.task_names[t] for t in pair}


class Told(ShrunkMean):
    """Keeps what it is told of the tasks."""

    def __init__(self, task_order=None, task_relations=None):
        self.task_order = task_order
        self.task_relations = task_relations

    def fit(self, X, y, task=None):
        self.gamma = 0.0
        TOLD.append((self.task_order, self.task_relations))
        return super().fit(X, y, task)


TOLD = []


@pytest.fixture
def related_data(data):
    return replace(
        data,
        y=np.where(data.y > 7.5, 1.0, -1.0),
        task_names=tuple("abcdef"),
        task_relations={"far": np.arange(36.0).reshape(6, 6), "tree": "(a,b,c,d,e,f);"},
    )


def test_a_method_is_told_names_and_relations_of_its_tasks(
    tmp_path, related_data, splits
):
    TOLD.clear()
    one = {(0, 1): splits[0, 1]}
    told = {"method": {"grid": {}, "selection": "none"}, "method_class": Told}
    run(tmp_path, related_data, one, entry={"n_tasks": [2]}, **told)
    pairs = np.sort(splits[0, 1].task_order.reshape(3, 2))
    assert [order for order, _ in TOLD] == [
        {0: "abcdef"[first], 1: "abcdef"[second]} for first, second in pairs
    ]
    for (_, relations), pair in zip(TOLD, pairs, strict=True):
        assert relations["tree"] == "(a,b,c,d,e,f);"
        expected = related_data.task_relations["far"][np.ix_(pair, pair)]
        np.testing.assert_array_equal(relations["far"], expected)
    # What is configured of the tasks is kept.
    TOLD.clear()
    params = {"task_order": [5, 4, 3, 2, 1, 0], "task_relations": {"far": 1}}
    told["method"]["params"] = params
    run(tmp_path, related_data, one, **told)
    assert TOLD == [([5, 4, 3, 2, 1, 0], {"far": 1, "tree": "(a,b,c,d,e,f);"})]


def test_an_unknown_relation_is_a_failure_that_lists_the_known(
    tmp_path, related_data, splits
):
    params = {"terms": [["linear", {"name": "given", "similarity": "true"}]]}
    method = {"params": params, "grid": {}, "selection": "none"}
    settings = {"method": method, "method_class": MultiTaskMKLClassifier}
    with pytest.raises(MethodFailedError, match=r"no matrix .* 'true' .* known: far"):
        run(tmp_path, related_data, splits, **settings)


def test_units_of_targets_are_no_other_data_but_other_cells(tmp_path, data, splits):
    marked = scaled_targets(data, "within_tasks")
    plain, scaled = (run(tmp_path, each, splits)[0] for each in (data, marked))
    assert set(scaled["data_digest"]) == set(plain["data_digest"])
    # Task means, which differ by 5 to 10, have gone.
    assert (scaled["value"] < 3.0).all()
    assert (scaled["value"] != plain["value"]).all()


def test_path_mode_records_every_grid_point(tmp_path, data, splits):
    experiment = {"metrics": ["mse"], "mode": "path"}
    scores, _ = run(tmp_path, data, splits, experiment=experiment)
    gammas = [json.loads(s)["gamma"] for s in scores["setting"]]
    assert gammas == [0.0, 1.0, 10.0] * 3
    assert set(scores["params"]) == {""}


def test_held_parameters_are_chosen_once(tmp_path, data, splits):
    method = {"grid": {"gamma": [0.0, 1.0], "kernel": ["a", "b"]}}
    settings = {"method": method, "entry": {"hold": {"kernel": 0}}}
    scores, _ = run(tmp_path, data, splits, **settings)
    kernels = [json.loads(p)["kernel"] for p in scores["params"]]
    assert len(set(kernels)) == 1
    # 4 folds × 4 points and a fit, then twice 4 folds × 2 points and a fit.
    assert len(FITS) == 17 + 9 + 9
    held = held_params(make_job(tmp_path, **settings).entry, scores)
    plan = FitJob("e", "toy", "m", 1, (1, 2))
    later = make_job(tmp_path, plan=plan, held=held, **settings)
    again, _ = run_job(later, lambda repeat: data, splits)
    assert FITS == []
    assert again["value"].tolist() == scores["value"].tolist()[1:]


def test_control_sees_the_test_rows(tmp_path, data, splits):
    method = {"grid": {}, "selection": "none"}
    scores, _ = run(tmp_path, data, splits, method=method, method_class=Perfect)
    assert set(scores["value"]) == {0.0}


class Drawn(ShrunkMean):
    """Predicts its seed."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def predict(self, X, task=None):
        return np.full(len(X), self.random_state % 1000)

    def fit(self, X, y, task=None):
        return self


def test_each_repeat_has_a_seed_of_its_own_that_comes_back(tmp_path, data, splits):
    settings = {"method": {"grid": {}, "selection": "none"}, "method_class": Drawn}
    values, again, other = (
        run(tmp_path / str(k), data, splits, seed=seed, **settings)[0]["value"].tolist()
        for k, seed in enumerate((1, 1, 2))
    )
    assert values == again
    assert len({*values, *other}) == 6


def test_arrays_are_kept_where_asked_of_most_tasks(tmp_path, data, splits):
    arrays = {"names": ["coef_", "absent_"], "repeats": [1]}
    experiment = {"metrics": ["mse"], "arrays": arrays}
    entry = {"n_tasks": [2, 6]}
    _, kept = run(tmp_path, data, splits, entry=entry, experiment=experiment)
    assert sorted(kept) == ["coef_|0|1|6|0"]
    experiment["mode"] = "path"
    _, kept = run(tmp_path, data, splits, entry=entry, experiment=experiment)
    assert kept == {}


class Threshold(RegressorMixin, BaseEstimator):
    """Predicts labels by x_0 against a threshold, with confidence beside it."""

    def __init__(self, threshold=0.0, size=1.0):
        self.threshold = threshold
        self.size = size

    def fit(self, X, y, task=None):
        FITS.append(len(y))
        return self

    def predict(self, X, task=None):
        return self.size * np.where(X[:, 0] > self.threshold, 1.0, -1.0)


def labelled_data(data):
    y = np.where(data.X[:, 0] + 0.5 * data.X[:, 1] > 0.3, 1.0, -1.0)
    return replace(data, y=y)


@pytest.mark.parametrize("name", ["misclassified", "accuracy", "rmse"])
def test_cross_validation_by_a_metric(tmp_path, data, splits, name):
    toy = labelled_data(data)
    grid = {"threshold": [-0.8, 0.0, 0.3, 0.6], "size": [0.1, 1.0, 4.0]}
    settings = {"method": {"grid": grid}, "method_class": Threshold}
    experiment = {"metrics": [name], "select_by": name}
    scores, _ = run(tmp_path, toy, splits, experiment=experiment, **settings)
    # Every point on every fold, then the chosen.
    assert len(FITS) == 3 * (12 * 4 + 1)
    split = splits[0, 0]
    X, y, task = (a[split.train] for a in (toy.X, toy.y, toy.task))

    def loss(point):
        found = np.where(X[:, 0] > point["threshold"], 1.0, -1.0)
        if name != "rmse":
            return np.mean(y != found)
        error = pd.Series((y - point["size"] * found) ** 2)
        by_task = error.groupby([split.fold, task]).mean() ** 0.5
        return by_task.groupby(level=0).mean().mean()

    points = [dict(zip(grid, each, strict=True)) for each in product(*grid.values())]
    least = min(map(loss, points))
    chosen = json.loads(scores["params"].iloc[0])
    assert loss(chosen) == pytest.approx(least)
    assert any(loss(point) > least + 0.01 for point in points)


def test_a_fold_without_a_value_is_left_out_of_the_choice(tmp_path, data, splits):
    toy = labelled_data(data)
    split = splits[0, 0]
    y = toy.y.copy()
    y[split.train[split.fold < 3]] = 1.0
    grid = [{"threshold": 0.3}, {"threshold": 9.0}]
    settings = {"grid": grid, "method_class": Threshold}
    settings["experiment"] = {"metrics": ["auc"], "select_by": "auc"}
    scores, _ = run(tmp_path, replace(toy, y=y), {(0, 0): split}, **settings)
    assert json.loads(scores["params"].iloc[0]) == grid[0]
    with pytest.raises(MethodFailedError, match="no value on the held-out rows of any"):
        run(tmp_path, replace(toy, y=np.ones(72)), {(0, 0): split}, **settings)


class Breaking(ShrunkMean):
    """Fails while it is told to."""

    is_broken = False

    def fit(self, X, y, task=None):
        if self.is_broken:
            raise RuntimeError("no luck")
        return super().fit(X, y, task)


@pytest.mark.parametrize("selection", ["common", "none"])
def test_a_failure_names_the_method_and_the_cell_and_is_not_kept(
    tmp_path, data, splits, monkeypatch, selection
):
    grid = {} if selection == "none" else {"gamma": [0.0, 1.0]}
    method = {"selection": selection, "grid": grid}

    def load(repeat):
        monkeypatch.setattr(Breaking, "is_broken", repeat == 1)
        return data

    job = make_job(tmp_path, method=method, method_class=Breaking)
    message = r"'m' on toy \(repeat 1, 6 tasks\): \w+Error: .*no luck"
    with pytest.raises(MethodFailedError, match=message):
        run_job(job, load, splits)
    assert len(list(tmp_path.rglob("*.npz"))) == 1
    monkeypatch.setattr(Breaking, "is_broken", False)
    mended, _ = run_job(job, lambda repeat: data, splits)
    assert list(mended["repeat"]) == [0, 1, 2]
    assert np.isfinite(mended["value"]).all()


def test_gaps_are_filled_from_the_training_rows_of_each_split(tmp_path, data, splits):
    gaps = np.zeros((72, 2), dtype=np.int8)
    gaps[:4, 0] = 1
    incomplete = replace(data, truth={"gaps": gaps, "categories": np.array([], int)})
    scores, _ = run(tmp_path, incomplete, splits)
    train = splits[0, 0].train
    filled = data.X.copy()
    filled[:4, 0] = np.median(data.X[train[train > 3], 0])
    complete = replace(data, X=filled)
    assert set(scores["data_digest"]) == {complete.digest()}
