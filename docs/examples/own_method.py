"""A method of one's own.

A method is a class with ``fit(X, y, task)``, ``predict(X, task)`` and scikit-learn's
``get_params`` and ``set_params``, which ``BaseEstimator`` has. Give its dotted path,
and it runs on the splits of an experiment, gets a row in its tables, and is compared
with every other method. Nothing in the package needs to be edited.
``docs/notebooks/own_method.ipynb`` does so from Python; the command is

    PYTHONPATH=docs/examples .venv/bin/mtmkl run \
        --paper argyriou2008 --experiment digits \
        --method own_method:SharedMeanRidge --grid '{"gamma": [0.1, 1, 10]}'
"""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin


# Ridge regression in which the weights of task t are a shared part plus a part of its
# own, w_t = w_0 + v_t (Evgeniou and Pontil, Regularized multi-task learning, KDD 2004):
#
#     min  Σ_t ||y_t − X_t (w_0 + v_t)||² + γ (||w_0||²/μ + Σ_t ||v_t||²)
#
# The dual is a single ridge regression on all examples, with the kernel
# (μ + [same task]) ⟨x, x'⟩. `__init__` only stores its parameters.
class SharedMeanRidge(RegressorMixin, BaseEstimator):
    """Ridge regression whose weights have a shared part and one part per task."""

    def __init__(self, gamma: float = 1.0, *, mu: float = 1.0) -> None:
        self.gamma = gamma
        self.mu = mu

    def fit(self, X, y, task):
        """Solve the dual; ``coef_`` has one column per task."""
        self.tasks_, task = np.unique(task, return_inverse=True)
        kernel = (self.mu + (task[:, None] == task)) * (X @ X.T)
        dual = np.linalg.solve(kernel + self.gamma * np.eye(len(y)), y)
        one_hot = task[:, None] == np.arange(self.tasks_.size)
        own = (X * dual[:, None]).T @ one_hot
        self.coef_ = self.mu * own.sum(axis=1, keepdims=True) + own
        return self

    def predict(self, X, task):
        """Return the product of each row with the weights of its task."""
        task = np.searchsorted(self.tasks_, task)
        return np.einsum("id,di->i", X, self.coef_[:, task])
