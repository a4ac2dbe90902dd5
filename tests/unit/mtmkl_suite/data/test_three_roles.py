"""Splits into training, validation and test rows: halves, thirds and fractions."""

from dataclasses import replace

import numpy as np
import pytest

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.tasks import one_vs_one, one_vs_rest
from mtmkl_suite.data.splits import make_splits


def separate_tasks(sizes, positives):
    task = np.repeat(np.arange(len(sizes)), sizes)
    y = -np.ones(task.size)
    for t, count in enumerate(positives):
        y[np.flatnonzero(task == t)[:count]] = 1.0
    X = np.arange(task.size, dtype=float)[:, None]
    return MultiTaskData(X=X, y=y, task=task, name="separate")


def counts(data, rows, label):
    rows = rows[data.y[rows] == label]
    return np.bincount(data.task[rows], minlength=data.n_tasks)


def roles(split):
    return split.train, split.validation, split.test


HALVES = {"id": "h", "kind": "halves", "repeats": 3}
FRACTIONS = {"id": "f", "kind": "fractions", "repeats": 2}


@pytest.mark.parametrize(
    ("protocol", "train_sizes", "train_positives"),
    [
        ({**HALVES, "train_sizes": [10, 20]}, [20, 20, 20], [4, 1, 1]),
        ({**FRACTIONS, "train_percent": [10, 20]}, [10, 16, 6], [2, 1, 1]),
    ],
)
def test_rare_labels_of_separate_tasks_are_in_every_role(
    protocol, train_sizes, train_positives
):
    data = separate_tasks([50, 80, 31], [10, 5, 3])
    splits = make_splits(data, protocol, 0)
    assert set(splits) == {(n, r) for n in (10, 20) for r in range(protocol["repeats"])}
    for split in splits.values():
        every = np.sort(np.concatenate(roles(split)))
        np.testing.assert_array_equal(every, np.arange(161))
        sizes = [np.bincount(data.task[rows], minlength=3) for rows in roles(split)]
        assert np.all(np.abs(sizes[1] - sizes[2]) <= 1)
        for label in (-1.0, 1.0):
            assert np.all([counts(data, rows, label) >= 1 for rows in roles(split)])
        np.testing.assert_array_equal(split.fold, 0)
    train = splits[20, 0].train
    np.testing.assert_array_equal(np.bincount(data.task[train]), train_sizes)
    np.testing.assert_array_equal(counts(data, train, 1.0), train_positives)


def test_unstratified_halves_vary_in_labels():
    data = separate_tasks([60], [12])
    protocol = {**HALVES, "repeats": 30, "train_sizes": 20}
    stratified, drawn = (
        {counts(data, split.train, 1.0)[0] for split in splits.values()}
        for splits in (
            make_splits(data, protocol, 0),
            make_splits(data, {**protocol, "stratified": False}, 0),
        )
    )
    assert stratified == {4}
    assert len(drawn) > 3


def test_thirds():
    data = separate_tasks([27, 27], [9, 12])
    splits = make_splits(data, {"id": "t", "kind": "thirds", "repeats": 2}, 0)
    assert set(splits) == {(0, 0), (0, 1)}
    for split in splits.values():
        for rows in roles(split):
            np.testing.assert_array_equal(np.bincount(data.task[rows]), 9)
            np.testing.assert_array_equal(counts(data, rows, 1.0), [3, 4])
    assert not np.array_equal(splits[0, 0].train, splits[0, 1].train)


LABEL = np.repeat([0, 1, 2], [20, 30, 10])


@pytest.fixture
def rest():
    return one_vs_rest(np.arange(60.0)[:, None], LABEL, name="rest")


def test_an_example_has_one_role_in_all_tasks(rest):
    split = make_splits(rest, {**HALVES, "train_sizes": 12}, 0)[12, 0]
    for rows in roles(split):
        samples = [set(rest.sample[rows[rest.task[rows] == t]]) for t in range(3)]
        assert samples[0] == samples[1] == samples[2]
    # Strata are the classes: 4, 6 and 2 of 12.
    drawn = LABEL[rest.sample[split.train[rest.task[split.train] == 0]]]
    np.testing.assert_array_equal(np.bincount(drawn), [4, 6, 2])


def test_tasks_may_draw_their_examples_by_themselves(rest):
    protocol = {**HALVES, "train_sizes": 12, "shared": False}
    train = make_splits(rest, protocol, 0)[12, 0].train
    np.testing.assert_array_equal(np.bincount(rest.task[train]), 12)
    samples = [set(rest.sample[train[rest.task[train] == t]]) for t in range(2)]
    assert samples[0] != samples[1]
    # Strata are the labels of each task: 4, 6 and 2 of 12 positive.
    np.testing.assert_array_equal(counts(rest, train, 1.0), [4, 6, 2])


