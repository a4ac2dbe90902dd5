"""Tasks by scikit-learn's metadata routing, or in a column of X."""

import inspect
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from mtmkl.checks import one_of
from mtmkl.errors import some
from mtmkl.sparse import is_sparse
from mtmkl.task_labels import NUMBERS, checked_labels, distinct_labels, task_labels
from mtmkl.typing import FloatArray


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


def _where_given(name: str) -> Any:
    """Return the decorator of a method that is there if the estimator has it."""

    def check(wrapper: "TaskColumn") -> bool:
        if hasattr(wrapper.estimator, name):
            return True
        reason = f"{type(wrapper.estimator).__name__} has no {name}"
        if name == "predict_proba" and is_classifier(wrapper.estimator):
            reason += (
                ": its values are no probabilities, and become such by "
                "CalibratedClassifierCV(TaskColumn(...))"
            )
        raise AttributeError(reason)

    return available_if(check)


@dataclass(eq=False, repr=False)
class TaskColumn(MetaEstimatorMixin, BaseEstimator):
    """An estimator that finds the task of each sample in a column of ``X``.

    With ``fit(X, y)`` and ``predict(X)`` it goes where ``task`` cannot: scikit-learn's
    searches, cross-validation, inspection and calibration, without metadata routing::

        model = TaskColumn(SharedMKLClassifier(), column="school")
        folds = TaskKFold(5).split(X, groups=X["school"])
        GridSearchCV(model, {"estimator__C": [0.1, 1.0]}, cv=folds).fit(X, y)

    ``decision_function``, ``predict_proba`` and ``score`` are there if the estimator
    has them. No estimator of the package weighs samples, hence ``fit`` takes no
    ``sample_weight``.

    Parameters
    ----------
    estimator : estimator
        One of the package's methods, or a pipeline that ends in one. It is given the
        other columns.
    column : str or int
        Name of the column of tasks, if ``X`` is a data frame, or its position; negative
        ones count from the end. Labels that are neither strings nor whole numbers are
        passed on as text.
    unseen : {"error", "mean"}
        How a sample is predicted whose task was not in training: not at all, or by
        the mean over all training tasks, each counted once, of what the estimator
        predicts for the example in that task (decision values of a classifier, or
        probabilities where it has none, whose class follows from their mean).

    Attributes
    ----------
    estimator_ : estimator
        The fitted one.
    tasks_ : ndarray of shape (T,)
        Labels of the training tasks as ``estimator_`` has them, sorted.
    classes_ : ndarray
        The labels of a classifier.
    n_features_in_ : int
        Number of columns 1 + d of ``X``, that of the tasks included.
    feature_names_in_ : ndarray of shape (1 + d,)
        Their names, if ``X`` is a data frame.
    """

    estimator: Any
    _: KW_ONLY
    column: str | int
    unseen: Literal["error", "mean"] = "error"

    def __sklearn_tags__(self) -> Tags:
        tags = get_tags(self.estimator)
        tags.target_tags.multi_output = False
        return tags

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels of a classifier."""
        check_is_fitted(self, "estimator_")
        classes: NDArray[Any] = self.estimator_.classes_
        return classes

    def fit(self, X: Any, y: ArrayLike, **unsupported: Any) -> Self:
        """Fit all tasks.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, 1 + d)
            Features and the column of tasks.
        y : array-like of shape (n,)
            Targets.
        **unsupported
            Refused by name, as ``sample_weight`` is.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no such column, a label is missing or a float that may stand
            for several integers, some labels alone are strings, or ``estimator`` does
            not take ``task`` or refuses the data.
        TypeError
            If there are further arguments.
        """
        if unsupported:
            raise TypeError(
                f"fit takes X and y only, got {', '.join(unsupported)}: methods of "
                "many tasks count all samples alike, and the task is column "
                f"{self.column!r} of X. A PathSearchCV belongs inside: "
                "TaskColumn(PathSearchCV(...))"
            )
        one_of("error", "mean")("unseen", self.unseen)
        self.__dict__.pop("estimator_", None)  # of an earlier fit, with other tasks
        estimator = route_tasks(self.estimator)
        inputs, labels = self._split(X, reset=True)
        distinct = distinct_labels(labels, f"column {self.column!r} of X")
        whole = all(isinstance(x, NUMBERS) and x % 1 == 0 for x in distinct)
        passed_on = int if whole else str
        self._known = {label: passed_on(label) for label in distinct}
        task = task_labels([self._known[label] for label in labels], len(labels))
        self.tasks_ = np.unique(task)
        with config_context(enable_metadata_routing=True):
            self.estimator_ = estimator.fit(inputs, y, task=task)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the targets, (n,); X is as for :meth:`fit`.

        Raises
        ------
        ValueError
            If ``unseen`` is "error" and a task was not in training; the message lists
            the known ones.
        """
        return self._values("predict", X)

    @_where_given("decision_function")
    def decision_function(self, X: Any) -> FloatArray:
        """Return the decision values of a classifier; as for :meth:`predict`."""
        return self._values("decision_function", X)

    @_where_given("predict_proba")
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, (n, number of classes)."""
        return self._values("predict_proba", X)

    @_where_given("score")
    def score(
        self, X: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return accuracy, or R² of a regression, over all samples, weighted."""
        metric = accuracy_score if is_classifier(self) else r2_score
        return float(metric(y, self.predict(X), sample_weight=sample_weight))

    def _split(self, X: Any, *, reset: bool) -> tuple[Any, list[Any]]:
        """Return the features, and the task of each sample."""
        frame = hasattr(X, "iloc")
        if not hasattr(X, "shape"):
            # Numbers of a list stay numbers where its tasks are strings.
            X = np.array(X, dtype=object)
        X = validate_data(
            self,
            X,
            reset=reset,
            dtype=None,
            accept_sparse="csr",
            ensure_all_finite=False,
            skip_check_array=frame,
        )
        if reset:
            self._position = self._position_of_column()
        rest = np.delete(np.arange(self.n_features_in_), self._position)
        if frame:
            inputs, column = X.iloc[:, rest], X.iloc[:, self._position]
        else:
            inputs, column = X[:, rest], X[:, self._position]
            column = np.ravel(column.toarray() if is_sparse(column) else column)
        return inputs, checked_labels(column, f"column {self.column!r} of X")

    def _position_of_column(self) -> int:
        """Return the position of the column of tasks."""
        column, n = self.column, self.n_features_in_
        names = list(getattr(self, "feature_names_in_", ()))
        if isinstance(column, str):
            if column not in names:
                have = f"columns: {', '.join(names)}" if names else "X has no names"
                raise ValueError(f"X has no column {column!r}; {have}")
            column = names.index(column)
        elif not isinstance(column, int | np.integer) or not -n <= column < n:
            raise ValueError(f"X has no column {column!r}: n_features = {n}")
        if n < 2:
            raise ValueError(f"X has 1 feature(s), the tasks (n_features = {n})")
        return int(column) % n

    def _values(self, response: str, X: Any) -> NDArray[Any]:
        """Return what a method of the fitted estimator gives, pooled where unseen."""
        check_is_fitted(self, "estimator_")
        inputs, labels = self._split(X, reset=False)
        known = np.array([label in self._known for label in labels], dtype=bool)
        unseen = [x for x in dict.fromkeys(labels) if x not in self._known]
        if unseen and self.unseen == "error":
            raise ValueError(
                f"column {self.column!r} of X holds tasks that were not in training: "
                f"{some(unseen, 20)}; known tasks: {some(self.tasks_, 20)}. For folds "
                "that have every task: cv=TaskKFold(5).split(X, groups=task), cv="
                "StratifiedKFold(5, shuffle=True).split(X, task), or at random, cv="
                "KFold(5, shuffle=True); unseen='mean' predicts by the mean over the "
                "known tasks"
            )

        def ask(
            response: str, rows: NDArray[np.bool_], task: ArrayLike
        ) -> NDArray[Any]:
            part = inputs.iloc[rows] if hasattr(inputs, "iloc") else inputs[rows]
            method = getattr(self.estimator_, response)
            with config_context(enable_metadata_routing=True):
                return np.asarray(method(part, task=task))

        def mean(response: str) -> NDArray[Any]:
            n = int(np.sum(~known))
            found = [ask(response, ~known, np.repeat(x, n)) for x in self.tasks_]
            return np.mean(found, axis=0)

        task = [self._known[x] for x in labels if x in self._known]
        if not unseen:
            return ask(response, known, task)
        if response == "predict" and is_classifier(self):
            has_scores = hasattr(self.estimator_, "decision_function")
            scores = mean("decision_function" if has_scores else "predict_proba")
            positive = (scores > 0) * (self.classes_.size - 1)
            best = scores.argmax(axis=1) if scores.ndim > 1 else positive
            pooled = self.classes_[best]
        else:
            pooled = mean(response)
        values = np.empty((known.size, *pooled.shape[1:]), pooled.dtype)
        values[~known] = pooled
        if known.any():
            values[known] = ask(response, known, task)
        return values
