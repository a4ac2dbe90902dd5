"""Any estimator of scikit-learn for many tasks: one per task, or one with the task."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags, _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    _num_samples,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from mtmkl.checks import one_of
from mtmkl.errors import some
from mtmkl.sparse import is_sparse
from mtmkl.task_labels import task_labels, task_numbers
from mtmkl.typing import FloatArray

__all__ = ["PerTask", "Pooled"]


def _has(name: str) -> Any:
    """Return the decorator of a method that is there if the estimator has it."""
    return available_if(lambda wrapper: hasattr(wrapper.estimator, name))


class _Wrapper(MetaEstimatorMixin, BaseEstimator):
    """Base of wrappers: labels of tasks, responses, scores."""

    estimator: Any
    unseen: str

    def __sklearn_tags__(self) -> Tags:
        tags = get_tags(self.estimator)
        tags.target_tags.multi_output = False
        return tags

    def fit(self, X: Any, y: ArrayLike, task: ArrayLike | None = None) -> Self:
        """Fit all tasks.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features of all tasks, in a form that ``estimator`` takes.
        y : array-like of shape (n,)
            Targets.
        task : array-like of shape (n,), optional
            Task of each sample, an integer or a string; without it, all are one task.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If lengths differ, a label of a task is missing, a parameter is out of
            range, or the estimator refuses the data.
        """
        one_of("error", "mean")("unseen", self.unseen)
        self.__dict__.pop("estimator_", None)  # of an earlier fit, with other tasks
        labels = task_labels(task, _num_samples(X))
        self.tasks_, index = np.unique(labels, return_inverse=True)
        targets = column_or_1d(y)
        check_consistent_length(labels, targets)
        if is_classifier(self.estimator):
            self.classes_ = np.unique(targets)
        self._fit(X, targets, index.ravel())
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X: Any, task: ArrayLike | None = None) -> NDArray[Any]:
        """Predict targets or classes, (n,); parameters as for :meth:`fit`.

        Raises
        ------
        ValueError
            If a task was not seen by ``fit``, unless ``unseen`` says what to do.
        """
        return self._values("predict", X, task)

    @_has("decision_function")
    def decision_function(self, X: Any, task: ArrayLike | None = None) -> FloatArray:
        """Return scores, (n,) for two classes, else (n, number of classes)."""
        return self._values("decision_function", X, task)

    @_has("predict_proba")
    def predict_proba(self, X: Any, task: ArrayLike | None = None) -> FloatArray:
        """Return the probabilities of ``classes_``, (n, number of classes)."""
        return self._values("predict_proba", X, task)

    def score(
        self,
        X: Any,
        y: ArrayLike,
        *,
        task: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return accuracy, or R² of a regression, over all samples, weighted."""
        metric = accuracy_score if is_classifier(self.estimator) else r2_score
        return float(metric(y, self.predict(X, task), sample_weight=sample_weight))

    def _fit(self, X: Any, y: NDArray[Any], task: NDArray[np.intp]) -> None:
        raise NotImplementedError

    def _values(self, response: str, X: Any, task: ArrayLike | None) -> NDArray[Any]:
        raise NotImplementedError

    def _encode(self, task: ArrayLike | None, n: int) -> NDArray[np.intp]:
        """Return the numbers of tasks, −1 for those that ``fit`` has not seen."""
        check_is_fitted(self)
        return task_numbers(task, n, self.tasks_, unseen=self.unseen)


