"""Grid search in which the points of a grid are fitted along paths."""

import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import wraps
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn import config_context
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import _safe_split, available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted

from mtmkl.model_selection.folds import TaskKFold
from mtmkl.model_selection.task_column import route_tasks
from mtmkl.task_labels import task_labels
from mtmkl.typing import FloatArray, IntArray

Scorer = Callable[..., float]


def fits_along(
    estimator: Any,
    X: Any,
    y: Any,
    task: Any,
    grid: Sequence[Mapping[str, Any]],
) -> Iterator[Any]:
    """Yield the estimator fitted at each point of a grid, in its order.

    An estimator with a ``fit_path`` of its own shares work between the points. In a
    pipeline whose last step has one, and where the grid is of this step alone, the
    steps before it are fitted once, with ``task`` where they request it. Any other
    estimator whose ``fit``, or that of the last step, takes ``task`` is cloned and
    fitted.
    """
    if hasattr(estimator, "fit_path"):
        yield from estimator.fit_path(X, y, task, grid=grid)
        return
    if isinstance(estimator, Pipeline) and hasattr(estimator[-1], "fit_path"):
        name, last = estimator.steps[-1]
        own = [{k.removeprefix(f"{name}__"): v for k, v in p.items()} for p in grid]
        if all(k.startswith(f"{name}__") for point in grid for k in point):
            head = clone(estimator[:-1])
            inputs = X
            if head.steps:
                with config_context(enable_metadata_routing=True):
                    routing = head.get_metadata_routing()
                    wants = routing.consumes("fit_transform", ["task"])
                    inputs = head.fit_transform(X, y, **dict.fromkeys(wants, task))
            for fitted in last.fit_path(inputs, y, task, grid=own):
                yield Pipeline([*head.steps, (name, fitted)])
            return
    for point in grid:
        fitted = clone(estimator).set_params(**point)
        with config_context(enable_metadata_routing=True):
            fitted.fit(X, y, task=task)
        yield fitted


def _delegates(name: str) -> Any:
    """Return the decorator of a method that the search has if the estimator has it."""

    def check(search: "PathSearchCV") -> bool:
        fitted = getattr(search, "best_estimator_", search.estimator)
        getattr(fitted, name)  # raises AttributeError
        return True

    return available_if(check)


@dataclass(eq=False, repr=False)
class _Tasked(BaseEstimator):
    """A fitted estimator that predicts for known tasks, as scorers need it."""

    fitted: Any
    task: Any

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self.fitted)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.fitted, name)
        if name not in ("predict", "decision_function", "predict_proba", "score"):
            return found

        @wraps(found)
        def with_task(*args: Any, **params: Any) -> Any:
            with config_context(enable_metadata_routing=True):
                return found(*args, task=self.task, **params)

        return with_task


