from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from mtmkl.datasets import MultiTaskData
from mtmkl_suite.evaluation import selectors
from mtmkl_suite.evaluation.cross_validation import predictions
from mtmkl_suite.evaluation.selectors import common, outcome_of, per_task

X, TASK = np.zeros((4, 2)), np.array([0, 0, 1, 1])


class Returning:
    """Predicts what it is told to."""

    def __init__(self, values):
        self.values = values

    def predict(self, X, task=None):
        return self.values

    decision_function = predict


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([1.0, np.nan, 2.0, np.inf], ValueError, "not finite for 2 of 4 .*: nan at"),
        ([1.0, 2.0], ValueError, r"shape \(2,\) for 4 samples: .* shape \(4,\)"),
        (None, ValueError, r"shape \(\)"),
        (["a", "b", "a", "b"], TypeError, r"type str, such as \['a'\]: return numbers"),
        ([True, False, True, True], TypeError, "bool"),
    ],
)
@pytest.mark.parametrize("function", ["predict", "decision_function"])
def test_what_cannot_be_scored_is_refused(function, values, error, message):
    with pytest.raises(error, match=f"{function} returned .*{message}"):
        predictions(Returning(values), X, TASK, function)


@pytest.mark.parametrize("values", [[1, -1, 1, 1], np.float32([0.5, 1, 2, 3])])
def test_numbers_of_any_kind_become_floats(values):
    found = predictions(Returning(values), X, TASK)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, values)


def test_floats_are_handed_on_as_they_are():
    values = np.random.default_rng(0).normal(size=4)
    assert predictions(Returning(values), X, TASK) is values


@pytest.mark.parametrize(("y", "is_ranked"), [(1, True), (2, False), (0.5, False)])
def test_a_decision_function_is_of_labels_alone(y, is_ranked):
    """A regressor that has one is scored by what it predicts."""
    y = y * np.array([-1.0, 1.0, 1.0, -1.0])
    data = MultiTaskData(X=X, y=y, task=TASK, name="toy")
    found = outcome_of(Returning([3.0, 0.5, -0.5, 7.0]), data)
    wanted = [1, 1, -1, 1] if is_ranked else [3.0, 0.5, -0.5, 7.0]
    np.testing.assert_array_equal(found.prediction, wanted)
    assert (found.score is not None) == is_ranked


class ConstantPrediction(RegressorMixin, BaseEstimator):
    """Predicts its parameter, whatever the data."""

    def __init__(self, gamma=0.0):
        self.gamma = gamma

    def fit(self, X, y, task=None):
        return self

    def predict(self, X, task=None):
        return np.full(len(X), self.gamma)


@pytest.mark.parametrize(("select", "found"), [(common, 1.0), (per_task, [0.1, 1.0])])
def test_tasks_weigh_by_their_summed_error_unless_each_chooses(
    monkeypatch, select, found
):
    errors = np.array([[1.0, 9.0], [2.0, 1.0], [5.0, 2.5]])
    grid = [{"gamma": gamma} for gamma in (0.1, 1.0, 10.0)]
    monkeypatch.setattr(selectors, "_errors_of_points", lambda *_: (errors, grid))
    train = MultiTaskData(X=X, y=np.arange(4.0), task=TASK, name="toy")
    (fitted,) = select(SimpleNamespace(estimator=ConstantPrediction, train=train))
    np.testing.assert_array_equal(fitted.params["gamma"], found)
    assert fitted.estimator.gamma is fitted.params["gamma"]


def test_errors_are_summed_over_held_out_rows_by_task():
    rng = np.random.default_rng(0)
    task = np.repeat([0, 1, 2], [4, 6, 8])
    y = rng.normal(size=18)
    fold = np.arange(18) % 3
    grid = [{"gamma": 0.0}, {"gamma": 0.5}]
    train = MultiTaskData(X=np.zeros((18, 2)), y=y, task=task, name="toy")
    experiment = SimpleNamespace(select_by=None)
    part = {"experiment": experiment, "train": train, "grid": grid, "n_tasks": 3}
    apart = SimpleNamespace(**part, fold=fold)
    errors, points = selectors._errors_of_points(apart, ConstantPrediction())
    assert points == grid
    expected = [[((y[task == t] - g) ** 2).sum() for t in range(3)] for g in (0.0, 0.5)]
    np.testing.assert_allclose(errors, expected)
    # What is held out as a whole is not learned, and has no error.
    together = SimpleNamespace(**part, fold=np.where(task == 2, 0, fold))
    errors, _ = selectors._errors_of_points(together, ConstantPrediction())
    np.testing.assert_allclose(errors, np.array(expected) * [1, 1, 0])