@dataclass(eq=False, repr=False)
class PerTask(_Wrapper):
    """An estimator for each task, which learns nothing of the others.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor of scikit-learn's kind; each task has a clone of it.
        A class that a task lacks has the probability 0, and a decision value as far
        below 0 as any of this sample in this task is from 0.
    unseen : {"error", "mean"}
        How a sample is predicted whose task was not in training: not at all, or by the
        mean of what all estimators predict, each task counted once.

    Attributes
    ----------
    estimators_ : list
        The fitted ones, in the order of ``tasks_``. A task whose samples are all of one
        class has a :class:`sklearn.dummy.DummyClassifier`.
    tasks_ : ndarray of shape (T,)
        Labels of the tasks, sorted.
    classes_ : ndarray
        The labels of all tasks, sorted, of classifiers.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> model = PerTask(Ridge(alpha=0.0))
    >>> X, y, task = [[0.0], [1.0], [0.0], [1.0]], [0.0, 1.0, 5.0, 3.0], [1, 1, 2, 2]
    >>> model.fit(X, y, task).predict([[2.0], [2.0]], [1, 2]).round(6)
    array([2., 1.])
    """

    estimator: Any
    _: KW_ONLY
    unseen: Literal["error", "mean"] = "error"

    def _fit(self, X: Any, y: NDArray[Any], task: NDArray[np.intp]) -> None:
        self.estimators_ = []
        for t in range(self.tasks_.size):
            rows = np.flatnonzero(task == t)
            model = clone(self.estimator)
            if is_classifier(model) and np.unique(y[rows]).size == 1:
                model = DummyClassifier()
            self.estimators_.append(model.fit(_safe_indexing(X, rows), y[rows]))

    def _values(self, response: str, X: Any, task: ArrayLike | None) -> NDArray[Any]:
        index = self._encode(task, _num_samples(X))
        found = {}
        for t in np.unique(index):
            part = _safe_indexing(X, np.flatnonzero(index == t))
            found[t] = (
                self._mean(response, part)
                if t < 0
                else self._ask(self.estimators_[t], response, part)
            )
        values = np.concatenate([found[t] for t in np.unique(index)])
        values[np.argsort(index, kind="stable")] = values.copy()
        return values

    def _mean(self, response: str, X: Any) -> NDArray[Any]:
        """Return the mean response of all estimators, or the classes that follow."""
        if response != "predict" or not is_classifier(self.estimator):
            return np.mean(
                [self._ask(m, response, X) for m in self.estimators_], axis=0
            )
        for response in ("predict_proba", "decision_function"):
            if hasattr(self.estimator, response):
                mean = self._mean(response, X)
                best = mean.argmax(axis=1) if mean.ndim > 1 else (mean > 0).astype(int)
                labels: NDArray[Any] = self.classes_[best]
                return labels
        raise ValueError(
            f"{type(self.estimator).__name__} has neither predict_proba nor "
            "decision_function, whose mean would be that of an unseen task"
        )

    def _ask(self, model: Any, response: str, X: Any) -> NDArray[Any]:
        """Return an estimator's response, with a column for each class of all tasks."""
        if isinstance(model, DummyClassifier) and response == "decision_function":
            found = 2.0 * model.predict_proba(X) - 1.0  # of its only class
        else:
            found = np.asarray(getattr(model, response)(X))
        if response == "predict" or (
            found.ndim == 1 and np.array_equal(model.classes_, self.classes_)
        ):
            return found
        if found.ndim == 1:
            found = np.column_stack([-found, found])
        n_classes = model.classes_.size
        of_pairs = response == "decision_function" and "ovo" in (
            v for k, v in model.get_params().items() if k.endswith("_function_shape")
        )
        if found.shape[1] != n_classes or (of_pairs and n_classes > 2):
            raise ValueError(
                f"{response} of {model!r} does not have a column for each of its "
                f"{n_classes} classes: give SVC decision_function_shape='ovr'"
            )
        full = np.zeros((len(found), self.classes_.size))
        if response == "decision_function":
            full -= np.abs(found).max(axis=1, keepdims=True)
        full[:, np.searchsorted(self.classes_, model.classes_)] = found
        binary = response == "decision_function" and self.classes_.size == 2
        return full[:, 1] if binary else full


@dataclass(eq=False, repr=False)
class Pooled(_Wrapper):
    """One estimator for all tasks, which may be told the task as a feature.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor of scikit-learn's kind.
    task_feature : {"onehot", "category", None}
        The task is T further columns of 0 and 1, with one of 1; a further column that
        numbers it from 0 (of a data frame: a column ``task`` of the type category); or
        nothing, so that all tasks have one model. A data frame whose names are not all
        strings counts as an array.
    unseen : {"error", "mean"}
        How a sample is predicted whose task was not in training: not at all, or as one
        of no task: all T columns 1/T, or a missing category. With
        ``task_feature=None`` the task is not looked at, and any is predicted for.

    Attributes
    ----------
    estimator_ : estimator
        The fitted one.
    tasks_ : ndarray of shape (T,)
        Labels of the tasks, sorted.
    classes_ : ndarray
        The labels of a classifier.
    """

    estimator: Any
    _: KW_ONLY
    task_feature: Literal["onehot", "category"] | None = "onehot"
    unseen: Literal["error", "mean"] = "error"

    def _fit(self, X: Any, y: NDArray[Any], task: NDArray[np.intp]) -> None:
        one_of("onehot", "category", None)("task_feature", self.task_feature)
        self.estimator_ = clone(self.estimator).fit(self._with_task(X, task), y)

    def _values(self, response: str, X: Any, task: ArrayLike | None) -> NDArray[Any]:
        n = _num_samples(X)
        if self.task_feature is None:
            check_is_fitted(self)
            index = np.zeros(n, dtype=np.intp)
        else:
            index = self._encode(task, n)
        return np.asarray(getattr(self.estimator_, response)(self._with_task(X, index)))

    def _with_task(self, X: Any, task: NDArray[np.intp]) -> Any:
        """Return the features and the task, in the form of the features."""
        if self.task_feature is None:
            return X
        n_tasks = self.tasks_.size
        columns = list(getattr(X, "columns", [None]))
        is_frame = all(isinstance(name, str) for name in columns)
        onehot = [f"task_{label}" for label in self.tasks_]
        added = ["task"] if self.task_feature == "category" else onehot
        taken = [name for name in added if is_frame and name in columns]
        if taken:
            raise ValueError(
                f"X has columns named as the task's will be: {some(taken)}; rename "
                "them, or leave them out if they are the task"
            )
        if self.task_feature == "category":
            own = np.where(task < 0, np.nan, task)[:, None]
            if is_frame:
                numbers = {f"{t}": t for t in range(n_tasks)}
                names = np.array([*numbers, ""], dtype=object)
                frame = X.assign(task=names[task]).astype({"task": "category"})
                categories = frame["task"].cat.set_categories(list(numbers))
                return frame.assign(task=categories)
        else:
            own = np.eye(n_tasks)[task]
            own[task < 0] = 1.0 / n_tasks
            if is_frame:
                return X.assign(**dict(zip(added, own.T, strict=True)))
        if is_sparse(X):
            return sparse.hstack([X, sparse.csr_array(own)], format="csr")
        return np.hstack([np.asarray(X), own])
