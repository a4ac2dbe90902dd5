"""Another reading of the choice of parameters, Yousefi et al. 2015.

The text says that parameters were "chosen via cross-validation". The main protocol
takes one point for all tasks, by validation rows.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from mtmkl.typing import IntArray
from mtmkl_suite.evaluation.selectors import Fitted, Part, Selector, common

N_FOLDS = 5
"""Folds of the training rows."""


def _by_folds(part: Part) -> Iterator[Fitted]:
    """Choose as `common` does, by the criterion on folds dealt here."""
    by = {"select_by": part.criterion.name}
    experiment = part.experiment.model_copy(update=by)
    return common(replace(part, experiment=experiment, fold=_folds(part)))


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


by_folds = Selector(_by_folds)
"""One point for all tasks, by five folds of the training rows."""
