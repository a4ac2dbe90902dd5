"""Every fitted model has the objective that it reports.

The objective is computed from what the model predicts for the training samples and
from its coefficients, whether or not it is the optimum: on tasks with fewer and with
more samples than features, with fewer and with more tasks than features, from weak to
strong regularisation, along paths in no order, and where a solver had to stop.
"""

import inspect
import itertools
import re

import model_objectives
import numpy as np
import pytest
from method_cases import with_objective
from sklearn.base import clone, is_classifier
from sweeps import sweep

from mtmkl.methods import REGISTRY
from mtmkl.methods._base.graph import GraphEstimator

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

# Of outputs, times C, and of weights on the simplex.
ROUNDING = 1e-8
# Tasks, samples of each, features.
SHAPES = {
    "few samples": (5, 4, 8),
    "few features": (7, 6, 3),
    "few tasks": (3, 12, 2),
}
SEEDS = sweep([0], [1])
CASES = {
    name: ([*case.variants], [*case.grid]) for name, case in with_objective().items()
}
GRAPHS = {name for name in CASES if issubclass(REGISTRY[name], GraphEstimator)}
SETTINGS = {
    f"{name}, {number}": (REGISTRY[name](**params), grid)
    for name, (variants, grid) in CASES.items()
    if name not in GRAPHS
    for number, params in enumerate(variants)
}
LIMITED = [name for name, (each, _) in SETTINGS.items() if hasattr(each, "max_iter")]


def examples(shape, seed, estimator, *, one_class=False):
    """Return features, the outputs that the method takes, and tasks in mixed order."""
    n_tasks, size, d = SHAPES[shape]
    rng = np.random.default_rng(seed)
    task = rng.permutation(np.repeat(np.arange(n_tasks), size))
    X = rng.standard_normal((task.size, d)) + 0.3
    W = rng.standard_normal((d, 1)) + 0.7 * rng.standard_normal((d, n_tasks))
    y = np.einsum("ij,ji->i", X, W[:, task]) + 0.2 * task
    y += 0.5 * rng.standard_normal(task.size)
    if is_classifier(estimator):
        y = np.where(y > np.median(y), 1.0, -1.0)
        for t in range(n_tasks):
            y[np.flatnonzero(task == t)[:2]] = -1.0, 1.0
        if one_class:
            y[task == 1] = 1.0
    return X, y, task


def assert_reported(model, X, y, task):
    value = model_objectives.objective(model, X, y, task)
    assert model.objective_ == pytest.approx(value, rel=ROUNDING), model


def test_every_objective_is_checked():
    reporting = {
        name
        for name, method in REGISTRY.items()
        if re.search(r"^(.*, )?objective_(, .*)? :", inspect.getdoc(method), re.M)
    }
    assert reporting == CASES.keys()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", SETTINGS)
def test_models_along_a_path_have_the_objective(name, seed):
    estimator, grid = SETTINGS[name]
    if name in LIMITED:
        # An objective is that of its model at any distance from the optimum.
        estimator = clone(estimator).set_params(max_iter=min(estimator.max_iter, 100))
    for shape in SHAPES:
        data = examples(shape, seed, estimator)
        for model in estimator.fit_path(*data, grid=grid):
            assert_reported(model, *data)


@pytest.mark.parametrize("name", SETTINGS)
def test_models_with_a_task_of_one_class_have_the_objective(name):
    estimator, grid = SETTINGS[name]
    data = examples("few features", 2, estimator, one_class=True)
    for model in estimator.fit_path(*data, grid=grid[:2]):
        assert_reported(model, *data)


@pytest.mark.parametrize("name", LIMITED)
def test_models_of_solvers_that_stopped_have_the_objective(name):
    estimator, grid = SETTINGS[name]
    data = examples("few features", 3, estimator)
    for max_iter, point in itertools.product([1, 2, 5], grid[:2]):
        model = clone(estimator).set_params(max_iter=max_iter, tol=1e-14, **point)
        assert_reported(model.fit(*data), *data)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_graphs_have_the_objective(name, seed):
    X = (np.random.default_rng(seed).standard_normal((25, 4)) > 0.3).astype(float)
    X[:, 3] = np.where(X[:, 3] + X[:, 2] > 1, 1.0, X[:, 0])
    for model in REGISTRY[name]().fit_path(X, grid=CASES[name][1]):
        value = model_objectives.objective(model, X, None, None)
        assert value == pytest.approx(model.objective_, rel=ROUNDING)
