from dataclasses import asdict, replace

import numpy as np
import pytest

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.tasks import one_vs_one, one_vs_rest
from mtmkl_suite.data.splits import (
    Split,
    load_splits,
    make_split,
    make_splits,
    save_splits,
)
from mtmkl_suite.files import DamagedFileError

GIVEN = {"id": "g", "kind": "given", "repeats": 2, "folds": 3}
RANDOM = {"id": "r", "kind": "random", "repeats": 3, "folds": 5, "train_samples": 40}


def sized(kind, train_sizes, repeats=1):
    sizes = {"train_sizes": train_sizes, "repeats": repeats}
    return {"id": kind, "kind": kind, "folds": 2, **sizes}


def marked(sizes, name="marked", key="is_test"):
    """Tasks of the given sizes, every third row of a task marked."""
    task = np.repeat(np.arange(len(sizes)), sizes)
    place = np.concatenate([np.arange(size) for size in sizes])
    return MultiTaskData(
        X=np.arange(task.size, dtype=float)[:, None], y=np.zeros(task.size), task=task,
        name=name, truth={key: place % 3 == 2},
    )  # fmt: skip


def labelled(cut=one_vs_rest, n=73):
    rng = np.random.default_rng(0)
    return cut(rng.normal(size=(n, 2)), np.arange(n) % 4, name="labelled")


def test_given_follows_the_marks():
    data = marked([9, 12, 7])
    for split in make_splits(data, GIVEN, 1).values():
        is_test = data.truth["is_test"]
        assert split.test.tolist() == np.flatnonzero(is_test).tolist()
        assert split.train.tolist() == np.flatnonzero(~is_test).tolist()
        assert split.validation.size == 0


def test_published_reads_the_marks_of_each_repeat():
    data = marked([9, 12])
    first, second, third = (np.roll(data.truth["is_test"], k) for k in range(3))
    marks = {"train_1": first, "train_2": second, "test_2": third}
    data = replace(data, truth=marks)
    protocol = {"id": "p", "kind": "published", "repeats": 2, "folds": 2}
    splits = make_splits(data, protocol, 0)
    assert list(splits) == [(0, 0), (0, 1)]
    assert splits[0, 0].train.tolist() == np.flatnonzero(first).tolist()
    assert splits[0, 0].test.tolist() == np.flatnonzero(~first).tolist()
    # Where test rows are marked, rows may be without a role.
    assert splits[0, 1].train.tolist() == np.flatnonzero(second).tolist()
    assert splits[0, 1].test.tolist() == np.flatnonzero(third).tolist()
    with pytest.raises(ValueError, match="no 'train_3'"):
        make_splits(data, protocol | {"repeats": 3}, 0)


def test_first_rows_takes_the_first_outside_the_block():
    data = marked([9, 12], key="test_block")
    protocol = sized("first_rows", [3, 6], repeats=2)
    splits = make_splits(data, protocol, 0)
    assert list(splits) == [(3, 0), (3, 1), (6, 0), (6, 1)]
    for repeat in (0, 1):
        assert splits[3, repeat].train.tolist() == [0, 1, 3, 9, 10, 12]
        assert splits[3, repeat].test.tolist() == [2, 5, 8, 11, 14, 17, 20]
    with pytest.raises(ValueError, match="'task 1' of 'marked' has 6 rows"):
        make_splits(data, protocol | {"train_sizes": 7}, 0)


@pytest.mark.parametrize("cut", [one_vs_rest, one_vs_one])
def test_random_gives_an_example_one_role_and_one_fold(cut):
    data = labelled(cut)
    for split in make_splits(data, RANDOM, 0).values():
        train, test = data.sample[split.train], data.sample[split.test]
        assert np.unique(train).size == 40
        assert np.intersect1d(train, test).size == 0
        every = np.sort(np.r_[split.train, split.test])
        np.testing.assert_array_equal(every, np.arange(data.y.size))
        for sample in np.unique(train):
            assert np.unique(split.fold[train == sample]).size == 1


@pytest.mark.parametrize("n_folds", [2, 3, 5])
def test_folds_are_even_within_every_task_and_over_all(n_folds):
    data = marked([9, 14, 7, 30])
    for split in make_splits(data, GIVEN | {"folds": n_folds}, 3).values():
        assert np.ptp(np.bincount(split.fold, minlength=n_folds)) <= 1
        for task in range(data.n_tasks):
            folds = split.fold[data.task[split.train] == task]
            assert np.ptp(np.bincount(folds, minlength=n_folds)) <= 1


def test_no_task_of_two_lies_in_one_fold():
    data = marked([2, 1, 2, 1, 1, 2, 3, 12])
    for seed in range(20):
        for split in make_splits(data, GIVEN | {"folds": 5}, seed).values():
            tasks = data.task[split.train]
            for task in range(data.n_tasks):
                folds = split.fold[tasks == task]
                assert folds.size < 2 or np.unique(folds).size > 1


def test_more_folds_than_training_examples_are_refused():
    data = marked([9, 12])
    enough = make_splits(data, GIVEN | {"folds": 14}, 0)[0, 0]
    assert np.unique(enough.fold).size == 14
    with pytest.raises(ValueError, match="'g': folds is 15, more than the 14 training"):
        make_splits(data, GIVEN | {"folds": 15}, 0)


