"""What is measured on a fitted method, by the names used in configurations.

Every metric is a function of an ``Outcome`` and yields ``(name, task, value)`` with
``task`` the name of a task or ``"all"``. It states which values are better and what it
needs of the data, see ``Metric``. A metric that does not apply to a method (number of
features of a ridge regression) yields nothing. Fractions stay fractions; tables scale
them to a paper's units.
"""

import importlib

from mtmkl_suite.evaluation.metrics.outcome import Metric

_MODULES = {
    "mse": "regression",
    "rmse": "regression",
    "explained_variance": "regression",
    "explained_variance_weighted": "regression",
    "explained_variance_task_mean": "regression",
    "explained_variance_task_sd": "regression",
    "explained_variance_total": "total_variance",
    "explained_variance_total_task_sd": "total_variance",
    "misclassified": "classification",
    "misclassified_percent": "misclassification",
    "one_of_all_misclassified": "misclassification",
    "one_of_all_misclassified_percent": "misclassification",
    "accuracy": "accuracy",
    "balanced_accuracy": "accuracy",
    "auc": "ranking",
    "auc_pooled": "ranking",
    "average_precision": "ranking",
    "one_of_all_accuracy": "accuracy",
    "edge_auc": "graph",
    "n_groups": "grouping",
    "n_features": "representation",
    "covariance_distance": "representation",
    "row_norms": "representation",
    "large_rows": "features",
    "feature_weights": "features",
    "roc": "curves",
    "similarity_correlation": "similarity",
}

METRIC_NAMES = tuple(_MODULES)


def metric_module(name: str) -> str:
    """Return the module that defines a metric: scores depend on its code alone."""
    if name not in _MODULES:
        known = ", ".join(_MODULES)
        raise ValueError(f"unknown metric {name!r}; known metrics: {known}")
    return f"{__name__}.{_MODULES[name]}"


def metric(name: str) -> Metric:
    """Return the metric of a name."""
    found: Metric = getattr(importlib.import_module(metric_module(name)), name)
    return found
