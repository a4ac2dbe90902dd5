"""Estimators of many tasks: validation, labels of tasks, paths of parameters."""

import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from numbers import Number
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from mtmkl.checks import Check, checks
from mtmkl.kernels.base import refuse_overflow
from mtmkl.methods._base.bases import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    clone,
)
from mtmkl.methods._base.checks import check_inputs
from mtmkl.solvers.solution import Solution
from mtmkl.task_labels import SEARCH_REMEDY, task_labels, task_numbers
from mtmkl.typing import FloatArray, IntArray, Samples

if TYPE_CHECKING:
    from mtmkl.datasets.container import MultiTaskData


_SMALLER = "bring the features to a smaller scale"


class MultiTaskEstimator(BaseEstimator):
    """Base class of all methods: ``fit(X, y, task)`` and ``predict(X, task)``.

    ``task`` holds one label per sample: any integers or strings. Without it, all
    samples are one task, with a warning. ``score`` takes it by name, and so it does
    ``sample_weight``. In a Pipeline or a grid search it is passed on by scikit-learn's
    metadata routing, see :func:`mtmkl.model_selection.route_tasks`.

    A method is a :class:`MultiTaskRegressor` or a :class:`MultiTaskClassifier` with
    ``_fit(X, y, task)`` and ``_outputs(X, task)``, whose tasks are numbers 0 … T − 1.
    Its parameters are the fields of a dataclass, or stored by a plain ``__init__``.
    Features are dense float64 arrays. A method that takes sparse features too, as
    canonical CSR arrays, overrides ``_dense_only``.

    Points of a grid that differ in the parameters ``along`` alone make a path. Where
    they can share work, a method has ``_prepare`` and ``_follow`` in place of ``_fit``,
    and ``_position`` if their order is another than that of these values: what they
    share is prepared once, and each is fitted from the one before.

    Attributes
    ----------
    tasks_ : ndarray of shape (T,)
        The labels of the tasks, sorted; task-wise attributes are in this order.
    n_features_in_ : int
        Number of features d.
    """

    tasks_: NDArray[Any]
    n_features_in_: int
    # Of methods that have them.
    objective_: float
    dual_objective_: float
    duality_gap_: float
    n_iter_: int
    history_: Any
    coef_: FloatArray
    intercept_: FloatArray
    target_scale_: float
    tol: float
    max_iter: int

    #: Parameters that may be an array with one value per task.
    per_task_params: ClassVar[tuple[str, ...]] = ()
    #: Whether the method is given the samples that it is then tested on.
    fits_on_test: ClassVar[bool] = False
    #: Parameters in which the points of one path may differ.
    along: ClassVar[tuple[str, ...]] = ()
    #: Whether the method takes samples that all tasks share once, and y task by task.
    _takes_shared: ClassVar[bool] = False
    #: Whether y had a column for each task.
    _has_columns: bool = False
    #: Checks of the parameters, by name.
    _checks: ClassVar[Mapping[str, Check]] = checks()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._dense_only() is None
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, task: ArrayLike | None = None) -> Self:
        """Fit all tasks.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features of all tasks; a sparse matrix where the tag ``input_tags.sparse``
            of the estimator says so.
        y : array-like of shape (n,) or (n, T)
            Targets; for classification any two labels. T columns are T tasks, named 0
            to T − 1, that have all samples in common, as for
            :class:`sklearn.linear_model.MultiTaskLasso`; ``predict`` and
            ``decision_function`` then return T columns for samples without ``task``.
        task : array-like of shape (n,), optional
            Task of each sample; not given where y has a column for each task.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If lengths differ, X or y is not finite, or a parameter is out of range.
        TypeError
            If X is sparse, and the estimator takes dense features only.
        """
        try:
            X_array, y_array, index = self._validate_fit(X, y, task)
            self._check_params()
            self._fit_group([self], X_array, y_array, index)
        except BaseException:
            # Else labels of this fit would name what the model of an earlier one says.
            for name in [name for name in vars(self) if name.endswith("_")]:
                delattr(self, name)
            raise
        return self

    def predict(self, X: ArrayLike, task: ArrayLike | None = None) -> NDArray[Any]:
        """Predict the targets.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Inputs.
        task : array-like of shape (n,), optional
            Task of each sample; may be left out after a fit of a single task.

        Returns
        -------
        ndarray of shape (n,), or (n, T) after a fit of T columns of targets

        Raises
        ------
        ValueError
            If a task was not seen by ``fit``; the message names it.
        """
        check_is_fitted(self)
        X_array = check_inputs(self, X, reset=False)
        refuse_overflow(X_array, "X", _SMALLER)
        n = X_array.shape[0]
        if task is None and self._has_columns:
            return self._outputs_of_all(X_array)
        return self._outputs(X_array, self._encode(task, n))

    def fit_path(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        task: ArrayLike | None = None,
        *,
        grid: Sequence[Mapping[str, Any]],
    ) -> Iterator[Self]:
        """Yield a fitted clone for each point of a grid of parameters, in its order.

        Parameters
        ----------
        X, y, task : array-like
            As for :meth:`fit`, which not all methods need y for.
        grid : sequence of mappings
            Parameters that replace those of this estimator. Where points can share
            work, they are fitted together when the first of them is due.
        """
        estimators = [clone(self).set_params(**point) for point in grid]
        # Of the originals: copies of an array or a kernel would be others.
        own = self.get_params(deep=False)
        keys = [self._group_key({**own, **point}) for point in grid]
        groups: dict[Hashable, list[Self]] = {}
        for key, estimator in zip(keys, estimators, strict=True):
            groups.setdefault(key, []).append(estimator)
        for first, *others in groups.values():
            arrays = first._validate_fit(X, y, task)
            known = {k: v for k, v in vars(first).items() if k.endswith("_")}
            known["_has_columns"] = first._has_columns
            for estimator in others:
                estimator.__dict__.update(known)
        for estimator in estimators:
            estimator._check_params()
        for key, estimator in zip(keys, estimators, strict=True):
            if key in groups:
                group = groups.pop(key)
                group[0]._fit_group(group, *arrays)
            yield estimator

    @classmethod
    def unsupported(cls, data: "MultiTaskData") -> str | None:
        """Return why the method cannot run on the data, or None if it can."""
        return None

    def _check_params(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        own: Any = type(self)
        for name in _parameters(own):
            if name in self._checks:
                self._checks[name](name, getattr(self, name))

    def _dense_only(self) -> str | None:
        """Return why features must be dense, or None if they may be sparse."""
        return "its computations need dense arrays"

    def _fit_group(
        self, group: Sequence[Self], X: FloatArray, y: FloatArray, task: IntArray
    ) -> None:
        """Fit the points of one path, in the order of their positions."""
        prepared = group[0]._prepare(X, y, task)
        previous = None
        for estimator in sorted(group, key=lambda each: each._position()):
            previous = estimator._follow(prepared, previous)

    def _position(self) -> Any:
        """Return the key by which the points of a path are sorted."""
        return tuple(getattr(self, name) for name in self.along)

    def _prepare(self, X: FloatArray, y: FloatArray, task: IntArray) -> Any:
        """Prepare the data that the points of a path share."""
        return X, y, task

    def _follow(self, prepared: Any, previous: Any) -> Any:
        """Fit this point from the previous one's result, and return its own.

        ``previous`` is None at the first point.
        """
        self._fit(*prepared)

    def _fit(self, X: FloatArray, y: FloatArray, task: IntArray) -> None:
        """Fit this point, of a method whose points share nothing."""
        raise NotImplementedError

    def _outputs(self, X: FloatArray, task: IntArray) -> FloatArray:
        """Return predictions, or the scores of a classifier."""
        raise NotImplementedError

    def _outputs_of_all(self, X: FloatArray) -> FloatArray:
        """Return the outputs for every task, (n, T)."""
        n, n_tasks = X.shape[0], self.tasks_.size
        rows, numbers = np.tile(np.arange(n), n_tasks), np.repeat(self.tasks_, n)
        return self._outputs(X[rows], numbers).reshape(n_tasks, n).T

    @property
    def _limits(self) -> dict[str, Any]:
        """The arguments by which a solver stops."""
        return {"tol": self.tol, "max_iter": self.max_iter}

    def _keep_certificate(self, solution: Solution) -> None:
        """Set the fitted attributes of a solution's certificate."""
        certificate = solution.certificate
        self.objective_ = certificate.objective
        self.dual_objective_ = certificate.dual_objective
        self.duality_gap_ = certificate.duality_gap
        self.n_iter_ = certificate.n_iter
        self.history_ = certificate.history

    def _group_key(self, params: Mapping[str, Any]) -> Hashable:
        """Return a key that is the same for the points of one path."""
        return _key({n: params[n] for n in params if n not in self.along})

    def _validate_fit(self, X: Any, y: Any, task: Any) -> Samples:
        """Return features, targets, one task's after the other's, and their tasks."""
        shape = np.asarray(y).shape
        self._has_columns = task is None and len(shape) == 2 and shape[1] > 1
        X, y = check_inputs(self, X, y, multi_output=self._has_columns)
        refuse_overflow(X, "X", _SMALLER)
        y, n = self._targets(y), X.shape[0]
        if not self._has_columns:
            return X, y, self._number(task, n)
        self.tasks_ = np.arange(shape[1])
        if not self._takes_shared:
            X = X[np.tile(np.arange(n), shape[1])]
        return X, y.ravel(order="F"), np.repeat(self.tasks_, n)

    def _targets(self, y: NDArray[Any]) -> FloatArray:
        """Return the targets as numbers."""
        raise NotImplementedError

    def _number(self, task: ArrayLike | None, n: int) -> IntArray:
        """Set ``tasks_``, and return the number of each sample's task."""
        labels = task_labels(task, n, stacklevel=5)  # the caller of fit
        self.tasks_, index = np.unique(labels, return_inverse=True)
        if self.tasks_.size > 1 and _will_not_be_scored():
            raise ValueError(
                "task reaches fit, and would not reach score, so that no score is a "
                f"number: {SEARCH_REMEDY}"
            )
        return index.astype(np.intp).ravel()

    def _encode(self, task: ArrayLike | None, n: int) -> IntArray:
        """Return task numbers for labels that ``fit`` has seen."""
        return task_numbers(task, n, self.tasks_)


# What methods of a family share is mixed into a method before its base class, so that
# none is more than three classes deep; its ``super()`` is that base.
if TYPE_CHECKING:
    Mixin = MultiTaskEstimator
else:
    Mixin = object


def _will_not_be_scored() -> bool:
    """Tell whether a search of scikit-learn fits with tasks and scores without them.

    It gives metadata to ``fit`` alone where routing is off, and would go on to choose
    among scores that are all ``nan``.
    """
    if get_config()["enable_metadata_routing"]:
        return False
    frame = sys._getframe(1)
    for _ in range(16):
        if frame.f_code.co_name == "_fit_and_score":
            return bool(frame.f_globals["__name__"].startswith("sklearn."))
        if frame.f_back is None:
            return False
        frame = frame.f_back
    return False


def _key(value: Any) -> Hashable:
    """Return a key that plain values share if they are equal, others if identical."""
    kind = type(value)
    if value is None or isinstance(value, str | bytes | Number | np.generic):
        return kind, repr(value)
    if isinstance(value, list | tuple):
        return kind, tuple(_key(each) for each in value)
    if isinstance(value, Mapping):
        return kind, tuple((_key(k), _key(v)) for k, v in value.items())
    if kind is np.ndarray:
        return value.dtype, value.shape, value.tobytes()
    defined = vars(kind).get("__dataclass_params__")
    if defined is not None and defined.frozen and defined.eq:  # most kernels
        return kind, tuple(_key(getattr(value, f.name)) for f in fields(value))
    return kind, id(value)


@cache
def _parameters(cls: Any) -> tuple[str, ...]:
    """Return the names of the parameters, without inspecting a class twice."""
    return tuple(cls._get_param_names())


def _of_samples(
    y: ArrayLike, predicted: NDArray[Any], weight: ArrayLike | None
) -> tuple[Any, NDArray[Any], Any]:
    """Return targets, predictions and weights, of T columns those in one."""
    if predicted.ndim > 1:
        if weight is not None:
            weight = np.repeat(weight, predicted.shape[1])
        y, predicted = np.ravel(y), predicted.ravel()
    return y, predicted, weight


class MultiTaskRegressor(RegressorMixin, MultiTaskEstimator):
    """Base class of regressions."""

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        task: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the coefficient of determination R² over all samples, weighted."""
        predicted = self.predict(X, task)
        y, predicted, weight = _of_samples(y, predicted, sample_weight)
        return float(r2_score(y, predicted, sample_weight=weight))

    def _targets(self, y: NDArray[Any]) -> FloatArray:
        is_text = y.dtype.kind == "O" and any(isinstance(x, str) for x in y.flat)
        if is_text or y.dtype.kind in "US":
            raise ValueError(
                "y holds text, and the targets of a regression must be numbers: "
                "convert them, or take a classifier if they are labels"
            )
        targets = np.asarray(y, dtype=np.float64)
        refuse_overflow(targets, "y", "bring the targets to a smaller scale")
        return targets


class MultiTaskClassifier(ClassifierMixin, MultiTaskEstimator):
    """Base class of classifiers of two classes, the same two in every task.

    ``_fit`` gets labels −1 and +1; ``_outputs`` returns scores, whose positive values
    stand for the second class. A task may hold samples of one class only; what
    becomes of it is up to the method.

    Attributes
    ----------
    classes_ : ndarray of shape (2,) or (1,)
        The labels, sorted.
    """

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def decision_function(
        self, X: ArrayLike, task: ArrayLike | None = None
    ) -> FloatArray:
        """Return the scores of samples, (n,); positive ones stand for ``classes_[1]``.

        X and task are as for :meth:`fit`; task may be left out after a fit of a single
        one. Raises ValueError for a task that ``fit`` has not seen.
        """
        return super().predict(X, task)

    def predict(self, X: ArrayLike, task: ArrayLike | None = None) -> NDArray[Any]:
        """Predict the classes, (n,); parameters as for :meth:`decision_function`."""
        scores = self.decision_function(X, task)
        if self.classes_.size == 1:
            return np.full(scores.shape, self.classes_[0])
        labels: NDArray[Any] = self.classes_[(scores > 0).astype(np.intp)]
        return labels

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        task: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the share of samples, weighted, that are classified correctly."""
        predicted = self.predict(X, task)
        y, predicted, weight = _of_samples(y, predicted, sample_weight)
        return float(accuracy_score(y, predicted, sample_weight=weight))

    def _targets(self, y: NDArray[Any]) -> FloatArray:
        if y.dtype.kind not in "biufUS":
            check_classification_targets(y)
        self.classes_, code = np.unique(y, return_inverse=True)
        if y.dtype.kind == "f" and np.any(self.classes_ % 1.0 != 0.0):
            check_classification_targets(y)  # slow
        if self.classes_.size > 2:
            shown = ", ".join(str(label) for label in self.classes_[:5])
            shown += ", …" if self.classes_.size > 5 else ""
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}, its classes are {shown}: make tasks of "
                "two classes, as mtmkl.datasets.tasks.one_vs_one does."
            )
        return np.where(code.reshape(y.shape) == self.classes_.size - 1, 1.0, -1.0)
