"""Choosing hyper-parameters on training data: cross-validation within tasks."""

import numbers
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtmkl.model_selection.path_search import fits_along
from mtmkl.sparse import Inputs
from mtmkl.typing import FloatArray, IntArray
from mtmkl_suite.evaluation.supplied import as_json

TIE = 1e-4
"""Relative difference of errors that is none. Points of a grid beyond which no bound
holds are one problem, of which fits with a tolerance differ by up to 7e-5."""


def predictions(
    estimator: Any,
    X: Inputs,
    task: IntArray,
    function: str = "predict",
) -> FloatArray:
    """Return what a fitted method predicts, if it can be scored."""
    values = np.asarray(getattr(estimator, function)(X, task=task))
    n = X.shape[0]
    if values.shape != (n,):
        raise ValueError(
            f"{function} returned shape {values.shape} for {n} samples: "
            f"return one number for each, shape ({n},)"
        )
    if values.dtype.kind not in "iuf":
        kind = values.dtype.name.rstrip("0123456789")
        raise TypeError(
            f"{function} returned values of type {kind}, such as "
            f"{values[:1].tolist()}: return numbers, for classes the labels -1 and +1 "
            "given to fit"
        )
    numbers = values.astype(np.float64, copy=False)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        raise ValueError(
            f"{function} returned values that are not finite for {wrong.size} of "
            f"{n} samples (first: {numbers[wrong[0]]} at position {wrong[0]})"
        )
    return numbers


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


def best_points(
    errors: FloatArray, grid: Sequence[Mapping[str, Any]]
) -> tuple[list[int], float | None]:
    """Return the point of least error in each column, and the share of those at an end.

    Ties within :data:`TIE` of the least error go to the point nearest the middle of the
    grid. ``errors`` are summed squares, so that a sum over tasks weighs them by their
    numbers of samples, or what a selection by a metric minimises.

    A point is at an end if it lies at one of a numeric axis and is strictly better than
    the neighbour there; where some points of the product are not in the grid and the
    neighbour is one of them, better than all points away from that end. Zero is never
    an end. An axis of two values has nothing but ends and does not count; the share is
    None if no axis does.
    """
    axes = _axes(grid)
    places = [
        {name: values.index(as_json(point[name])) for name, values in axes.items()}
        for point in grid
    ]
    distances = [
        sum(abs(place[name] - (len(v) - 1) / 2) for name, v in axes.items())
        for place in places
    ]
    picks = []
    for error in errors.T:
        tied = np.flatnonzero(error <= error.min() + _tie(error.min()))
        picks.append(min(tied.tolist(), key=lambda k: (distances[k], k)))
    ended = {
        name: len(values) - 1
        for name, values in axes.items()
        if len(values) > 2
        and all(isinstance(point[name], numbers.Real) for point in grid)
    }
    if not ended:
        return picks, None

    def is_better(pick: int, error: FloatArray, name: str, last: int) -> bool:
        value, place = grid[pick][name], places[pick]
        if value == 0 or place[name] not in (0, last):
            return False
        inner = {**place, name: 1 if place[name] == 0 else last - 1}
        others = [k for k, each in enumerate(places) if each == inner]
        others = others or [k for k, each in enumerate(grid) if each[name] != value]
        least = min(error[k] for k in others)
        return bool(error[pick] < least - _tie(least))

    at_end = [
        any(is_better(pick, error, *axis) for axis in ended.items())
        for pick, error in zip(picks, errors.T, strict=True)
    ]
    return picks, float(np.mean(at_end))


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


def _tie(error: float) -> float:
    """Return what of a difference to an error is none; of 1 − AUC = 0, rounding."""
    return max(TIE * abs(error), 1e-12)
