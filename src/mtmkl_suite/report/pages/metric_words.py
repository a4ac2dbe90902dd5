"""What metrics are called where people read."""

_WORDS = {
    "auc": "AUC",
    "auc_pooled": "AUC over all tasks together",
    "edge_auc": "AUC of the edges",
    "explained_variance_task_mean": "explained variance, mean over tasks",
    "explained_variance_task_sd": "explained variance, spread over tasks",
    "explained_variance_weighted": "explained variance, tasks weighted by size",
    "misclassified": "misclassified pairs",
    "mse": "mean squared error",
    "n_features": "number of features",
    "n_groups": "number of groups",
    "one_of_all_accuracy": "accuracy of the class with the highest output",
    "rmse": "root mean squared error",
    "roc": "ROC curve",
}


def metric_words(name: str) -> str:
    """Return the name of a metric in words."""
    return _WORDS.get(name, name.replace("_", " "))


def metrics_in_words(names: str) -> str:
    """Return the names of metrics with commas between them in words."""
    return ", ".join(map(metric_words, names.split(", ")))
