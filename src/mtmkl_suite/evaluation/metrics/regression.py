"""Errors of real-valued predictions, within tasks."""

from collections.abc import Iterator

import numpy as np

from mtmkl.typing import FloatArray
from mtmkl_suite.evaluation.metrics.outcome import Outcome, Row, measures


@measures(better="smaller")
def mse(outcome: Outcome) -> Iterator[Row]:
    """Yield the mean over tasks of the task's mean squared error."""
    by_task = outcome.squared_error
    yield "mse", "all", float(by_task.mean())
    yield from outcome.rows("mse", by_task)


@measures(better="smaller")
def rmse(outcome: Outcome) -> Iterator[Row]:
    """Yield the mean over tasks of the task's root mean squared error."""
    by_task = np.sqrt(outcome.squared_error)
    yield "rmse", "all", float(by_task.mean())
    yield from outcome.rows("rmse", by_task)


@measures(better="larger")
def explained_variance(outcome: Outcome) -> Iterator[Row]:
    """Yield 1 − Σ n_t MSE_t / Σ n_t var_t (Argyriou et al. 2008, sec. 6.3).

    Errors and variances are taken within tasks. Task rows hold 1 − MSE_t / var_t, and
    are left out where the variance is zero.
    """
    error, variance, sizes = outcome.squared_error, outcome.variance, outcome.sizes
    yield "explained_variance", "all", float(1 - (sizes @ error) / (sizes @ variance))
    for name, e, v in zip(outcome.task_names, error, variance, strict=True):
        if v > 0:
            yield "explained_variance", name, float(1 - e / v)


@measures(better="larger")
def explained_variance_weighted(outcome: Outcome) -> Iterator[Row]:
    """Yield the mean of 1 − MSE_t / var_t weighted by task size, where var_t > 0."""
    ratio, sizes = _task_ratios(outcome)
    yield "explained_variance_weighted", "all", float(sizes @ ratio / sizes.sum())


@measures(better="larger")
def explained_variance_task_mean(outcome: Outcome) -> Iterator[Row]:
    """Yield the plain mean over tasks of 1 − MSE_t / var_t, where var_t > 0."""
    ratio, _ = _task_ratios(outcome)
    yield "explained_variance_task_mean", "all", float(ratio.mean())
    names = np.asarray(outcome.task_names)[outcome.variance > 0]
    for name, value in zip(names, ratio, strict=True):
        yield "explained_variance_task_mean", str(name), float(value)


@measures()
def explained_variance_task_sd(outcome: Outcome) -> Iterator[Row]:
    """Yield the standard deviation over tasks (divisor T − 1) of 1 − MSE_t / var_t."""
    ratio, _ = _task_ratios(outcome)
    yield "explained_variance_task_sd", "all", float(ratio.std(ddof=1))


def _task_ratios(
    outcome: Outcome,
) -> tuple[FloatArray, FloatArray]:
    keep = outcome.variance > 0
    return (1 - outcome.squared_error[keep] / outcome.variance[keep]), outcome.sizes[
        keep
    ]
