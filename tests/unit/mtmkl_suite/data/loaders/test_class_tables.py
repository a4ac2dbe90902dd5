from collections import Counter

import numpy as np
import pytest

from mtmkl_suite.data import default_registry, load
from mtmkl_suite.data.loaders.class_tables import (
    load_digits_pairs,
    load_ocr_letters,
    load_pendigits,
    load_segmentation,
    load_statlog_vehicle,
    load_wall_following,
)

LOADERS = {
    "wall_following": load_wall_following,
    "statlog_vehicle": load_statlog_vehicle,
    "segmentation": load_segmentation,
    "pendigits": load_pendigits,
}


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
    ("name", "n_tasks", "d", "default", "smallest"),
    [
        ("wall_following", 6, 24, 200, 328),
        ("statlog_vehicle", 6, 18, 199, 199),
        ("segmentation", 21, 19, 200, 330),
        ("pendigits", 45, 16, 200, 1055),
    ],
)
def test_classes_are_of_one_size(data_mirror, name, n_tasks, d, default, smallest):
    files = files_of(data_mirror, name)
    data = LOADERS[name](files)
    assert data.X.shape == (n_tasks * 2 * default, d)
    np.testing.assert_array_equal(data.task_sizes, 2 * default)
    assert set(Counter(examples(data)[1]).values()) == {default}
    whole = LOADERS[name](files, n_per_class=None)
    np.testing.assert_array_equal(whole.task_sizes, 2 * smallest)


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
    assert load(name, mirror=data_mirror, **options).digest() == digest


def test_a_drawn_example_is_a_row_of_the_file_with_its_class(data_mirror):
    files = files_of(data_mirror, "wall_following")
    rows = {}
    for line in files["sensor_readings_24.data"].read_text().splitlines():
        *readings, movement = line.split(",")
        rows.setdefault(tuple(map(float, readings)), set()).add(movement)
    X, classes = examples(load_wall_following(files, n_per_class=20, seed=3))
    for x, name in zip(X, classes, strict=True):
        assert name in rows[tuple(x)]


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


@pytest.fixture
def letters(data_mirror):
    return {"letter.data": data_mirror / "ocr_letters" / "letter.data"}


def test_eight_pairs(letters):
    data = load_ocr_letters(letters)
    assert data.task_names == (
        "c vs e", "g vs y", "m vs n", "a vs g", "i vs j", "a vs o", "f vs t", "h vs n",
    )  # fmt: skip
    np.testing.assert_array_equal(data.task_sizes, [400] * 4 + [389] + [400] * 3)
    assert data.X.shape[1] == 128
    assert set(np.unique(data.X)) == {0.0, 1.0}
    assert np.unique(data.sample).size == 12 * 200 + 189


def test_an_image_is_that_of_its_letter(letters):
    images = {}
    for line in letters["letter.data"].read_text().splitlines():
        fields = line.split("\t")
        images.setdefault("".join(fields[6:134]), set()).add(fields[1])
    data = load_ocr_letters(letters, n_per_class=10, seed=4)
    for row in range(len(data.y)):
        letters = data.task_names[data.task[row]].split(" vs ")
        image = "".join("1" if pixel else "0" for pixel in data.X[row])
        assert letters[0 if data.y[row] > 0 else 1] in images[image]


def test_pairs_of_the_first_digits():
    some = load_digits_pairs(n_classes=3, n_per_class=15, seed=3)
    every = load_digits_pairs(n_per_class=15, seed=3)
    assert some.task_names == ("0 vs 1", "0 vs 2", "1 vs 2")
    for task, name in enumerate(some.task_names):
        same = every.rows_of(every.task_names.index(name))
        assert np.array_equal(some.X[some.rows_of(task)], every.X[same])
