"""Other readings of the choice of parameters, Yousefi et al. 2015.

The text says that parameters were "chosen via cross-validation", and that tasks of
single-task learning are "individually trained". The main protocol takes one point for
all tasks, by validation rows.
"""

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from mtmkl.typing import FloatArray, IntArray
from mtmkl_suite.evaluation.cross_validation import best_points, choose, held_out_fits
from mtmkl_suite.evaluation.selectors import (
    EstimatorByTask,
    Fitted,
    Part,
    Selector,
    outcome_of,
    path,
)
from mtmkl_suite.metrics import Outcome

N_FOLDS = 5
"""Folds of the training rows."""


def _for_each_task(part: Part) -> Iterator[Fitted]:
    """Fit every point, and choose one for each task by its own validation rows.

    A task in which the criterion has no value gets the point that is best for all.
    """
    rows, points = part.validation(), list(path(part))
    outcomes = [outcome_of(fitted.estimator, rows) for fitted in points]
    of_all = np.array([part.criterion.loss(outcome) for outcome in outcomes])
    losses = np.array([_losses_of_tasks(part, outcome) for outcome in outcomes])
    losses = np.where(np.isfinite(losses), losses, of_all[:, np.newaxis])
    picks, at_grid_edge = best_points(losses, part.grid)
    estimator = EstimatorByTask([points[k].estimator for k in picks])
    yield Fitted(
        estimator,
        {name: [part.grid[k][name] for k in picks] for name in part.grid[0]},
        at_grid_edge,
        "",
        sum(fitted.seconds for fitted in points),
        on_validation=outcome_of(estimator, rows),
    )


def _losses_of_tasks(part: Part, outcome: Outcome) -> FloatArray:
    return np.array(
        [
            part.criterion.loss(_of_task(outcome, task))
            for task in range(len(outcome.task_names))
        ]
    )


def _of_task(outcome: Outcome, task: int) -> Outcome:
    rows = outcome.task == task
    return replace(
        outcome,
        y=outcome.y[rows],
        prediction=outcome.prediction[rows],
        score=None if outcome.score is None else outcome.score[rows],
        sample=None if outcome.sample is None else outcome.sample[rows],
        task=np.zeros(rows.sum(), dtype=np.intp),
        task_names=(outcome.task_names[task],),
    )


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
    choice = choose(losses[:, np.newaxis] / N_FOLDS, part.grid, per_task=False)
    estimator = part.estimator().set_params(**choice.params)
    estimator.fit(train.X, train.y, task=train.task)
    seconds = time.process_time() - start
    yield Fitted(estimator, choice.params, choice.at_grid_edge, "", seconds)


def _folds(part: Part) -> IntArray:
    """Deal examples of the same labels in the same tasks round.

    An example has the same fold in all its tasks.
    """
    train = part.train
    samples, example = np.unique(train.sample, return_inverse=True)
    kind = _kinds(part, samples.size, example)
    rng = np.random.default_rng([part.repeat, train.y.size])
    shuffled = rng.permutation(samples.size)
    order = shuffled[np.argsort(kind[shuffled], kind="stable")]
    fold_of = np.empty(samples.size, dtype=np.intp)
    fold_of[order] = np.arange(samples.size) % N_FOLDS
    return fold_of[example]


def _kinds(part: Part, n_samples: int, example: IntArray) -> IntArray:
    """Return numbers of the examples by their tasks, and their labels there."""
    train = part.train
    member = np.zeros((n_samples, part.n_tasks))
    member[example, train.task] = train.y
    return np.unique(member, axis=0, return_inverse=True)[1].ravel()


for_each_task = Selector(_for_each_task, "validation")
"""A point for each task, by the criterion on its own validation rows."""

by_folds = Selector(_by_folds)
"""One point for all tasks, by five folds of the training rows."""
