"""The optimum of a fitted method's problem, from the problem of its docstring.

What is taken from the estimator are its parameters, the kernels that these name, and
for ``relative_alpha`` the α that it found. What it solved, and how, is not looked at.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from mtmkl.certify import linear, machines, mixed
from mtmkl.certify.cones import Optimum, in_span, of_all, require_cvxopt
from mtmkl.certify.duals import Form
from mtmkl.kernels.base import from_spec
from mtmkl.kernels.basis import kernel_basis
from mtmkl.kernels.terms import KernelTerms
from mtmkl.methods._base.linear import task_means
from mtmkl.methods._base.linear_classifier import number_of_groups
from mtmkl.methods._base.multi_task_terms import MultiTaskTerms
from mtmkl.typing import FloatArray, IntArray

#: Relative error of an interior point that is allowed for, beyond its own gap.
SLACK = 1e-7


@dataclass(frozen=True)
class Judgement:
    """What an estimator reports beside the optimum.

    Attributes
    ----------
    objective, bound : float
        The estimator's own, upper and lower.
    gap : float
        Its own relative duality gap.
    optimum : Optimum
    """

    objective: float
    bound: float
    gap: float
    optimum: Optimum

    @property
    def difference(self) -> float:
        """The objective less the optimum, relative to it."""
        least = max(abs(self.optimum.value), 1e-300)
        return (self.objective - self.optimum.value) / least

    @property
    def holds(self) -> bool:
        """Whether the optimum lies between the two bounds, up to its accuracy."""
        value = self.optimum.value
        slack = (SLACK + self.optimum.accuracy) * abs(value)
        return self.bound - slack <= value <= self.objective + slack


def judge(model: Any, X: FloatArray, y: FloatArray, task: IntArray) -> Judgement:
    """Compare a fitted estimator with the optimum of its problem.

    Parameters
    ----------
    model : estimator
        Fitted on these examples.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Targets, or ±1.
    task : ndarray of shape (n,)
        Tasks 0 … T − 1.

    Raises
    ------
    LookupError
        If the problem has no optimum to compare with; says why.
    RefereeError
        If the interior point fails.
    ImportError
        If cvxopt is not installed.
    """
    optimum = optimum_of(model, X, y, task)
    objective, gap = float(model.objective_), float(model.duality_gap_)
    bound = getattr(model, "dual_objective_", None)
    if bound is None:
        bound = objective - gap * abs(objective)
    return Judgement(objective, float(bound), gap, optimum)


def optimum_of(model: Any, X: FloatArray, y: FloatArray, task: IntArray) -> Optimum:
    """Return the least objective of an estimator's problem; see :func:`judge`."""
    name = type(model).__name__
    reason = why_not(name)
    if reason:
        raise LookupError(reason)
    require_cvxopt()
    order = np.argsort(task, kind="stable")
    with warnings.catch_warnings():
        # cvxopt builds arrays in ways that NumPy has deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        return PROBLEMS[name](model, X[order], y[order], task[order])


def why_not(name: str) -> str:
    """Return why a method has no optimum to compare with, or nothing."""
    if name in WITHOUT_OPTIMUM:
        return f"{name}: {WITHOUT_OPTIMUM[name]}"
    if name not in PROBLEMS:
        return f"{name}: no interior-point formulation of its problem is known here"
    return ""


def _grams(model: Any, X: FloatArray, kernels: Any) -> FloatArray:
    """Return the matrices of the kernels on all examples, (D, n, n)."""
    terms = KernelTerms.of(
        X, kernels, normalize=model.normalize, standardize=model.standardize
    )
    Z = terms.inputs(X)
    out = np.empty((terms.n_terms, len(X), len(X)))
    for d, kernel in enumerate(terms.kernels):
        if kernel is None:
            x = Z[:, terms.column[d]]
            out[d] = terms.scale[d] * np.outer(x, x)
        else:
            out[d] = terms.scale[d] * kernel(Z, Z)
    return out


def _rows(task: IntArray) -> list[IntArray]:
    return [np.flatnonzero(task == t) for t in range(int(task.max()) + 1)]


def _forms(model: Any, X: FloatArray, task: IntArray) -> list[list[Form]]:
    """Return the forms of the kernels in each task, ``forms[t][d]``."""
    grams = _grams(model, X, model.kernels)
    return [
        [[(rows, K[np.ix_(rows, rows)])] for K in grams]
        for rows in _rows(task)
    ]  # fmt: skip


def _shared(forms: list[list[Form]]) -> list[Form]:
    """Return the sums over tasks."""
    return [
        [block for form in of_kernel for block in form]
        for of_kernel in zip(*forms, strict=True)
    ]


def _tube(model: Any) -> float | None:
    if not hasattr(model, "epsilon"):
        return None
    return float(model.epsilon) * getattr(model, "target_scale_", 1.0)


def _cost(model: Any) -> float:
    return float(model.C) * getattr(model, "target_scale_", 1.0)


