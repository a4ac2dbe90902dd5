"""What every multi-task estimator shares: validation, tasks, paths of parameters."""

import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.metrics import r2_score
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from mtmkl.kernels.base import refuse_overflow
from mtmkl.sparse import canonical_csr, is_sparse
from mtmkl.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from typing import Self

    from mtmkl.datasets.container import MultiTaskData


# Where every search and cross-validation of scikit-learn fits: module and function.
CHECK_KERNELS = [
    "features",
    {"name": "gaussian", "median_factor": 1.0},
    {"name": "polynomial", "degree": 2},
]
"""Kernels for the checks that every method passes."""

_SEARCH_STEP = ("sklearn.model_selection._validation", "_fit_and_score")


class MultiTaskEstimator(RegressorMixin, BaseEstimator):
    """Base class of all methods: ``fit(X, y, task)`` and ``predict(X, task)``.

    ``task`` holds one label per example: any integers or strings. Without it, all
    examples are one task. In a Pipeline or a grid search it is passed on by
    scikit-learn's metadata routing, see :func:`mtmkl.model_selection.route_tasks`.

    A subclass implements ``_fit(X, y, task)`` and ``_predict(X, task)`` with tasks
    encoded as 0 … T − 1; it may override :meth:`fit_path` where a path of parameters
    can share work. Inputs are dense float64 arrays. A subclass that takes sparse inputs
    too, as canonical CSR arrays, overrides ``_dense_only``.

    Attributes
    ----------
    tasks_ : ndarray of shape (T,)
        The labels of the tasks, sorted; task-wise attributes are in this order.
    n_features_in_ : int
        Number of inputs d.
    """

    #: Parameters that may be an array with one value per task.
    per_task_params: ClassVar[tuple[str, ...]] = ()
    #: Whether the method is handed the examples that it is then tested on.
    fits_on_test: ClassVar[bool] = False

    @classmethod
    def check_settings(cls) -> dict[str, dict[str, Any]]:
        """Return small settings for the checks that every method passes.

        Returns
        -------
        dict of str to dict
            Parameters of the constructor, by what they try.
        """
        return {"": {}}

    @classmethod
    def check_path(cls) -> list[dict[str, Any]]:
        """Return points of a path for the checks that every method passes.

        Of the parameters γ, C, α and λ, those that the method has; a method with
        others overrides it.
        """
        known = cls().get_params()
        if "gamma" in known:
            return [{"gamma": gamma} for gamma in (1.0, 100.0, 1e-4, 1.0)]
        if "alpha" in known or "lam" in known:
            name, middle = ("alpha", 2.0) if "alpha" in known else ("lam", 0.3)
            levels = (0.0, 50.0, middle)
            return [{"C": C, name: v} for C in (10.0, 0.1, 1.0) for v in levels]
        if "C" in known:
            return [{"C": C} for C in (1.0, 0.1, 10.0, 1.0)]
        return [{}, {}]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._dense_only() is None
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, task: ArrayLike | None = None) -> "Self":
        """Fit all tasks.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Inputs of all tasks; a sparse matrix where the tag ``input_tags.sparse`` of
            the estimator says so.
        y : array-like of shape (n,)
            Targets; for classification any two labels.
        task : array-like of shape (n,), optional
            Task of each example.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If lengths differ, X or y is not finite, or a parameter is out of range; or
            within a search of scikit-learn that has no way to score several tasks.
        TypeError
            If X is sparse, and the estimator takes dense inputs only.
        """
        X_array, y_array, index = self._validate_fit(X, y, task)
        self._check_params()
        if self.tasks_.size > 1:
            _refuse_search_without_routing()
        self._fit(X_array, y_array, index)
        return self

    def predict(self, X: ArrayLike, task: ArrayLike | None = None) -> FloatArray:
        """Predict the targets.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Inputs.
        task : array-like of shape (n,), optional
            Task of each example; may be left out after a fit of a single task.

        Returns
        -------
        ndarray of shape (n,)

        Raises
        ------
        ValueError
            If a task was not seen by ``fit``; the message names it.
        """
        check_is_fitted(self)
        X_array = check_inputs(self, X, reset=False)
        return self._predict(X_array, self._encode(task, X_array.shape[0]))

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        task: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the coefficient of determination R² over all examples."""
        return float(r2_score(y, self.predict(X, task), sample_weight=sample_weight))

    def fit_path(
        self,
        X: ArrayLike,
        y: ArrayLike,
        task: ArrayLike | None = None,
        *,
        grid: Sequence[Mapping[str, Any]],
    ) -> "Iterator[Self]":
        """Yield a fitted clone for each point of a grid of parameters, in its order.

        Parameters
        ----------
        X, y, task : array-like
            As for :meth:`fit`.
        grid : sequence of mappings
            Parameters that replace those of this estimator.
        """
        for point in grid:
            yield clone(self).set_params(**point).fit(X, y, task)

    @classmethod
    def unsupported(cls, data: "MultiTaskData") -> str | None:
        """Return why the method cannot run on the data, or None if it can."""
        return None

    def _check_params(self) -> None:
        """Raise ValueError if a parameter is out of range."""

    def _dense_only(self) -> str | None:
        """Return why inputs must be dense, or None if they may be sparse."""
        return "its computations need dense arrays"

    def _fit(self, X: FloatArray, y: FloatArray, task: IntArray) -> None:
        raise NotImplementedError

    def _predict(self, X: FloatArray, task: IntArray) -> FloatArray:
        raise NotImplementedError

    def _validate_fit(
        self, X: ArrayLike, y: ArrayLike, task: ArrayLike | None
    ) -> tuple[FloatArray, FloatArray, IntArray]:
        if np.asarray(y).dtype.kind in "US":
            raise ValueError(
                "y holds text, and the targets of a regression must be numbers: "
                "convert them, or take a classifier if they are labels"
            )
        X_array, y_array = check_inputs(
            self, X, y, y_numeric=True, ensure_min_samples=1
        )
        y_array = np.asarray(y_array, dtype=np.float64)
        refuse_overflow(X_array, "X", "bring the inputs to a smaller scale")
        refuse_overflow(y_array, "y", "bring the targets to a smaller scale")
        n = X_array.shape[0]
        labels = np.zeros(n, dtype=np.intp) if task is None else task_labels(task, n)
        self.tasks_, index = np.unique(labels, return_inverse=True)
        return X_array, y_array, index.astype(np.intp).ravel()

    def _encode(self, task: ArrayLike | None, n: int) -> IntArray:
        """Return task numbers for labels that ``fit`` has seen."""
        if task is None:
            if self.tasks_.size > 1:
                raise ValueError(
                    f"task is needed: the estimator was fitted on {self.tasks_.size} "
                    "tasks"
                )
            return np.zeros(n, dtype=np.intp)
        labels = task_labels(task, n)
        numbers = {label: number for number, label in enumerate(self.tasks_.tolist())}
        distinct, inverse = np.unique(labels, return_inverse=True)
        unseen = [label for label in distinct.tolist() if label not in numbers]
        if unseen:
            shown = ", ".join(repr(label) for label in unseen[:5])
            more = f" and {len(unseen) - 5} more" if len(unseen) > 5 else ""
            raise ValueError(f"task not seen by fit: {shown}{more}")
        encoded = np.array([numbers[label] for label in distinct.tolist()], np.intp)
        return encoded[inverse.ravel()]


class PathEstimator(MultiTaskEstimator):
    """Base of the methods whose fits along a path share most of their work.

    Points of a grid that differ in the parameters ``along`` alone make a path: what
    they share is prepared once, and they are fitted in the order of their positions,
    each from the one before. A subclass implements ``_position``, ``_prepare`` and
    ``_follow``.
    """

    #: Parameters that differ along a path.
    along: ClassVar[tuple[str, ...]] = ("gamma",)

    def fit_path(
        self,
        X: ArrayLike,
        y: ArrayLike,
        task: ArrayLike | None = None,
        *,
        grid: Sequence[Mapping[str, Any]],
    ) -> "Iterator[Self]":
        """Yield a fitted clone for each point of a grid of parameters, in its order.

        Parameters
        ----------
        X, y, task : array-like
            As for :meth:`fit`.
        grid : sequence of mappings
            Parameters that replace those of this estimator. Points of one path are
            fitted together when the first of them is due.
        """
        estimators = [clone(self).set_params(**point) for point in grid]
        for estimator in estimators:
            arrays = estimator._validate_fit(X, y, task)
            estimator._check_params()
        keys = [estimator._group_key() for estimator in estimators]
        done: set[int] = set()
        for position, estimator in enumerate(estimators):
            if position not in done:
                group = [i for i, key in enumerate(keys) if key == keys[position]]
                self._fit_group([estimators[i] for i in group], *arrays)
                done.update(group)
            yield estimator

    def _group_key(self) -> str:
        """Return what points of one path have in common."""
        params = self.get_params(deep=False)
        # NumPy would leave out entries of large arrays, and digits of all.
        with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
            return repr([(n, params[n]) for n in params if n not in self.along])

    def _position(self) -> Any:
        """Return what the points of a path are sorted by; all alike unless said."""
        return ()

    def _prepare(
        self, X: FloatArray, y: FloatArray, task: IntArray, *, n_points: int
    ) -> Any:
        """Return what the points of a path share."""
        raise NotImplementedError

    def _follow(self, prepared: Any, previous: Any) -> Any:
        """Fit this point, and return what the next may start from.

        ``previous`` is what the point before returned, None at the first.
        """
        raise NotImplementedError

    def _fit(self, X: FloatArray, y: FloatArray, task: IntArray) -> None:
        self._fit_group([self], X, y, task)

    def _fit_group(
        self, group: "Sequence[Self]", X: FloatArray, y: FloatArray, task: IntArray
    ) -> None:
        prepared = group[0]._prepare(X, y, task, n_points=len(group))
        previous = None
        for estimator in sorted(group, key=lambda each: each._position()):
            previous = estimator._follow(prepared, previous)


def _refuse_search_without_routing() -> None:
    """Raise ValueError within a search that passes tasks to ``fit`` alone.

    Without metadata routing ``score`` gets no tasks: the search would catch what it
    raises, warn of it for every fold and point, and return the first point. Fits that
    fail end the search with one error.
    """
    if get_config()["enable_metadata_routing"]:
        return
    caller = inspect.currentframe()
    while caller is not None:
        module = caller.f_globals.get("__name__")
        if (module, caller.f_code.co_name) == _SEARCH_STEP:
            raise ValueError(
                "a search passes task on with metadata routing only: call "
                "sklearn.set_config(enable_metadata_routing=True) and search over "
                "mtmkl.model_selection.route_tasks(estimator)"
            )
        caller = caller.f_back


def check_inputs(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Return what ``validate_data`` makes of inputs, in float64.

    Raises
    ------
    TypeError
        If they are sparse and the estimator's tags do not say that it takes them.
    """
    if is_sparse(X):
        reason = refusal_of_sparse(estimator, X)
        if reason is not None:
            raise TypeError(reason)
        X = canonical_csr(X)
    return validate_data(
        estimator, X, *y, dtype=np.float64, accept_sparse="csr", **options
    )


