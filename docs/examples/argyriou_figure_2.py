"""Figure 2 of Argyriou et al. (2008), with parameters that you can change.

The left panel shows the test error, the right one the distance of the learned feature
matrix D from the covariance of the tasks. Both are drawn against the number of
irrelevant variables, for several numbers of tasks learned together. Change the
parameters, run the file, look at the picture.
"""

import sys
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mtmkl.methods import IndependentRidgeRegressor, MultiTaskFeatureLearningRegressor
from mtmkl_suite.data import AS_PUBLISHED, load, make_split
from mtmkl_suite.evaluation.cross_validation import choose, cross_validation_errors

# %% Parameters
#
# The paper has 0 … 10 irrelevant variables, T = 10, 25, 100, 200, 5 training and 20
# test examples per task, and γ from 1e-6 to 1e3.
N_IRRELEVANT = [0, 5, 10]
N_TASKS = [10, 50]
N_TRAIN = 5
REPEATS = 3
GRID = [{"gamma": gamma} for gamma in np.logspace(-3, 2, 6)]

PROTOCOL = {"id": "figure_2", "kind": "given", "repeats": REPEATS, "folds": N_TRAIN}


# %% One fit
#
# γ is chosen by cross-validation on the training examples, with folds within tasks.
def test_error(method, data, split):
    """Fit the method to the training rows; return the error on the test rows."""
    train, test = data.subset(split.train), data.subset(split.test)
    X, y, task = train.X, train.y, train.task
    errors = cross_validation_errors(method, X, y, task, split.fold, GRID, data.n_tasks)
    method.set_params(**choose(errors, GRID, per_task=False).params)
    method.fit(X, y, task=task)
    return np.mean((test.y - method.predict(test.X, task=test.task)) ** 2)


def distance(method, data):
    """Return ||D − Cov||_F on the relevant variables, Cov scaled to trace 1."""
    block = np.ix_(data.truth["relevant"], data.truth["relevant"])
    covariance = data.truth["covariance"][block]
    return np.linalg.norm(method.D_[block] - covariance / np.trace(covariance))


# %% All fits
#
# The same seed gives the same tasks, relevant inputs and noise for any number of
# irrelevant variables, so the points of a curve are comparable.
def curves():
    """Return both panels: values by (label, number of irrelevant variables)."""
    errors, distances = defaultdict(list), defaultdict(list)
    for n_tasks in N_TASKS:
        for n_irrelevant in N_IRRELEVANT:
            for repeat in range(REPEATS):
                data = load(
                    "linear_synthetic",
                    n_irrelevant=n_irrelevant,
                    n_tasks=n_tasks,
                    n_train=N_TRAIN,
                    seed=repeat,
                )
                split = make_split(
                    data, PROTOCOL, seed=0, train_size=AS_PUBLISHED, repeat=repeat
                )
                method = MultiTaskFeatureLearningRegressor(fit_intercept=False)
                key = f"T = {n_tasks}", n_irrelevant
                errors[key].append(test_error(method, data, split))
                distances[key].append(distance(method, data))
                if n_tasks == max(N_TASKS):
                    alone = IndependentRidgeRegressor(fit_intercept=False)
                    error = test_error(alone, data, split)
                    errors["independent", n_irrelevant].append(error)
    return {"test mean squared error": errors, "‖D − Cov‖": distances}


# %% The figure
def plot(path):
    """Draw both panels, means over the repeats, into a file."""
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    for axis, (name, values) in zip(axes, curves().items(), strict=True):
        for label in dict.fromkeys(label for label, _ in values):
            means = [np.mean(values[label, n]) for n in N_IRRELEVANT]
            axis.plot(N_IRRELEVANT, means, marker="o", label=label)
        axis.set(xlabel="number of irrelevant variables", ylabel=name, ylim=(0, None))
        axis.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    print(f"figure: {path}")


if __name__ == "__main__":
    plot(Path(sys.argv[1] if len(sys.argv) > 1 else "results/examples/figure_2.svg"))
