"""Ways to choose the hyper-parameters of a method, one function each.

A function gets what it may fit on and yields what it has fitted, to be scored on test
rows. A paper's own way is found by its path, ``package.module:name``.
"""

import importlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtmkl.model_selection.path_search import fits_along
from mtmkl.sparse import Inputs
from mtmkl.typing import FloatArray, IntArray
from mtmkl_suite.evaluation.cross_validation import (
    best_points,
    held_out_fits,
    predictions,
)
from mtmkl_suite.evaluation.supplied import as_json
from mtmkl_suite.metrics import Outcome

if TYPE_CHECKING:
    from mtmkl.datasets.container import MultiTaskData
    from mtmkl_suite.config.models import Experiment, Method
    from mtmkl_suite.data.splits import Split
    from mtmkl_suite.metrics import Metric

Point = dict[str, Any]


@dataclass(frozen=True)
class Fitted:
    """A fit to be scored."""

    estimator: Any
    """Fitted; None if it is ``measured`` already."""
    params: Mapping[str, Any]
    """Hyper-parameters that were chosen."""
    at_grid_edge: float | None
    """See :func:`~mtmkl_suite.evaluation.cross_validation.best_points`; None if nothing
    was chosen."""
    setting: str
    """Point of a path, as JSON; "" for what was chosen."""
    seconds: float
    """Processor time to choose and fit, which other work hardly changes."""
    on_validation: Outcome | None = None
    """Predictions of validation rows, scored too."""
    measured: Mapping[str, float] | None = None
    """Values of metrics over all tasks, in place of scores on test rows."""


@dataclass(frozen=True)
class Part:
    """Data of a choice: those of a cell, or of one of its subsets of tasks."""

    experiment: "Experiment"
    method: "Method"
    along: Sequence[str]
    """Parameters of the grid that are walked along; the others are chosen."""
    criterion: "Metric"
    """Metric of a choice on validation rows, or by ``select_by``."""
    data: "MultiTaskData"
    """All rows of all tasks; ``split`` says which have what role."""
    split: "Split"
    repeat: int
    n_tasks: int
    grid: list[Point]
    """Points to choose from; one without parameters if the method has no grid."""
    train: "MultiTaskData"
    test: "MultiTaskData"
    """Rows of these tasks."""
    fold: IntArray
    """Fold of each training row."""
    validation: Callable[[], "MultiTaskData"]
    """Returns the validation rows of these tasks."""
    estimator: Callable[[], Any]
    """Returns a new estimator with the method's fixed parameters."""
    cached: Callable[..., NDArray[Any]]
    """``cached(compute, **key)`` returns the array that ``compute`` returns, kept so
    that a stopped run finds it again."""


@dataclass(frozen=True)
class Selector:
    """A way to choose hyper-parameters."""

    select: Callable[[Part], Iterator[Fitted]]
    """Takes a :class:`Part` and yields what is :class:`Fitted`."""
    needs: str = ""
    """Role or folds that splits must have."""
    takes: Callable[..., Any] | None = None
    """The callable of the fixed parameters and the grid; None is the method's class."""


def none(part: Part) -> Iterator[Fitted]:
    """Fit with the fixed parameters alone."""
    start = time.process_time()
    estimator = part.estimator()
    estimator.fit(part.train.X, part.train.y, task=part.train.task)
    yield Fitted(estimator, {}, None, "", time.process_time() - start)


def common(part: Part) -> Iterator[Fitted]:
    """Choose one point for all tasks by cross-validation, and fit with it."""
    return _by_folds(part, per_task=False)


def per_task(part: Part) -> Iterator[Fitted]:
    """Choose a point for each task by cross-validation, and fit with them."""
    return _by_folds(part, per_task=True)


def alone(part: Part) -> Iterator[Fitted]:
    """Choose a point for each task by cross-validation, and predict it by that.

    Unlike `per_task` it takes any parameter, kernels among them, of methods that learn
    each task by itself. Each chosen point is fitted to all tasks, as in the folds, so
    that scales are those of all training rows.
    """
    start, train = time.process_time(), part.train
    errors, grid = _errors_of_points(part, part.estimator())
    if errors.shape[1] != part.n_tasks:
        raise ValueError(
            "selection 'alone' needs errors of each task: leave out select_by"
        )
    picks, at_grid_edge = best_points(errors, grid)
    chosen = sorted(set(picks))
    fits = (
        fit
        for group in _groups([grid[k] for k in chosen])
        for fit in fits_along(part.estimator(), train.X, train.y, train.task, group)
    )
    # The grid is in the order of its groups, and so are the chosen points.
    models = dict(zip(chosen, fits, strict=True))
    fitted = fitted_by_task(models, picks, grid, at_grid_edge)
    yield replace(fitted, seconds=time.process_time() - start)


