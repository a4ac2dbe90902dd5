import numpy as np
import pytest
from scipy import sparse

from mtmkl.datasets.container import MultiTaskData

# Four of six rows and both columns hold something.
SPARSE = np.array([[1.0, 0], [0, 0], [-2.5, 3], [0, 4], [0, 0], [5, 0]])


def small_data(**changes):
    values = {
        "X": np.arange(12.0).reshape(6, 2),
        "y": np.array([1.0, -1.0, 2.0, 0.5, 3.0, -2.0]),
        "task": np.array([0, 2, 0, 1, 2, 2]),
        "name": "small",
        "truth": {
            "coef": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
            "is_test": np.array([False, True, True, False, False, True]),
            "relevant": np.array([1]),
        },
    }
    return MultiTaskData(**(values | changes))


def test_arrays_are_private_and_read_only():
    X = np.ones((2, 1))
    data = MultiTaskData(X=X, y=[0, 1], task=[0, 1], name="a")
    X[:] = 7.0
    assert data.X.max() == 1.0
    for values in (data.X, data.y, data.task, data.sample):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 0
    X = sparse.csr_array(SPARSE)
    data = small_data(X=X)
    X.data[:] = 7.0
    np.testing.assert_array_equal(data.X.toarray(), SPARSE)
    for values in (data.X.data, data.X.indices, data.X.indptr):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": np.ones(6)}, "two dimensions"),
        ({"X": np.ones((0, 2))}, "rows and columns"),
        ({"y": np.ones(5)}, r"y must have shape \(6,\)"),
        ({"y": [1, 2, np.nan, 4, 5, 6]}, r"y\[2\] is nan"),
        ({"X": [[1, 2]] * 5 + [[1, np.inf]]}, r"X\[5, 1\] is inf"),
        ({"X": sparse.csr_array([[1, 0]] * 5 + [[0, np.inf]])}, r"X\[5, 1\] is inf"),
        ({"X": sparse.coo_array(np.ones(6))}, "two dimensions"),
        ({"X": sparse.eye_array(6) * 1j}, "real numbers"),
        ({"task": np.array([0, 0, 0, 2, 2, 2]), "truth": {}}, "task 1 has no row"),
        ({"task": np.array([0, 0, 0, -1, 1, 1])}, r"task\[3\] is -1"),
        ({"task": np.ones(6)}, "task must hold integers"),
        ({"task_names": ("a", "b")}, r"task\[1\] is 2, not in 0..1"),
        ({"task_names": ("a", "b", "a")}, "'a' is given twice"),
        ({"feature_names": ("a",)}, "1 feature names for 2 features"),
        ({"sample": np.arange(5)}, r"sample must have shape"),
        ({"origin": "copied"}, "origin is 'copied'"),
        ({"truth": {"is_test": np.ones(2, dtype=bool)}}, "marks rows"),
        ({"truth": {"coef": np.ones((2, 2))}}, "3 columns, one per task"),
        ({"task_relations": {"tree": np.ones((2, 2))}}, r"task_relations\['tree'\] mu"),
        ({"task_relations": {"far": np.diag([0, np.nan, 0])}}, r"task_relations\['far"),
    ],
)
def test_invalid_data_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        small_data(**changes)


def test_subset_keeps_names_numbers_and_marks():
    part = small_data().subset([4, 1])
    assert part.task.tolist() == [2, 2]
    assert part.n_tasks == 3
    assert part.y.tolist() == [3.0, -1.0]
    assert part.sample.tolist() == [4, 1]
    assert part.truth["is_test"].tolist() == [False, True]
    assert part.truth["coef"].shape == (2, 3)


def test_subset_refuses_nothing_and_wrong_masks():
    data = small_data()
    with pytest.raises(ValueError, match="empty"):
        data.subset([])
    with pytest.raises(ValueError, match="mask"):
        data.subset(np.ones(2, dtype=bool))
    with pytest.raises(IndexError):
        data.subset([6])


def test_select_tasks_renumbers_in_the_order_given():
    part = small_data().select_tasks([2, 0])
    assert part.task_names == ("task 3", "task 1")
    assert part.y.tolist() == [1.0, -1.0, 2.0, 3.0, -2.0]
    assert part.task.tolist() == [1, 0, 1, 0, 0]
    assert part.truth["coef"].tolist() == [[3.0, 1.0], [6.0, 4.0]]
    assert part.truth["is_test"].tolist() == [False, True, True, False, True]
    assert part.truth["relevant"].tolist() == [1]


@pytest.mark.parametrize(
    ("tasks", "message"),
    [([0, 3], "no task 3"), ([-1], "no task -1"), ([1, 1], "1 is selected twice")],
)
def test_select_tasks_refuses(tasks, message):
    with pytest.raises(ValueError, match=message):
        small_data().select_tasks(tasks)