def test_tasks_that_share_some_examples_are_refused():
    data = one_vs_one(np.arange(30.0)[:, None], np.repeat([0, 1, 2], 10), name="one")
    with pytest.raises(ValueError, match="shares some of its samples"):
        make_splits(data, {**HALVES, "train_sizes": 5}, 0)


@pytest.mark.parametrize("n_train", [1, 48])
def test_a_label_may_go_without_where_so_few_or_so_many_are_wanted(n_train):
    data = separate_tasks([50], [20])
    split = make_splits(data, {**HALVES, "train_sizes": n_train}, 0)[n_train, 0]
    sizes = [rows.size for rows in roles(split)]
    assert sizes[0] == n_train
    assert sum(sizes) == 50
    assert abs(sizes[1] - sizes[2]) <= 1


def test_too_many_for_training_are_named():
    with pytest.raises(ValueError, match="leave too few of the 50"):
        make_splits(separate_tasks([50], [20]), {**HALVES, "train_sizes": 49}, 0)


def one_vs_one_of(sizes):
    label = np.repeat(np.arange(len(sizes)), sizes)
    X = np.arange(label.size, dtype=float)[:, None]
    return one_vs_one(X, label, name="pairs"), label


def test_fractions_of_the_classes_of_pairs():
    sizes = np.array([40, 40, 39, 20])
    data, label = one_vs_one_of(sizes)
    splits = make_splits(data, {**FRACTIONS, "train_percent": [10, 50]}, 0)
    assert set(splits) == {(p, r) for p in (10, 50) for r in range(2)}
    for (percent, _), split in splits.items():
        samples = [np.unique(data.sample[rows]) for rows in roles(split)]
        # One role in all tasks: the roles of the rows make up those of the samples.
        np.testing.assert_array_equal(
            np.sort(np.concatenate(samples)), np.arange(label.size)
        )
        counts = np.array([np.bincount(label[each], minlength=4) for each in samples])
        np.testing.assert_array_equal(
            counts[0], [4, 4, 4, 2] if percent == 10 else [20, 20, 20, 10]
        )
        np.testing.assert_array_equal(counts.sum(axis=0), sizes)
        assert np.all(np.isin(counts[1] - counts[2], (0, 1)))


@pytest.mark.parametrize(
    ("percent", "message"),
    [
        (99, "'train_percent': 99: input should be less than"),
        (98, "leave too few of the 20 of '0 vs 2'"),
        (2, "2 % of 20 samples of '0 vs 2' of 'pairs' are none"),
    ],
)
def test_bad_percentages_are_named(percent, message):
    data, _ = one_vs_one_of([20, 20, 20])
    with pytest.raises(ValueError, match=message):
        make_splits(data, {**FRACTIONS, "train_percent": percent}, 0)


def test_some_repeats_are_those_of_all():
    data = separate_tasks([50], [20])
    protocol = {**FRACTIONS, "repeats": 3, "train_percent": [10, 20]}
    every = make_splits(data, protocol, 0)
    some = make_splits(data, protocol, 0, repeats=[2])
    assert set(some) == {(10, 2), (20, 2)}
    for key, split in some.items():
        np.testing.assert_array_equal(split.train, every[key].train)
    with pytest.raises(ValueError, match="no split"):
        make_splits(data, protocol, 0, repeats=[3])


GIVEN = {"id": "g", "kind": "given_roles", "repeats": 2}


def with_roles(**marks):
    truth = {f"is_{role}": np.isin(np.arange(6), rows) for role, rows in marks.items()}
    return replace(separate_tasks([3, 3], [2, 1]), name="marked", truth=truth)


def test_given_roles_are_the_marks():
    splits = make_splits(with_roles(validation=[1, 4], test=[2, 5]), GIVEN, 0)
    assert set(splits) == {(0, 0), (0, 1)}
    for split in splits.values():
        assert [list(rows) for rows in roles(split)] == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ({}, "no 'is_validation' in its truth"),
        ({"validation": []}, "no row of 'marked' is marked for val"),
        ({"validation": [2]}, "row 2 has two roles"),
    ],
)
def test_missing_marks_are_named(marks, message):
    with pytest.raises(ValueError, match=message):
        make_splits(with_roles(**marks, test=[2]), GIVEN, 0)
