"""The certificates of convex methods, against an interior point.

The lower bound is at most the optimum, the objective at least; the gap is at most the
tolerance, or a warning says what it is. On features of other scales, too. The optimum
is that of the docstring's problem, whose matrices and weights are computed here from
their definitions; where the features of an unstandardised linear problem are multiplied
by s, that is the problem on the features themselves for W' = sW, whose penalty is
divided by s or s².
"""

import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sweeps import sweep

from mtmkl.certify import kernel_problems as kernels
from mtmkl.certify import linear_problems
from mtmkl.certify.reference import optimum_of
from mtmkl.certify.solving import find_optimum
from mtmkl.kernels.base import CosineNormalized, Gaussian, Polynomial
from mtmkl.methods import REGISTRY

# The interior point's, relative to the optimum.
SLACK = 1e-8
SCALES = [1.0, 30.0, 0.03]
KERNELS = [{"name": "gaussian", "width": 1.5}, {"name": "polynomial", "degree": 2}]


class Data:
    """Three tasks of ten samples with three features, and the matrices of kernels."""

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


def independent(data, C, log_alpha):
    tasks = zip(data.split(data.label), data.features(), strict=True)
    return sum(kernels.kernel_selection([y], [K], C, log_alpha) for y, K in tasks)


def single_kernel_weights(data, C):
    tasks = zip(data.split(data.label), data.grams(CosineNormalized), strict=True)
    return sum(kernels.group_sharing([y], [K], C, 0.0) for y, K in tasks)


def pooled(data, C):
    K = [[np.outer(x, x) for x in data.X.T]]
    return kernels.kernel_selection([data.label], K, C, -np.inf)


def pooling(data, C, log_alpha):
    K = data.X @ data.X.T
    own = [2.7 * X @ X.T for X in data.split(data.X)]
    return kernels.adaptive_pooling(data.split(data.label), 0.1 * K, own, C, log_alpha)


def selection(data, C, log_alpha, grams=None):
    grams = grams or data.features()
    return kernels.kernel_selection(data.split(data.label), grams, C, log_alpha)


def regression(data, C, log_alpha, **loss):
    targets = data.split(data.target)
    return kernels.kernel_selection(targets, data.features(), C, log_alpha, **loss)


def kernel_weights(data, C, lam, **kwargs):
    grams = data.grams(CosineNormalized)
    return kernels.group_sharing(data.split(data.label), grams, C, lam, **kwargs)


def linear(data, gamma, penalty):
    gamma = gamma / data.scale**2
    return linear_problems.squared_norm(
        data.base, data.target, data.task, gamma, penalty
    )


def norms(data, weights, model):
    weights = np.array(weights) / data.scale
    return linear_problems.sum_of_norms(
        data.base, data.target, data.task, weights, model
    )


def ridges(data, gamma, task):
    return linear_problems.ridge(data.base, data.target, task, gamma / data.scale**2)


# A chain of the three tasks, and all of them pooled.
CHAIN = {"name": "graph_laplacian", "adjacency": [[0, 1, 0], [1, 0, 1], [0, 1, 0]]}


def multi_task_mkl(data, base, C, p, loss, **kwargs):
    laplacian = np.array([[2, -1, 0], [-1, 3, -1], [0, -1, 2]])
    pairs = np.ix_(data.task, data.task)
    grams = [
        R[pairs] * K for K in base for R in (np.linalg.inv(laplacian), np.ones((3, 3)))
    ]
    return kernels.multi_task_mkl(data.label, grams, C, p, loss, **kwargs)


def joint(data):
    return [kernel(data.X, data.X) for kernel in (Gaussian(1.5), Polynomial(2))]


def mixed_norm(data, C, p, epsilon=None):
    targets = data.split(data.label if epsilon is None else data.target)
    return kernels.mixed_norm(targets, data.grams(data.by_trace), C, p, epsilon)


def independent_mixed_norm(data, C, epsilon, grams):
    """Of each task alone, where every p is alike."""
    tasks = zip(data.split(data.target), grams, strict=True)
    return sum(kernels.mixed_norm([y], [K], C, 2, epsilon) for y, K in tasks)


