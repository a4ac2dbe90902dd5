import numpy as np

from mtmkl_suite.data import load


def test_a_class_against_all_others(data_mirror):
    pairs = load("statlog_vehicle", n_per_class=50)
    rest = load("statlog_vehicle", n_per_class=50, tasks="one_vs_rest")
    classes = ("bus", "opel", "saab", "van")
    assert rest.task_names == tuple(f"{name} vs rest" for name in classes)
    np.testing.assert_array_equal(np.bincount(rest.task, rest.y > 0), 50)
    first = np.unique(pairs.sample, return_index=True)[1]
    np.testing.assert_array_equal(pairs.X[first], rest.X[rest.task == 0])


def test_pairs_of_the_first_digits():
    some = load("digits_pairs", n_classes=3, n_per_class=15, seed=3)
    every = load("digits_pairs", n_per_class=15, seed=3)
    assert some.task_names == ("0 vs 1", "0 vs 2", "1 vs 2")
    for task, name in enumerate(some.task_names):
        same = every.rows_of(every.task_names.index(name))
        assert np.array_equal(some.X[some.rows_of(task)], every.X[same])
