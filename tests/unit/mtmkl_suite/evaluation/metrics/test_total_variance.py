from dataclasses import replace

import numpy as np
import pytest

from mtmkl_suite.evaluation.metrics.outcome import Outcome
from mtmkl_suite.evaluation.metrics.regression import (
    explained_variance,
    explained_variance_task_sd,
)
from mtmkl_suite.evaluation.metrics.total_variance import (
    explained_variance_total,
    explained_variance_total_task_sd,
)


@pytest.fixture
def outcome():
    rng = np.random.default_rng(3)
    task = np.repeat([0, 1, 2], [5, 9, 4])
    y = rng.normal(size=18)
    return Outcome(
        y=y,
        prediction=y + 0.3 * rng.normal(size=18),
        task=task,
        task_names=("a", "b", "c"),
        estimator=None,
        truth={"variance": np.array([y[task == t].var() for t in range(3)])},
    )


@pytest.mark.parametrize(
    ("total", "of_test_rows"),
    [
        (explained_variance_total, explained_variance),
        (explained_variance_total_task_sd, explained_variance_task_sd),
    ],
)
def test_where_all_rows_are_test_rows_nothing_changes(outcome, total, of_test_rows):
    (_, _, value), (_, _, expected) = next(total(outcome)), next(of_test_rows(outcome))
    assert value == pytest.approx(expected)


def test_the_variance_of_all_rows_is_the_total(outcome):
    doubled = replace(outcome, truth={"variance": 2 * outcome.variance})
    ((_, _, value),) = explained_variance_total(doubled)
    (_, _, before) = next(explained_variance(outcome))
    assert value == pytest.approx(1 - (1 - before) / 2)


def test_some_of_the_tasks_have_no_value(outcome):
    fewer = replace(outcome, truth={"variance": np.ones(5)})
    unknown = replace(outcome, truth={})
    for each in (fewer, unknown):
        assert not list(explained_variance_total(each))
        assert not list(explained_variance_total_task_sd(each))