def mixed_schatten(data, C, q, epsilon=None):
    targets = data.label if epsilon is None else data.target
    grams = [K / np.mean(np.diagonal(K)) for K in joint(data)]
    factors = [kernels.square_root(K) for K in grams]
    return kernels.mixed_schatten(targets, factors, data.task, C, q, epsilon)


EPSILONS = {"epsilon_mean": 0.1, "epsilon_between": 1.0, "epsilon_within": 8.0}
LOG_3 = np.log(3.0)
# Of each method: its parameters, and its docstring's problem.
PROBLEMS = {
    "MEDKernelSelectionClassifier": (
        {"C": 2.0, "alpha": 3.0},
        lambda data: selection(data, 2.0, LOG_3),
    ),
    "MEDKernelSelectionClassifier, kernels": (
        {"C": 2.0, "alpha": 3.0, "kernels": KERNELS, "normalize": "trace"},
        lambda data: selection(data, 2.0, LOG_3, data.grams(data.by_trace)),
    ),
    "MEDKernelSelectionClassifier, per task": (
        {"C": 0.5, "alpha": 2.0, "switches": "per_task"},
        lambda data: independent(data, 0.5, np.log(2.0)),
    ),
    "MEDAdaptivePoolingClassifier": (
        {"C": 2.0, "alpha": 3.0},
        lambda data: pooling(data, 2.0, LOG_3),
    ),
    "MEDRegressor": (
        {"C": 2.0, "alpha": 3.0},
        lambda data: regression(data, 2.0, LOG_3, epsilon=0.1),
    ),
    "MEDRegressor, squared": (
        {"C": 2.0, "alpha": 3.0, "loss": "squared"},
        lambda data: regression(data, 2.0, LOG_3, is_squared=True),
    ),
    "IndependentSVMClassifier": (
        {"C": 2.0},
        lambda data: selection(data, 2.0, -np.inf),
    ),
    "PooledSVMClassifier": ({"C": 2.0}, lambda data: pooled(data, 2.0)),
    "GroupFeatureSharingClassifier": (
        {"C": 2.0, "lam": 0.3, "kernels": KERNELS},
        lambda data: kernel_weights(data, 2.0, 0.3),
    ),
    "SharedMKLClassifier": (
        {"C": 2.0, "kernels": KERNELS},
        lambda data: kernel_weights(data, 2.0, 0.0, is_shared=True),
    ),
    "SingleTaskMKLClassifier": (
        {"C": 2.0, "kernels": KERNELS},
        lambda data: single_kernel_weights(data, 2.0),
    ),
    "SingleTaskMKLRegressor": (
        {"C": 2.0, "kernels": KERNELS},
        lambda data: independent_mixed_norm(
            data, 2.0, 0.1, data.grams(CosineNormalized)
        ),
    ),
    "IndependentSVMRegressor": (
        {"C": 2.0},
        lambda data: regression(data, 2.0, -np.inf, epsilon=0.1),
    ),
    "MKMTFLClassifier": (
        {"C": 2.0, "p": 6.0, "kernels": KERNELS},
        lambda data: mixed_norm(data, 2.0, 6.0),
    ),
    "MKMTFLRegressor": (
        {"C": 2.0, "p": 8.67, "kernels": KERNELS},
        lambda data: mixed_norm(data, 2.0, 8.67, 0.1),
    ),
    "MKMTSFLClassifier": (
        {"C": 2.0, "q": 1.5, "kernels": KERNELS, "basis_tol": 1e-12},
        lambda data: mixed_schatten(data, 2.0, 1.5),
    ),
    "MKMTSFLRegressor": (
        {"C": 2.0, "q": 1.01, "kernels": KERNELS, "basis_tol": 1e-12},
        lambda data: mixed_schatten(data, 2.0, 1.01, 0.1),
    ),
    "MultiTaskMKLClassifier": (
        {"C": 0.5, "terms": [("linear", [CHAIN, "union"])], "fit_intercept": False},
        lambda data: multi_task_mkl(data, [data.X @ data.X.T], 0.5, 2, "hinge"),
    ),
    "MultiTaskMKLClassifier, logistic": (
        {"C": 0.5, "terms": [("linear", [CHAIN, "union"])], "loss": "logistic"},
        lambda data: multi_task_mkl(data, [data.X @ data.X.T], 0.5, 2, "logistic"),
    ),
    "MultiTaskMKLClassifier, kernels": (
        {
            "C": 2.0,
            "p": 1.0,
            "terms": [(each, [CHAIN, "union"]) for each in KERNELS],
            "fit_intercept": True,
        },
        lambda data: multi_task_mkl(
            data, joint(data), 2.0, 1, "hinge", fit_intercept=True
        ),
    ),
    "MultiTaskMKLClassifier, kernels, logistic": (
        {
            "C": 2.0,
            "p": 3.0,
            "terms": [(each, [CHAIN, "union"]) for each in KERNELS],
            "loss": "logistic",
        },
        lambda data: multi_task_mkl(data, joint(data), 2.0, 3, "logistic"),
    ),
    "FlexClusClassifier": (
        {"lam_1": 0.5, "lam_2": 1.0, "lam_3": 2.0},
        lambda data: linear_problems.flexible_clusters(
            *data.centred(), (0.5, 1.0, 2.0)
        ),
    ),
    "CMTLClassifier": (
        {"lam": 0.5, "n_clusters": 2, **EPSILONS},
        lambda data: linear_problems.clustered_tasks(
            *data.centred(), 0.5, 2, **EPSILONS
        ),
    ),
    "MeTaGClassifier": (
        {"lam": 4.0, "phi": 2.0, "n_levels": 2},
        lambda data: linear_problems.pairwise_fusion(*data.centred(), [4.0, 2.0]),
    ),
    "MultiTaskFeatureLearningRegressor": (
        {"gamma": 2.0, "fit_intercept": False},
        lambda data: linear(data, 2.0, "trace"),
    ),
    "MultiTaskVariableSelectionRegressor": (
        {"gamma": 2.0, "fit_intercept": False},
        lambda data: linear(data, 2.0, "rows"),
    ),
    "RRHetRegressor": (
        {"gamma": 2.0, "fit_intercept": False},
        lambda data: linear(data, 2.0, "deviations"),
    ),
    "DirtyModelRegressor": (
        {"lam_1": 9.0, "lam_2": 5.0, "fit_intercept": False},
        lambda data: norms(data, (9.0, 5.0), "dirty"),
    ),
    "RobustMultiTaskRegressor": (
        {"lam_1": 3.0, "lam_2": 4.0, "fit_intercept": False},
        lambda data: norms(data, (3.0, 4.0), "robust"),
    ),
    "IndependentRidgeRegressor": (
        {"gamma": 2.0, "fit_intercept": False},
        lambda data: ridges(data, 2.0, data.task),
    ),
    "AggregateRidgeRegressor": (
        {"gamma": 2.0, "fit_intercept": False},
        lambda data: ridges(data, 2.0, np.zeros(30, dtype=int)),
    ),
}