def own_validation(part: Part) -> Iterator[Fitted]:
    """Choose for each task by its validation rows, or for all where it has no value."""
    rows, points = part.validation(), list(path(part))
    outcomes = [outcome_of(fitted.estimator, rows) for fitted in points]
    of_all = np.array([part.criterion.loss(outcome) for outcome in outcomes])
    losses = np.array([part.criterion.loss_by_task(outcome) for outcome in outcomes])
    losses = np.where(np.isfinite(losses), losses, of_all[:, np.newaxis])
    _check_losses(part, losses)
    picks, at_grid_edge = best_points(losses, part.grid)
    models = {k: fitted.estimator for k, fitted in enumerate(points)}
    fitted = fitted_by_task(models, picks, part.grid, at_grid_edge)
    yield replace(
        fitted,
        seconds=sum(fitted.seconds for fitted in points),
        on_validation=outcome_of(fitted.estimator, rows),
    )


def fitted_by_task(
    models: Mapping[int, Any],
    picks: Sequence[int],
    grid: Sequence[Point],
    at_grid_edge: float | None = None,
) -> Fitted:
    """Return the fits of the points that tasks have chosen, one for each task."""
    params = {name: [grid[k][name] for k in picks] for name in grid[0]}
    estimator = EstimatorByTask([models[k] for k in picks])
    return Fitted(estimator, params, at_grid_edge, setting="", seconds=0.0)


class EstimatorByTask:
    """Fitted estimators by task; ``n_iter_`` and ``duality_gap_`` are the largest."""

    def __init__(self, models: Sequence[Any]) -> None:
        self._models = list(models)
        for name in ("n_iter_", "duality_gap_"):
            found = [getattr(model, name) for model in models if hasattr(model, name)]
            if found:
                setattr(self, name, max(found))
        if all(hasattr(model, "decision_function") for model in models):
            self.decision_function = self._decide

    def predict(self, X: Inputs, task: IntArray) -> FloatArray:
        """Return the predictions of each row by the estimator of its task."""
        return self._ask("predict", X, task)

    def _decide(self, X: Inputs, task: IntArray) -> FloatArray:
        return self._ask("decision_function", X, task)

    def _ask(self, what: str, X: Inputs, task: IntArray) -> FloatArray:
        out = np.empty(task.size)
        # An estimator is asked once for all of its tasks.
        for model in {id(each): each for each in self._models}.values():
            own = [t for t, each in enumerate(self._models) if each is model]
            rows = np.isin(task, own)
            if rows.any():
                out[rows] = getattr(model, what)(X[rows], task=task[rows])
        return out


def validation(part: Part) -> Iterator[Fitted]:
    """Yield the points of a recorded path, and a choice for each value of ``along``."""
    rows, along = part.validation(), part.along
    # All on validation, then all on test: a path keeps the kernel values of the last
    # features.
    points = [
        replace(fitted, on_validation=outcome_of(fitted.estimator, rows))
        for fitted in path(part)
    ]
    losses = [
        part.criterion.loss(fitted.on_validation)
        for fitted in points
        if fitted.on_validation is not None
    ]
    _check_losses(part, losses)
    errors = np.array(losses)[:, np.newaxis]
    if part.experiment.record_path:
        yield from points
    seconds = sum(fitted.seconds for fitted in points)
    groups: dict[str, list[int]] = {}
    for k, point in enumerate(part.grid):
        fixed = {name: point[name] for name in along}
        setting = as_json(fixed) if fixed else ""
        groups.setdefault(setting, []).append(k)
    for setting, members in groups.items():
        rest = [
            {name: v for name, v in part.grid[k].items() if name not in along}
            for k in members
        ]
        (pick,), at_grid_edge = best_points(errors[members], rest)
        yield replace(
            points[members[pick]],
            params=rest[pick],
            at_grid_edge=at_grid_edge,
            setting=setting,
            seconds=seconds,
        )


def _check_losses(part: Part, losses: ArrayLike) -> None:
    if not np.isfinite(losses).all():
        raise ValueError(
            f"metric {part.criterion.name!r} has no value on the validation rows"
            "; choose by another with select_by"
        )


def path(part: Part) -> Iterator[Fitted]:
    """Fit every point of the grid, in order, and choose none."""
    start, rows = time.process_time(), part.train
    fits = fits_along(part.estimator(), rows.X, rows.y, rows.task, part.grid)
    for point, estimator in zip(part.grid, fits, strict=True):
        seconds = time.process_time() - start
        yield Fitted(estimator, {}, None, as_json(point) if point else "", seconds)
        start = time.process_time()


def on_test(part: Part) -> Iterator[Fitted]:
    """Fit every point of the grid on the test rows: what a control may."""
    return path(replace(part, train=part.test))


SELECTORS = {
    "none": Selector(none),
    "common": Selector(common, "folds"),
    "per_task": Selector(per_task, "folds"),
    "alone": Selector(alone, "folds"),
    "validation": Selector(validation, "validation"),
    "own_validation": Selector(own_validation, "validation"),
    "path": Selector(path),
    "on_test": Selector(on_test),
}
"""Ways to choose, by name; a method is configured with one of the first six."""


