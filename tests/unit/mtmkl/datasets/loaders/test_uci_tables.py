import shutil
from collections import Counter

import numpy as np
import pytest

from mtmkl.datasets import default_registry
from mtmkl.datasets.errors import DataCorruptError
from mtmkl.datasets.loaders.uci_tables import (
    IMAGE_FEATURES,
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


def copied(mirror, name, folder):
    shutil.copytree(mirror / name, folder, copy_function=shutil.copyfile)
    folder.chmod(0o755)
    return {path.name: path for path in folder.iterdir()}


def examples(data):
    """One row per example: its inputs and its class, found from its tasks."""
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


def test_a_drawn_example_is_a_row_of_the_file_with_its_class(data_mirror):
    files = files_of(data_mirror, "wall_following")
    rows = {}
    for line in files["sensor_readings_24.data"].read_text().splitlines():
        *readings, movement = line.split(",")
        rows.setdefault(tuple(map(float, readings)), set()).add(movement)
    X, classes = examples(load_wall_following(files, n_per_class=20, seed=3))
    for x, name in zip(X, classes, strict=True):
        assert name in rows[tuple(x)]


def test_draws_differ_in_examples_and_not_in_labels(data_mirror):
    files = files_of(data_mirror, "pendigits")
    one, other = (load_pendigits(files, n_per_class=30, seed=s) for s in (0, 1))
    for name in ("y", "task", "sample"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert not np.array_equal(one.X, other.X)
    assert load_pendigits(files, n_per_class=30).digest() == one.digest()


def test_all_rows_of_the_image_set_are_those_of_the_statlog_form(data_mirror):
    files = files_of(data_mirror, "segmentation")
    X, _ = examples(load_segmentation(files, n_per_class=None))
    statlog = np.loadtxt(files["segment.dat"])[:, :-1]
    assert X.shape == (2310, len(IMAGE_FEATURES))
    np.testing.assert_array_equal(X[np.lexsort(X.T)], statlog[np.lexsort(statlog.T)])
    assert len(np.unique(X, axis=0)) == 2310 - 224


@pytest.mark.parametrize(
    ("name", "file", "edit", "message"),
    [
        (
            "wall_following",
            "sensor_readings_24.data",
            lambda text: text.replace("Slight-Left-Turn", "Left", 1),
            "class sizes is .*'Left': 1",
        ),
        (
            "statlog_vehicle",
            "xac.dat",
            lambda text: text.replace("101 51", "101 x", 1),
            "not a table of numbers",
        ),
        (
            "pendigits",
            "pendigits.tra",
            lambda text: text.replace("100", "101", 1),
            "range is .*101.0",
        ),
        (
            "segmentation",
            "segmentation.data",
            lambda text: text.replace("BRICKFACE,", "BRICKFACE,0,", 1),
            r"fields of a row is \[20, 21\]",
        ),
    ],
)
def test_another_file_is_named(data_mirror, tmp_path, name, file, edit, message):
    files = copied(data_mirror, name, tmp_path / name)
    files[file].write_text(edit(files[file].read_text()))
    with pytest.raises(DataCorruptError, match=f"{name}: {message}"):
        LOADERS[name](files)


def test_size_of_a_class_is_checked(data_mirror):
    with pytest.raises(ValueError, match="n_per_class is 0, wanted at least 1"):
        load_pendigits(files_of(data_mirror, "pendigits"), n_per_class=0)
