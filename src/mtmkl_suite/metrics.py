"""Metrics: what is measured on a fitted method, by the names used in configurations.

Every metric is a function of an ``Outcome`` that yields ``(name, task, value)``, with
``task`` the name of a task or ``"all"``. Its decorator states everything else that is
to be known of it, see ``Metric``; nothing about metrics stands elsewhere. A metric that
does not apply to a method (number of features of a ridge regression) yields nothing.
Fractions stay fractions; tables scale them to a paper's units.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from mtmkl.typing import FloatArray, IntArray

_Row = tuple[str, str, float]
"""Name of the metric, name of the task or "all", value."""

SAME = 1e-10
"""Difference of scores, relative to the largest, that is rounding."""

FALSE_POSITIVE_RATES = (
    0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9,
)  # fmt: skip
"""Where a ROC curve is measured."""

_SHARE = 0.8
"""Share of the row norms of A that large rows hold."""

_ROUNDING = 1e-9
"""Spread of similarities, relative to the largest, that is rounding."""


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
    """Values that rank the samples, the most likely +1 highest; by default the
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

    def of_task(self, task: int) -> "Outcome":
        """Return the outcome of one task alone."""
        rows = self.task == task
        return replace(
            self,
            y=self.y[rows],
            prediction=self.prediction[rows],
            score=None if self.score is None else self.score[rows],
            sample=None if self.sample is None else self.sample[rows],
            task=np.zeros(rows.sum(), dtype=np.intp),
            task_names=(self.task_names[task],),
        )

    def mean_by_task(self, values: FloatArray) -> FloatArray:
        """Return the mean of ``values`` (n,) within each task, shape (T,)."""
        n_tasks = len(self.task_names)
        return np.bincount(self.task, values, n_tasks) / self.sizes

    @property
    def sizes(self) -> FloatArray:
        """Test samples of each task, shape (T,)."""
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


@dataclass(frozen=True)
class Metric:
    """A function of an outcome, and what it states of itself."""

    function: Callable[[Outcome], Iterator[_Row]]
    """Outcome -> rows."""
    label: str
    """The name in words."""
    better: Literal["larger", "smaller"] | None
    """Direction of better values; None where there is none, as for a number of
    features."""
    labels: bool
    """True if the outputs must be labels −1 and +1."""
    truth: str | None
    """Entry that the ground truth of the data must have."""
    of_fit: bool
    """True if it measures what was learned, by the training rows alone."""
    also: str
    """Pattern of the names that it yields besides its own, or in place of it."""

    def __call__(self, outcome: Outcome) -> Iterator[_Row]:
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

    def loss_by_task(self, outcome: Outcome) -> FloatArray:
        """Return the loss of each task by its rows alone, shape (T,)."""
        tasks = range(len(outcome.task_names))
        return np.array([self.loss(outcome.of_task(task)) for task in tasks])


METRICS: dict[str, Metric] = {}
"""All metrics, by name."""


def metric(name: str) -> Metric:
    """Return the metric of a name."""
    if name not in METRICS:
        known = ", ".join(METRICS)
        raise ValueError(f"unknown metric {name!r}; known metrics: {known}")
    return METRICS[name]


def metric_behind(name: str) -> Metric | None:
    """Return the metric that yields rows of a name, None if there is none."""
    every = METRICS.values()
    found = (each for each in every if re.fullmatch(each.also, name))
    return METRICS.get(name) or next(found, None)


def measures(
    *,
    label: str = "",
    better: Literal["larger", "smaller"] | None = None,
    labels: bool = False,
    truth: str | None = None,
    of_fit: bool = False,
    also: str = "",
) -> Callable[[Callable[[Outcome], Iterator[_Row]]], Metric]:
    """Make a metric of a function; see :class:`Metric` for what it states."""

    def made(function: Callable[[Outcome], Iterator[_Row]]) -> Metric:
        words = label or function.__name__.replace("_", " ")
        found = Metric(function, words, better, labels, truth, of_fit, also)
        METRICS[found.name] = found
        return found

    return made


