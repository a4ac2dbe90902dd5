import numpy as np
import pytest

from mtmkl_suite.data import default_registry, load
from mtmkl_suite.data.loaders.class_tables import (
    load_digits_pairs,
    load_statlog_vehicle,
)


def files_of(mirror, name):
    entry = default_registry()[name]
    return {file.path: mirror / name / file.path for file in entry.files}


def examples(data):
    """One row per sample: its features and its class, found from its tasks."""
    classes = {}
    for sample, task, y in zip(data.sample, data.task, data.y, strict=True):
        names = data.task_names[task].split(" vs ")
        classes.setdefault(sample, set()).add(names[0 if y > 0 else 1])
    assert all(len(each) == 1 for each in classes.values())
    first = np.unique(data.sample, return_index=True)[1]
    return data.X[first], [classes[s].pop() for s in sorted(classes)]


@pytest.mark.parametrize(
    ("name", "options", "digest"),
    [
        ("wall_following", {}, "a8d4dd0ba8ebc9ab"),
        ("statlog_vehicle", {}, "0f288d89a06b4b3d"),
        ("segmentation", {"n_per_class": None}, "e0886b8d47257e6e"),
        ("pendigits", {"n_per_class": 30, "seed": 1}, "8cfd968360a22488"),
        ("mnist", {"n_per_class": 40, "seed": 2}, "419f5e07753e48cf"),
        ("ocr_letters", {}, "747ee6caeec048eb"),
        ("digits", {}, "15c805a2b47c2c53"),
        ("digits_pairs", {"n_per_class": 15, "seed": 3}, "d94a320c02b4aabd"),
    ],
)
def test_content_is_that_of_the_published_record(data_mirror, name, options, digest):
    assert load(name, **options).digest() == digest


def test_a_class_against_all_others(data_mirror):
    files = files_of(data_mirror, "statlog_vehicle")
    pairs = load_statlog_vehicle(files, n_per_class=50)
    rest = load_statlog_vehicle(files, n_per_class=50, tasks="one_vs_rest")
    assert rest.task_names == (
        "bus vs rest",
        "opel vs rest",
        "saab vs rest",
        "van vs rest",
    )
    np.testing.assert_array_equal(np.bincount(rest.task, rest.y > 0), 50)
    np.testing.assert_array_equal(examples(pairs)[0], rest.X[rest.task == 0])


def test_pairs_of_the_first_digits():
    some = load_digits_pairs(n_classes=3, n_per_class=15, seed=3)
    every = load_digits_pairs(n_per_class=15, seed=3)
    assert some.task_names == ("0 vs 1", "0 vs 2", "1 vs 2")
    for task, name in enumerate(some.task_names):
        same = every.rows_of(every.task_names.index(name))
        assert np.array_equal(some.X[some.rows_of(task)], every.X[same])
