"""How a method has grouped the tasks."""

from collections.abc import Iterator

import numpy as np

from mtmkl_suite.evaluation.metrics.outcome import Outcome, Row, measures


@measures()
def n_groups(outcome: Outcome) -> Iterator[Row]:
    """Yield the number of groups of tasks, the different labels in ``groups_``."""
    if hasattr(outcome.estimator, "groups_"):
        yield "n_groups", "all", float(np.unique(outcome.estimator.groups_).size)
