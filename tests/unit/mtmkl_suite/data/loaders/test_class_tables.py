import gzip
from collections import Counter

import numpy as np
import pytest
from sklearn.datasets import load_digits as load_bundled

from mtmkl_suite.data import default_registry
from mtmkl_suite.data.loaders.class_tables import (
    load_digits,
    load_digits_pairs,
    load_mnist,
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
    assert X.shape == (2310, 19)
    np.testing.assert_array_equal(X[np.lexsort(X.T)], statlog[np.lexsort(statlog.T)])
    assert len(np.unique(X, axis=0)) == 2310 - 224


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
def mnist_files(data_mirror):
    return {path.name: path for path in (data_mirror / "mnist").iterdir()}


def test_mnist_has_the_images_of_its_files(mnist_files):
    data = load_mnist(mnist_files, n_per_class=40, seed=2)
    assert data.X.shape == (45 * 80, 784)
    assert data.X.min() == 0
    assert data.X.max() == 1
    raw = [
        np.frombuffer(gzip.decompress(mnist_files[name].read_bytes()), np.uint8)
        for name in (
            "train-images-idx3-ubyte.gz",
            "t10k-images-idx3-ubyte.gz",
            "train-labels-idx1-ubyte.gz",
            "t10k-labels-idx1-ubyte.gz",
        )
    ]
    images = np.concatenate([raw[0][16:], raw[1][16:]]).reshape(70000, 784)
    label = np.concatenate([raw[2][8:], raw[3][8:]])
    digit_of = {}
    for image, digit in zip(images, label, strict=True):
        digit_of.setdefault(image.tobytes(), digit)
    for row in range(0, len(data.y), 97):
        names = data.task_names[data.task[row]].split(" vs ")
        image = np.round(255 * data.X[row]).astype(np.uint8)
        assert str(digit_of[image.tobytes()]) == names[0 if data.y[row] > 0 else 1]


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


def test_letters_in_two_pairs_are_the_same_images(letters):
    data = load_ocr_letters(letters, n_per_class=50)
    drawn = {}
    for task, name in enumerate(data.task_names):
        for letter, y in zip(name.split(" vs "), (1.0, -1.0), strict=True):
            rows = (data.task == task) & (data.y == y)
            drawn.setdefault(letter, []).append(set(data.sample[rows]))
    assert len(drawn) == 13
    for letter, samples in drawn.items():
        assert len(samples) == (2 if letter in "agn" else 1)
        assert all(each == samples[0] for each in samples)
        assert len(samples[0]) == 50


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


def test_all_images():
    data = load_digits()
    bunch = load_bundled()
    assert data.X.shape == (10 * 1797, 62)
    assert data.origin == "stand-in"
    assert data.X.min() == 0
    assert data.X.max() == 1
    assert (data.X[:, -1] == 1).all()
    for task in range(10):
        rows = data.rows_of(task)
        assert np.array_equal(data.y[rows] == 1, bunch.target == task)
        assert np.allclose(data.X[rows, :-1].sum(axis=1), bunch.data.sum(axis=1) / 16)


def test_pairs_of_digits():
    data = load_digits_pairs(n_per_class=15, seed=3)
    assert data.X.shape == (45 * 30, 61)
    assert data.origin == "stand-in"
    bunch = load_bundled()
    digits = {}
    for image, digit in zip(bunch.data / 16, bunch.target, strict=True):
        digits.setdefault(image[bunch.data.max(axis=0) > 0].tobytes(), set()).add(digit)
    for row in range(0, len(data.y), 7):
        pair = data.task_names[data.task[row]].split(" vs ")
        drawn = {str(digit) for digit in digits[data.X[row].tobytes()]}
        assert pair[0 if data.y[row] > 0 else 1] in drawn
    other = load_digits_pairs(n_per_class=15, seed=4)
    np.testing.assert_array_equal(other.y, data.y)
    assert other.digest() != data.digest()


def test_pairs_of_the_first_digits():
    some = load_digits_pairs(n_classes=3, n_per_class=15, seed=3)
    every = load_digits_pairs(n_per_class=15, seed=3)
    assert some.task_names == ("0 vs 1", "0 vs 2", "1 vs 2")
    for task, name in enumerate(some.task_names):
        same = every.rows_of(every.task_names.index(name))
        assert np.array_equal(some.X[some.rows_of(task)], every.X[same])
