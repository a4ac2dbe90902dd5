"""Metrics against scikit-learn and against cases that are known by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)

from mtmkl_suite.metrics import (
    FALSE_POSITIVE_RATES,
    METRICS,
    Outcome,
    area_under_curve,
    metric,
    metric_behind,
)


def made(y=(1.0,), task=None, *, fitted=None, prediction=None, **more):
    """Return an outcome of tasks a, b, …; ``fitted``: what the method has learned."""
    y = np.asarray(y, dtype=float)
    task = np.zeros(y.size, int) if task is None else np.asarray(task)
    if more.get("score") is not None:
        more["score"] = np.asarray(more["score"], dtype=float)
    return Outcome(
        y=y,
        prediction=np.zeros(y.size) if prediction is None else np.asarray(prediction),
        task=task,
        task_names=tuple("abcd"[: task.max() + 1]),
        estimator=SimpleNamespace(**(fitted or {})),
        **{"truth": {}, **more},
    )


def values(name, outcome):
    """Return the values of a metric by row and task."""
    return {(row, task): value for row, task, value in METRICS[name](outcome)}


def of_all(name, outcome):
    """Return the value of all tasks together, None without one."""
    return values(name, outcome).get((name, "all"))


def by_task(outcome, score):
    own = (outcome.task == t for t in range(3))
    return np.array([score(outcome.y[k], outcome.prediction[k]) for k in own])


@pytest.fixture
def numbers():
    rng = np.random.default_rng(3)
    task = np.repeat([0, 1, 2], [5, 9, 4])
    y = rng.normal(size=18) * (1 + task)
    return made(y, task, prediction=y + rng.normal(size=18))


@pytest.fixture
def labelled():
    rng = np.random.default_rng(5)
    task = rng.permutation(np.repeat([0, 1, 2], [12, 20, 7]))
    y = np.where(rng.random(39) < 0.3, 1.0, -1.0)
    y[[np.flatnonzero(task == t)[0] for t in range(3)]] = 1.0
    return made(y, task, prediction=np.where(rng.random(39) < 0.4, 1.0, -1.0))


# What metrics state


def test_a_metric_is_found_by_its_name_and_by_the_rows_that_it_yields():
    assert metric("mse").label == "mean squared error"
    assert metric("average_precision").label == "average precision"
    for row, name in (
        ("auc", "auc"), ("auc_tasks", "auc"), ("true_positive_rate_0.1", "roc"),
        ("row_norm_12", "row_norms"), ("row_norm_top5", "row_norms"),
    ):  # fmt: skip
        assert metric_behind(row) is METRICS[name]
    assert metric_behind("row_norm_x") is metric_behind("fit_seconds") is None
    with pytest.raises(ValueError, match=r"'mape'.*known metrics: mse"):
        metric("mape")


def test_rows_have_names_that_the_metric_states(labelled):
    rng = np.random.default_rng(0)
    fitted = {"A_": rng.normal(size=(4, 3)), "features_": np.eye(4), "n_features_": 2}
    rich = replace(labelled, estimator=SimpleNamespace(**fitted))
    for each in METRICS.values():
        assert {metric_behind(row) for row, _, _ in each(rich)} <= {each}


OF_PREDICTIONS = [
    name
    for name, each in METRICS.items()
    if each.better is not None
    and each.truth is None
    # They need tasks of the same samples, which the labelled ones are not.
    and not name.startswith("one_of_all_")
]


@pytest.mark.parametrize("name", OF_PREDICTIONS)
def test_the_loss_of_the_truth_is_smaller_than_that_of_its_opposite(labelled, name):
    assert labelled.y.min() < 0 < labelled.y.max()
    right = replace(labelled, prediction=labelled.y)
    wrong = replace(labelled, prediction=-labelled.y)
    assert metric(name).loss(right) == 0
    assert metric(name).loss(wrong) > 0


EDGES = np.eye(3)[[1, 0, 2]]
COVARIANCE = {"covariance": np.diag([3.0, 1.0, 0]), "relevant": np.arange(2)}


@pytest.mark.parametrize(
    ("name", "truth", "attribute", "right", "wrong"),
    [
        ("edge_auc", {"adjacency": EDGES}, "edge_scores_", EDGES, -EDGES),
        # The third variable is not relevant.
        ("covariance_distance", COVARIANCE, "D_",
         np.diag([0.75, 0.25, 5]), np.diag([0.25, 0.75, 0])),
    ],
)  # fmt: skip
def test_measures_of_a_known_truth_are_better_there(
    name, truth, attribute, right, wrong
):
    losses = [
        metric(name).loss(made(truth=truth, fitted={attribute: found}))
        for found in (right, wrong)
    ]
    assert losses[0] == pytest.approx(0)
    assert losses[1] > 0.1


# Numbers


def test_mse_and_rmse_against_scikit_learn(numbers):
    expected = by_task(numbers, mean_squared_error)
    found = values("mse", numbers) | values("rmse", numbers)
    np.testing.assert_allclose([found["mse", n] for n in "abc"], expected)
    assert found["mse", "all"] == pytest.approx(expected.mean())
    assert found["rmse", "all"] == pytest.approx(np.sqrt(expected).mean())


def test_explained_variances_against_r2(numbers):
    ratio, sizes = by_task(numbers, r2_score), np.array([5, 9, 4])
    variance = by_task(numbers, lambda y, _: y.var())
    error = by_task(numbers, mean_squared_error)
    mean = "explained_variance_task_mean"
    found = values(mean, numbers)
    np.testing.assert_allclose([found[mean, name] for name in "abc"], ratio)
    for name, expected in {
        mean: ratio.mean(),
        "explained_variance_task_sd": ratio.std(ddof=1),
        "explained_variance_weighted": np.average(ratio, weights=sizes),
        "explained_variance": 1 - (sizes @ error) / (sizes @ variance),
    }.items():
        assert of_all(name, numbers) == pytest.approx(expected)


def test_a_task_without_variance_has_none_to_explain(numbers):
    constant = replace(numbers, y=np.where(numbers.task == 1, 2.0, numbers.y))
    ratio = by_task(numbers, r2_score)[[0, 2]]
    assert ("explained_variance", "b") not in values("explained_variance", constant)
    every = replace(numbers, y=np.zeros_like(numbers.y))
    assert not values("explained_variance", every)
    found = of_all("explained_variance_task_mean", constant)
    assert found == pytest.approx(ratio.mean())
    found = of_all("explained_variance_weighted", constant)
    assert found == pytest.approx(np.average(ratio, weights=[5, 4]))


def test_the_variance_of_all_rows_is_the_total(numbers):
    same = replace(numbers, truth={"variance": numbers.variance})
    for name in ("explained_variance", "explained_variance_task_sd"):
        total = name.replace("variance", "variance_total")
        assert of_all(total, same) == pytest.approx(of_all(name, numbers))
        # Nothing for some of the tasks, or without the variance.
        fewer = replace(numbers, truth={"variance": np.ones(5)})
        assert of_all(total, fewer) is of_all(total, numbers) is None
    doubled = replace(numbers, truth={"variance": 2 * numbers.variance})
    before = of_all("explained_variance", numbers)
    found = of_all("explained_variance_total", doubled)
    assert found == pytest.approx(1 - (1 - before) / 2)


# Labels


@pytest.mark.parametrize(
    ("name", "score"),
    [("accuracy", accuracy_score), ("balanced_accuracy", balanced_accuracy_score)],
)
def test_accuracies_against_scikit_learn(labelled, name, score):
    expected = by_task(labelled, score)
    found = values(name, labelled)
    np.testing.assert_allclose([found[name, n] for n in "abc"], expected)
    assert found[name, "all"] == pytest.approx(expected.mean())


def test_a_task_of_one_label_has_no_balanced_accuracy(labelled):
    name = "balanced_accuracy"
    single = replace(labelled, y=np.where(labelled.task == 1, -1.0, labelled.y))
    found, whole = values(name, single), values(name, labelled)
    assert found.keys() == {(name, "a"), (name, "c"), (name, "all")}
    mean = (whole[name, "a"] + whole[name, "c"]) / 2
    assert found[name, "all"] == pytest.approx(mean)


def test_pairs_of_the_wrong_sign_are_counted_and_zero_is_positive():
    outcome = made([1, -1, 1, -1, 1], [0, 0, 0, 1, 1], prediction=[0.2, 0.0, -3, -1, 0])
    found = values("misclassified", outcome)
    assert [found["misclassified", n] for n in ("all", "a", "b")] == [2, 2, 0]
    assert of_all("misclassified_percent", outcome) == pytest.approx(40)
    assert values("accuracy", outcome)["accuracy", "b"] == 1.0


def one_vs_rest(score, label, sample):
    """Return an outcome whose tasks (rows of ``score``) are classes of samples."""
    n_tasks, m = score.shape
    return made(
        np.where(np.arange(n_tasks)[:, None] == label, 1.0, -1.0).ravel(),
        np.repeat(np.arange(n_tasks), m),
        score=score.ravel(),
        sample=np.tile(sample, n_tasks),
    )


def test_an_example_goes_to_the_class_of_the_highest_score():
    score = np.array([[0.2, -1.0, 3.0], [0.1, -2.0, 4.0], [-5.0, -3.0, 4.0]])
    sample = np.array([7, 3, 5])
    # The third is a tie, which goes to the first of the tied tasks.
    right = one_vs_rest(score, np.array([0, 0, 1]), sample)
    assert values("one_of_all_accuracy", right) == {("one_of_all_accuracy", "all"): 1.0}
    wrong = one_vs_rest(score, np.array([1, 0, 2]), sample)
    assert of_all("one_of_all_accuracy", wrong) == pytest.approx(1 / 3)
    assert of_all("one_of_all_misclassified", wrong) == 2
    found = of_all("one_of_all_misclassified_percent", wrong)
    assert found == pytest.approx(200 / 3)
    # Tasks with samples of their own have no common class.
    for sample in (np.arange(9), None):
        apart = replace(wrong, sample=sample)
        for name in ("accuracy", "misclassified", "misclassified_percent"):
            assert values(f"one_of_all_{name}", apart) == {}


# Ranks


@pytest.mark.parametrize("digits", range(3))
def test_area_against_scikit_learn(digits):
    rng = np.random.default_rng(digits)
    y = np.where(rng.random(60) < 0.3, 1.0, -1.0)
    # Rounding makes ties.
    score = np.round(y + rng.normal(size=60), digits)
    assert area_under_curve(y, score) == pytest.approx(roc_auc_score(y, score))
    task = np.repeat([0, 1], 30)
    both = [average_precision_score(y[task == t] > 0, score[task == t]) for t in (0, 1)]
    found = of_all("average_precision", made(y, task, score=score))
    assert found == pytest.approx(np.mean(both))


def test_one_label_has_no_area():
    found = values("auc", made([1, 1, -1], [0, 0, 1], score=[0, 1, 2]))
    assert np.isnan(found["auc", "all"])
    assert found["auc_tasks", "all"] == 0


def test_means_are_over_tasks_with_both_labels():
    y = [1, -1, 1, -1, 1, 1, -1, -1]
    score = [3, 1, 0, 2, 5, 5, 0, 0]
    outcome = made(y, [0, 0, 1, 1, 2, 2, 3, 3], score=score)
    assert values("auc", outcome) == {
        ("auc", "all"): 0.5, ("auc", "a"): 1.0, ("auc", "b"): 0.0,
        ("auc_tasks", "all"): 2.0, ("auc_constant", "all"): 0.0,
    }  # fmt: skip
    found = values("average_precision", outcome)
    expected = {"all": 0.75, "a": 1.0, "b": 0.5}
    assert found == {("average_precision", k): each for k, each in expected.items()}


def test_the_loss_of_a_task_is_by_its_own_scores():
    y, task = [1, -1, 1, -1, 1, 1], [0, 0, 1, 1, 2, 2]
    losses = metric("auc").loss_by_task(made(y, task, score=[3, 1, 0, 2, 5, 5]))
    np.testing.assert_array_equal(losses, [0.0, 1.0, np.nan])


def test_pooled_area_compares_across_tasks():
    found = made([1, -1, 1, -1], [0, 0, 1, 1], score=[1, 0, 11, 10])
    assert values("auc_pooled", found) == {("auc_pooled", "all"): 0.75}


def test_rounding_of_a_constant_score_ranks_nothing():
    # A model whose labels cancel out predicts -0.8, in sums of different orders.
    y, task = np.tile([1.0, -1.0], 20), np.repeat([0, 1], 20)
    rounding = np.spacing(0.8) * y
    for score in (-0.8 + rounding, -0.8 - rounding):
        for name in ("auc", "auc_pooled", "average_precision"):
            assert of_all(name, made(y, task, score=score)) == 0.5
    found = values("auc", made(y, task, score=-0.8 - rounding))
    assert found["auc_constant", "all"] == 2
    # A difference that a fit resolves counts.
    found = values("auc", made(y, task, score=-0.8 + 1e-8 * y))
    assert (found["auc", "all"], found["auc_constant", "all"]) == (1.0, 0)


def rates(outcome):
    return list(values("roc", outcome).values())


def test_curve_of_perfect_of_reversed_and_of_tied_scores():
    y = [-1, -1, 1, 1]
    assert rates(made(y, score=[1, 2, 3, 4])) == [1.0] * 12
    # No positive sample is above the second negative one.
    assert rates(made(y, score=[3, 4, 1, 2])) == [0.0] * 12
    # Linear between thresholds; then half of the positive ones are above all others.
    np.testing.assert_allclose(rates(made(y, score=[0] * 4)), FALSE_POSITIVE_RATES)
    found = rates(made(y, score=[1, 1, 1, 2]))
    np.testing.assert_allclose(found, 0.5 + 0.5 * np.array(FALSE_POSITIVE_RATES))


def test_curve_is_the_mean_over_tasks_with_both_labels():
    found = made([-1, 1, -1, 1, 1], [0, 0, 1, 1, 2], score=[0, 1, 1, 0, 5])
    assert rates(found) == [0.5] * 12
    assert next(iter(values("roc", found))) == ("true_positive_rate_0.01", "all")
    assert rates(made([1, 1], score=[0, 1])) == []


# What was learned


def test_what_a_method_has_not_learned_or_data_do_not_tell_yields_nothing(numbers):
    truth = {**COVARIANCE, "adjacency": EDGES, "similarity": EDGES}
    plain = replace(numbers, truth=truth)
    of_fit = [name for name, each in METRICS.items() if each.of_fit]
    assert len(of_fit) == 8
    assert [values(name, plain) for name in of_fit] == [{}] * 8
    fitted = {"edge_scores_": EDGES, "D_": EDGES, "task_similarity_": EDGES}
    of_truth = [name for name in of_fit if METRICS[name].truth]
    assert [values(name, made(fitted=fitted)) for name in of_truth] == [{}] * 3


def test_groups_of_tasks_are_counted():
    assert of_all("n_groups", made(fitted={"groups_": np.array([4, 0, 4])})) == 2


def test_edges_are_pairs_of_nodes():
    adjacency = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    scores = np.array([[9, 0.8, 0.5], [0.8, 9, 0.1], [0.5, 0.1, 9]])
    found = made(fitted={"edge_scores_": scores}, truth={"adjacency": adjacency})
    assert values("edge_auc", found) == {("edge_auc", "all"): 0.5}


def test_weights_are_those_of_the_first_feature():
    found = made(fitted={"features_": np.array([[-0.6, 0.0], [0.8, 1.0]])})
    assert values("feature_weights", found) == {
        ("feature_weight_1", "all"): 0.6, ("feature_weight_2", "all"): 0.8,
    }  # fmt: skip


def test_row_norms_fall_and_sum_to_one():
    A = np.random.default_rng(0).normal(size=(7, 30)) * np.arange(7)[:, None]
    found = values("row_norms", made(fitted={"A_": A}))
    norms = [found[f"row_norm_{k}", "all"] for k in range(1, 8)]
    assert norms == sorted(norms, reverse=True)
    assert sum(norms) == pytest.approx(1)
    assert found["row_norm_top5", "all"] == pytest.approx(sum(norms[:5]))


@pytest.mark.parametrize(
    ("norms", "count"),
    [([5, 2, 2, 1], 3), ([1, 8, 1], 1), ([1, 1, 1, 1], 4), ([0, 0], 1)],
)
def test_large_rows_hold_four_fifths_of_the_norms(norms, count):
    A = np.diag(norms).astype(float)
    assert of_all("large_rows", made(fitted={"A_": A})) == count


def correlation(learned, true):
    found = made(fitted={"task_similarity_": learned}, truth={"similarity": true})
    return of_all("similarity_correlation", found)


def test_correlation_is_over_pairs_of_tasks():
    rng = np.random.default_rng(0)
    true = rng.normal(size=(5, 5))
    true = true @ true.T
    shifted = 3 * true + 2 + np.diag(rng.random(5))
    assert correlation(shifted, true) == pytest.approx(1.0)
    assert correlation(-true, true) == pytest.approx(-1.0)
    pairs = np.triu_indices(5, 1)
    other = rng.normal(size=(5, 5))
    other = other + other.T
    expected = np.corrcoef(other[pairs], true[pairs])[0, 1]
    assert correlation(other, true) == pytest.approx(expected)