def test_digest_follows_content_not_names():
    data = small_data()
    assert len(data.digest()) == 16
    assert int(data.digest(), 16) >= 0
    assert small_data(name="other", truth={}).digest() == data.digest()
    for changes in (
        {"X": np.arange(12.0).reshape(6, 2) + 1e-12},
        {"y": data.y * 2},
        {"task": np.array([0, 2, 1, 1, 2, 2])},
        {"sample": np.array([0, 1, 2, 3, 4, 4])},
    ):
        assert small_data(**changes).digest() != data.digest()


def sparse_data(X=SPARSE, **changes):
    return small_data(X=sparse.csr_array(X), **changes)


@pytest.mark.parametrize(
    "kind", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array]
)
def test_sparse_inputs_stay_sparse(kind):
    data = small_data(X=kind(SPARSE))
    assert isinstance(data.X, sparse.csr_array)
    assert data.X.shape == (6, 2)
    assert data.X.dtype == np.float64
    np.testing.assert_array_equal(data.X.toarray(), SPARSE)
    assert "2 sparse features" in repr(data)


def test_sparse_features_have_names_if_given():
    assert sparse_data().feature_names == ()
    named = sparse_data(feature_names=("a", "b"))
    assert named.subset([0]).feature_names == ("a", "b")


@pytest.mark.parametrize("rows", [[4, 1], [-1, 0, 0], np.arange(6) % 2 == 0])
def test_subset_of_sparse_rows(rows):
    data = sparse_data()
    part = data.subset(rows)
    np.testing.assert_array_equal(part.X.toarray(), SPARSE[rows])
    np.testing.assert_array_equal(part.y, data.y[rows])
    with pytest.raises(ValueError, match="read-only"):
        part.X.indices[:] = 0
    for refused in ([6], [-7]):
        with pytest.raises(IndexError):
            data.subset(refused)


def test_digest_of_sparse_inputs_is_that_of_their_content():
    digest = sparse_data().digest()
    for kind in (sparse.csc_matrix, sparse.coo_array):
        assert small_data(X=kind(SPARSE)).digest() == digest
    assert sparse_data().subset(np.arange(6)).digest() == digest
    assert small_data(X=SPARSE).digest() != digest


@pytest.mark.parametrize(
    "X",
    [
        SPARSE * 2, SPARSE + (SPARSE == 4) * 1e-12, SPARSE[:, ::-1],
        SPARSE[[0, 1, 3, 2, 4, 5]], SPARSE[[1, 0, 2, 3, 4, 5]],
        np.column_stack([SPARSE, np.zeros(6)]),
    ],
)  # fmt: skip
def test_digest_sees_every_change_of_sparse_inputs(X):
    assert sparse_data(X).digest() != sparse_data().digest()


def test_relations_of_tasks_follow_the_tasks():
    distances = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]])
    tree = "((a,b),c);"
    data = small_data(task_relations={"distances": distances, "tree": tree})
    for part in (data, data.subset([4, 1])):
        np.testing.assert_array_equal(part.task_relations["distances"], distances)
    chosen = data.select_tasks([2, 0]).task_relations
    assert chosen == {"distances": pytest.approx(np.array([[0, 2], [2, 0]]))} | {
        "tree": tree
    }
    with pytest.raises(ValueError, match="read-only"):
        data.task_relations["distances"][0] = 0


def test_digest_covers_relations_of_tasks():
    versions = [
        {}, {"far": np.eye(3)}, {"far": 2 * np.eye(3)}, {"near": np.eye(3)},
        {"far": np.eye(3), "tree": "(a,b,c);"}, {"far": np.eye(3), "tree": "(b,a,c);"},
    ]  # fmt: skip
    digests = {small_data(task_relations=each).digest() for each in versions}
    assert len(digests) == len(versions)


def test_samples_known_by_matrices():
    rows = np.arange(6.0)[:, None]
    digests = {
        small_data(X=rows, truth={}, matrices=matrices).digest()
        for matrices in ({}, {"a": np.eye(6)}, {"b": np.eye(6)}, {"a": np.ones((6, 6))})
    }
    assert len(digests) == 4
    for X, matrix, message in (
        (np.ones((6, 2)), np.eye(6), "data with matrices have one feature, .* got 2"),
        (rows, np.eye(5), r"row for each of the 6 samples, got shape \(5, 5\)"),
        (rows, np.ones((6, 7)), r"must be square, .* got shape \(6, 7\)"),
        (rows, np.ones(6), r"must be square, .* got shape \(6,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            small_data(X=X, truth={}, matrices={"a": matrix})
