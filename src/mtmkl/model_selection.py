"""Cross-validation and scoring by task."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from mtmkl.typing import IntArray


def route_tasks(estimator: Any) -> Any:
    """Return an unfitted copy of an estimator that requests ``task`` everywhere.

    Every method that takes ``task``, of the estimator and of those within it (steps of
    a pipeline, the estimator of a search), requests it from scikit-learn's metadata
    routing, which hands it on where it is enabled::

        sklearn.set_config(enable_metadata_routing=True)
        search = GridSearchCV(route_tasks(model), grid, cv=TaskKFold(5))
        search.fit(X, y, task=task, groups=task)

    Parameters
    ----------
    estimator : estimator
        One of the package's methods, or a composition that holds some.

    Returns
    -------
    estimator

    Raises
    ------
    ValueError
        If neither it nor an estimator within it takes ``task``.
    """
    routed = clone(estimator)
    requested = False
    # Without routing there are no requests to set.
    with config_context(enable_metadata_routing=True):
        for part in (routed, *routed.get_params(deep=True).values()):
            for name in dir(type(part)):
                method = name.removeprefix("set_").removesuffix("_request")
                if name != f"set_{method}_request":
                    continue
                function = getattr(type(part), method)
                if "task" in inspect.signature(function).parameters:
                    getattr(part, name)(task=True)
                    requested = True
    if not requested:
        raise ValueError(
            f"nothing in {estimator!r} takes task: give an estimator of mtmkl.methods, "
            "or a pipeline that ends in one"
        )
    return routed


class TaskKFold(BaseCrossValidator):
    """K folds within tasks: each task's examples are divided evenly among the folds.

    The tasks are the ``groups`` of :meth:`split`, as in ``search.fit(X, y, task=task,
    groups=task)`` for a ``search`` as in :func:`route_tasks`.
    Every task keeps at least one training example in every fold; a task with fewer
    examples than folds is tested in some of them only.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2.
    shuffle : bool
        Whether a task's examples are shuffled before they are divided.
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
        if int(n_splits) != n_splits or n_splits < 2:
            raise ValueError(f"n_splits must be at least 2, got {n_splits!r}")
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(
        self,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> int:
        """Return the number of folds."""
        return self.n_splits

    def split(
        self, X: ArrayLike, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the training and test examples of each fold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : ignored
        groups : array-like of shape (n,), optional
            Task of each example; without it, all are one task.

        Raises
        ------
        ValueError
            If a task has a single example, or there are fewer examples than folds.
        """
        n = np.shape(X)[0]
        if groups is None:
            groups = np.zeros(n, dtype=np.intp)
        task = check_array(groups, ensure_2d=False, dtype=None, input_name="groups")
        labels, index, counts = np.unique(task, return_inverse=True, return_counts=True)
        if np.any(counts < 2):
            single = labels[np.argmin(counts)]
            raise ValueError(f"task {single!r} has one example: folds need two")
        if n < self.n_splits:
            raise ValueError(f"{n} examples are fewer than {self.n_splits} folds")
        fold = np.empty(n, dtype=np.intp)
        rng = check_random_state(self.random_state)
        first = 0
        for number in range(labels.size):
            members = np.flatnonzero(index == number)
            if self.shuffle:
                members = rng.permutation(members)
            # Each task begins where the last one ended, so that the folds are even.
            fold[members] = (first + np.arange(members.size)) % self.n_splits
            first += members.size
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


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
        self, estimator: Any, X: ArrayLike, y: ArrayLike, task: ArrayLike | None = None
    ) -> float:
        """Return the mean over tasks, ``nan`` if no task has a value.

        Parameters
        ----------
        estimator : estimator
            Fitted, with the method that ``response`` names; a pipeline must have its
            last step request ``task`` for it, as :func:`route_tasks` arranges.
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        task : array-like of shape (n,), optional
            Task of each example; without it, all are one task.

        Raises
        ------
        ValueError
            If ``response`` is not one of the above.
        """
        if self.response not in ("predict", "decision_function"):
            raise ValueError(
                "response must be 'predict' or 'decision_function', "
                f"got {self.response!r}"
            )
        metadata = {} if task is None else {"task": task}
        values = getattr(estimator, self.response)(X, **metadata)
        targets = np.asarray(y)
        labels = np.zeros(targets.size, dtype=np.intp) if task is None else task
        of_task = [
            float(self.metric(targets[members], values[members]))
            for members in (np.asarray(labels) == name for name in np.unique(labels))
        ]
        finite = [value for value in of_task if not np.isnan(value)]
        return float(np.mean(finite)) if finite else float("nan")

    #: Metadata routing goes by this name.
    score = __call__
