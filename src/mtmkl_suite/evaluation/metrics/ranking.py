"""How well scores rank the examples of label +1 above those of label −1."""

from collections.abc import Iterator

import numpy as np

from mtmkl.typing import FloatArray
from mtmkl_suite.evaluation.metrics.outcome import Outcome, Row, measures


@measures(better="larger", labels=True)
def auc(outcome: Outcome) -> Iterator[Row]:
    """Yield the mean over tasks of the area under the ROC curve.

    Tasks without both labels have none and are left out; "auc_tasks" is the number of
    the others, and "auc_constant" of those among them whose scores are all the same,
    whose area is ½.
    """
    by_task, n_constant = {}, 0
    for t, name in enumerate(outcome.task_names):
        mine = outcome.task == t
        value = area_under_curve(outcome.y[mine], outcome.ranking[mine])
        if np.isfinite(value):
            by_task[name] = value
            n_constant += bool(np.ptp(outcome.ranking[mine]) == 0)
    yield "auc", "all", float(np.mean(list(by_task.values()))) if by_task else np.nan
    for name, value in by_task.items():
        yield "auc", name, value
    yield "auc_tasks", "all", float(len(by_task))
    yield "auc_constant", "all", float(n_constant)


@measures(better="larger", labels=True)
def auc_pooled(outcome: Outcome) -> Iterator[Row]:
    """Yield the area under the ROC curve of all tasks' examples together."""
    yield "auc_pooled", "all", area_under_curve(outcome.y, outcome.ranking)


@measures(better="larger", labels=True)
def average_precision(outcome: Outcome) -> Iterator[Row]:
    """Yield the mean over tasks of the average precision of the label +1.

    Tasks without both labels are left out.
    """
    from sklearn.metrics import average_precision_score

    by_task = {}
    for t, name in enumerate(outcome.task_names):
        mine = outcome.task == t
        labels = outcome.y[mine] > 0
        if labels.any() and not labels.all():
            by_task[name] = float(
                average_precision_score(labels, outcome.ranking[mine])
            )
    mean = float(np.mean(list(by_task.values()))) if by_task else np.nan
    yield "average_precision", "all", mean
    for name, value in by_task.items():
        yield "average_precision", name, value


def area_under_curve(y: FloatArray, score: FloatArray) -> float:
    """Return the chance that a positive example ranks above a negative one.

    A tie counts one half; without both labels the area is ``nan``.
    """
    positive = np.sort(score[y > 0])
    negative = np.sort(score[y <= 0])
    if positive.size == 0 or negative.size == 0:
        return float("nan")
    below = np.searchsorted(negative, positive, "left")
    not_above = np.searchsorted(negative, positive, "right")
    wins = 0.5 * float(np.sum(below + not_above))
    return wins / (positive.size * negative.size)
