"""Explained variance, where the total is that of all examples of a task."""

from collections.abc import Iterator

import numpy as np

from mtmkl.typing import FloatArray
from mtmkl_suite.evaluation.metrics.outcome import Outcome, Row, measures


@measures(better="larger", truth="variance")
def explained_variance_total(outcome: Outcome) -> Iterator[Row]:
    """Yield 1 − Σ n_t MSE_t / Σ n_t V_t, with V_t the variance of all rows of task t.

    n_t counts test rows. Yields nothing for some of the tasks.
    """
    variance, sizes = _variance(outcome), outcome.sizes
    if variance is not None:
        explained = 1 - (sizes @ outcome.squared_error) / (sizes @ variance)
        yield "explained_variance_total", "all", float(explained)


@measures(truth="variance")
def explained_variance_total_task_sd(outcome: Outcome) -> Iterator[Row]:
    """Yield the standard deviation over tasks (divisor T − 1) of 1 − MSE_t / V_t."""
    variance = _variance(outcome)
    if variance is not None:
        ratio = 1 - outcome.squared_error / variance
        yield "explained_variance_total_task_sd", "all", float(ratio.std(ddof=1))


def _variance(outcome: Outcome) -> FloatArray | None:
    """Return the variance of all rows of each task; None where tasks are left out."""
    variance = np.asarray(outcome.truth.get("variance", ()), dtype=np.float64)
    return variance if variance.size == len(outcome.task_names) else None
