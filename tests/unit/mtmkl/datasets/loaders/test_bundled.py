import numpy as np
import pytest
from sklearn.datasets import load_digits as load_bundled

from mtmkl.datasets.loaders.bundled import load_digits, load_digits_pairs


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


def test_subsample_is_balanced_and_repeatable():
    data = load_digits(n_per_class=20)
    assert data.X.shape == (10 * 200, 62)
    for task in range(10):
        assert (data.y[data.rows_of(task)] == 1).sum() == 20
    assert load_digits(n_per_class=20).digest() == data.digest()
    assert load_digits(n_per_class=20, seed=1).digest() != data.digest()


@pytest.mark.parametrize("load", [load_digits, load_digits_pairs])
@pytest.mark.parametrize("n_per_class", [0, 175])
def test_subsample_size_is_checked(load, n_per_class):
    with pytest.raises(ValueError, match="wanted 1 to 174"):
        load(n_per_class=n_per_class)


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
    with pytest.raises(ValueError, match="n_classes is 1, wanted 2 to 10"):
        load_digits_pairs(n_classes=1)
