import json
from dataclasses import replace

import numpy as np
import pytest
from made_scores import made_job
from sklearn.metrics import roc_auc_score

from mtmkl.datasets.container import MultiTaskData
from mtmkl.methods import MultiTaskMKLClassifier
from mtmkl_suite.data.splits import make_split
from mtmkl_suite.evaluation.cells import MethodFailedError, run_job

GRID = [0.0001, 0.01, 1.0]
TERMS = [("linear", "dirac_uniform")]
PARAMS = {"terms": TERMS, "fit_intercept": False, "tol": 1e-6}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    task = np.repeat(np.arange(3), 90)
    X = rng.standard_normal((270, 12))
    w = rng.standard_normal((3, 12)) + 1.0
    noise = np.array([0.1, 8.0, 3.0])[task] * rng.standard_normal(270)
    y = np.where(np.einsum("ij,ij->i", X, w[task]) + noise > 0, 1.0, -1.0)
    return MultiTaskData(X=X, y=y, task=task, name="made")


@pytest.fixture(scope="module")
def split(data):
    protocol = {"id": "t", "kind": "thirds", "repeats": 1}
    return make_split(data, protocol, 0, train_size=0, repeat=0)


@pytest.fixture
def job(tmp_path):
    method = {"params": PARAMS, "grid": {"C": GRID}, "selection": "own_validation"}
    return made_job(
        tmp_path, MultiTaskMKLClassifier, method=method,
        experiment={"metrics": ["auc"], "record_tasks": True}, seed=0,
    )  # fmt: skip


def areas(model, data, rows):
    score = model.decision_function(data.X[rows], data.task[rows])
    return [
        roc_auc_score(data.y[rows[mine]], score[mine])
        for mine in (data.task[rows] == t for t in range(3))
    ]


def validation_areas(data, split):
    """Return a model for each C, and its areas (n_points, T) on validation rows."""
    train = data.subset(split.train)
    models = [
        MultiTaskMKLClassifier(C=C, **PARAMS).fit(train.X, train.y, train.task)
        for C in GRID
    ]
    return models, np.array([areas(m, data, split.validation) for m in models])


def test_each_task_has_its_best_c(job, data, split):
    models, validation = validation_areas(data, split)
    test = np.array([areas(m, data, split.test) for m in models])
    best = validation.argmax(axis=0)
    assert len(set(best)) > 1  # or the test could not fail
    scores, _ = run_job(job, lambda repeat: data, {(0, 0): split})
    whole = scores.query("metric == 'auc' and task == 'all'")
    assert json.loads(whole["params"].iloc[0]) == {"C": [GRID[k] for k in best]}
    by_task = scores.query("metric == 'auc' and task != 'all'")
    expected = test[best, range(3)]
    np.testing.assert_allclose(by_task["value"], expected, atol=1e-12)
    assert whole["value"].iloc[0] == pytest.approx(expected.mean())
    on_validation = scores.query("metric == 'validation_auc' and task == 'all'")
    chosen = validation[best, range(3)].mean()
    assert on_validation["value"].iloc[0] == pytest.approx(chosen)
    gaps = max(models[k].duality_gap_ for k in best)
    assert whole["gap"].iloc[0] == pytest.approx(gaps, abs=1e-6)


def test_a_task_without_a_value_has_the_c_that_is_best_for_all(job, data, split):
    rows = split.validation
    whole = validation_areas(data, split)[1]
    keep = (data.task[rows] != 2) | (data.y[rows] > 0)
    lacking = replace(split, validation=rows[keep])
    scores, _ = run_job(job, lambda repeat: data, {(0, 0): lacking})
    of_all = whole[:, :2].mean(axis=1).argmax()
    best = [*whole[:, :2].argmax(axis=0), of_all]
    assert of_all != whole[:, 2].argmax()  # or the test could not fail
    chosen = json.loads(scores["params"].iloc[0])
    assert chosen == {"C": [GRID[k] for k in best]}


def test_a_metric_without_a_value_in_any_task_is_refused(job, data, split):
    rows = split.validation
    lacking = replace(split, validation=rows[data.y[rows] > 0])
    with pytest.raises(MethodFailedError, match="'auc' has no value on the validation"):
        run_job(job, lambda repeat: data, {(0, 0): lacking})
