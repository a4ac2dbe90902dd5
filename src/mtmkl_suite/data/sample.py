"""Small samples of data sets, of a size that an interior-point solver can take."""

from dataclasses import replace

import numpy as np

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.tasks import draw_per_class
from mtmkl.sparse import is_sparse
from mtmkl.typing import IntArray

#: Entries of dense features.
_MOST_ENTRIES = 10_000_000


def draw(
    data: MultiTaskData,
    *,
    n_tasks: int,
    n_samples: int,
    seed: int,
    is_classifier: bool,
    is_graph: bool = False,
) -> MultiTaskData:
    """Return a few samples of a few tasks; where there are fewer, all.

    For a classifier half of a task's samples are of each class, or fewer where a class
    has fewer. For a graph, whose nodes are tasks and columns of the features, all tasks
    have the same samples, and the features are those of the nodes in the sample.
    """
    rng = np.random.default_rng(seed)
    is_labels = set(np.unique(data.y)) <= {-1.0, 1.0}
    if is_classifier and not is_labels:
        raise ValueError(
            f"the method is a classifier, and the targets of {data.name} are numbers: "
            "take a data set with labels, or a regression"
        )
    present = np.flatnonzero(data.task_sizes > 0)
    chosen = np.sort(rng.permutation(present)[:n_tasks])
    if is_graph:
        return _nodes(data, chosen, n_samples, rng)
    rows = [_of_task(data, int(task), n_samples, is_classifier, rng) for task in chosen]
    sample = data.subset(np.concatenate(rows)).select_tasks(chosen)
    if not is_sparse(sample.X):
        return sample
    if sample.X.shape[0] * sample.X.shape[1] > _MOST_ENTRIES:
        raise ValueError(
            f"{data.name} has {data.X.shape[1]} features, too many for an interior "
            "point: take fewer samples or tasks"
        )
    return replace(sample, X=sample.X.toarray())


def _of_task(
    data: MultiTaskData,
    task: int,
    n_samples: int,
    both_classes: bool,
    rng: np.random.Generator,
) -> IntArray:
    rows = data.rows_of(task)
    if not both_classes:
        return np.sort(rng.permutation(rows)[:n_samples])
    y, half = data.y[rows], max(n_samples // 2, 1)
    if np.ptp(y) == 0:
        raise ValueError(
            f"{data.task_names[task]!r} of {data.name} has samples of one class: "
            "take another --seed or more --tasks"
        )
    seed = int(rng.integers(2**32))
    return np.sort(rows[draw_per_class(y, half, seed, equal=False)])


def _nodes(
    data: MultiTaskData, nodes: IntArray, n_samples: int, rng: np.random.Generator
) -> MultiTaskData:
    if data.n_tasks != data.X.shape[1]:
        raise ValueError(
            f"graphs need one task per column: {data.name} has {data.n_tasks} tasks "
            f"and {data.X.shape[1]} columns"
        )
    samples = data.X[data.rows_of(int(nodes[0]))][:, nodes]
    samples = samples[np.sort(rng.permutation(len(samples))[:n_samples])]
    constant = np.flatnonzero(np.ptp(samples, axis=0) == 0)
    if constant.size:
        raise ValueError(
            f"{data.task_names[nodes[constant[0]]]!r} of {data.name} does not vary in "
            "the sample: take more --samples"
        )
    n = len(samples)
    return MultiTaskData(
        X=np.tile(samples, (nodes.size, 1)),
        y=np.where(samples.T.ravel() > 0, 1.0, -1.0),
        task=np.repeat(np.arange(nodes.size), n),
        name=data.name,
    )
