"""Other readings of the choice of parameters, Yousefi et al. 2015.

The text says that parameters were "chosen via cross-validation", and that tasks of
single-task learning are "individually trained". The main protocol takes one point for
all tasks, by validation rows.
"""

import time
from collections.abc import Iterator

import numpy as np

from mtmkl.typing import IntArray
from mtmkl_suite.evaluation.cross_validation import best_points, held_out_fits
from mtmkl_suite.evaluation.selectors import (
    Fitted,
    Part,
    Selector,
    chosen_by_task,
    outcome_of,
    path,
)

N_FOLDS = 5
"""Folds of the training rows."""


def _for_each_task(part: Part) -> Iterator[Fitted]:
    """Fit every point, and choose one for each task by its own validation rows.

    A task in which the criterion has no value gets the point that is best for all.
    """
    rows, points = part.validation(), list(path(part))
    outcomes = [outcome_of(fitted.estimator, rows) for fitted in points]
    of_all = np.array([part.criterion.loss(outcome) for outcome in outcomes])
    losses = np.array([part.criterion.loss_by_task(outcome) for outcome in outcomes])
    losses = np.where(np.isfinite(losses), losses, of_all[:, np.newaxis])
    yield chosen_by_task(part, points, losses, rows)


def _by_folds(part: Part) -> Iterator[Fitted]:
    """Choose one point for all tasks by five folds of the training rows.

    The criterion is that of the experiment, averaged over folds; the validation rows
    have no part.
    """
    start = time.process_time()
    train, criterion = part.train, part.criterion
    losses = np.zeros(len(part.grid))
    fits = held_out_fits(
        part.estimator(), train.X, train.y, train.task, _folds(part), part.grid
    )
    for point, held, fitted in fits:
        losses[point] += criterion.loss(outcome_of(fitted, train.subset(held)))
    if not np.isfinite(losses).all():
        raise ValueError(
            f"metric {criterion.name!r} has no value on the held-out rows of a fold"
            "; choose by another with select_by"
        )
    (pick,), at_grid_edge = best_points(losses[:, np.newaxis] / N_FOLDS, part.grid)
    estimator = part.estimator().set_params(**part.grid[pick])
    estimator.fit(train.X, train.y, task=train.task)
    seconds = time.process_time() - start
    yield Fitted(estimator, part.grid[pick], at_grid_edge, "", seconds)


def _folds(part: Part) -> IntArray:
    """Deal samples of the same labels in the same tasks round.

    A sample has the same fold in all its tasks.
    """
    train = part.train
    samples, example = np.unique(train.sample, return_inverse=True)
    labels = np.zeros((samples.size, part.n_tasks))
    labels[example, train.task] = train.y
    kind = np.unique(labels, axis=0, return_inverse=True)[1].ravel()
    rng = np.random.default_rng([part.repeat, train.y.size])
    shuffled = rng.permutation(samples.size)
    order = shuffled[np.argsort(kind[shuffled], kind="stable")]
    fold_of = np.empty(samples.size, dtype=np.intp)
    fold_of[order] = np.arange(samples.size) % N_FOLDS
    return fold_of[example]


for_each_task = Selector(_for_each_task, "validation")
"""A point for each task, by the criterion on its own validation rows."""

by_folds = Selector(_by_folds)
"""One point for all tasks, by five folds of the training rows."""