@dataclass(eq=False, repr=False)
class PathSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Grid search by cross-validation within tasks, along paths of parameters.

    As :class:`sklearn.model_selection.GridSearchCV`, with two differences: the task of
    each sample is an argument of ``fit``, ``predict`` and ``score``, without metadata
    routing; and in each fold the points of the grid are fitted together, which shares
    Gram matrices and warm starts where the estimator has a ``fit_path``. The scores are
    those of separate fits, within the tolerance of the estimator.

    Parameters
    ----------
    estimator : estimator
        A method of this package, a pipeline that ends in one, or any other estimator
        whose ``fit`` takes ``task``.
    param_grid : dict or list of dicts
        Values of parameters, as for :class:`sklearn.model_selection.ParameterGrid`.
    scoring : str or callable, optional
        Name of a scorer of scikit-learn, or a callable ``scorer(estimator, X, y)``; by
        default the estimator's ``score``. One that takes ``task`` is given it, as
        :class:`~mtmkl.model_selection.TaskScorer` is.
    cv : int, splitter or iterable of splits, optional
        Splitters are given the tasks as groups. A number k stands for
        ``TaskKFold(k, shuffle=False)``; by default k = 5. ``GroupKFold(k)`` leaves
        whole tasks out, for estimators that predict for tasks they have not seen.
    refit : bool
        Whether to fit the best point to all data.
    n_jobs : int, optional
        Number of folds that are computed at the same time, as for
        :class:`joblib.Parallel`.

    Attributes
    ----------
    cv_results_ : dict of str to ndarray
        By the keys of ``GridSearchCV``: params, param_*, split*_test_score,
        mean_test_score, std_test_score, rank_test_score, mean_fit_time, std_fit_time.
        The first point of a path bears the time of what the points share.
    best_index_, best_params_, best_score_
        The point with the largest mean score, the first one of equals.
    best_estimator_ : estimator
        It, fitted to all data; with ``refit``.
    refit_time_ : float
        Seconds of this last fit; with ``refit``.
    n_splits_ : int
        Number of folds.
    classes_ : ndarray
        The labels of a classifier; with ``refit``.

    Examples
    --------
    >>> from mtmkl.datasets import linear_synthetic
    >>> from mtmkl.methods import MultiTaskFeatureLearningRegressor
    >>> data = linear_synthetic(n_irrelevant=2, n_tasks=20)
    >>> model = MultiTaskFeatureLearningRegressor()
    >>> search = PathSearchCV(model, {"gamma": [0.01, 0.1, 1.0]})
    >>> search.fit(data.X, data.y, task=data.task).best_params_
    {'gamma': 0.01}
    """

    estimator: Any
    param_grid: Mapping[str, Iterable[Any]] | Sequence[Mapping[str, Iterable[Any]]]
    _: KW_ONLY
    scoring: str | Scorer | None = None
    cv: Any = None
    refit: bool = True
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self.estimator)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cv_results_")

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels of a classifier."""
        classes: NDArray[Any] = self._refitted().classes_
        return classes

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        return int(self._refitted().n_features_in_)

    def fit(self, X: Any, y: ArrayLike, task: ArrayLike | None = None) -> Self:
        """Score every point of the grid in every fold, and fit the best one.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features of all tasks.
        y : array-like of shape (n,) or (n, T)
            Targets, of which an estimator may take a column per task.
        task : array-like of shape (n,), optional
            Task of each sample; without it, all are one task, or those of the columns
            of y.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If lengths differ, the grid or the folds are empty, the estimator refuses a
            parameter or the data, or no point has a score.
        """
        for name in ("best_estimator_", "refit_time_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        grid = list(ParameterGrid(cast(Any, self.param_grid)))
        if not grid:
            raise ValueError(f"param_grid has no points: {self.param_grid!r}")
        has_columns = task is None and np.ndim(y) == 2
        labels = None if has_columns else task_labels(task, _num_samples(X))
        splits = self._splits(X, y, labels)
        scorer = get_scorer(self.scoring)
        model = clone(self.estimator)
        if not hasattr(model, "fit_path"):
            model = route_tasks(model)
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(_scores_in_fold)(model, X, y, labels, grid, scorer, *split)
            for split in splits
        )
        scores, seconds = (np.array(each).T for each in zip(*found, strict=True))
        self.n_splits_ = len(splits)
        self.scorer_ = scorer
        self.cv_results_ = _results(grid, scores, seconds)
        mean = self.cv_results_["mean_test_score"]
        if np.isnan(mean).all():
            raise ValueError(
                f"no point of the grid has a score in every fold (scoring="
                f"{self.scoring!r}): a metric may have no value where a fold holds "
                "labels of one class"
            )
        self.best_index_ = int(np.nanargmax(mean))
        self.best_score_ = float(mean[self.best_index_])
        self.best_params_ = grid[self.best_index_]
        if self.refit:
            start = time.perf_counter()
            best = clone(model).set_params(**clone(self.best_params_, safe=False))
            with config_context(enable_metadata_routing=True):
                self.best_estimator_ = best.fit(X, y, task=labels)
            self.refit_time_ = time.perf_counter() - start
        return self

    @_delegates("predict")
    def predict(self, X: Any, task: ArrayLike | None = None) -> NDArray[Any]:
        """Predict by the best estimator; parameters as for :meth:`fit`."""
        return np.asarray(self._best(task).predict(X))

    @_delegates("decision_function")
    def decision_function(self, X: Any, task: ArrayLike | None = None) -> FloatArray:
        """Return the scores of samples by the best estimator."""
        return np.asarray(self._best(task).decision_function(X))

    @_delegates("predict_proba")
    def predict_proba(self, X: Any, task: ArrayLike | None = None) -> FloatArray:
        """Return the probabilities of the classes by the best estimator."""
        return np.asarray(self._best(task).predict_proba(X))

    def score(self, X: Any, y: ArrayLike, *, task: ArrayLike | None = None) -> float:
        """Return the score of the best estimator, by ``scoring``."""
        return _score(self._refitted(), self.scorer_, X, y, task)

    def _best(self, task: ArrayLike | None) -> _Tasked:
        return _Tasked(self._refitted(), task)

    def _refitted(self) -> Any:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                "the search has no best_estimator_: fit it with refit=True"
            )
        return self.best_estimator_

    def _splits(
        self, X: Any, y: Any, task: NDArray[Any] | None
    ) -> list[tuple[IntArray, IntArray]]:
        cv = 5 if self.cv is None else self.cv
        if isinstance(cv, int | np.integer):
            cv = TaskKFold(int(cv), shuffle=False)
        return list(check_cv(cv).split(X, y, groups=task))