def resolve_selector(name: str) -> Selector:
    """Return a way to choose."""
    if name in SELECTORS:
        return SELECTORS[name]
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        known = ", ".join(SELECTORS)
        raise ValueError(
            f"selection {name!r} is unknown; known: {known}; or give "
            f"package.module:name of a Selector ({error})"
        ) from error
    if not isinstance(found, Selector):
        raise ValueError(f"selection {name!r} is no Selector")
    return found


def outcome_of(estimator: Any, data: "MultiTaskData") -> Outcome:
    """Return the predictions of rows, beside their labels.

    A ``decision_function`` ranks labels, and 0 is −1, as classifiers predict; of other
    targets it is not asked. Metrics take a regressor's 0 as +1.
    """
    score = None
    has_labels = bool(np.isin(data.y, (-1.0, 1.0)).all())
    if has_labels and hasattr(estimator, "decision_function"):
        score = predictions(estimator, data.X, data.task, "decision_function")
        prediction = np.where(score > 0, 1.0, -1.0)
    else:
        prediction = predictions(estimator, data.X, data.task)
    return Outcome(
        y=data.y,
        prediction=prediction,
        task=data.task,
        task_names=data.task_names,
        estimator=estimator,
        truth=data.truth,
        score=score,
        sample=data.sample,
    )


def _by_folds(part: Part, *, per_task: bool) -> Iterator[Fitted]:
    start = time.process_time()
    estimator = part.estimator()
    errors, grid = _errors_of_points(part, estimator)
    if not per_task:
        errors = errors.sum(axis=1, keepdims=True)
    picks, at_grid_edge = best_points(errors, grid)
    params: Point = dict(grid[picks[0]])
    if per_task:
        params = {n: np.array([grid[k][n] for k in picks]) for n in grid[0]}
    estimator.set_params(**params)
    estimator.fit(part.train.X, part.train.y, task=part.train.task)
    yield Fitted(estimator, params, at_grid_edge, "", time.process_time() - start)


def _errors_of_points(part: Part, estimator: Any) -> tuple[FloatArray, list[Point]]:
    """Return what cross-validation finds, (n_points, T) or (n_points, 1)."""
    measure = _squared_errors if part.experiment.select_by is None else _losses
    groups = _groups(part.grid)
    found = [partial(measure, part, estimator, group) for group in groups]
    if len(groups) == 1:
        return found[0](), groups[0]
    errors = [
        part.cached(find, group=group)
        for find, group in zip(found, groups, strict=True)
    ]
    return np.vstack(errors), [point for group in groups for point in group]


def _squared_errors(part: Part, estimator: Any, group: list[Point]) -> FloatArray:
    """Return the summed squared error of each point on held-out rows of each task."""
    train, total = part.train, np.zeros((len(group), part.n_tasks))
    fits = held_out_fits(estimator, train.X, train.y, train.task, part.fold, group)
    for point, held, fitted in fits:
        task = train.task[held]
        error = (train.y[held] - predictions(fitted, train.X[held], task)) ** 2
        total[point] += np.bincount(task, error, part.n_tasks)
    return total


def _losses(part: Part, estimator: Any, group: list[Point]) -> FloatArray:
    """Return the mean over folds of the criterion's loss, shape (n_points, 1).

    A fold in which the criterion has no value (an area under a curve where all labels
    are the same) has none for any point, and is left out.
    """
    train, criterion = part.train, part.criterion
    by_fold: list[list[float]] = [[] for _ in group]
    fits = held_out_fits(estimator, train.X, train.y, train.task, part.fold, group)
    for point, held, fitted in fits:
        if not held.any():
            continue
        rows = train.subset(held)
        present = np.unique(rows.task)
        outcome = replace(
            outcome_of(fitted, rows),
            task=np.searchsorted(present, rows.task),
            task_names=tuple(rows.task_names[t] for t in present),
        )
        by_fold[point].append(criterion.loss(outcome))
    losses = np.array(by_fold)
    losses = losses[:, np.isfinite(losses).all(axis=0)]
    if not losses.size:
        raise ValueError(
            f"metric {criterion.name!r} has no value on the held-out rows of "
            "any fold; choose by another with select_by, or take fewer folds"
        )
    mean: FloatArray = losses.mean(axis=1, keepdims=True)
    return mean


def _groups(grid: Sequence[Point]) -> list[list[Point]]:
    """Gather the points that share their structured parameters (kernels): a path."""
    groups: dict[str, list[Point]] = {}
    for point in grid:
        fixed = {k: v for k, v in point.items() if isinstance(v, Mapping | list | str)}
        groups.setdefault(as_json(fixed), []).append(point)
    return list(groups.values())