def _unit(model: Any) -> float:
    """Return a unit of the objective: only rounding depends on it."""
    return max(abs(float(model.objective_)), 1e-12)


def _sum_of_kernels(model: Any, X: Any, y: Any, task: Any) -> Optimum:
    if type(model).__name__ == "PooledSVM":
        task = np.zeros_like(task)
    return machines.switched(
        y,
        _shared(_forms(model, X, task)),
        task if model.fit_intercept else None,
        _cost(model),
        epsilon=_tube(model),
        unit=_unit(model),
    )


def _switched(model: Any, X: Any, y: Any, task: Any) -> Optimum:
    forms = _forms(model, X, task)
    squared = getattr(model, "loss", None) == "squared"

    def solve(chosen: list[list[Form]], own: Any, log_alpha: float) -> Optimum:
        return machines.switched(
            y,
            _shared(chosen),
            own,
            model.C,
            log_alpha,
            epsilon=None if squared else _tube(model),
            squared=squared,
            unit=_unit(model),
        )

    if getattr(model, "switches", "shared") == "shared":
        return solve(forms, task, model.log_alpha_)
    # Every task has switches of its own.
    optima = []
    for t, rows in enumerate(_rows(task)):
        n = rows.size
        alone = [[(np.arange(n), form[0][1])] for form in forms[t]]
        optima.append(
            machines.switched(
                y[rows],
                alone,
                np.zeros(n, dtype=np.intp),
                model.C,
                model.log_alpha_,
                unit=_unit(model),
            )
        )
    return of_all(optima)


def _pooling(model: Any, X: Any, y: Any, task: Any) -> Optimum:
    (K,) = _grams(model, X, [model.kernel])
    own = model.specialised_scale or 0.9 * (task.max() + 1)
    everyone = np.arange(y.size)
    return machines.switched(
        y,
        [[(rows, own * K[np.ix_(rows, rows)])] for rows in _rows(task)],
        task,
        model.C,
        model.log_alpha_,
        common=[(everyone, model.communal_scale * K)],
        unit=_unit(model),
    )


def _weighted(model: Any, X: Any, y: Any, task: Any) -> Optimum:
    forms = _forms(model, X, task)
    if type(model).__name__ == "SharedMKL":
        forms = [_shared(forms)]
    return machines.weighted(
        y,
        forms,
        task,
        _cost(model),
        getattr(model, "lam", 0.0),
        epsilon=_tube(model),
        unit=_unit(model),
    )


def _mixed_norm(model: Any, X: Any, y: Any, task: Any) -> Optimum:
    by_kernel = [list(forms) for forms in zip(*_forms(model, X, task), strict=True)]
    return mixed.mixed_norm(
        y,
        by_kernel,
        task,
        _cost(model),
        float(model.p),
        epsilon=_tube(model),
        unit=_unit(model),
    )


def _schatten(model: Any, X: Any, y: Any, task: Any) -> Optimum:
    terms = KernelTerms.of(
        X, model.kernels, normalize=model.normalize, standardize=model.standardize
    )
    Z, factors = terms.inputs(X), []
    for d, kernel in enumerate(terms.kernels):
        if kernel is None:
            values = Z[:, [terms.column[d]]]
        else:
            # The problem is that of the coordinates kept.
            _, values = kernel_basis(kernel, Z, tol=model.basis_tol)
        factors.append(np.sqrt(terms.scale[d]) * values)
    return mixed.schatten(
        y,
        factors,
        task,
        _cost(model),
        float(model.q),
        epsilon=_tube(model),
        unit=_unit(model),
    )


def _related(model: Any, X: Any, y: Any, task: Any) -> Optimum:
    terms = MultiTaskTerms.of(
        model.terms, model.tasks_.tolist(), model.task_order, model.task_relations
    )
    grams, pairs = _grams(model, X, terms.kernels), np.ix_(task, task)
    return mixed.related(
        y,
        [
            R[pairs] * grams[b]
            for b, R in zip(terms.base, terms.task_kernels, strict=True)
        ],
        model.C,
        float(model.p),
        loss=model.loss,
        fit_intercept=model.fit_intercept,
        unit=_unit(model),
    )


def _coordinates(model: Any, X: FloatArray) -> FloatArray:
    if model.standardize:
        X = StandardScaler().fit_transform(X)
    if model.kernel is None:
        return X
    _, Z = kernel_basis(from_spec(model.kernel), X, tol=model.basis_tol)
    return Z


def _squared_norm(model: Any, X: Any, y: Any, task: Any) -> Optimum:
    return linear.squared_norm(
        _coordinates(model, X),
        y,
        task,
        model.gamma,
        model._penalty,
        fit_intercept=model.fit_intercept,
    )


