"""Every fitted model has the objective that it reports.

The objective is computed from what the model predicts for the training examples and
from its coefficients, whether or not it is the optimum: on tasks with fewer and with
more examples than inputs, with fewer and with more tasks than inputs, from weak to
strong regularisation, along paths in no order, and where a solver had to stop.
"""

import model_objectives
import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from mtmkl.methods import REGISTRY

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

# Of outputs, times C, and of weights on the simplex.
ROUNDING = 1e-8
# Tasks, examples of each, inputs.
SHAPES = {
    "few examples": (5, 4, 8),
    "few inputs": (7, 6, 3),
    "few tasks": (3, 12, 2),
}
SEEDS = (0, 1)
GRAPHS = {"MEDGraphStructure", "NeighbourhoodSelection"}

GAUSSIAN, SQUARE = (
    {"name": "gaussian", "width": 1.5},
    {"name": "polynomial", "degree": 2},
)
KERNELS = {"kernels": [GAUSSIAN, SQUARE, "linear"]}
MIXED = {"kernels": ["features", GAUSSIAN], "normalize": "trace", "standardize": True}
RELATED = ["dirac_uniform", "union"]
LINEAR, OTHERS = [("linear", RELATED)], [(k, RELATED) for k in (GAUSSIAN, SQUARE)]

COSTS = [{"C": C} for C in (1.0, 1e3, 1e-3, 30.0)]
SWITCHED = [{"C": C, "alpha": a} for C in (1.0, 1e3, 1e-2) for a in (2.0, 0.0, 50.0)]
COUPLED = [{"C": C, "lam": lam} for C in (1.0, 1e3, 1e-2) for lam in (0.3, 0.0, 20.0)]
SCHATTEN = [{"C": C, "q": q} for C in (1.0, 1e2, 1e-3) for q in (1.5, 1.0, 1.99, 2.0)]
RIDGES = [{"gamma": gamma} for gamma in (1.0, 1e3, 1e-4, 1e-1)]
WEIGHTS = (1.0, 30.0, 1e-2)