def _mean_over_tasks(name: str, by_task: Mapping[str, float]) -> Iterator[_Row]:
    """Yield the mean of the values of tasks, ``nan`` without any, and the values."""
    mean = float(np.mean(list(by_task.values()))) if by_task else np.nan
    yield name, "all", mean
    for task, value in by_task.items():
        yield name, task, float(value)


def _with_both_labels(
    outcome: Outcome,
) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """Yield name, labels and ranking of the tasks that have both labels."""
    for t, name in enumerate(outcome.task_names):
        mine = outcome.task == t
        if np.unique(outcome.y[mine]).size == 2:
            yield name, outcome.y[mine], outcome.ranking[mine]


def _by_name(outcome: Outcome, values: FloatArray) -> dict[str, float]:
    return dict(zip(outcome.task_names, map(float, values), strict=True))


# Errors of real-valued predictions, within tasks


@measures(label="mean squared error", better="smaller")
def mse(outcome: Outcome) -> Iterator[_Row]:
    """Yield the mean over tasks of the task's mean squared error."""
    yield from _mean_over_tasks("mse", _by_name(outcome, outcome.squared_error))


@measures(label="root mean squared error", better="smaller")
def rmse(outcome: Outcome) -> Iterator[_Row]:
    """Yield the mean over tasks of the task's root mean squared error."""
    by_task = _by_name(outcome, np.sqrt(outcome.squared_error))
    yield from _mean_over_tasks("rmse", by_task)


@measures(better="larger")
def explained_variance(outcome: Outcome) -> Iterator[_Row]:
    """Yield 1 − Σ n_t MSE_t / Σ n_t var_t (Argyriou et al. 2008, sec. 6.3).

    Errors and variances are taken within tasks. Task rows hold 1 − MSE_t / var_t, and
    are left out where the variance is zero; all rows are, if it is zero in every task.
    """
    error, variance, sizes = outcome.squared_error, outcome.variance, outcome.sizes
    if variance.any():
        explained = float(1 - (sizes @ error) / (sizes @ variance))
        yield "explained_variance", "all", explained
    for name, e, v in zip(outcome.task_names, error, variance, strict=True):
        if v > 0:
            yield "explained_variance", name, float(1 - e / v)


@measures(label="explained variance, tasks weighted by size", better="larger")
def explained_variance_weighted(outcome: Outcome) -> Iterator[_Row]:
    """Yield the mean of 1 − MSE_t / var_t weighted by task size, where var_t > 0."""
    ratio, sizes = _task_ratios(outcome)
    yield "explained_variance_weighted", "all", float(sizes @ ratio / sizes.sum())


@measures(label="explained variance, mean over tasks", better="larger")
def explained_variance_task_mean(outcome: Outcome) -> Iterator[_Row]:
    """Yield the plain mean over tasks of 1 − MSE_t / var_t, where var_t > 0."""
    ratio, _ = _task_ratios(outcome)
    names = np.asarray(outcome.task_names)[outcome.variance > 0]
    by_task = dict(zip(map(str, names), ratio, strict=True))
    yield from _mean_over_tasks("explained_variance_task_mean", by_task)


@measures(label="explained variance, spread over tasks")
def explained_variance_task_sd(outcome: Outcome) -> Iterator[_Row]:
    """Yield the standard deviation over tasks (divisor T − 1) of 1 − MSE_t / var_t."""
    ratio, _ = _task_ratios(outcome)
    yield "explained_variance_task_sd", "all", float(ratio.std(ddof=1))


def _task_ratios(outcome: Outcome) -> tuple[FloatArray, FloatArray]:
    """Return 1 − MSE_t / var_t and the sizes of the tasks where var_t > 0."""
    keep = outcome.variance > 0
    ratio = 1 - outcome.squared_error[keep] / outcome.variance[keep]
    return ratio, outcome.sizes[keep]


@measures(label="explained variance, of all rows", better="larger", truth="variance")
def explained_variance_total(outcome: Outcome) -> Iterator[_Row]:
    """Yield 1 − Σ n_t MSE_t / Σ n_t V_t, with V_t the variance of all rows of task t.

    n_t counts test rows. Yields nothing for some of the tasks.
    """
    variance, sizes = _variance(outcome), outcome.sizes
    if variance is not None:
        explained = 1 - (sizes @ outcome.squared_error) / (sizes @ variance)
        yield "explained_variance_total", "all", float(explained)


