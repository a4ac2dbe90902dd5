"""Folds within tasks, and folds of tasks."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_consistent_length, check_random_state

from mtmkl.checks import count_from
from mtmkl.task_labels import checked_labels, distinct_labels
from mtmkl.typing import IntArray


class TaskKFold(BaseCrossValidator):
    """K folds within tasks: each task's samples are divided evenly among the folds.

    The tasks are the ``groups`` of :meth:`split`, as in ``search.fit(X, y, task=task,
    groups=task)`` for a ``search`` as in :func:`route_tasks`.
    Every task keeps at least one training sample in every fold; a task with fewer
    samples than folds is tested in some of them only.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2.
    shuffle : bool
        Whether a task's samples are shuffled before they are divided.
    random_state : int, RandomState or None
        Seed of the shuffling.
    """

    __metadata_request__split = {"groups": True}  # noqa: RUF012

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        count_from(2)("n_splits", n_splits)
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def split(
        self, X: ArrayLike, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the training and test samples of each fold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,), optional
            Of no account.
        groups : array-like of shape (n,), optional
            Task of each sample; without it, all are one task.

        Raises
        ------
        ValueError
            If lengths differ, a label is missing or a float that may stand for several
            integers, some labels alone are strings, a task has a single sample, or
            there are fewer samples than folds.
        """
        check_consistent_length(X, y, groups)
        n = np.shape(X)[0]
        if groups is None:
            groups = np.zeros(n, dtype=np.intp)
        elif getattr(groups, "ndim", 1) != 1:
            if np.size(groups) != n:
                raise ValueError(
                    f"groups must have the shape ({n},), got {np.shape(groups)}"
                )
            groups = np.ravel(groups)
        task = checked_labels(groups, "groups")
        try:
            distinct = sorted(distinct_labels(task, "groups"))
        except TypeError as error:
            raise ValueError(f"groups holds labels without an order: {error}") from None
        number = {label: t for t, label in enumerate(distinct)}
        index = np.array([number[label] for label in task], dtype=np.intp)
        counts = np.bincount(index)
        if np.any(counts < 2):
            single = distinct[np.argmin(counts)]
            raise ValueError(f"task {single} has one sample: folds need two")
        if n < self.n_splits:
            raise ValueError(f"{n} samples are fewer than {self.n_splits} folds")
        fold = np.empty(n, dtype=np.intp)
        rng = check_random_state(self.random_state)
        first = 0
        for t in range(counts.size):
            members = np.flatnonzero(index == t)
            if self.shuffle:
                members = rng.permutation(members)
            # Each task begins where the last one ended, so that the folds are even.
            fold[members] = (first + np.arange(members.size)) % self.n_splits
            first += members.size
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)