def _ridge(model: Any, X: Any, y: Any, task: Any) -> Optimum:
    if type(model).__name__ == "AggregateRidge":
        task = np.zeros_like(task)
    gamma = np.broadcast_to(np.asarray(model.gamma, dtype=float), (task.max() + 1,))
    return linear.ridge(
        _coordinates(model, X), y, task, gamma, fit_intercept=model.fit_intercept
    )


def _centred(
    X: FloatArray, y: FloatArray, task: IntArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return standardised inputs and labels less the tasks' means.

    Tasks of one class have no part in the problem, nor have constant inputs.
    """
    X = StandardScaler().fit_transform(X[:, np.ptp(X, axis=0) > 0])
    both = [t for t in range(int(task.max()) + 1) if np.ptp(y[task == t]) > 0]
    kept = np.isin(task, both)
    X, y = X[kept], y[kept]
    task = np.searchsorted(both, task[kept])
    X = X - task_means(X, task, len(both))[task]
    return X, y - task_means(y[:, None], task, len(both))[task, 0], task


def _clustered(model: Any, X: Any, y: Any, task: Any) -> Optimum:
    X, y, task = _centred(X, y, task)
    names = ("epsilon_mean", "epsilon_between", "epsilon_within")
    return linear.clustered_tasks(
        in_span(X),
        y,
        task,
        model.lam,
        number_of_groups(model.n_clusters, int(task.max()) + 1),
        **{name: getattr(model, name) for name in names},
    )


def _flexible(model: Any, X: Any, y: Any, task: Any) -> Optimum:
    weights = (model.lam_1, max(model.lam_2, 1e-6), max(model.lam_3, 1e-6))
    return linear.flexible_clusters(*_centred(X, y, task), weights)


def _levels(model: Any, X: Any, y: Any, task: Any) -> Optimum:
    X, y, task = _centred(X, y, task)
    weights = [model.lam / model.phi**h for h in range(model.n_levels)]
    return linear.level_groups(in_span(X), y, task, weights)


def _nodes(model: Any, X: FloatArray, task: IntArray) -> FloatArray:
    """Return the samples of a graph, of 0 and 1, once."""
    return (X[task == 0] > model.binarize).astype(np.float64)


def _graph(model: Any, X: Any, y: Any, task: Any) -> Optimum:
    samples = _nodes(model, X, task)
    n, n_nodes = samples.shape
    node = np.repeat(np.arange(n_nodes), n)
    forms = []
    for m in range(n_nodes):
        for d in range(m + 1, n_nodes):
            x, z = samples[:, d], samples[:, m]
            forms.append(
                [
                    (np.flatnonzero(node == m), np.outer(x, x)),
                    (np.flatnonzero(node == d), np.outer(z, z)),
                ]
            )
    return machines.switched(
        (2.0 * samples - 1.0).T.ravel(),
        forms,
        node,
        model.C,
        model.log_alpha_,
        unit=_unit(model),
    )


def _neighbours(model: Any, X: Any, y: Any, task: Any) -> Optimum:
    samples = _nodes(model, X, task)
    nodes = np.arange(samples.shape[1])
    return of_all(
        [
            linear.sparse_logistic(samples[:, nodes != m], samples[:, m], model.alpha)
            for m in nodes
            if np.ptp(samples[:, m]) > 0
        ]
    )


Problem = Callable[[Any, FloatArray, FloatArray, IntArray], Optimum]

#: The problems of all convex methods.
PROBLEMS: Mapping[str, Problem] = {
    "AggregateRidge": _ridge,
    "CMTL": _clustered,
    "FlexClus": _flexible,
    "GroupFeatureSharing": _weighted,
    "IndependentRidge": _ridge,
    "IndependentSVM": _sum_of_kernels,
    "IndependentSVR": _sum_of_kernels,
    "MEDAdaptivePooling": _pooling,
    "MEDGraphStructure": _graph,
    "MEDKernelSelection": _switched,
    "MEDRegression": _switched,
    "MKMTFLClassifier": _mixed_norm,
    "MKMTFLRegressor": _mixed_norm,
    "MKMTSFLClassifier": _schatten,
    "MKMTSFLRegressor": _schatten,
    "MeTaG": _levels,
    "MultiTaskFeatureLearning": _squared_norm,
    "MultiTaskMKL": _related,
    "MultiTaskVariableSelection": _squared_norm,
    "NeighbourhoodSelection": _neighbours,
    "PooledSVM": _sum_of_kernels,
    "RRHet": _squared_norm,
    "SharedMKL": _weighted,
    "SingleTaskMKL": _weighted,
    "SingleTaskMKLRegressor": _weighted,
}

#: The others, and why.
WITHOUT_OPTIMUM: Mapping[str, str] = {
    "CoClus": "its problem is not convex, so that no solver certifies a minimum",
    "HierarchicalBayes": "it draws from a posterior, and minimises nothing",
    "OracleControl": "it returns the true labels, and minimises nothing",
    "TaskMeanControl": "it returns the mean of each task, and minimises nothing",
    "Whom": "its problem, over partitions of the tasks, is not convex",
}
