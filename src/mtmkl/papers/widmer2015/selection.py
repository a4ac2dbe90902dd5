"""The choice of C for each organism on its own validation examples, of section 4.3."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mtmkl.evaluation.cross_validation import choose
from mtmkl.evaluation.metrics.ranking import area_under_curve
from mtmkl.evaluation.selectors import Fitted, Part, Selector, outcome_of, path
from mtmkl.sparse import Inputs
from mtmkl.typing import FloatArray, IntArray


@dataclass(frozen=True)
class ChosenByTask:
    """Fitted estimators, one of which stands for each task.

    Attributes
    ----------
    estimators : sequence of object
        Each fitted on all tasks.
    chosen : ndarray of shape (T,)
        Which one stands for each task.
    """

    estimators: Sequence[Any]
    chosen: IntArray

    def decision_function(self, X: Inputs, task: IntArray) -> FloatArray:
        """Return the outputs, each of the estimator that stands for its task."""
        used = self.chosen[task]
        values = np.empty(len(task))
        for number in np.unique(used):
            mine = np.flatnonzero(used == number)
            values[mine] = self.estimators[number].decision_function(
                X[mine], task=task[mine]
            )
        return values

    @property
    def n_iter_(self) -> int:
        """Most iterations of a fit that stands for a task."""
        return max(self.estimators[k].n_iter_ for k in self.chosen)

    @property
    def duality_gap_(self) -> float:
        """Largest gap of a fit that stands for a task."""
        return max(self.estimators[k].duality_gap_ for k in self.chosen)


def _select(part: Part) -> Iterator[Fitted]:
    """Fit the path, and choose a point for each task by its AUC on validation rows."""
    rows = part.validation()
    points = list(path(part))
    losses = np.array(
        [_losses(fitted.estimator, rows, part.n_tasks) for fitted in points]
    )
    choice = choose(losses, part.grid, per_task=True)
    chosen = _positions(choice.params, part.grid)
    estimator = ChosenByTask([fitted.estimator for fitted in points], chosen)
    seconds = sum(fitted.seconds for fitted in points)
    yield Fitted(
        estimator,
        choice.params,
        choice.at_grid_edge,
        "",
        seconds,
        on_validation=outcome_of(estimator, rows),
    )


def _losses(estimator: Any, rows: Any, n_tasks: int) -> FloatArray:
    """Return 1 less the AUC of each task on some rows.

    Raises
    ------
    ValueError
        If a task has no validation rows of one of the labels.
    """
    score = outcome_of(estimator, rows).ranking
    areas = np.array(
        [
            area_under_curve(rows.y[rows.task == t], score[rows.task == t])
            for t in range(n_tasks)
        ]
    )
    if np.isnan(areas).any():
        task = rows.task_names[int(np.flatnonzero(np.isnan(areas))[0])]
        raise ValueError(
            f"no C can be chosen for {task!r}: its validation rows lack one of the "
            "labels"
        )
    return 1.0 - areas


def _positions(
    params: Mapping[str, Any], grid: Sequence[Mapping[str, Any]]
) -> IntArray:
    """Return the place in the grid of what was chosen for each task."""
    n_tasks = len(next(iter(params.values())))
    return np.array(
        [
            grid.index({name: values[t] for name, values in params.items()})
            for t in range(n_tasks)
        ]
    )


on_own_validation = Selector(_select, "validation")
