import numpy as np
import pytest
from sklearn.datasets import load_digits as load_bundled

from mtmkl.datasets.bundled import load_digits


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


@pytest.mark.parametrize("n_per_class", [0, 175])
def test_subsample_size_is_checked(n_per_class):
    with pytest.raises(ValueError, match="wanted 1 to 174"):
        load_digits(n_per_class=n_per_class)
