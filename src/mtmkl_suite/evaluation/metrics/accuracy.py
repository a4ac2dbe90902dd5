"""Shares of labels −1 and +1 that are predicted rightly."""

from collections.abc import Iterator

import numpy as np

from mtmkl_suite.evaluation.metrics.outcome import Outcome, Row, measures


@measures(better="larger", labels=True)
def accuracy(outcome: Outcome) -> Iterator[Row]:
    """Yield the mean over tasks of the share of right signs; zero counts as +1."""
    right = (np.where(outcome.prediction >= 0, 1.0, -1.0) == outcome.y).astype(float)
    by_task = outcome.mean_by_task(right)
    yield "accuracy", "all", float(by_task.mean())
    yield from outcome.rows("accuracy", by_task)


@measures(better="larger", labels=True)
def balanced_accuracy(outcome: Outcome) -> Iterator[Row]:
    """Yield the mean over tasks of the mean of the two labels' shares of right signs.

    Zero counts as +1. Tasks without both labels have none and are left out.
    """
    right = np.where(outcome.prediction >= 0, 1.0, -1.0) == outcome.y
    by_task = {}
    for t, name in enumerate(outcome.task_names):
        shares = [
            right[(outcome.task == t) & (outcome.y == label)] for label in (-1.0, 1.0)
        ]
        if all(share.size for share in shares):
            by_task[name] = float(np.mean([share.mean() for share in shares]))
    mean = float(np.mean(list(by_task.values()))) if by_task else np.nan
    yield "balanced_accuracy", "all", mean
    for name, value in by_task.items():
        yield "balanced_accuracy", name, value


@measures(better="larger", labels=True)
def one_of_all_accuracy(outcome: Outcome) -> Iterator[Row]:
    """Yield the share of examples that are put into the right one of all classes.

    Tasks are one-vs-rest: an example goes to the task with the highest score, the first
    of them at a tie. Yields nothing unless every example is in every task, with the
    label +1 in one.
    """
    if outcome.sample is None:
        return
    examples, row = np.unique(outcome.sample, return_inverse=True)
    shape = examples.size, len(outcome.task_names)
    score, label = np.full(shape, np.nan), np.zeros(shape)
    score[row.ravel(), outcome.task] = outcome.ranking
    label[row.ravel(), outcome.task] = outcome.y
    if np.isnan(score).any() or (np.sum(label > 0, axis=1) != 1).any():
        return
    right = score.argmax(axis=1) == label.argmax(axis=1)
    yield "one_of_all_accuracy", "all", float(right.mean())
