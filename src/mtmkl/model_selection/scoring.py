"""Scores of many tasks."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length

from mtmkl.checks import one_of
from mtmkl.task_labels import task_labels


@dataclass(eq=False, repr=False)
class TaskScorer(BaseEstimator):
    """A ``scoring`` that passes tasks to the estimator: a metric's mean over tasks.

    Scikit-learn's own scorers do not pass ``task`` on to ``predict``. For use as in
    ``GridSearchCV(route_tasks(estimator), grid, scoring=TaskScorer(roc_auc_score,
    response="decision_function"))`` with metadata routing enabled; ``task`` is
    requested without further ado.

    Parameters
    ----------
    metric : callable
        ``metric(y, values)`` of one task's targets and responses, larger is better. A
        task for which it is ``nan`` does not count.
    response : {"predict", "decision_function"}
        The estimator's method whose values are judged.
    """

    __metadata_request__score = {"task": True}  # noqa: RUF012

    metric: Callable[[NDArray[Any], NDArray[Any]], float]
    _: KW_ONLY
    response: Literal["predict", "decision_function"] = "predict"

    def __call__(
        self,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        task: ArrayLike | None = None,
    ) -> float:
        """Return the mean over tasks, ``nan`` if no task has a value.

        Parameters
        ----------
        estimator : estimator
            Fitted, with the method that ``response`` names; a pipeline must have its
            last step request ``task`` for it, as :func:`route_tasks` arranges.
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,) or (n, T)
        task : array-like of shape (n,), optional
            Task of each sample; without it, all are one task, or T are the columns
            of y.

        Raises
        ------
        ValueError
            If ``response`` is not one of the above, or lengths differ.
        """
        one_of("predict", "decision_function")("response", self.response)
        metadata = {} if task is None else {"task": task}
        values = getattr(estimator, self.response)(X, **metadata)
        targets = np.asarray(y)
        check_consistent_length(values, targets)
        n = len(targets)
        labels = np.zeros(n) if task is None else task_labels(task, n)
        if task is None and targets.ndim == values.ndim == 2:
            parts = list(zip(targets.T, values.T, strict=True))
        else:
            rows = [labels == name for name in np.unique(labels)]
            parts = [(targets[members], values[members]) for members in rows]
        of_task = [float(self.metric(*part)) for part in parts]
        finite = [value for value in of_task if not np.isnan(value)]
        return float(np.mean(finite)) if finite else float("nan")

    #: Metadata routing goes by this name.
    score = __call__
