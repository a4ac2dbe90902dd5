"""What a metric sees: a fitted estimator, and its predictions; and what a metric is."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from mtmkl.typing import FloatArray, IntArray

Row = tuple[str, str, float]
"""Name of the metric, name of the task or "all", value."""

SAME = 1e-10
"""Difference of scores, relative to the largest, that is rounding."""


@dataclass(frozen=True)
class Outcome:
    """A fitted estimator, and its predictions on test data."""

    y: FloatArray
    prediction: FloatArray
    """True and predicted outputs (for ±1 labels, the sign of the prediction counts)."""
    task: IntArray
    """Task numbers, 0 … T-1."""
    task_names: tuple[str, ...]
    estimator: Any
    truth: Mapping[str, Any]
    """Ground truth of synthetic data."""
    score: FloatArray | None = None
    """What ranks the examples, from the least to the most likely +1; by default the
    prediction."""
    sample: IntArray | None = None
    """The example behind each row; rows of different tasks may share one."""

    @cached_property
    def ranking(self) -> FloatArray:
        """The score, or the prediction without one; equal where rounding alone differs.

        A model that is constant but for rounding would have any area under the curve.
        """
        ranking = self.prediction if self.score is None else self.score
        order = np.argsort(ranking, kind="stable")
        rising = ranking[order]
        same = SAME * np.abs(ranking).max(initial=0.0)
        is_new = np.diff(rising, prepend=-np.inf) > same
        without_rounding = np.empty_like(rising)
        without_rounding[order] = rising[is_new][np.cumsum(is_new) - 1]
        return without_rounding

    def mean_by_task(self, values: FloatArray) -> FloatArray:
        """Return the mean of ``values`` (n,) within each task, shape (T,)."""
        n_tasks = len(self.task_names)
        return np.bincount(self.task, values, n_tasks) / self.sizes

    @property
    def sizes(self) -> FloatArray:
        """Test examples of each task, shape (T,)."""
        return np.bincount(self.task, minlength=len(self.task_names)).astype(float)

    @property
    def squared_error(self) -> FloatArray:
        """Mean squared error of each task, shape (T,)."""
        return self.mean_by_task((self.y - self.prediction) ** 2)

    @property
    def variance(self) -> FloatArray:
        """Variance (divisor n) of the outputs within each task, shape (T,)."""
        mean = self.mean_by_task(self.y)
        return self.mean_by_task((self.y - mean[self.task]) ** 2)

    def rows(self, name: str, by_task: FloatArray) -> Iterator[Row]:
        """Yield a metric's value for each task."""
        for task_name, value in zip(self.task_names, by_task, strict=True):
            yield name, task_name, float(value)


@dataclass(frozen=True)
class Metric:
    """A function of an outcome, and what it states of itself."""

    function: Callable[[Outcome], Iterator[Row]]
    """Outcome -> rows."""
    better: Literal["larger", "smaller"] | None
    """Which values are better; None for what is neither, such as a number of
    features."""
    labels: bool
    """Whether the outputs must be labels −1 and +1."""
    truth: str | None
    """Entry that the ground truth of the data must have."""

    def __call__(self, outcome: Outcome) -> Iterator[Row]:
        """Yield the rows of an outcome."""
        return self.function(outcome)

    @property
    def name(self) -> str:
        """Name in configurations and scores."""
        return self.function.__name__

    def loss(self, outcome: Outcome) -> float:
        """Return what a selection by this metric minimises; ``nan`` without a value.

        The value of all tasks, or 1 minus it where larger values are better.
        """
        for name, task, value in self(outcome):
            if name == self.name and task == "all":
                return 1.0 - value if self.better == "larger" else value
        return float("nan")


def measures(
    *,
    better: Literal["larger", "smaller"] | None = None,
    labels: bool = False,
    truth: str | None = None,
) -> Callable[[Callable[[Outcome], Iterator[Row]]], Metric]:
    """Make a metric of a function; see :class:`Metric` for what it states."""
    return lambda function: Metric(function, better, labels, truth)
