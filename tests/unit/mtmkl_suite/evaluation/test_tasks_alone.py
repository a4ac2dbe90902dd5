"""Selection of a point for each task, for methods that learn each task alone."""

import numpy as np
import pytest
from configured import of

from mtmkl.datasets.container import MultiTaskData
from mtmkl.methods import IndependentSVMClassifier, IndependentSVMRegressor
from mtmkl_suite.config.models import Experiment
from mtmkl_suite.data import make_split
from mtmkl_suite.evaluation.selectors import EstimatorByTask, Part, alone
from mtmkl_suite.metrics import METRICS

WIDE = {"name": "gaussian", "width": 1.0}


def grid(*kernels):
    return [{"C": C, "kernels": [k]} for k in kernels for C in (0.1, 10.0)]


def data():
    """A task that a line divides, and one that needs a circle."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 2))
    task = np.arange(160) % 2
    line, circle = X[:, 0] > 0.1, (X**2).sum(axis=1) > 1.4
    y = np.where(np.where(task == 0, line, circle), 1.0, -1.0)
    return MultiTaskData(X=X, y=y, task=task, name="two shapes")


def part(estimator, points, found=None, **settings):
    found = data() if found is None else found
    protocol = {
        "id": "t", "kind": "per_task", "repeats": 1, "folds": 3, "train_sizes": 40,
    }  # fmt: skip
    split = make_split(found, protocol, 0, train_size=40, repeat=0)

    return Part(
        experiment=of(Experiment, settings), method=None, along=(),
        criterion=METRICS.get(settings.get("select_by")),
        data=found, split=split, repeat=0, n_tasks=found.n_tasks,
        grid=points, train=found.subset(split.train), test=found.subset(split.test),
        fold=split.fold, validation=lambda: found, estimator=estimator,
        cached=lambda compute, **key: compute(),
    )  # fmt: skip


def test_every_task_gets_its_kernel():
    given = part(IndependentSVMClassifier, grid("linear", WIDE))
    (fitted,) = alone(given)
    kernels = fitted.params["kernels"]
    assert kernels[1] == [WIDE]
    test = given.test
    outputs = fitted.estimator.decision_function(test.X, task=test.task)
    for t in range(2):
        rows = given.train.rows_of(t)
        point = {name: values[t] for name, values in fitted.params.items()}
        single = IndependentSVMClassifier(**point)
        single.fit(given.train.X[rows], given.train.y[rows])
        rows = test.rows_of(t)
        expected = single.decision_function(test.X[rows])
        np.testing.assert_allclose(outputs[rows], expected, atol=1e-6)


def test_a_metric_of_all_tasks_cannot_choose_for_each():
    given = part(IndependentSVMClassifier, grid(WIDE), select_by="misclassified")
    with pytest.raises(ValueError, match="needs errors of each task"):
        next(alone(given))


def test_scales_are_those_of_all_training_rows_whatever_other_tasks_chose():
    """Alone the second task would have another spread, and other features."""
    rng = np.random.default_rng(1)
    X, task = rng.normal(size=(160, 2)), np.arange(160) % 2
    X[task == 1] *= 10.0
    y = np.where(task == 0, np.sin(3.0 * X[:, 0]), 50.0 + X[:, 0]) + 0.1 * X[:, 1]
    found = MultiTaskData(X=X, y=y, task=task, name="two units")
    scaled = {
        "standardize_target": True, "standardize": True, "normalize": "trace",
        "epsilon": 0.01,
    }  # fmt: skip
    points = grid({"name": "gaussian", "width": 0.1}, {"name": "linear"})
    given = part(lambda: IndependentSVMRegressor(**scaled), points, found)
    (fitted,) = alone(given)
    assert fitted.params["kernels"][0] != fitted.params["kernels"][1]
    train, test = given.train, given.test
    outputs = fitted.estimator.predict(test.X, task=test.task)
    for t in range(2):
        point = {name: values[t] for name, values in fitted.params.items()}
        whole = IndependentSVMRegressor(**scaled, **point)
        whole.fit(train.X, train.y, task=train.task)
        rows = test.rows_of(t)
        expected = whole.predict(test.X[rows], task=test.task[rows])
        np.testing.assert_allclose(outputs[rows], expected, rtol=1e-6)


def test_outputs_are_of_the_estimator_that_stands_for_the_task():
    class Constant:
        def __init__(self, value):
            self.value, self.n_iter_, self.duality_gap_ = value, value, 0.1 * value

        def decision_function(self, X, task):
            return self.value + X[:, 0]

    one, three = Constant(1), Constant(3)
    model = EstimatorByTask([three, one, three])
    X, task = np.arange(5.0)[:, None] / 10, np.array([1, 0, 2, 1, 0])
    found = model.decision_function(X, task)
    np.testing.assert_allclose(found, [1.0, 3.1, 3.2, 1.3, 3.4])
    assert (model.n_iter_, model.duality_gap_) == (3, pytest.approx(0.3))
