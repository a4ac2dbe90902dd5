"""Errors of predicted labels −1 and +1."""

from collections.abc import Iterator

import numpy as np

from mtmkl_suite.evaluation.metrics.outcome import Outcome, Row, measures


@measures(better="smaller", labels=True)
def misclassified(outcome: Outcome) -> Iterator[Row]:
    """Yield the number of (task, test example) pairs of wrong sign; zero is +1."""
    wrong = (np.where(outcome.prediction >= 0, 1.0, -1.0) != outcome.y).astype(float)
    yield "misclassified", "all", float(wrong.sum())
    yield from outcome.rows(
        "misclassified", outcome.mean_by_task(wrong) * outcome.sizes
    )