# Of each method: parameters, and the points of a path.
CASES = {
    "AggregateRidge": ([{}, {"fit_intercept": True}], RIDGES),
    "CMTL": (
        [{}],
        [{"lam": lam, "n_clusters": r} for lam in WEIGHTS for r in (2, 1, 3)],
    ),
    "CoClus": (
        [{"n_restarts": 2}],
        [{"lam_1": lam, "lam_2": 2.0, "n_clusters": 2} for lam in WEIGHTS],
    ),
    "FlexClus": (
        [{}],
        [
            {"lam_1": lam, "lam_2": each, "lam_3": 1.0}
            for lam in (*WEIGHTS, 0.0)
            for each in (1.0, 0.0)
        ],
    ),
    "GroupFeatureSharing": ([KERNELS, MIXED], COUPLED),
    "IndependentRidge": (
        [{}, {"kernel": GAUSSIAN, "fit_intercept": True, "standardize": True}],
        RIDGES,
    ),
    "IndependentSVM": ([KERNELS, {"fit_intercept": False}], COSTS),
    "IndependentSVR": ([KERNELS, {"epsilon": 0.0, "standardize_target": True}], COSTS),
    "MEDAdaptivePooling": (
        [{}, {"kernel": GAUSSIAN, "normalize": "trace", "standardize": True}],
        SWITCHED,
    ),
    "MEDKernelSelection": (
        [{}, MIXED, KERNELS | {"switches": "per_task"}],
        SWITCHED,
    ),
    "MEDRegression": (
        [{}, MIXED, {"loss": "squared"}, KERNELS | {"loss": "squared"}],
        SWITCHED,
    ),
    "MKMTFLClassifier": (
        [
            KERNELS | {"p": 2.0},
            MIXED | {"p": 2.5},
            KERNELS | {"p": 8.67},
        ],
        COSTS,
    ),
    "MKMTFLRegressor": (
        [
            KERNELS | {"p": 12.0},
            MIXED | {"p": 6.0, "standardize_target": True},
        ],
        COSTS,
    ),
    "MKMTSFLClassifier": (
        [KERNELS, MIXED],
        SCHATTEN,
    ),
    "MKMTSFLRegressor": (
        [
            KERNELS,
            MIXED | {"standardize_target": True},
        ],
        SCHATTEN,
    ),
    "MeTaG": ([{}, {"n_levels": 1}], [{"lam": lam} for lam in WEIGHTS]),
    "MultiTaskFeatureLearning": (
        [
            {},
            {"fit_intercept": True, "standardize": True},
            {"kernel": GAUSSIAN},
        ],
        RIDGES,
    ),
    "MultiTaskMKL": (
        [
            {"terms": LINEAR},
            {"terms": LINEAR, "p": 1.3, "loss": "logistic", "standardize": True},
            {"terms": LINEAR, "p": np.inf, "solver": "gram", "normalize": "trace"},
            {"terms": OTHERS, "p": 1.0, "fit_intercept": True},
            {"terms": OTHERS, "p": 3.0, "loss": "logistic", "normalize": "cosine"},
        ],
        COSTS,
    ),
    "MultiTaskVariableSelection": ([{}, {"fit_intercept": True}], RIDGES),
    "PooledSVM": ([KERNELS, MIXED], COSTS),
    "RRHet": ([{}, {"fit_intercept": True}], RIDGES),
    "SharedMKL": ([KERNELS, MIXED], COSTS),
    "SingleTaskMKL": ([KERNELS, MIXED], COSTS),
    "SingleTaskMKLRegressor": ([KERNELS, MIXED], COSTS),
    "Whom": (
        [{"n_restarts": 1}],
        [{"lam": lam, "n_groups": 2} for lam in WEIGHTS],
    ),
}
SETTINGS = {
    f"{name}, {number}": (REGISTRY[name](**params), grid)
    for name, (variants, grid) in CASES.items()
    for number, params in enumerate(variants)
}
LIMITED = [name for name, (each, _) in SETTINGS.items() if hasattr(each, "max_iter")]


def examples(shape, seed, estimator, *, one_class=False):
    """Return inputs, the outputs that the method takes, and tasks in mixed order."""
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
    reporting = {name for name in REGISTRY if " objective_" in REGISTRY[name].__doc__}
    assert reporting == CASES.keys() | GRAPHS
    assert CASES.keys() == model_objectives.PENALTIES.keys()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", SETTINGS)
def test_models_along_a_path_have_the_objective(name, shape, seed):
    estimator, grid = SETTINGS[name]
    data = examples(shape, seed, estimator)
    for model in estimator.fit_path(*data, grid=grid):
        assert_reported(model, *data)


@pytest.mark.parametrize("name", SETTINGS)
def test_models_with_a_task_of_one_class_have_the_objective(name):
    estimator, grid = SETTINGS[name]
    data = examples("few inputs", 2, estimator, one_class=True)
    for model in estimator.fit_path(*data, grid=grid[:2]):
        assert_reported(model, *data)


@pytest.mark.parametrize("max_iter", [1, 2, 5])
@pytest.mark.parametrize("name", LIMITED)
def test_models_of_solvers_that_stopped_have_the_objective(name, max_iter):
    estimator, grid = SETTINGS[name]
    data = examples("few inputs", 3, estimator)
    change = {"max_iter": max_iter, "tol": 1e-14}
    for point in grid[:2]:
        model = clone(estimator).set_params(**change, **point)
        assert_reported(model.fit(*data), *data)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_graphs_have_the_objective(name, seed):
    X = (np.random.default_rng(seed).standard_normal((25, 4)) > 0.3).astype(float)
    X[:, 3] = np.where(X[:, 3] + X[:, 2] > 1, 1.0, X[:, 0])
    grid = [{"alpha": alpha} for alpha in (1.0, 20.0, 0.05)]
    for model in REGISTRY[name]().fit_path(X, grid=grid):
        value = model_objectives.graph_objective(model, X)
        assert value == pytest.approx(model.objective_, rel=ROUNDING)