@measures(label="the same, spread over tasks", truth="variance")
def explained_variance_total_task_sd(outcome: Outcome) -> Iterator[_Row]:
    """Yield the standard deviation over tasks (divisor T − 1) of 1 − MSE_t / V_t."""
    variance = _variance(outcome)
    if variance is not None:
        ratio = 1 - outcome.squared_error / variance
        yield "explained_variance_total_task_sd", "all", float(ratio.std(ddof=1))


def _variance(outcome: Outcome) -> FloatArray | None:
    """Return the variance of all rows of each task; None where tasks are left out."""
    variance = np.asarray(outcome.truth.get("variance", ()), dtype=np.float64)
    return variance if variance.size == len(outcome.task_names) else None


# Errors of predicted labels −1 and +1


@measures(better="larger", labels=True)
def accuracy(outcome: Outcome) -> Iterator[_Row]:
    """Yield the mean over tasks of the share of right signs; zero counts as +1."""
    right = (np.where(outcome.prediction >= 0, 1.0, -1.0) == outcome.y).astype(float)
    by_task = _by_name(outcome, outcome.mean_by_task(right))
    yield from _mean_over_tasks("accuracy", by_task)


@measures(better="larger", labels=True)
def balanced_accuracy(outcome: Outcome) -> Iterator[_Row]:
    """Yield the mean over tasks of the mean of the two labels' shares of right signs.

    Zero counts as +1. Tasks without both labels have none and are left out.
    """
    right = np.where(outcome.prediction >= 0, 1.0, -1.0) == outcome.y
    by_task = {}
    for t, name in enumerate(outcome.task_names):
        shares = [
            right[(outcome.task == t) & (outcome.y == label)] for label in (-1.0, 1.0)
        ]
        if all(share.size for share in shares):
            by_task[name] = float(np.mean([share.mean() for share in shares]))
    yield from _mean_over_tasks("balanced_accuracy", by_task)


@measures(
    label="accuracy of the class with the highest output", better="larger", labels=True
)
def one_of_all_accuracy(outcome: Outcome) -> Iterator[_Row]:
    """Yield the share of samples that are put into the right one of all classes.

    Tasks are one-vs-rest: a sample goes to the task with the highest score, the first
    of them at a tie. Yields nothing unless every sample is in every task, with the
    label +1 in one.
    """
    if outcome.sample is None:
        return
    examples, row = np.unique(outcome.sample, return_inverse=True)
    shape = examples.size, len(outcome.task_names)
    score, label = np.full(shape, np.nan), np.zeros(shape)
    score[row.ravel(), outcome.task] = outcome.ranking
    label[row.ravel(), outcome.task] = outcome.y
    if np.isnan(score).any() or (np.sum(label > 0, axis=1) != 1).any():
        return
    right = score.argmax(axis=1) == label.argmax(axis=1)
    yield "one_of_all_accuracy", "all", float(right.mean())


@measures(label="misclassified pairs", better="smaller", labels=True)
def misclassified(outcome: Outcome) -> Iterator[_Row]:
    """Yield the number of (task, test sample) pairs of wrong sign; zero is +1."""
    wrong = (np.where(outcome.prediction >= 0, 1.0, -1.0) != outcome.y).astype(float)
    yield "misclassified", "all", float(wrong.sum())
    by_task = _by_name(outcome, outcome.mean_by_task(wrong) * outcome.sizes)
    for name, value in by_task.items():
        yield "misclassified", name, value


@measures(label="misclassified pairs (%)", better="smaller", labels=True)
def misclassified_percent(outcome: Outcome) -> Iterator[_Row]:
    """Yield the percentage of (task, test sample) pairs of wrong sign."""
    value = 100.0 * misclassified.loss(outcome) / outcome.y.size
    yield "misclassified_percent", "all", value


