from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    mean_squared_error,
    r2_score,
)

from mtmkl_suite.evaluation.metrics import METRIC_NAMES, metric, metric_module
from mtmkl_suite.evaluation.metrics.accuracy import accuracy, balanced_accuracy
from mtmkl_suite.evaluation.metrics.classification import misclassified
from mtmkl_suite.evaluation.metrics.outcome import Outcome
from mtmkl_suite.evaluation.metrics.regression import mse, rmse
from mtmkl_suite.evaluation.metrics.representation import covariance_distance, row_norms


class Fitted:
    """An estimator with the attributes given."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


@pytest.fixture
def outcome():
    rng = np.random.default_rng(3)
    task = np.repeat([0, 1, 2], [5, 9, 4])
    y = rng.normal(size=18) * (1 + task)
    return Outcome(
        y=y,
        prediction=y + rng.normal(size=18),
        task=task,
        task_names=("a", "b", "c"),
        estimator=Fitted(),
        truth={},
    )


def values(rows):
    return {(name, task): value for name, task, value in rows}


def by_task(outcome, score):
    return np.array(
        [
            score(outcome.y[outcome.task == t], outcome.prediction[outcome.task == t])
            for t in range(3)
        ]
    )


def test_mse_and_rmse_against_scikit_learn(outcome):
    expected = by_task(outcome, mean_squared_error)
    found = values(mse(outcome)) | values(rmse(outcome))
    np.testing.assert_allclose([found["mse", n] for n in "abc"], expected)
    assert found["mse", "all"] == pytest.approx(expected.mean())
    assert found["rmse", "all"] == pytest.approx(np.sqrt(expected).mean())


def test_explained_variances_against_r2(outcome):
    ratio, sizes = by_task(outcome, r2_score), np.array([5, 9, 4])
    variance = by_task(outcome, lambda y, _: y.var())
    error = by_task(outcome, mean_squared_error)
    found = {
        name: values(metric(name)(outcome))[name, "all"]
        for name in METRIC_NAMES
        if name.startswith("explained_variance") and metric(name).truth is None
    }
    assert found["explained_variance_task_mean"] == pytest.approx(ratio.mean())
    tasks = values(metric("explained_variance_task_mean")(outcome))
    by_name = [tasks["explained_variance_task_mean", name] for name in "abc"]
    np.testing.assert_allclose(by_name, ratio)
    assert found["explained_variance_task_sd"] == pytest.approx(ratio.std(ddof=1))
    assert found["explained_variance_weighted"] == pytest.approx(
        np.average(ratio, weights=sizes)
    )
    assert found["explained_variance"] == pytest.approx(
        1 - np.average(error, weights=sizes) / np.average(variance, weights=sizes)
    )


def test_misclassified_counts_pairs():
    outcome = Outcome(
        y=np.array([1.0, -1, 1, -1, 1]),
        prediction=np.array([0.2, 0.1, -3, -1, 0]),
        task=np.array([0, 0, 0, 1, 1]),
        task_names=("a", "b"),
        estimator=Fitted(),
        truth={},
    )
    found = values(misclassified(outcome))
    assert found["misclassified", "all"] == 2
    assert found["misclassified", "a"] == 2
    assert found["misclassified", "b"] == 0


def test_attributes_that_a_method_lacks_yield_nothing(outcome):
    for name in ("n_features", "covariance_distance", "row_norms"):
        assert not list(metric(name)(outcome))


def test_covariance_distance_is_zero_at_the_truth():
    covariance = np.diag([1.0, 0.5, 0, 0])
    outcome = Outcome(
        y=np.ones(1),
        prediction=np.ones(1),
        task=np.zeros(1, int),
        task_names=("a",),
        estimator=Fitted(D_=covariance / 1.5),
        truth={"covariance": covariance, "relevant": np.array([0, 1])},
    )
    ((name, task, value),) = covariance_distance(outcome)
    assert (name, task) == ("covariance_distance", "all")
    assert value == pytest.approx(0, abs=1e-15)


def test_row_norms_fall_and_sum_to_one():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(7, 30)) * np.arange(7)[:, None]
    outcome = Outcome(
        y=np.ones(1),
        prediction=np.ones(1),
        task=np.zeros(1, int),
        task_names=("a",),
        estimator=Fitted(A_=A),
        truth={},
    )
    found = values(row_norms(outcome))
    norms = [found[f"row_norm_{k}", "all"] for k in range(1, 8)]
    assert norms == sorted(norms, reverse=True)
    assert sum(norms) == pytest.approx(1)
    assert found["row_norm_top5", "all"] == pytest.approx(sum(norms[:5]))


def test_every_name_has_its_function():
    assert all(metric(name).name == name for name in METRIC_NAMES)


def test_unknown_metric_is_named():
    with pytest.raises(ValueError, match=r"'mape'.*known metrics: mse"):
        metric_module("mape")


@pytest.fixture
def labelled():
    rng = np.random.default_rng(5)
    task = rng.permutation(np.repeat([0, 1, 2], [12, 20, 7]))
    y = np.where(rng.random(39) < 0.3, 1.0, -1.0)
    y[[np.flatnonzero(task == t)[0] for t in range(3)]] = 1.0
    return Outcome(
        y=y,
        prediction=np.where(rng.random(39) < 0.4, 1.0, -1.0),
        task=task,
        task_names=("a", "b", "c"),
        estimator=Fitted(),
        truth={},
    )


@pytest.mark.parametrize(
    ("name", "score"),
    [("accuracy", accuracy_score), ("balanced_accuracy", balanced_accuracy_score)],
)
def test_accuracies_against_scikit_learn(labelled, name, score):
    expected = by_task(labelled, score)
    found = values(metric(name)(labelled))
    np.testing.assert_allclose([found[name, n] for n in "abc"], expected)
    assert found[name, "all"] == pytest.approx(expected.mean())


def test_a_task_of_one_label_has_no_balanced_accuracy(labelled):
    single = replace(labelled, y=np.where(labelled.task == 1, -1.0, labelled.y))
    found = values(balanced_accuracy(single))
    whole = values(balanced_accuracy(labelled))
    assert ("balanced_accuracy", "b") not in found
    assert found["balanced_accuracy", "all"] == pytest.approx(
        (whole["balanced_accuracy", "a"] + whole["balanced_accuracy", "c"]) / 2
    )


def test_a_prediction_of_zero_counts_as_positive(labelled):
    nothing = replace(labelled, prediction=np.zeros(39), y=np.ones(39))
    assert values(accuracy(nothing))["accuracy", "all"] == 1.0


def test_groups_of_tasks_are_counted(labelled):
    grouped = replace(labelled, estimator=Fitted(groups_=np.array([4, 0, 4])))
    assert list(metric("n_groups")(grouped)) == [("n_groups", "all", 2.0)]
    assert list(metric("n_groups")(labelled)) == []


OF_PREDICTIONS = [
    name
    for name in METRIC_NAMES
    if metric(name).better is not None
    and metric(name).truth is None
    # They need tasks of the same examples, which the labelled ones are not.
    and not name.startswith("one_of_all_")
]


@pytest.mark.parametrize("name", OF_PREDICTIONS)
def test_the_loss_of_the_truth_is_smaller_than_that_of_its_opposite(labelled, name):
    assert labelled.y.min() < 0 < labelled.y.max()
    right = replace(labelled, prediction=labelled.y)
    wrong = replace(labelled, prediction=-labelled.y)
    assert metric(name).loss(right) == 0
    assert metric(name).loss(wrong) > 0


@pytest.mark.parametrize(
    ("name", "attribute", "truth", "right", "wrong"),
    [
        (
            "edge_auc",
            "edge_scores_",
            {"adjacency": np.eye(3)[[1, 0, 2]]},
            np.eye(3)[[1, 0, 2]],
            -np.eye(3)[[1, 0, 2]],
        ),
        (
            "covariance_distance",
            "D_",
            {"covariance": np.diag([3.0, 1.0]), "relevant": np.arange(2)},
            np.diag([0.75, 0.25]),
            np.diag([0.25, 0.75]),
        ),
    ],
)
def test_measures_of_a_known_truth_are_better_there(
    outcome, name, attribute, truth, right, wrong
):
    losses = [
        metric(name).loss(
            replace(outcome, truth=truth, estimator=Fitted(**{attribute: found}))
        )
        for found in (right, wrong)
    ]
    assert losses[0] == pytest.approx(0)
    assert losses[1] > 0.1


def test_a_metric_without_a_value_has_no_loss(outcome, labelled):
    assert np.isnan(metric("edge_auc").loss(outcome))
    single = replace(labelled, y=np.ones(39))
    assert np.isnan(metric("auc").loss(single))
