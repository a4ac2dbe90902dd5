"""A method of one's own.

A method is a class with ``fit(X, y, task)`` and ``predict(X, task)``. Give its dotted
path, and it runs on the splits of an experiment, gets a row in its tables, and is
compared with every other method. Nothing in the package needs to be edited.
``docs/notebooks/own_method.ipynb`` does so from Python; the command is

    PYTHONPATH=docs/examples .venv/bin/mtmkl run \
        --paper argyriou2008 --experiment digits \
        --method own_method:SharedMeanRidge --grid '{"gamma": [0.1, 1, 10]}'
"""

import numpy as np

from mtmkl.methods._base.estimator import MultiTaskRegressor


# Ridge regression in which the weights of task t are a shared part plus a part of its
# own, w_t = w_0 + v_t (Evgeniou and Pontil, Regularized multi-task learning, KDD 2004):
#
#     min  Σ_t ||y_t − X_t (w_0 + v_t)||² + γ (||w_0||²/μ + Σ_t ||v_t||²)
#
# The dual is a single ridge regression on all examples, with the kernel
# (μ + [same task]) ⟨x, x'⟩. MultiTaskRegressor checks the input, numbers the tasks
# 0 … T − 1, and is a scikit-learn estimator. `__init__` only stores its parameters.
class SharedMeanRidge(MultiTaskRegressor):
    """Ridge regression whose weights have a shared part and one part per task."""

    def __init__(self, gamma: float = 1.0, *, mu: float = 1.0) -> None:
        self.gamma = gamma
        self.mu = mu

    def _fit(self, X, y, task):
        kernel = (self.mu + (task[:, None] == task)) * (X @ X.T)
        dual = np.linalg.solve(kernel + self.gamma * np.eye(len(y)), y)
        one_hot = task[:, None] == np.arange(self.tasks_.size)
        own = (X * dual[:, None]).T @ one_hot
        self.coef_ = self.mu * own.sum(axis=1, keepdims=True) + own

    def _outputs(self, X, task):
        return np.einsum("id,di->i", X, self.coef_[:, task])