@measures(label="misclassified samples", better="smaller", labels=True)
def one_of_all_misclassified(outcome: Outcome) -> Iterator[_Row]:
    """Yield the number of samples that are put into the wrong one of all classes.

    Yields nothing where :func:`one_of_all_accuracy` does not.
    """
    share = one_of_all_accuracy.loss(outcome)
    if outcome.sample is not None and np.isfinite(share):
        count = share * np.unique(outcome.sample).size
        yield "one_of_all_misclassified", "all", float(round(count))


@measures(label="misclassified samples (%)", better="smaller", labels=True)
def one_of_all_misclassified_percent(outcome: Outcome) -> Iterator[_Row]:
    """Yield the percentage of samples that are put into the wrong one of all classes.

    Yields nothing where :func:`one_of_all_accuracy` does not.
    """
    share = one_of_all_accuracy.loss(outcome)
    if np.isfinite(share):
        yield "one_of_all_misclassified_percent", "all", 100.0 * share


# How well scores rank the samples of label +1 above those of label −1


@measures(label="AUC", better="larger", labels=True, also=r"auc_tasks|auc_constant")
def auc(outcome: Outcome) -> Iterator[_Row]:
    """Yield the mean over tasks of the area under the ROC curve.

    Tasks without both labels have none and are left out; "auc_tasks" is the number of
    the others, and "auc_constant" of those among them whose scores are all the same,
    whose area is ½.
    """
    by_task, n_constant = {}, 0
    for name, y, ranking in _with_both_labels(outcome):
        by_task[name] = area_under_curve(y, ranking)
        n_constant += bool(np.ptp(ranking) == 0)
    yield from _mean_over_tasks("auc", by_task)
    yield "auc_tasks", "all", float(len(by_task))
    yield "auc_constant", "all", float(n_constant)


@measures(label="AUC over all tasks together", better="larger", labels=True)
def auc_pooled(outcome: Outcome) -> Iterator[_Row]:
    """Yield the area under the ROC curve of all tasks' samples together."""
    yield "auc_pooled", "all", area_under_curve(outcome.y, outcome.ranking)


@measures(better="larger", labels=True)
def average_precision(outcome: Outcome) -> Iterator[_Row]:
    """Yield the mean over tasks of the average precision of the label +1.

    Tasks without both labels are left out.
    """
    from sklearn.metrics import average_precision_score

    by_task = {
        name: float(average_precision_score(y > 0, ranking))
        for name, y, ranking in _with_both_labels(outcome)
    }
    yield from _mean_over_tasks("average_precision", by_task)


def area_under_curve(y: FloatArray, score: FloatArray) -> float:
    """Return the chance that a positive sample ranks above a negative one.

    A tie counts one half; without both labels the area is ``nan``.
    """
    positive = np.sort(score[y > 0])
    negative = np.sort(score[y <= 0])
    if positive.size == 0 or negative.size == 0:
        return float("nan")
    below = np.searchsorted(negative, positive, "left")
    not_above = np.searchsorted(negative, positive, "right")
    wins = 0.5 * float(np.sum(below + not_above))
    return wins / (positive.size * negative.size)


@measures(label="ROC curve", labels=True, also=r"true_positive_rate_.+")
def roc(outcome: Outcome) -> Iterator[_Row]:
    """Yield the mean over tasks of the ROC curve, at fixed false positive rates.

    "true_positive_rate_0.1" is the share of positive samples above the threshold that
    a tenth of the negative ones exceed; between two thresholds the curve is a straight
    line. Tasks without both labels are left out.
    """
    from sklearn.metrics import roc_curve

    curves = []
    for _, y, ranking in _with_both_labels(outcome):
        false, true, _ = roc_curve(y, ranking, drop_intermediate=False)
        curves.append(np.interp(FALSE_POSITIVE_RATES, false, true))
    if curves:
        mean = np.mean(curves, axis=0)
        for rate, value in zip(FALSE_POSITIVE_RATES, mean, strict=True):
            yield f"true_positive_rate_{rate:g}", "all", float(value)


# What a method has learned


