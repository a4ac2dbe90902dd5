"""Errors of predicted labels −1 and +1, as other counts than of wrong pairs."""

from collections.abc import Iterator

import numpy as np

from mtmkl_suite.evaluation.metrics.accuracy import one_of_all_accuracy
from mtmkl_suite.evaluation.metrics.classification import misclassified
from mtmkl_suite.evaluation.metrics.outcome import Outcome, Row, measures


@measures(better="smaller", labels=True)
def misclassified_percent(outcome: Outcome) -> Iterator[Row]:
    """Yield the percentage of (task, test example) pairs of wrong sign."""
    value = 100.0 * misclassified.loss(outcome) / outcome.y.size
    yield "misclassified_percent", "all", value


@measures(better="smaller", labels=True)
def one_of_all_misclassified(outcome: Outcome) -> Iterator[Row]:
    """Yield the number of examples that are put into the wrong one of all classes.

    Yields nothing where :func:`one_of_all_accuracy` does not.
    """
    share = one_of_all_accuracy.loss(outcome)
    if outcome.sample is not None and np.isfinite(share):
        count = share * np.unique(outcome.sample).size
        yield "one_of_all_misclassified", "all", float(round(count))


@measures(better="smaller", labels=True)
def one_of_all_misclassified_percent(outcome: Outcome) -> Iterator[Row]:
    """Yield the percentage of examples that are put into the wrong one of all classes.

    Yields nothing where :func:`one_of_all_accuracy` does not.
    """
    share = one_of_all_accuracy.loss(outcome)
    if np.isfinite(share):
        yield "one_of_all_misclassified_percent", "all", 100.0 * share
