import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mtmkl_suite.evaluation.metrics import metric
from mtmkl_suite.evaluation.metrics.outcome import Outcome
from mtmkl_suite.evaluation.metrics.ranking import area_under_curve


class Graph:
    def __init__(self, scores):
        self.edge_scores_ = scores


def outcome(y, score, task, *, estimator=None, truth=None):
    return Outcome(
        y=np.asarray(y, dtype=float),
        prediction=np.zeros(len(y)),
        task=np.asarray(task),
        task_names=tuple("abcd"[: max(task) + 1]),
        estimator=estimator,
        truth=truth or {},
        score=np.asarray(score, dtype=float),
    )


def values(rows):
    return {(name, task): value for name, task, value in rows}


@pytest.mark.parametrize("seed", range(5))
def test_area_against_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(60) < 0.3, 1.0, -1.0)
    # Rounding makes ties.
    score = np.round(y + rng.normal(size=60), seed)
    assert area_under_curve(y, score) == pytest.approx(roc_auc_score(y, score))


def test_area_of_one_class_is_not_defined():
    assert np.isnan(area_under_curve(np.ones(3), np.arange(3.0)))
    assert np.isnan(area_under_curve(-np.ones(3), np.arange(3.0)))


def test_mean_over_tasks_with_both_labels():
    y = [1, -1, 1, -1, 1, 1, -1, -1]
    score = [3, 1, 0, 2, 5, 5, 0, 0]
    task = [0, 0, 1, 1, 2, 2, 3, 3]
    found = values(metric("auc")(outcome(y, score, task)))
    assert found["auc", "a"] == 1.0
    assert found["auc", "b"] == 0.0
    assert ("auc", "c") not in found
    assert found["auc", "all"] == 0.5
    assert found["auc_tasks", "all"] == 2
    assert found["auc_constant", "all"] == 0


def test_rounding_of_a_constant_score_ranks_nothing():
    # A model whose labels cancel out predicts -0.8, in sums of different orders.
    y, task = np.tile([1.0, -1.0], 20), np.repeat([0, 1], 20)
    rounding = np.spacing(0.8) * y
    for score in (-0.8 + rounding, -0.8 - rounding):
        for name in ("auc", "auc_pooled", "average_precision"):
            found = values(metric(name)(outcome(y, score, task)))
            assert found[name, "all"] == 0.5
    # A difference that a fit resolves counts.
    found = values(metric("auc")(outcome(y, -0.8 + 1e-8 * y, task)))
    assert found["auc", "all"] == 1.0
    assert found["auc_constant", "all"] == 0


def test_a_constant_score_is_one_half_and_counted():
    found = values(metric("auc")(outcome([1, -1, 1, -1], [2, 2, 4, 3], [0, 0, 1, 1])))
    assert found["auc", "a"] == 0.5
    assert found["auc_constant", "all"] == 1


def test_no_task_with_both_labels():
    found = values(metric("auc")(outcome([1, -1], [0, 1], [0, 1])))
    assert np.isnan(found["auc", "all"])
    assert found["auc_tasks", "all"] == 0


def test_pooled_area_compares_across_tasks():
    y, score = [1, -1, 1, -1], [1, 0, 11, 10]
    found = values(metric("auc_pooled")(outcome(y, score, [0, 0, 1, 1])))
    assert found == {("auc_pooled", "all"): 0.75}


def test_prediction_ranks_where_there_is_no_score():
    plain = Outcome(
        y=np.array([1.0, -1.0]),
        prediction=np.array([0.4, 0.1]),
        task=np.zeros(2, dtype=int),
        task_names=("a",),
        estimator=None,
        truth={},
    )
    assert values(metric("auc")(plain))["auc", "all"] == 1.0


def test_edges_are_pairs_of_nodes():
    adjacency = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    scores = np.array([[9, 0.8, 0.5], [0.8, 9, 0.1], [0.5, 0.1, 9]])
    truth = {"adjacency": adjacency}
    found = values(
        metric("edge_auc")(outcome([1], [0], [0], estimator=Graph(scores), truth=truth))
    )
    assert found == {("edge_auc", "all"): 0.5}


def test_no_edges_no_area():
    truth = {"adjacency": np.eye(3)}
    assert not list(metric("edge_auc")(outcome([1], [0], [0], truth=truth)))
    graph = Graph(np.eye(3))
    assert not list(metric("edge_auc")(outcome([1], [0], [0], estimator=graph)))


def test_average_precision_is_the_mean_of_the_tasks_with_both_labels():
    y = [1, -1, 1, -1, 1, 1, 1, -1]
    score = [0.9, 0.8, 0.7, 0.1, 0.3, 0.2, 0.1, 0.9]
    task = [0, 0, 0, 0, 1, 1, 2, 2]
    found = values(metric("average_precision")(outcome(y, score, task)))
    # Ranks of the positive examples: 1 and 3 of task a; 2 of task c.
    assert found["average_precision", "a"] == pytest.approx((1 + 2 / 3) / 2)
    assert found["average_precision", "c"] == pytest.approx(1 / 2)
    assert ("average_precision", "b") not in found
    assert found["average_precision", "all"] == pytest.approx((5 / 6 + 1 / 2) / 2)


def one_vs_rest_outcome(score, label, sample):
    n_tasks, m = score.shape
    return Outcome(
        y=np.where(np.arange(n_tasks)[:, None] == label, 1.0, -1.0).ravel(),
        prediction=np.zeros(n_tasks * m),
        task=np.repeat(np.arange(n_tasks), m),
        task_names=tuple("abcd"[:n_tasks]),
        estimator=None,
        truth={},
        score=score.ravel(),
        sample=np.tile(sample, n_tasks),
    )


def test_an_example_goes_to_the_task_of_the_highest_score():
    score = np.array([[0.2, -1.0, 3.0], [0.1, -2.0, 4.0], [-5.0, -3.0, 4.0]])
    right = one_vs_rest_outcome(score, np.array([0, 0, 1]), np.array([7, 3, 5]))
    found = values(metric("one_of_all_accuracy")(right))
    # The third is a tie, which goes to the first of the tied tasks.
    assert found == {("one_of_all_accuracy", "all"): 1.0}
    wrong = one_vs_rest_outcome(score, np.array([1, 0, 2]), np.array([7, 3, 5]))
    found = values(metric("one_of_all_accuracy")(wrong))
    assert found["one_of_all_accuracy", "all"] == pytest.approx(1 / 3)


def test_tasks_of_examples_of_their_own_have_no_common_class():
    score = np.ones((2, 3))
    apart = one_vs_rest_outcome(score, np.array([0, 1, 1]), np.array([1, 2, 3]))
    apart = Outcome(**{**vars(apart), "sample": np.arange(6)})
    assert list(metric("one_of_all_accuracy")(apart)) == []
