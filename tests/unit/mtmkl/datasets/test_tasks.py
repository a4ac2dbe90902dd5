import numpy as np
import pytest
from scipy import sparse

from mtmkl.datasets.tasks import (
    by_group,
    draw_per_class,
    one_vs_one,
    one_vs_rest,
)

X = np.arange(10.0).reshape(5, 2)
LABEL = np.array(["b", "a", "c", "a", "b"])


def test_one_vs_rest():
    data = one_vs_rest(X, LABEL, name="letters")
    assert data.task_names == ("a vs rest", "b vs rest", "c vs rest")
    assert data.task_sizes.tolist() == [5, 5, 5]
    assert data.y[data.rows_of(1)].tolist() == [1, -1, -1, -1, 1]
    for task in range(3):
        rows = data.rows_of(task)
        assert np.array_equal(data.X[rows], X)
        assert data.sample[rows].tolist() == [0, 1, 2, 3, 4]


def test_one_vs_one():
    data = one_vs_one(X, LABEL, name="letters")
    assert data.task_names == ("a vs b", "a vs c", "b vs c")
    assert data.sample.tolist() == [0, 1, 3, 4, 1, 2, 3, 0, 2, 4]
    assert data.y.tolist() == [-1, 1, 1, -1, 1, -1, 1, 1, -1, 1]
    assert np.array_equal(data.X, X[data.sample])


def test_by_group():
    data = by_group(X, np.arange(5), [7, 3, 7, 3, 5], name="groups")
    assert data.task_names == ("3", "5", "7")
    assert data.task.tolist() == [2, 0, 2, 0, 1]
    assert data.y.tolist() == [0, 1, 2, 3, 4]
    assert data.sample.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("cut", [one_vs_rest, one_vs_one])
def test_labels_are_checked(cut):
    with pytest.raises(ValueError, match="one class only: 1"):
        cut(X, np.ones(5, dtype=int), name="n")
    with pytest.raises(ValueError, match=r"label must have shape \(5,\)"):
        cut(X, [0, 1], name="n")
    with pytest.raises(ValueError, match=r"label\[1\] is nan"):
        cut(X, [0, np.nan, 1, 1, 1], name="n")
    with pytest.raises(ValueError, match="2 names for 3 values"):
        cut(X, LABEL, name="n", class_names=("A", "B"))


def test_named_pairs():
    data = one_vs_one(X, LABEL, name="letters", pairs=[("c", "a"), ("a", "b")])
    assert data.task_names == ("c vs a", "a vs b")
    assert data.sample.tolist() == [1, 2, 3, 0, 1, 3, 4]
    assert data.y.tolist() == [-1, 1, -1, -1, 1, 1, -1]


@pytest.mark.parametrize(
    ("pair", "message"),
    [(("a", "d"), "'d' is not a class; classes: a, b, c"), (("a", "a"), "twice")],
)
def test_pairs_are_checked(pair, message):
    with pytest.raises(ValueError, match=message):
        one_vs_one(X, LABEL, name="letters", pairs=[pair])


def test_a_draw_takes_as_many_of_each_class():
    label = np.random.default_rng(0).permutation(np.repeat(["x", "y", "z"], [9, 4, 6]))
    for n_per_class, counts in ((3, [3, 3, 3]), (5, [4, 4, 4]), (None, [4, 4, 4])):
        rows = draw_per_class(label, n_per_class, seed=1)
        assert label[rows].tolist() == np.repeat(["x", "y", "z"], counts).tolist()
        assert len(set(rows)) == len(rows)
    rows = draw_per_class(label, 5, seed=1, equal=False)
    assert label[rows].tolist() == np.repeat(["x", "y", "z"], [5, 4, 5]).tolist()
    with pytest.raises(ValueError, match="n_per_class is -1"):
        draw_per_class(label, -1, seed=1)


def test_every_example_is_as_likely_to_be_drawn():
    drawn = [draw_per_class(np.zeros(6), 3, seed=s) for s in range(600)]
    counts = np.bincount(np.concatenate(drawn))
    # Binomial with mean 300 and sd 12.2.
    assert np.all(np.abs(counts - 300) < 5 * 12.3)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("cut", [one_vs_rest, one_vs_one, by_group])
def test_sparse_inputs_are_cut_like_dense_ones(cut, kind):
    values = (
        {"group": LABEL, "y": np.arange(5)} if cut is by_group else {"label": LABEL}
    )
    dense, from_sparse = (cut(Z, **values, name="n") for Z in (X, kind(X)))
    assert isinstance(from_sparse.X, sparse.csr_array)
    np.testing.assert_array_equal(from_sparse.X.toarray(), dense.X)
    for name in ("y", "task", "sample"):
        np.testing.assert_array_equal(getattr(from_sparse, name), getattr(dense, name))
    assert from_sparse.task_names == dense.task_names
