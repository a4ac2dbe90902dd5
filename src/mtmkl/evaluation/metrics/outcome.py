"""What a metric sees: a fitted estimator, and its predictions on test data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = tuple[str, str, float]
"""Name of the metric, name of the task or "all", value."""


@dataclass(frozen=True)
class Outcome:
    """A fitted estimator, and its predictions on test data.

    Attributes
    ----------
    y, prediction : ndarray of shape (n,)
        True and predicted outputs (for ±1 labels, the sign of the prediction counts).
    task : ndarray of shape (n,)
        Task numbers, 0 … T-1.
    task_names : tuple of str
    estimator : object
    truth : mapping
        Ground truth of synthetic data.
    score : ndarray of shape (n,), optional
        What ranks the examples, from the least to the most likely +1; by default the
        prediction.
    """

    y: NDArray[np.float64]
    prediction: NDArray[np.float64]
    task: NDArray[np.intp]
    task_names: tuple[str, ...]
    estimator: Any
    truth: Mapping[str, Any]
    score: NDArray[np.float64] | None = None

    @property
    def ranking(self) -> NDArray[np.float64]:
        """The score, or the prediction without one."""
        return self.prediction if self.score is None else self.score

    def mean_by_task(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of ``values`` (n,) within each task, shape (T,)."""
        n_tasks = len(self.task_names)
        return np.bincount(self.task, values, n_tasks) / self.sizes

    @property
    def sizes(self) -> NDArray[np.float64]:
        """Test examples of each task, shape (T,)."""
        return np.bincount(self.task, minlength=len(self.task_names)).astype(float)

    @property
    def squared_error(self) -> NDArray[np.float64]:
        """Mean squared error of each task, shape (T,)."""
        return self.mean_by_task((self.y - self.prediction) ** 2)

    @property
    def variance(self) -> NDArray[np.float64]:
        """Variance (divisor n) of the outputs within each task, shape (T,)."""
        mean = self.mean_by_task(self.y)
        return self.mean_by_task((self.y - mean[self.task]) ** 2)

    def rows(self, name: str, by_task: NDArray[np.float64]) -> Iterator[Row]:
        """Yield a metric's value for each task."""
        for task_name, value in zip(self.task_names, by_task, strict=True):
            yield name, task_name, float(value)
