"""Choices by test rows: controls that tell how much a protocol could have gained.

Nothing that these choose is a result. They are for readings of kind ``optimistic``.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

import numpy as np

from mtmkl_suite.evaluation.selectors import (
    Fitted,
    Part,
    Point,
    Selector,
    fitted_by_task,
    outcome_of,
    path,
)
from mtmkl_suite.evaluation.supplied import as_json


def _common(part: Part) -> Iterator[Fitted]:
    """Choose the one point for all tasks that is best on the test rows."""
    start = time.process_time()
    points = list(_points(part))
    losses = [
        part.criterion.loss(outcome_of(fitted.estimator, part.test))
        for fitted in points
    ]
    best = int(np.nanargmin(losses))
    yield replace(
        points[best],
        params=part.grid[best],
        setting="",
        seconds=time.process_time() - start,
    )


def _per_task(part: Part) -> Iterator[Fitted]:
    """Choose for each task the point of which the fit is best on its test rows."""
    start = time.process_time()
    points = list(_points(part))
    losses = np.array(
        [
            part.criterion.loss_by_task(outcome_of(fitted.estimator, part.test))
            for fitted in points
        ]
    )
    # A criterion may have no value in a task, whatever the point.
    best = np.nan_to_num(losses, nan=np.inf).argmin(axis=0).tolist()
    models = {k: fitted.estimator for k, fitted in enumerate(points)}
    fitted = fitted_by_task(models, best, part.grid)
    yield replace(fitted, seconds=time.process_time() - start)


def _points(part: Part) -> Iterator[Fitted]:
    """Fit every point, those with the same kernels along a path."""

    def structure(point: Point) -> str:
        return as_json({k: v for k, v in point.items() if isinstance(v, list | dict)})

    for _, group in groupby(part.grid, structure):
        yield from path(replace(part, grid=list(group)))


best_on_test = Selector(_common)
"""One point for all tasks, by the criterion on test rows."""

best_of_each_task_on_test = Selector(_per_task)
"""A point for each task, by the criterion on its test rows."""
