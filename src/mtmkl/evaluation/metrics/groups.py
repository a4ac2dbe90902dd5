"""Groups of tasks that a method has found."""

from collections.abc import Iterator

import numpy as np

from mtmkl.evaluation.metrics.outcome import Outcome, Row


def groups(outcome: Outcome) -> Iterator[Row]:
    """Number of groups of tasks, and tasks in the largest, of methods with groups."""
    labels = getattr(outcome.estimator, "groups_", None)
    if labels is None:
        return
    _, sizes = np.unique(labels, return_counts=True)
    yield "n_groups", "all", float(len(sizes))
    yield "largest_group", "all", float(sizes.max())
