import numpy as np
import pytest

from mtmkl.datasets.container import MultiTaskData
from mtmkl_suite.data.sample import draw


def data(y, sizes=(6, 8, 7), d=2, **more):
    task = np.repeat(np.arange(len(sizes)), sizes)
    X = np.random.default_rng(0).standard_normal((task.size, d))
    return MultiTaskData(X=X, y=y, task=task, name="toy", **more)


def test_a_sample_has_both_classes_and_few_examples():
    labels = np.where(np.arange(21) % 5 == 0, 1.0, -1.0)
    few = {"n_tasks": 2, "n_samples": 4, "is_classifier": True}
    for seed in range(5):
        sample = draw(data(labels), seed=seed, **few)
        assert sample.n_tasks == 2
        for t in range(2):
            own = sample.y[sample.task == t]
            assert 2 <= own.size <= 4
            assert set(own) == {-1.0, 1.0}


def test_rows_keep_their_targets_and_tasks():
    numbers = np.arange(21.0)
    full = data(numbers)
    sample = draw(full, n_tasks=2, n_samples=3, seed=1, is_classifier=False)
    rows = sample.y.astype(int)
    np.testing.assert_array_equal(sample.X, full.X[rows])
    drawn, task = np.unique(full.task[rows], return_inverse=True)
    assert drawn.size == 2
    np.testing.assert_array_equal(task, sample.task)


@pytest.mark.parametrize(
    ("y", "words"),
    [(np.arange(21.0), "are numbers"), (np.ones(21), "samples of one class")],
)
def test_targets_that_do_not_suit(y, words):
    with pytest.raises(ValueError, match=words):
        draw(data(y), n_tasks=3, n_samples=4, seed=0, is_classifier=True)


def test_nodes_have_the_same_samples():
    samples = (np.random.default_rng(0).standard_normal((30, 5)) > 0).astype(float)
    graph = MultiTaskData(
        X=np.tile(samples, (5, 1)),
        y=2.0 * samples.T.ravel() - 1.0,
        task=np.repeat(np.arange(5), 30),
        name="graph",
    )
    few = {"n_tasks": 3, "seed": 0, "is_classifier": False, "is_graph": True}
    sample = draw(graph, n_samples=10, **few)
    assert sample.X.shape == (30, 3)
    np.testing.assert_array_equal(sample.X[:10], sample.X[20:])
    np.testing.assert_array_equal(sample.y[10:20], 2.0 * sample.X[:10, 1] - 1.0)
    with pytest.raises(ValueError, match="one task per column"):
        draw(data(np.ones(21)), n_samples=4, **few)
