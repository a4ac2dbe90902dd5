"""A multi-task estimator in a scikit-learn pipeline and grid search.

The task of each example is passed as metadata, in addition to X and y. ``route_tasks``
makes each step that takes ``task`` request it, and scikit-learn passes on the part that
belongs to the current fold.
"""

import numpy as np
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from mtmkl.datasets import linear_synthetic
from mtmkl.methods import MultiTaskFeatureLearningRegressor
from mtmkl.model_selection import TaskKFold, route_tasks

# %% Data
#
# 40 related regression tasks with 5 training examples each, 11 inputs of which 6 are
# irrelevant. ``task`` may hold any integers or strings.
data = linear_synthetic(n_irrelevant=6, n_tasks=40, seed=1)
test = data.truth["is_test"]
train = ~test

# %% Model
#
# A pipeline or a search needs only these two calls to pass on the tasks.
sklearn.set_config(enable_metadata_routing=True)
method = MultiTaskFeatureLearningRegressor()
model = route_tasks(Pipeline([("scale", StandardScaler()), ("method", method)]))

# %% Search
#
# TaskKFold divides the examples of each task among the folds, so that every task is in
# every training part. For scikit-learn's splitters the tasks are the ``groups``. The
# score is the method's own, R² over all examples; TaskScorer takes any other metric.
search = GridSearchCV(
    model,
    {"method__gamma": np.logspace(-3, 2, 6)},
    cv=TaskKFold(5, random_state=0),
)
task = data.task[train]
search.fit(data.X[train], data.y[train], task=task, groups=task)

# %% Result
#
# GridSearchCV cannot pass metadata to predict, but the best pipeline can. The fitted
# method inside it carries the certificate of its solution.
predicted = search.best_estimator_.predict(data.X[test], task=data.task[test])
best = search.best_estimator_["method"]
print(f"chosen γ: {search.best_params_['method__gamma']:g}")
print(f"test mean squared error: {np.mean((data.y[test] - predicted) ** 2):.2f}")
print("features learned:", best.n_features_)
print(f"relative duality gap: {best.duality_gap_:.0e}")
