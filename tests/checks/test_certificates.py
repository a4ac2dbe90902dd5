"""The certificates of all convex methods, against an interior point.

The lower bound is at most the optimum, the objective at least; the gap is at most the
tolerance, or a warning says what it is. On inputs of other scales, too. The optimum is
that of the docstring's problem as :mod:`printed_problems` has it; where the inputs of
an unstandardised linear problem are multiplied by s, that is the problem on the inputs
themselves for W' = sW, whose penalty is divided by s or s².
"""

import warnings

import numpy as np
import printed_problems as printed
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning

from mtmkl.certify.certificates import optimum_of
from mtmkl.kernels.base import Gaussian, Polynomial
from mtmkl.kernels.normalize import CosineNormalized
from mtmkl.methods import REGISTRY

# The interior point's, relative to the optimum.
SLACK = 1e-8
SCALES = [1.0, 30.0, 0.03]
KERNELS = [{"name": "gaussian", "width": 1.5}, {"name": "polynomial", "degree": 2}]
# Methods whose problem is not convex, and those that solve no problem.
OTHERS = {"CoClus", "Whom", "HierarchicalBayes", "OracleControl", "TaskMeanControl"}


class Data:
    """Three tasks of ten examples with three inputs, and the matrices of kernels."""

    def __init__(self, scale):
        rng = np.random.default_rng(3)
        self.task = np.repeat(np.arange(3), 10)
        self.base = rng.standard_normal((30, 3)) + 0.5
        self.scale = scale
        self.X = scale * self.base
        W = rng.standard_normal((3, 1)) + 0.5 * rng.standard_normal((3, 3))
        fit = np.einsum("ij,ji->i", self.base, W[:, self.task])
        self.target = fit + 0.5 * rng.standard_normal(30)
        self.label = np.where(self.target > np.median(self.target), 1.0, -1.0)
        self.label[::10], self.label[1::10] = 1.0, -1.0

    def split(self, values):
        return np.split(values, 3)

    def features(self):
        return [[np.outer(x, x) for x in X.T] for X in self.split(self.X)]

    def grams(self, wrap=lambda kernel: kernel):
        kernels = wrap(Gaussian(1.5)), wrap(Polynomial(2))
        return [[kernel(X, X) for kernel in kernels] for X in self.split(self.X)]

    def by_trace(self, kernel):
        """Return the kernel over its mean diagonal."""
        mean = np.mean(np.diagonal(kernel(self.X, self.X)))
        return lambda X, Z: kernel(X, Z) / mean

    def centred(self):
        """Inputs of mean 0 and deviation 1 and labels, both less the tasks' means."""
        X = (self.X - self.X.mean(axis=0)) / self.X.std(axis=0)
        X, y = (
            np.concatenate([part - part.mean(axis=0) for part in self.split(values)])
            for values in (X, self.label)
        )
        return X, y, self.task


def independent(data, C, alpha, unit):
    tasks = zip(data.split(data.label), data.features(), strict=True)
    return sum(
        printed.kernel_selection([y], [K], C, alpha, unit=unit)[0] for y, K in tasks
    )


def single_kernel_weights(data, C, unit):
    tasks = zip(data.split(data.label), data.grams(CosineNormalized), strict=True)
    return sum(printed.group_sharing([y], [K], C, 0.0, unit=unit)[0] for y, K in tasks)


def pooled(data, C, unit):
    K = [[np.outer(x, x) for x in data.X.T]]
    return printed.kernel_selection([data.label], K, C, 0.0, unit=unit)[0]


def pooling(data, C, alpha, unit):
    K = data.X @ data.X.T
    own = [2.7 * X @ X.T for X in data.split(data.X)]
    return printed.adaptive_pooling(data.label, 0.1 * K, own, C, alpha, unit=unit)[0]


def selection(data, C, alpha, unit, grams=None):
    labels = data.split(data.label)
    return printed.kernel_selection(
        labels, grams or data.features(), C, alpha, unit=unit
    )[0]


def regression(data, C, alpha, unit):
    targets = data.split(data.target)
    return printed.kernel_selection(
        targets, data.features(), C, alpha, epsilon=0.1, unit=unit
    )[0]


def squared_regression(data, C, alpha, unit):
    targets = data.split(data.target)
    return printed.squared_selection(targets, data.features(), C, alpha, unit=unit)[0]


def kernel_weights(data, C, lam, unit, **kwargs):
    labels = data.split(data.label)
    grams = data.grams(CosineNormalized)
    return printed.group_sharing(labels, grams, C, lam, unit=unit, **kwargs)[0]


def linear(data, gamma, penalty, unit):
    return printed.squared_norm(
        data.base, data.target, data.task, gamma / data.scale**2, penalty, unit=unit
    )


def ridges(data, gamma, unit, task):
    return printed.ridge(data.base, data.target, task, gamma / data.scale**2, unit=unit)


# A chain of the three tasks, and all of them pooled.
CHAIN = {"name": "graph_laplacian", "adjacency": [[0, 1, 0], [1, 0, 1], [0, 1, 0]]}


