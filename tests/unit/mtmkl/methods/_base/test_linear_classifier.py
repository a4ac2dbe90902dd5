"""Linear classifiers: preparation, limits, tasks of one class, paths."""

import numpy as np
import pytest

from mtmkl.methods import REGISTRY
from mtmkl.methods._base.linear_classifier import PreparedTasks, number_of_groups
from mtmkl.solvers.linear.pairwise_fusion import solve

NAMES = [
    "CMTLClassifier", "CoClusClassifier", "FlexClusClassifier", "MeTaGClassifier",
    "WhomClassifier",
]  # fmt: skip
every_method = pytest.mark.parametrize("name", NAMES)


def _make(name, **params):
    return REGISTRY[name](**{"tol": 1e-9, **params})


@every_method
def test_constant_inputs_are_left_out(name, pairs_of_classes):
    X, y, task = pairs_of_classes
    more = np.column_stack([np.full(len(X), 7.0), X, np.zeros(len(X))])
    estimator = _make(name).fit(more, y, task)
    np.testing.assert_array_equal(estimator.coef_[[0, -1]], 0.0)
    plain = _make(name).fit(X, y, task)
    np.testing.assert_array_equal(estimator.coef_[1:-1], plain.coef_)
    assert plain.score(X, y, task=task) > 0.8


def test_span_changes_nothing_for_a_rotation_invariant_penalty(pairs_of_classes):
    X, y, task = pairs_of_classes
    # Many more columns, in the same span of few rows.
    X = X @ np.random.default_rng(1).standard_normal((X.shape[1], 90))
    in_span = PreparedTasks.of(X, y, task, rotate=True)
    in_full = PreparedTasks.of(X, y, task, rotate=False)
    assert in_span.decomposition.n_features == len(np.unique(X, axis=0)) == 40
    assert in_full.decomposition.n_features == 90
    np.testing.assert_allclose(
        in_span.decomposition.singular, in_full.decomposition.singular, rtol=1e-9
    )
    coef = [
        each.expand(solve(each.decomposition, 2.0, 2.0, 2, tol=1e-9).coef)
        for each in (in_span, in_full)
    ]
    np.testing.assert_allclose(coef[0], coef[1], atol=1e-5 * np.abs(coef[1]).max())


@every_method
def test_nothing_to_learn_from(name):
    X = np.arange(8.0).reshape(4, 2)
    estimator = _make(name).fit(X, np.ones(4), [0, 0, 1, 1])
    np.testing.assert_array_equal(estimator.coef_, 0.0)
    np.testing.assert_array_equal(estimator.decision_function(X, [0, 0, 1, 1]), 1.0)
    constant = _make(name).fit(np.ones((4, 2)), [1, -1, -1, -1], [0, 0, 1, 1])
    np.testing.assert_array_equal(constant.intercept_, [0.0, -1.0])
    assert constant.objective_ == 2.0


@pytest.mark.parametrize("name", ["CoClusClassifier", "WhomClassifier"])
def test_restarts_are_seeded_and_the_best_is_kept(name, pairs_of_classes):
    X, y, task = pairs_of_classes
    # Four starts include the first three.
    three, four = (_make(name, n_restarts=n, tol=1e-6).fit(X, y, task) for n in (3, 4))
    assert len(four.restart_histories_) == 4
    for a, b in zip(three.restart_histories_, four.restart_histories_, strict=False):
        np.testing.assert_array_equal(a, b)
    ends = [history[-1] for history in four.restart_histories_]
    assert four.objective_ == min(ends)
    assert all(np.all(np.diff(history) <= 1e-9) for history in four.restart_histories_)
    with pytest.raises(ValueError, match="n_restarts must be a whole number of at lea"):
        _make(name, n_restarts=0).fit(X, y, task)


@pytest.mark.parametrize(
    ("value", "n_tasks", "expected"),
    [(3, 10, 3), (12, 10, 10), (0.25, 6, 2), (0.25, 1, 1), (0.5, 45, 23), (0.1, 4, 1)],
)
def test_numbers_and_shares_of_groups(value, n_tasks, expected):
    assert number_of_groups(value, n_tasks) == expected


@pytest.mark.parametrize(
    "name", ["CMTLClassifier", "CoClusClassifier", "WhomClassifier"]
)
def test_groups_out_of_range(name, pairs_of_classes):
    parameter = "n_groups" if name == "WhomClassifier" else "n_clusters"
    for value in (0, -1, 0.6, 1.0, 0.0, np.nan, True, "2"):
        with pytest.raises(ValueError, match=f"{parameter} must be"):
            _make(name, **{parameter: value}).fit(*pairs_of_classes)
