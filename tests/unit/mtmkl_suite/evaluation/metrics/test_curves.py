"""Metrics that are curves, and how well similarities of tasks are found."""

from types import SimpleNamespace

import numpy as np
import pytest

from mtmkl_suite.evaluation.metrics import metric
from mtmkl_suite.evaluation.metrics.curves import FALSE_POSITIVE_RATES
from mtmkl_suite.evaluation.metrics.outcome import Outcome


def outcome(y, score, task, **more):
    given = {"estimator": None, "truth": {}} | more
    return Outcome(
        y=np.asarray(y, dtype=float),
        prediction=np.zeros(len(y)),
        task=np.asarray(task),
        task_names=tuple("abc"[: max(task) + 1]),
        score=np.asarray(score, dtype=float),
        **given,
    )


def rates(found):
    return [value for _, _, value in metric("roc")(found)]


def test_curve_of_perfect_and_of_reversed_scores():
    y = [-1, -1, 1, 1]
    assert rates(outcome(y, [1, 2, 3, 4], [0] * 4)) == [1.0] * 12
    # No positive example is above the second negative one.
    assert rates(outcome(y, [3, 4, 1, 2], [0] * 4)) == [0.0] * 12


def test_curve_is_linear_between_thresholds():
    found = rates(outcome([-1, 1, -1, 1], [0, 0, 0, 0], [0] * 4))
    np.testing.assert_allclose(found, FALSE_POSITIVE_RATES)
    # Half of the positive examples are above all others, which are tied.
    found = rates(outcome([1, 1, -1, -1], [2, 1, 1, 1], [0] * 4))
    np.testing.assert_allclose(found, 0.5 + 0.5 * np.array(FALSE_POSITIVE_RATES))


def test_curve_against_its_definition():
    rng = np.random.default_rng(0)
    y = np.repeat([-1.0, 1.0], [1000, 300])
    score = rng.normal(size=1300) + (y > 0)
    negative = np.sort(score[y < 0])[::-1]
    for rate, value in zip(
        FALSE_POSITIVE_RATES, rates(outcome(y, score, [0] * 1300)), strict=True
    ):
        above = score[y > 0] > negative[round(rate * 1000)]
        assert value == pytest.approx(above.mean())


def test_curve_is_the_mean_over_tasks_with_both_labels():
    y, score = [-1, 1, -1, 1, 1], [0, 1, 1, 0, 5]
    assert rates(outcome(y, score, [0, 0, 1, 1, 2])) == [0.5] * 12
    assert rates(outcome([1, 1], [0, 1], [0, 0])) == []
    names = [name for name, _, _ in metric("roc")(outcome(y, score, [0, 0, 1, 1, 2]))]
    assert names[0] == "true_positive_rate_0.01"
    assert len(set(names)) == len(FALSE_POSITIVE_RATES)


def correlation(learned, true):
    estimator = SimpleNamespace(task_similarity_=np.array(learned, dtype=float))
    found = outcome([1], [0], [0], estimator=estimator, truth={"similarity": true})
    return [value for _, _, value in metric("similarity_correlation")(found)]


def test_correlation_is_over_pairs_of_tasks():
    rng = np.random.default_rng(0)
    true = rng.normal(size=(5, 5))
    true = true @ true.T
    assert correlation(3 * true + 2 + np.diag(rng.random(5)), true) == [
        pytest.approx(1.0)
    ]
    assert correlation(-true, true) == [pytest.approx(-1.0)]
    pairs = np.triu_indices(5, 1)
    other = rng.normal(size=(5, 5))
    other = other + other.T
    expected = np.corrcoef(other[pairs], true[pairs])[0, 1]
    assert correlation(other, true) == [pytest.approx(expected)]


def test_no_correlation_where_there_is_none():
    true = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 2.0]])
    assert correlation(np.eye(3), true) == []
    assert correlation(np.ones((3, 3)) + np.eye(3), true) == []
    assert correlation(np.eye(2), true) == []  # of two of the three tasks
    plain = outcome([1], [0], [0], truth={"similarity": true})
    assert list(metric("similarity_correlation")(plain)) == []