def multi_task_mkl(data, base, C, p, loss, unit, fit_intercept=False):
    laplacian = np.array([[2, -1, 0], [-1, 3, -1], [0, -1, 2]])
    pairs = np.ix_(data.task, data.task)
    grams = [
        R[pairs] * K for K in base for R in (np.linalg.inv(laplacian), np.ones((3, 3)))
    ]
    return printed.multi_task_mkl(
        data.label, grams, C, p, loss, fit_intercept=fit_intercept, unit=unit
    )[0]


def joint(data):
    return [kernel(data.X, data.X) for kernel in (Gaussian(1.5), Polynomial(2))]


def mixed_norm(data, C, p, unit, epsilon=None):
    targets = data.split(data.label if epsilon is None else data.target)
    grams = data.grams(data.by_trace)
    return printed.mixed_norm(targets, grams, C, p, epsilon, unit=unit)[0]


def independent_mixed_norm(data, C, unit, epsilon, grams):
    """Of each task alone, where every p is alike."""
    tasks = zip(data.split(data.target), grams, strict=True)
    return sum(
        printed.mixed_norm([y], [K], C, 2, epsilon, unit=unit)[0] for y, K in tasks
    )


def mixed_schatten(data, C, q, unit, epsilon=None):
    targets = data.label if epsilon is None else data.target
    grams = [K / np.mean(np.diagonal(K)) for K in joint(data)]
    return printed.mixed_schatten(targets, grams, data.task, C, q, epsilon, unit=unit)[
        0
    ]


EPSILONS = {"epsilon_mean": 0.1, "epsilon_between": 1.0, "epsilon_within": 8.0}
# Of each method: its parameters, and the optimum of its docstring's problem.
PROBLEMS = {
    "MEDKernelSelection": (
        {"C": 2.0, "alpha": 3.0},
        lambda data, unit: selection(data, 2.0, 3.0, unit),
    ),
    "MEDKernelSelection, kernels": (
        {"C": 2.0, "alpha": 3.0, "kernels": KERNELS, "normalize": "trace"},
        lambda data, unit: selection(data, 2.0, 3.0, unit, data.grams(data.by_trace)),
    ),
    "MEDKernelSelection, per task": (
        {"C": 0.5, "alpha": 2.0, "switches": "per_task"},
        lambda data, unit: independent(data, 0.5, 2.0, unit),
    ),
    "MEDAdaptivePooling": (
        {"C": 2.0, "alpha": 3.0},
        lambda data, unit: pooling(data, 2.0, 3.0, unit),
    ),
    "MEDRegression": (
        {"C": 2.0, "alpha": 3.0},
        lambda data, unit: regression(data, 2.0, 3.0, unit),
    ),
    "MEDRegression, squared": (
        {"C": 2.0, "alpha": 3.0, "loss": "squared"},
        lambda data, unit: squared_regression(data, 2.0, 3.0, unit),
    ),
    "IndependentSVM": (
        {"C": 2.0},
        lambda data, unit: selection(data, 2.0, 0.0, unit),
    ),
    "PooledSVM": ({"C": 2.0}, lambda data, unit: pooled(data, 2.0, unit)),
    "GroupFeatureSharing": (
        {"C": 2.0, "lam": 0.3, "kernels": KERNELS},
        lambda data, unit: kernel_weights(data, 2.0, 0.3, unit),
    ),
    "SharedMKL": (
        {"C": 2.0, "kernels": KERNELS},
        lambda data, unit: kernel_weights(data, 2.0, 0.0, unit, is_shared=True),
    ),
    "SingleTaskMKL": (
        {"C": 2.0, "kernels": KERNELS},
        lambda data, unit: single_kernel_weights(data, 2.0, unit),
    ),
    "SingleTaskMKLRegressor": (
        {"C": 2.0, "kernels": KERNELS},
        lambda data, unit: independent_mixed_norm(
            data, 2.0, unit, 0.1, data.grams(CosineNormalized)
        ),
    ),
    "IndependentSVR": (
        {"C": 2.0},
        lambda data, unit: regression(data, 2.0, 0.0, unit),
    ),
    "MKMTFLClassifier": (
        {"C": 2.0, "p": 6.0, "kernels": KERNELS},
        lambda data, unit: mixed_norm(data, 2.0, 6.0, unit),
    ),
    "MKMTFLRegressor": (
        {"C": 2.0, "p": 8.67, "kernels": KERNELS},
        lambda data, unit: mixed_norm(data, 2.0, 8.67, unit, 0.1),
    ),
    "MKMTSFLClassifier": (
        {"C": 2.0, "q": 1.5, "kernels": KERNELS, "basis_tol": 1e-12},
        lambda data, unit: mixed_schatten(data, 2.0, 1.5, unit),
    ),
    "MKMTSFLRegressor": (
        {"C": 2.0, "q": 1.01, "kernels": KERNELS, "basis_tol": 1e-12},
        lambda data, unit: mixed_schatten(data, 2.0, 1.01, unit, 0.1),
    ),
    "MultiTaskMKL": (
        {"C": 0.5, "terms": [("linear", [CHAIN, "union"])]},
        lambda data, unit: multi_task_mkl(
            data, [data.X @ data.X.T], 0.5, 2, "hinge", unit
        ),
    ),
    "MultiTaskMKL, logistic": (
        {"C": 0.5, "terms": [("linear", [CHAIN, "union"])], "loss": "logistic"},
        lambda data, unit: multi_task_mkl(
            data, [data.X @ data.X.T], 0.5, 2, "logistic", unit
        ),
    ),
    "MultiTaskMKL, kernels": (
        {
            "C": 2.0,
            "p": 1.0,
            "terms": [(each, [CHAIN, "union"]) for each in KERNELS],
            "fit_intercept": True,
        },
        lambda data, unit: multi_task_mkl(
            data, joint(data), 2.0, 1, "hinge", unit, fit_intercept=True
        ),
    ),
    "MultiTaskMKL, kernels, logistic": (
        {
            "C": 2.0,
            "p": 3.0,
            "terms": [(each, [CHAIN, "union"]) for each in KERNELS],
            "loss": "logistic",
        },
        lambda data, unit: multi_task_mkl(data, joint(data), 2.0, 3, "logistic", unit),
    ),
    "FlexClus": (
        {"lam_1": 0.5, "lam_2": 1.0, "lam_3": 2.0},
        lambda data, unit: printed.flexible_clusters(
            *data.centred(), (0.5, 1.0, 2.0), unit=unit
        ),
    ),
    "CMTL": (
        {"lam": 0.5, "n_clusters": 2, **EPSILONS},
        lambda data, unit: printed.clustered_tasks(
            *data.centred(), 0.5, 2, **EPSILONS, unit=unit
        ),
    ),
    "MeTaG": (
        {"lam": 4.0, "phi": 2.0, "n_levels": 2},
        lambda data, unit: printed.level_groups(
            *data.centred(), 4.0, 2.0, 2, unit=unit
        ),
    ),
    "MultiTaskFeatureLearning": (
        {"gamma": 2.0},
        lambda data, unit: linear(data, 2.0, "trace", unit),
    ),
    "MultiTaskVariableSelection": (
        {"gamma": 2.0},
        lambda data, unit: linear(data, 2.0, "rows", unit),
    ),
    "RRHet": (
        {"gamma": 2.0},
        lambda data, unit: linear(data, 2.0, "deviations", unit),
    ),
    "IndependentRidge": (
        {"gamma": 2.0},
        lambda data, unit: ridges(data, 2.0, unit, data.task),
    ),
    "AggregateRidge": (
        {"gamma": 2.0},
        lambda data, unit: ridges(data, 2.0, unit, np.zeros(30, dtype=int)),
    ),
}


