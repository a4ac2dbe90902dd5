from dataclasses import replace

import numpy as np
import pytest

from mtmkl_suite.evaluation.metrics.misclassification import (
    misclassified_percent,
    one_of_all_misclassified,
    one_of_all_misclassified_percent,
)
from mtmkl_suite.evaluation.metrics.outcome import Outcome


@pytest.fixture
def three_of_four():
    """Four examples of three classes; the last goes to the wrong one."""
    label = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, -1]])
    score = np.array([[2, -1, -1], [-1, -0.2, -1], [0.5, 0.3, 1], [-1, 1, -1]])
    sample, task = np.indices(label.shape)
    return Outcome(
        y=label.ravel().astype(float),
        prediction=score.ravel(),
        task=task.ravel(),
        task_names=("a", "b", "c"),
        estimator=None,
        truth={},
        sample=sample.ravel(),
    )


def test_examples_go_to_the_class_of_the_highest_output(three_of_four):
    name = "one_of_all_misclassified"
    assert list(one_of_all_misclassified(three_of_four)) == [(name, "all", 1.0)]
    ((_, _, percent),) = one_of_all_misclassified_percent(three_of_four)
    assert percent == pytest.approx(25)


def test_pairs_of_the_wrong_sign_are_counted_one_by_one(three_of_four):
    # Of the second example one pair, of the third and of the last two.
    ((_, _, percent),) = misclassified_percent(three_of_four)
    assert percent == pytest.approx(100 * 5 / 12)


def test_examples_that_differ_by_task_have_no_class(three_of_four):
    apart = replace(three_of_four, sample=np.arange(12))
    assert not list(one_of_all_misclassified(apart))
    assert not list(one_of_all_misclassified_percent(apart))
