"""The choice of C for each organism on its own validation samples, of section 4.3."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mtmkl.typing import FloatArray
from mtmkl_suite.evaluation.selectors import (
    Fitted,
    Part,
    Selector,
    chosen_by_task,
    outcome_of,
    path,
)
from mtmkl_suite.metrics import area_under_curve


def _select(part: Part) -> Iterator[Fitted]:
    """Fit the path, and choose a point for each task by its AUC on validation rows."""
    rows = part.validation()
    points = list(path(part))
    losses = np.array(
        [_losses(fitted.estimator, rows, part.n_tasks) for fitted in points]
    )
    yield chosen_by_task(part, points, losses, rows)


def _losses(estimator: Any, rows: Any, n_tasks: int) -> FloatArray:
    """Return 1 less the AUC of each task on some rows."""
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


on_own_validation = Selector(_select, "validation")