def make(name):
    return REGISTRY[name.partition(",")[0]](**PROBLEMS[name][0])


def fitted(estimator, data):
    """Fit, and return the messages of convergence warnings."""
    y = data.label if is_classifier(estimator) else data.target
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(data.X, y, data.task)
    return [
        str(each.message)
        for each in caught
        if issubclass(each.category, ConvergenceWarning)
    ]


def assert_bounds(estimator, optimum):
    upper = estimator.objective_
    # The gap has no floor here: no optimum is near zero.
    lower = upper - estimator.duality_gap_ * upper
    assert lower <= optimum * (1 + SLACK)
    assert optimum <= upper * (1 + SLACK)


def test_every_convex_method_has_its_problem():
    here = {name.partition(",")[0] for name in PROBLEMS}
    methods = {
        name
        for name, method in REGISTRY.items()
        if is_classifier(method()) or is_regressor(method())
    }
    assert methods - OTHERS == here


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", PROBLEMS)
def test_bounds_hold_the_optimum(name, scale):
    data, estimator = Data(scale), make(name)
    messages = fitted(estimator, data)
    tol = getattr(estimator, "tol", 1e-12)
    assert estimator.duality_gap_ <= tol or messages
    assert_bounds(estimator, PROBLEMS[name][1](data, estimator.objective_))


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", PROBLEMS)
def test_two_interior_points_agree(name, scale):
    """The referee, which is written from the same docstrings in another way."""
    pytest.importorskip("cvxopt")
    data, estimator = Data(scale), make(name)
    fitted(estimator, data)
    y = data.label if is_classifier(estimator) else data.target
    optimum = optimum_of(estimator, data.X, y, data.task).value
    other = PROBLEMS[name][1](data, estimator.objective_)
    assert optimum == pytest.approx(other, rel=1e-7)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_gap_that_is_missed_is_said(name):
    """After one iteration, and for a gap that no arithmetic reaches."""
    data = Data(1.0)
    optimum = PROBLEMS[name][1](data, 1.0)
    for change in ({"max_iter": 1}, {"tol": 1e-18, "max_iter": 3}):
        estimator = make(name)
        change = {key: change[key] for key in change if hasattr(estimator, key)}
        messages = fitted(estimator.set_params(**change), data)
        if estimator.duality_gap_ > getattr(estimator, "tol", 1e-12):
            said = f"gap of {estimator.duality_gap_:.1e} (tol="
            if name.endswith("per task"):
                said = "gap of "  # that of each task
            assert any(said in message for message in messages)
        assert_bounds(estimator, optimum)
