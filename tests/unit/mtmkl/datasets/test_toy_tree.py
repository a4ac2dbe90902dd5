import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mtmkl.datasets.toy_tree import bayes_auc, toy_tree
from mtmkl.kernels.task_trees import clusters

SMALL = {"dims": 40, "depth": 3, "n_train": 2, "n_validation": 3, "n_test": 4}


def path_length(parents, one, other):
    steps = 0
    while one != other:
        one, other, steps = parents[one], parents[other], steps + 2
    return steps


def test_roles_and_labels_of_each_task():
    data = toy_tree(**SMALL)
    assert (data.n_tasks, data.X.shape) == (8, (8 * 18, 40))
    held = [data.truth[name] for name in ("is_validation", "is_test")]
    roles = (~(held[0] | held[1]), *held)
    for rows, count in zip(map(np.flatnonzero, roles), (2, 3, 4), strict=True):
        for t in range(8):
            y = data.y[rows[data.task[rows] == t]]
            assert (y.size, y.sum()) == (2 * count, 0.0)


@pytest.mark.parametrize("flips", [0, 1, 5])
def test_tasks_differ_by_the_flips_between_them(flips):
    data = toy_tree(**SMALL, flips=flips, seed=3)
    mu, parents = data.truth["coef"].T, data.truth["parents"]
    assert set(np.unique(mu)) <= {-1.0, 1.0}
    assert parents.size == 15
    assert parents[-1] == -1
    for s in range(8):
        for t in range(8):
            different = int((mu[s] != mu[t]).sum())
            most = flips * path_length(parents, s, t)
            assert different <= most
            assert different % 2 == most % 2
            if path_length(parents, s, t) == 2 and flips == 1:
                assert different in (0, 2)
    np.testing.assert_array_equal(data.truth["similarity"], mu @ mu.T)
    np.testing.assert_array_equal(data.task_relations["similarity"], mu @ mu.T)


def test_newick_text_and_parents_are_the_same_tree():
    data = toy_tree(**SMALL)
    names = data.task_names
    parents, below = data.truth["parents"], [set() for _ in range(15)]
    for t in range(8):
        node = t
        while (node := parents[node]) != -1:
            below[node].add(t)
    by_text = clusters(data.task_relations["tree"], names)
    assert sorted(by_text) == sorted(sorted(tasks) for tasks in below[8:])


@pytest.mark.parametrize(
    ("reading", "sd"), [("standard_deviation", 6.0), ("variance", np.sqrt(6.0))]
)
def test_examples_follow_the_classes(reading, sd):
    data = toy_tree(**{**SMALL, "n_test": 4000}, spread=6.0, reading=reading)
    test = data.truth["is_test"]
    X, y, task = data.X[test], data.y[test], data.task[test]
    for t in (0, 7):
        mu = data.truth["coef"][:, t]
        noise = X[task == t] - 0.5 * y[task == t, None] * mu
        assert noise.std() == pytest.approx(sd, rel=0.01)
        # Six standard errors.
        assert np.abs(noise.mean(axis=0)).max() < 6 * sd / np.sqrt(8000)


def test_bayes_area_is_that_of_the_best_score():
    data = toy_tree(**{**SMALL, "n_test": 5000}, spread=5.0)
    test = data.truth["is_test"]
    areas = data.truth["bayes_auc"]
    assert areas.shape == (8,)
    for t in range(8):
        mine = test & (data.task == t)
        score = data.X[mine] @ data.truth["coef"][:, t]
        # The standard error is below 0.005.
        assert roc_auc_score(data.y[mine], score) == pytest.approx(areas[t], abs=0.02)
    assert bayes_auc(np.zeros(3), 1.0) == 0.5
    assert bayes_auc(np.ones((2, 100)), 20.0) == pytest.approx(0.638163, abs=1e-6)


def test_draws_are_nested_and_paired():
    few, many = (toy_tree(**{**SMALL, "n_train": n}, seed=4) for n in (2, 5))
    for t in range(8):
        rows = few.rows_of(t)
        np.testing.assert_array_equal(few.X[rows[:4]], many.X[many.rows_of(t)[:4]])
    for role in ("is_validation", "is_test"):
        np.testing.assert_array_equal(few.X[few.truth[role]], many.X[many.truth[role]])
    wide = toy_tree(**SMALL, seed=4, spread=40.0)
    np.testing.assert_array_equal(wide.truth["coef"], few.truth["coef"])
    centre = 0.5 * few.y[:, None] * few.truth["coef"].T[few.task]
    np.testing.assert_allclose(wide.X - centre, 2 * (few.X - centre), rtol=1e-10)
    other = toy_tree(**SMALL, seed=5)
    assert not np.array_equal(other.truth["coef"], few.truth["coef"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reading": "sd"}, "'reading' .* Got 'sd'"),
        ({"flips": 101}, "flips is 101, wanted at most the 100 dims"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        toy_tree(**options)