def _scores_in_fold(
    estimator: Any,
    X: Any,
    y: Any,
    task: NDArray[Any] | None,
    grid: list[dict[str, Any]],
    scorer: Scorer | None,
    train: IntArray,
    test: IntArray,
) -> tuple[list[float], list[float]]:
    """Return the scores of all points in a fold, and the seconds of their fits."""
    parts: list[tuple[Any, Any, Any]] = [
        (
            *_safe_split(estimator, X, y, rows, train),
            task if task is None else task[rows],
        )
        for rows in (train, test)
    ]
    scores, seconds = [], []
    start = time.perf_counter()
    for fitted in fits_along(estimator, *parts[0], grid):
        seconds.append(time.perf_counter() - start)
        scores.append(_score(fitted, scorer, *parts[1]))
        start = time.perf_counter()
    return scores, seconds


def _score(fitted: Any, scorer: Scorer | None, X: Any, y: Any, task: Any) -> float:
    if scorer is not None and "task" in inspect.signature(scorer).parameters:
        with config_context(enable_metadata_routing=True):
            return float(scorer(fitted, X, y, task=task))
    tasked = _Tasked(fitted, task)
    return float(tasked.score(X, y) if scorer is None else scorer(tasked, X, y))


def _results(
    grid: list[dict[str, Any]], scores: FloatArray, seconds: FloatArray
) -> dict[str, Any]:
    """Return what :class:`sklearn.model_selection.GridSearchCV` calls its results."""
    found: dict[str, Any] = {
        "mean_fit_time": seconds.mean(axis=1),
        "std_fit_time": seconds.std(axis=1),
    }
    for name in sorted({name for point in grid for name in point}):
        column = np.ma.MaskedArray(np.empty(len(grid), dtype=object), mask=True)
        for k, point in enumerate(grid):
            if name in point:
                column[k] = point[name]
        found[f"param_{name}"] = column
    found["params"] = grid
    for k, column in enumerate(scores.T):
        found[f"split{k}_test_score"] = column
    mean = scores.mean(axis=1)
    worst = np.where(np.isnan(mean), -np.inf, mean)
    return {
        **found,
        "mean_test_score": mean,
        "std_test_score": scores.std(axis=1),
        "rank_test_score": rankdata(-worst, method="min").astype(np.int32),
    }
