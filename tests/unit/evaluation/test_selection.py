import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from mtmkl.evaluation.selection import choose, cross_validation_errors

GRID = [{"gamma": g} for g in (0.1, 1.0, 10.0, 100.0, 1000.0)]


class ConstantPrediction(RegressorMixin, BaseEstimator):
    """Predicts its parameter, whatever the data."""

    def __init__(self, gamma=0.0):
        self.gamma = gamma

    def fit(self, X, y, task=None):
        return self

    def predict(self, X, task=None):
        return np.full(len(X), self.gamma)


def errors_of(*values):
    return np.array(values)[:, None]


def test_smallest_error_is_chosen():
    choice = choose(errors_of(3, 1, 2, 4, 5), GRID, per_task=False)
    assert choice.params == {"gamma": 1.0}
    assert choice.at_grid_edge == 0


def test_tie_goes_to_the_middle():
    choice = choose(errors_of(1, 1, 1, 1, 2), GRID, per_task=False)
    assert choice.params == {"gamma": 10.0}


def test_edge_counts_only_if_strictly_better_than_its_neighbour():
    assert choose(errors_of(1, 2, 3, 4, 5), GRID, per_task=False).at_grid_edge == 1
    tied = [{"gamma": g} for g in (1.0, 2.0)]
    assert choose(errors_of(1, 1), tied, per_task=False).at_grid_edge == 0


def test_zero_is_never_an_edge():
    grid = [{"alpha": a} for a in (0.0, 1.0, 2.0)]
    assert choose(errors_of(1, 2, 3), grid, per_task=False).at_grid_edge == 0


def test_tasks_weigh_by_their_summed_error_in_a_common_choice():
    errors = np.array([[1.0, 9.0], [2.0, 1.0], [5.0, 0.5]])
    assert choose(errors, GRID[:3], per_task=False).params == {"gamma": 1.0}


def test_per_task_choice_is_an_array_and_the_edge_a_share():
    errors = np.array([[1.0, 9.0], [2.0, 1.0], [5.0, 2.5]])
    choice = choose(errors, GRID[:3], per_task=True)
    np.testing.assert_array_equal(choice.params["gamma"], [0.1, 1.0])
    assert choice.at_grid_edge == 0.5


def test_structured_values_can_be_chosen():
    grid = [
        {"gamma": g, "kernel": {"name": "gaussian", "median_factor": f}}
        for f in (0.5, 1.0, 2.0)
        for g in (1.0, 10.0, 100.0)
    ]
    errors = np.ones((9, 1))
    errors[7] = 0.5
    choice = choose(errors, grid, per_task=False)
    assert choice.params == grid[7]
    assert choice.at_grid_edge == 0


def test_errors_are_summed_over_held_out_rows_by_task():
    rng = np.random.default_rng(0)
    task = np.repeat([0, 1, 2], [4, 6, 8])
    y = rng.normal(size=18)
    fold = np.arange(18) % 3
    grid = [{"gamma": 0.0}, {"gamma": 0.5}]
    errors = cross_validation_errors(
        ConstantPrediction(), np.zeros((18, 2)), y, task, fold, grid, 3
    )
    expected = [[((y[task == t] - g) ** 2).sum() for t in range(3)] for g in (0.0, 0.5)]
    np.testing.assert_allclose(errors, expected)


def test_a_task_held_out_whole_is_not_scored():
    task = np.array([0, 0, 0, 1])
    fold = np.array([0, 1, 1, 0])
    errors = cross_validation_errors(
        ConstantPrediction(), np.zeros((4, 1)), np.ones(4), task, fold, [{}], 2
    )
    np.testing.assert_array_equal(errors, [[3.0, 0.0]])


@pytest.mark.parametrize("per_task", [False, True])
def test_choice_does_not_depend_on_the_order_of_parameters(per_task):
    rng = np.random.default_rng(1)
    grid = [{"a": a, "b": b} for a in (1, 2, 3) for b in (1, 2, 3)]
    errors = rng.random((9, 2))
    flipped = [{"b": p["b"], "a": p["a"]} for p in grid]
    one, other = (
        choose(errors, grid, per_task=per_task),
        choose(errors, flipped, per_task=per_task),
    )
    for name in ("a", "b"):
        np.testing.assert_array_equal(one.params[name], other.params[name])