def refusal_of_sparse(estimator: Any, X: Any) -> str | None:
    """Return why an estimator does not take sparse inputs, or None if it does.

    An estimator without scikit-learn's tags is taken to know what to do with them.
    """
    has_tags = hasattr(estimator, "__sklearn_tags__")
    if not has_tags or get_tags(estimator).input_tags.sparse:
        return None
    from rich.filesize import decimal

    why = "its tag input_tags.sparse is not set"
    if isinstance(estimator, MultiTaskEstimator):
        why = estimator._dense_only() or why
    return (
        f"X is sparse, and {type(estimator).__name__} takes dense inputs only: {why}; "
        f"X.toarray() would need {decimal(8 * X.shape[0] * X.shape[1])}"
    )


def task_labels(task: ArrayLike, n: int) -> NDArray[Any]:
    """Return the labels of the tasks of n examples, integers or strings.

    Raises
    ------
    ValueError
        If there is not one label for each example, or one is of another kind.
    """
    labels = np.asarray(task)
    if labels.dtype.kind in "US" and not hasattr(task, "dtype"):
        # NumPy has turned numbers among strings into strings.
        labels = np.array(task, dtype=object)
    if labels.ndim != 1 or labels.shape[0] != n:
        raise ValueError(
            f"task must have one label for each of the {n} examples, "
            f"got shape {labels.shape}"
        )
    if labels.dtype.kind == "f":
        odd = ~np.isfinite(labels) | (labels != np.floor(labels))
        if odd.any():
            raise ValueError(
                f"task labels must be integers or strings, got {labels[odd][0]}"
            )
        labels = labels.astype(np.intp)
    elif labels.dtype.kind == "O":
        # Among strings NumPy would turn a missing label into the string "nan".
        for label in labels:
            if not isinstance(label, str | int | np.integer):
                raise ValueError(
                    f"task labels must be integers or strings, got {label!r}"
                )
        if len({isinstance(label, str) for label in labels}) > 1:
            raise ValueError("task labels must be all integers or all strings")
        labels = np.asarray(labels.tolist())
    if labels.dtype.kind not in "iubUS":
        raise ValueError(f"task labels must be integers or strings, got {labels.dtype}")
    return labels


