"""What is measured on a fitted method, by the names used in configurations.

Every metric is a function of an :class:`Outcome` and yields ``(name, task, value)``
with ``task`` the name of a task or ``"all"``. A metric that does not apply to a method
(number of features of a ridge regression) yields nothing. Fractions stay fractions;
tables scale them to a paper's units.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = tuple[str, str, float]


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
    """

    y: NDArray[np.float64]
    prediction: NDArray[np.float64]
    task: NDArray[np.intp]
    task_names: tuple[str, ...]
    estimator: Any
    truth: Mapping[str, Any]

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


def mse(outcome: Outcome) -> Iterator[Row]:
    """Yield the mean over tasks of the task's mean squared error."""
    by_task = outcome.squared_error
    yield "mse", "all", float(by_task.mean())
    yield from outcome.rows("mse", by_task)


def rmse(outcome: Outcome) -> Iterator[Row]:
    """Yield the mean over tasks of the task's root mean squared error."""
    by_task = np.sqrt(outcome.squared_error)
    yield "rmse", "all", float(by_task.mean())
    yield from outcome.rows("rmse", by_task)


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


def explained_variance_weighted(outcome: Outcome) -> Iterator[Row]:
    """Yield the mean of 1 − MSE_t / var_t weighted by task size, where var_t > 0."""
    ratio, sizes = _task_ratios(outcome)
    yield "explained_variance_weighted", "all", float(sizes @ ratio / sizes.sum())


def explained_variance_task_mean(outcome: Outcome) -> Iterator[Row]:
    """Yield the plain mean over tasks of 1 − MSE_t / var_t, where var_t > 0."""
    ratio, _ = _task_ratios(outcome)
    yield "explained_variance_task_mean", "all", float(ratio.mean())


def explained_variance_task_sd(outcome: Outcome) -> Iterator[Row]:
    """Yield the standard deviation over tasks (divisor T − 1) of 1 − MSE_t / var_t."""
    ratio, _ = _task_ratios(outcome)
    yield "explained_variance_task_sd", "all", float(ratio.std(ddof=1))


def _task_ratios(
    outcome: Outcome,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    keep = outcome.variance > 0
    return (1 - outcome.squared_error[keep] / outcome.variance[keep]), outcome.sizes[
        keep
    ]


def misclassified(outcome: Outcome) -> Iterator[Row]:
    """Yield the number of (task, test example) pairs of wrong sign; zero is +1."""
    wrong = (np.where(outcome.prediction >= 0, 1.0, -1.0) != outcome.y).astype(float)
    yield "misclassified", "all", float(wrong.sum())
    yield from outcome.rows(
        "misclassified", outcome.mean_by_task(wrong) * outcome.sizes
    )


def n_features(outcome: Outcome) -> Iterator[Row]:
    """Yield the number of features learned, the rank of D."""
    if hasattr(outcome.estimator, "n_features_"):
        yield "n_features", "all", float(outcome.estimator.n_features_)


def covariance_distance(outcome: Outcome) -> Iterator[Row]:
    """Yield the Frobenius distance of D from the true covariance scaled to trace 1.

    Taken on the principal submatrix of the relevant variables, as in Fig. 2 of
    Argyriou et al.
    """
    if hasattr(outcome.estimator, "D_") and "covariance" in outcome.truth:
        relevant = np.asarray(outcome.truth["relevant"], dtype=int)
        block = np.ix_(relevant, relevant)
        covariance = np.asarray(outcome.truth["covariance"])[block]
        learned = np.asarray(outcome.estimator.D_)[block]
        distance = np.linalg.norm(learned - covariance / np.trace(covariance))
        yield "covariance_distance", "all", float(distance)


def row_norms(outcome: Outcome) -> Iterator[Row]:
    """Yield the norms of the rows of A, falling and scaled to sum 1, and the top 5.

    These are the eigenvalues of D by Theorem 1 of Argyriou et al.
    """
    if hasattr(outcome.estimator, "A_"):
        norms = np.sort(np.linalg.norm(outcome.estimator.A_, axis=1))[::-1]
        norms = norms / norms.sum() if norms.sum() > 0 else norms
        for position, value in enumerate(norms, start=1):
            yield f"row_norm_{position}", "all", float(value)
        yield "row_norm_top5", "all", float(norms[:5].sum())


METRICS: dict[str, Callable[[Outcome], Iterator[Row]]] = {
    function.__name__: function
    for function in (
        mse,
        rmse,
        explained_variance,
        explained_variance_weighted,
        explained_variance_task_mean,
        explained_variance_task_sd,
        misclassified,
        n_features,
        covariance_distance,
        row_norms,
    )
}
