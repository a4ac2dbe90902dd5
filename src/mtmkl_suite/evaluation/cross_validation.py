"""Choosing hyper-parameters on training data: cross-validation within tasks."""

import numbers
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtmkl.model_selection.path_search import fits_along
from mtmkl.sparse import Inputs
from mtmkl.typing import FloatArray, IntArray
from mtmkl_suite.evaluation.predictions import predictions
from mtmkl_suite.evaluation.supplied import as_json

TIE = 1e-4
"""Relative difference of errors that is none. Points of a grid beyond which no bound
holds are one problem, of which fits with a tolerance differ by up to 7e-5."""


@dataclass(frozen=True)
class Choice:
    """Hyper-parameters chosen, and whether they lie at the end of their grid."""

    params: dict[str, Any]
    """Values to give to the estimator; an array of length T where chosen per task."""
    at_grid_edge: float | None
    """Share of the choices (one, or one per task) that lie at an end of a numeric axis
    and are strictly better than the neighbour there; where some points of the product
    are not in the grid and the neighbour is one of them, better than all points away
    from that end. Zero is never an end. An axis of two values has nothing but ends and
    does not count; None if no axis does."""


def held_out_fits(
    estimator: Any,
    X: Inputs,
    y: FloatArray,
    task: IntArray,
    fold: IntArray,
    grid: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[int, NDArray[np.bool_], Any]]:
    """Yield what cross-validation fits: every grid point, for every fold."""
    for part in np.unique(fold):
        held = fold == part
        # A task all of whose rows are held out has nothing to learn from.
        held &= np.isin(task, task[~held])
        train = fold != part
        path = fits_along(estimator, X[train], y[train], task[train], grid)
        for point, fitted in enumerate(path):
            yield point, held, fitted


def cross_validation_errors(
    estimator: Any,
    X: Inputs,
    y: FloatArray,
    task: IntArray,
    fold: IntArray,
    grid: Sequence[Mapping[str, Any]],
    n_tasks: int,
) -> FloatArray:
    """Return the summed squared validation error of each grid point and task."""
    total = np.zeros((len(grid), n_tasks))
    for point, held, fitted in held_out_fits(estimator, X, y, task, fold, grid):
        error = (y[held] - predictions(fitted, X[held], task[held])) ** 2
        total[point] += np.bincount(task[held], error, n_tasks)
    return total


def choose(
    errors: FloatArray,
    grid: Sequence[Mapping[str, Any]],
    *,
    per_task: bool,
) -> Choice:
    """Return the grid point of the smallest error.

    Ties within :data:`TIE` of the smallest error go to the point nearest the middle of
    the grid.

    ``errors``: Summed squared errors, so that a task weighs by its number of samples;
    or one column with what a selection by a metric minimises.
    """
    picks, edge = best_points(
        errors if per_task else errors.sum(axis=1, keepdims=True), grid
    )
    if per_task:
        names = list(grid[0])
        return Choice({n: np.array([grid[k][n] for k in picks]) for n in names}, edge)
    return Choice(dict(grid[picks[0]]), edge)


def best_points(
    errors: FloatArray, grid: Sequence[Mapping[str, Any]]
) -> tuple[list[int], float | None]:
    """Return the point of least error in each column, by the rules of `choose`."""
    axes = _axes(grid)
    places = [_position(point, axes) for point in grid]
    picks = [_best(column, axes, places) for column in errors.T]
    if not _axes_with_ends(axes, grid):
        return picks, None
    index = {tuple(place.values()): k for k, place in enumerate(places)}
    at_edge = [
        _at_edge(k, column, grid, axes, places[k], index)
        for k, column in zip(picks, errors.T, strict=True)
    ]
    return picks, float(np.mean(at_edge))


def _axes(grid: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the values of each parameter: numbers rising, others as they come."""
    axes: dict[str, dict[str, Any]] = {}
    for point in grid:
        for name, value in point.items():
            axes.setdefault(name, {})[as_json(value)] = value
    return {
        name: sorted(values, key=values.__getitem__)
        if all(isinstance(value, numbers.Real) for value in values.values())
        else list(values)
        for name, values in axes.items()
    }


def _axes_with_ends(
    axes: Mapping[str, list[str]], grid: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the axes of numbers that have ends and something between them."""
    return [
        name
        for name, values in axes.items()
        if len(values) > 2
        and all(isinstance(point[name], numbers.Real) for point in grid)
    ]


def _position(
    point: Mapping[str, Any], axes: Mapping[str, list[str]]
) -> dict[str, int]:
    return {name: values.index(as_json(point[name])) for name, values in axes.items()}


def _best(
    error: FloatArray,
    axes: Mapping[str, list[str]],
    places: Sequence[Mapping[str, int]],
) -> int:
    smallest = error.min()
    tied = np.flatnonzero(error <= smallest + _tie(smallest))

    def distance_from_middle(point: int) -> float:
        return sum(abs(places[point][n] - (len(v) - 1) / 2) for n, v in axes.items())

    return int(min(tied, key=lambda k: (distance_from_middle(int(k)), k)))


def _tie(error: float) -> float:
    """Return what of a difference to an error is none; of 1 − AUC = 0, rounding."""
    return max(TIE * abs(error), 1e-12)


def _at_edge(
    pick: int,
    error: FloatArray,
    grid: Sequence[Mapping[str, Any]],
    axes: Mapping[str, list[str]],
    where: Mapping[str, int],
    index: Mapping[tuple[int, ...], int],
) -> bool:
    for name in _axes_with_ends(axes, grid):
        value, values = grid[pick][name], axes[name]
        if value == 0:
            continue
        if where[name] in (0, len(values) - 1):
            inner = 1 if where[name] == 0 else len(values) - 2
            neighbour = index.get(tuple({**where, name: inner}.values()))
            if neighbour is None:
                others = [k for k, point in enumerate(grid) if point[name] != value]
            else:
                others = [neighbour]
            best = min(error[k] for k in others)
            if error[pick] < best - _tie(best):
                return True
    return False