def check_flag(name: str, value: object) -> None:
    """Raise ValueError unless the value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")


def check_count(name: str, value: object, least: int = 1) -> None:
    """Raise ValueError unless the value is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(
            f"{name} must be a whole number of at least {least}, got {_shown(value)}"
        )


def check_number(name: str, value: object) -> None:
    """Raise ValueError unless the value is a finite number."""
    if not _is_number(value):
        raise ValueError(f"{name} must be a finite number, got {_shown(value)}")


def check_positive(name: str, value: object) -> None:
    """Raise ValueError unless the value is a positive finite number."""
    if not _is_number(value) or value <= 0:
        raise ValueError(f"{name} must be positive and finite, got {_shown(value)}")


def check_not_negative(name: str, value: object) -> None:
    """Raise ValueError unless the value is a finite number of at least 0."""
    if not _is_number(value) or value < 0:
        raise ValueError(f"{name} must be at least 0 and finite, got {_shown(value)}")


def check_choice(name: str, value: object, choices: tuple[str | None, ...]) -> None:
    """Raise ValueError unless the value is one of the choices."""
    if not isinstance(value, str | None) or value not in choices:
        shown = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {shown}, got {value!r}")


def _is_number(value: object) -> TypeGuard[float]:
    """Return whether the value is a finite number; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return bool(np.isfinite(float(value)))


def _shown(value: object) -> str:
    """Return the value, and its type where no number has it."""
    if isinstance(value, Real) and not isinstance(value, bool):
        return repr(value)
    return f"{value!r} ({type(value).__name__}, not a number)"