def make(name):
    return REGISTRY[name.partition(",")[0]](**PROBLEMS[name][0])


def value(name, data, unit):
    """Return the optimum of the docstring's problem, by Clarabel alone."""
    return find_optimum(PROBLEMS[name][1](data), unit, ["CLARABEL"]).value


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


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", PROBLEMS)
def test_bounds_hold_the_optimum(name, scale):
    data, estimator = Data(scale), make(name)
    messages = fitted(estimator, data)
    tol = getattr(estimator, "tol", 1e-12)
    assert estimator.duality_gap_ <= tol or messages
    assert_bounds(estimator, value(name, data, estimator.objective_))


@pytest.mark.parametrize("scale", sweep(SCALES[:1], SCALES[1:]))
@pytest.mark.parametrize("name", PROBLEMS)
def test_two_interior_points_agree(name, scale):
    """The reference's, of what it finds in the estimator, and Clarabel."""
    data, estimator = Data(scale), make(name)
    fitted(estimator, data)
    y = data.label if is_classifier(estimator) else data.target
    optimum = optimum_of(estimator, data.X, y, data.task).value
    other = value(name, data, estimator.objective_)
    assert optimum == pytest.approx(other, rel=1e-7)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_gap_that_is_missed_is_said(name):
    """After one iteration, and for a gap that no arithmetic reaches."""
    data = Data(1.0)
    optimum = value(name, data, 1.0)
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