def test_folds_that_cannot_part_a_task_are_an_error():
    # Three samples, each pair of them a task: two folds cannot part all three.
    data = MultiTaskData(
        X=np.ones((7, 1)), y=np.zeros(7), task=[0, 0, 1, 1, 2, 2, 0],
        sample=[0, 1, 1, 2, 2, 0, 3], name="triangle",
        truth={"is_test": np.arange(7) == 6},
    )  # fmt: skip
    with pytest.raises(ValueError, match="no deal of 2 folds"):
        make_splits(data, GIVEN | {"folds": 2}, 0)
    assert len(make_splits(data, GIVEN, 0)) == 2


def test_what_a_split_depends_on():
    data = labelled()

    def split(seed=0, data=data, size=40, **changes):
        return make_split(data, RANDOM | changes, seed, train_size=size, repeat=1)

    base = make_splits(data, RANDOM, 0)[40, 1]
    for other in (split(), split(repeats=2)):
        for label in ("train", "fold", "task_order"):
            assert np.array_equal(getattr(other, label), getattr(base, label))
    assert np.array_equal(split(folds=10).train, base.train)
    assert not set(split(size=20, train_samples=[20, 40]).train) <= set(base.train)
    renamed = replace(data, name="another name")
    for changed in (split(seed=1), split(id="s"), split(data=renamed)):
        assert not np.array_equal(changed.train, base.train)


def test_splits_of_a_file_depend_on_its_tasks_and_targets():
    data = replace(labelled(), name="own.csv")
    same = replace(data, name="My Data.CSV.GZ", X=data.X + 1)
    base, alike, other = (
        make_splits(each, RANDOM, 0)[40, 1].train
        for each in (data, same, replace(data, y=-data.y))
    )
    np.testing.assert_array_equal(alike, base)
    assert not np.array_equal(other, base)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"folds": 1}, "'folds': 1: input should be greater than or equal to 2"),
        ({"train_samples": None}, "the key 'train_samples' is missing"),
        ({"train_samples": [20, 20]}, "has a value twice"),
        ({"train_samples": 73}, "73 training samples leave none"),
        ({"train_sizes": 3}, "'train_sizes': it is not a key of kind 'random'"),
    ],
)
def test_invalid_protocols_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        make_splits(labelled(), RANDOM | changes, 0)


def test_stored_splits_come_back(tmp_path):
    splits = make_splits(labelled(), RANDOM, 0)
    save_splits(tmp_path / "new" / "a.npz", splits)
    stored = load_splits(tmp_path / "new" / "a.npz")
    assert list(stored) == list(splits)
    for key, split in splits.items():
        for label, expected in asdict(split).items():
            np.testing.assert_array_equal(getattr(stored[key], label), expected)


def test_a_file_without_splits_is_an_error(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, something=np.ones(2))
    with pytest.raises(DamagedFileError, match=r"a\.npz is damaged .*Delete it"):
        load_splits(path)


def test_a_row_has_one_role():
    others = {"validation": [], "fold": [0, 1], "task_order": [1, 0]}
    with pytest.raises(ValueError, match="row 1 has two roles"):
        Split(train=[0, 1], test=[1, 2], **others)


def test_per_task_draws_as_many_of_each_task():
    data = marked([9, 12, 7])
    protocol = sized("per_task", [3, 5], repeats=2)
    splits = make_splits(data, protocol, 4)
    assert sorted(splits) == [(3, 0), (3, 1), (5, 0), (5, 1)]
    for (size, _), split in splits.items():
        assert np.bincount(data.task[split.train]).tolist() == [size] * 3
        roles = np.sort(np.concatenate([split.train, split.test]))
        assert roles.tolist() == list(range(28))
    assert splits[5, 0].train.tolist() != splits[5, 1].train.tolist()


def test_per_task_gives_an_example_one_role_in_all_tasks_it_belongs_to():
    task = np.repeat([0, 1, 2, 3], [8, 8, 6, 6])
    sample = np.concatenate([np.arange(8), np.arange(8), 8 + np.arange(12) % 6])
    data = MultiTaskData(
        X=np.zeros((28, 1)), y=np.arange(28.0), task=task, sample=sample, name="pairs",
    )  # fmt: skip
    protocol = sized("per_task", 4)
    split = make_splits(data, protocol, 1)[4, 0]
    assert np.bincount(task[split.train]).tolist() == [4] * 4
    assert np.intersect1d(sample[split.train], sample[split.test]).size == 0


@pytest.mark.parametrize("cut", [one_vs_rest, one_vs_one])
def test_per_class_draws_as_many_of_each_class(cut):
    data = labelled(cut, n=80)
    protocol = sized("per_class", 6)
    split = make_splits(data, protocol, 1)[6, 0]
    samples = np.unique(data.sample[split.train])
    assert np.bincount(samples % 4).tolist() == [6] * 4
    assert np.isin(data.sample, samples).sum() == split.train.size
    assert np.intersect1d(data.sample[split.train], data.sample[split.test]).size == 0


def test_task_order_is_a_permutation_that_changes():
    data = marked([6] * 30)
    splits = make_splits(data, GIVEN, 0)
    orders = [tuple(split.task_order) for split in splits.values()]
    assert all(sorted(order) == list(range(30)) for order in orders)
    assert orders[0] != orders[1]