@measures(label="AUC of the edges", better="larger", truth="adjacency", of_fit=True)
def edge_auc(outcome: Outcome) -> Iterator[_Row]:
    """Yield the area under the ROC curve of the edges ranked by their scores."""
    if hasattr(outcome.estimator, "edge_scores_") and "adjacency" in outcome.truth:
        adjacency = np.asarray(outcome.truth["adjacency"])
        pairs = np.triu_indices(len(adjacency), 1)
        label = np.where(adjacency[pairs] > 0, 1.0, -1.0)
        scores = np.asarray(outcome.estimator.edge_scores_)[pairs]
        yield "edge_auc", "all", area_under_curve(label, scores)


@measures(label="number of groups", of_fit=True)
def n_groups(outcome: Outcome) -> Iterator[_Row]:
    """Yield the number of groups of tasks, the different labels in ``groups_``."""
    if hasattr(outcome.estimator, "groups_"):
        yield "n_groups", "all", float(np.unique(outcome.estimator.groups_).size)


@measures(label="number of features", of_fit=True)
def n_features(outcome: Outcome) -> Iterator[_Row]:
    """Yield the number of features learned, the rank of D."""
    if hasattr(outcome.estimator, "n_features_"):
        yield "n_features", "all", float(outcome.estimator.n_features_)


@measures(better="smaller", truth="covariance", of_fit=True)
def covariance_distance(outcome: Outcome) -> Iterator[_Row]:
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


@measures(of_fit=True, also=r"row_norm_(\d+|top5)")
def row_norms(outcome: Outcome) -> Iterator[_Row]:
    """Yield the norms of the rows of A, falling and scaled to sum 1, and the top 5.

    These are the eigenvalues of D by Theorem 1 of Argyriou et al.
    """
    if hasattr(outcome.estimator, "A_"):
        norms = np.sort(np.linalg.norm(outcome.estimator.A_, axis=1))[::-1]
        norms = norms / norms.sum() if norms.sum() > 0 else norms
        for position, value in enumerate(norms, start=1):
            yield f"row_norm_{position}", "all", float(value)
        yield "row_norm_top5", "all", float(norms[:5].sum())


@measures(label="large rows of A", of_fit=True)
def large_rows(outcome: Outcome) -> Iterator[_Row]:
    """Yield how many rows of A hold 80 % of the sum of its row norms, largest first."""
    if hasattr(outcome.estimator, "A_"):
        norms = np.sort(np.linalg.norm(outcome.estimator.A_, axis=1))[::-1]
        held = np.cumsum(norms) / norms.sum() if norms.sum() > 0 else np.ones(1)
        yield "large_rows", "all", float(1 + np.argmax(held >= _SHARE))


@measures(of_fit=True, also=r"feature_weight_\d+")
def feature_weights(outcome: Outcome) -> Iterator[_Row]:
    """Yield the sizes of the features' weights in the most important feature.

    "feature_weight_3" is that of the third input; their squares sum to 1.
    """
    if hasattr(outcome.estimator, "features_"):
        weights = np.abs(np.asarray(outcome.estimator.features_)[:, 0])
        for position, value in enumerate(weights, start=1):
            yield f"feature_weight_{position}", "all", float(value)


@measures(better="larger", truth="similarity", of_fit=True)
def similarity_correlation(outcome: Outcome) -> Iterator[_Row]:
    """Yield the correlation of learned and true similarities over pairs of tasks.

    Learned similarities are Σ_m θ_m R_m, ``task_similarity_`` of a method. Where all
    pairs are equally similar there is no correlation, and no value.
    """
    learned = getattr(outcome.estimator, "task_similarity_", None)
    if learned is None or "similarity" not in outcome.truth:
        return
    true = np.asarray(outcome.truth["similarity"], dtype=np.float64)
    if np.shape(learned) != true.shape:  # of some of the tasks
        return
    pairs = np.triu_indices(len(true), 1)
    found, wanted = np.asarray(learned)[pairs], true[pairs]
    if min(np.ptp(found) / max(np.abs(learned).max(), 1e-300), np.ptp(wanted)) > (
        _ROUNDING
    ):
        value = float(np.corrcoef(found, wanted)[0, 1])
        yield "similarity_correlation", "all", value


HIGHER_IS_BETTER = {
    name: each.better == "larger" for name, each in METRICS.items() if each.better
}
"""Metrics with a direction: True where larger values are better."""
