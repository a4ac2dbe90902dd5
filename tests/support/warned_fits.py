"""Fits, and what their warnings say."""

import warnings

from sklearn.exceptions import ConvergenceWarning


def said_by_fit(estimator, X, y, task):
    """Fit an estimator; return its warnings of convergence as one text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, y, task=task)
    texts = [w.message for w in caught if issubclass(w.category, ConvergenceWarning)]
    return " ".join(map(str, texts))
