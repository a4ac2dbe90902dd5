r"""The problems of linear methods, as papers print them, and those of estimators.

Arguments are alike in all statements: ``data`` are features X (N, d), outputs y (N,)
and tasks 0 … T − 1 of all samples. W (d, T) has a column per task, and the loss is
Σ_i (y_i − x_i'w_t − b_t)², t the task of sample i, with intercepts b where they are
asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import cvxpy as cp
import numpy as np
from sklearn.preprocessing import StandardScaler

from mtmkl import methods
from mtmkl.certify.kernel_problems import in_span
from mtmkl.kernels.base import from_spec
from mtmkl.kernels.basis import kernel_basis
from mtmkl.methods._base.linear import task_means
from mtmkl.methods._base.linear_classifier import number_of_groups
from mtmkl.typing import FloatArray, IntArray, Samples


def squared_norm(
    data: Samples, gamma: float, penalty: str, *, fit_intercept: bool = False
) -> cp.Problem:
    """State min loss + γΩ(W)² (Argyriou et al. 2008; RR-Het).

    Ω is the "trace" norm of W, the sum of its "rows"' norms, or the trace norm of the
    tasks' "deviations" from their mean.
    """
    X, y, task = data
    if penalty == "deviations":  # outside the span of the features their mean is free
        axes, sizes, _ = np.linalg.svd(X, full_matrices=False)
        X = (axes * sizes)[:, sizes > 1e-10 * sizes[0]]
    W = _coefficients((X, y, task))
    if penalty == "rows":
        norm = cp.sum(cp.norm(W, 2, axis=1))
    else:
        norm = cp.normNuc(W if penalty == "trace" else W @ _centre(W.shape[1]))
    loss = _loss((X, y, task), W, fit_intercept=fit_intercept)
    return cp.Problem(cp.Minimize(loss + gamma * cp.square(norm)))


def ridge(
    data: Samples, gamma: float | FloatArray, *, fit_intercept: bool = False
) -> cp.Problem:
    """State min loss + Σ_t γ_t ‖w_t‖², with one γ or one per task."""
    W = _coefficients(data)
    loss = _loss(data, W, fit_intercept=fit_intercept)
    penalty = cp.sum(cp.multiply(gamma, cp.sum(cp.square(W), axis=0)))
    return cp.Problem(cp.Minimize(loss + penalty))


def flexible_clusters(data: Samples, weights: tuple[float, float, float]) -> cp.Problem:
    """State the problem of Zhong and Kwok (2012) in W = U + V.

    min loss + λ₁ Σ_{s<t} |u_s − u_t|₁ + λ₂ ‖U‖² + λ₃ ‖V‖²
    """
    U, V = _coefficients(data), _coefficients(data)
    penalty = weights[0] * sum(cp.norm1(pair) for pair in _pairs(U))
    penalty += weights[1] * cp.sum_squares(U) + weights[2] * cp.sum_squares(V)
    return cp.Problem(cp.Minimize(_loss(data, U + V) + penalty))


def clustered_tasks(
    data: Samples,
    lam: float,
    r: int,
    *,
    epsilon_mean: float,
    epsilon_between: float,
    epsilon_within: float,
) -> cp.Problem:
    r"""State the problem of Jacob et al. (2008), in W and S jointly.

    min loss + λ (ε_M T ‖w̄‖² + tr A S⁻¹ A'), A = WΠ, with I/ε_W ⪯ S ⪯ I/ε_B and tr S as
    in :class:`mtmkl.methods.CMTLClassifier`; tr A S⁻¹ A' is the least tr H with
    [[H, A], [A', S]] ⪰ 0.
    """
    W = _coefficients(data)
    d, T = W.shape
    H = cp.Variable((d, d), symmetric=True)
    least, most = np.eye(T) / epsilon_within, np.eye(T) / epsilon_between
    if r == 1:
        S, constraints = least, []  # is all there is, and has no interior
    else:
        S = cp.Variable((T, T), symmetric=True)
        total = (T - r + 1) / epsilon_within + (r - 1) / epsilon_between
        constraints = [S >> least, most >> S, cp.trace(S) == total]
    A = W @ _centre(T)
    constraints.append(cp.bmat([[H, A], [A.T, S]]) >> 0)
    mean = epsilon_mean * T * cp.sum_squares(cp.sum(W, axis=1) / T)
    value = _loss(data, W) + lam * (mean + cp.trace(H))
    return cp.Problem(cp.Minimize(value), constraints)


def pairwise_fusion(
    data: Samples, weights: Sequence[float], *, mean_weight: float = 1e-6
) -> cp.Problem:
    r"""State the problem of Han and Zhang (2015) on all levels, in W = Σ_h W_h.

    min loss + Σ_h (λ_h Σ_{s<t} ‖w_hs − w_ht‖ + δ T ‖w̄_h‖²), δ the weight of the means.
    """
    levels = [_coefficients(data) for _ in weights]
    value = _loss(data, sum(levels))
    for weight, level in zip(weights, levels, strict=True):
        value += weight * sum(cp.norm(pair) for pair in _pairs(level))
        T = level.shape[1]
        value += mean_weight * T * cp.sum_squares(cp.sum(level, axis=1) / T)
    return cp.Problem(cp.Minimize(value))


def sum_of_norms(
    data: Samples, weights: Sequence[float], model: str, *, fit_intercept: bool = False
) -> cp.Problem:
    """State the dirty model (Jalali et al. 2010) or robust learning (Gong et al. 2012).

    In W = P + Q min loss + λ₁ Σ_i max_t |p_it| + λ₂ Σ_it |q_it| of the "dirty", and
    min loss + λ₁ Σ_i ‖p^i‖ + λ₂ Σ_t ‖q_t‖ of the "robust" one.
    """
    P, Q = _coefficients(data), _coefficients(data)
    shared = cp.norm(P, "inf" if model == "dirty" else 2, axis=1)
    own = cp.abs(Q) if model == "dirty" else cp.norm(Q, 2, axis=0)
    penalty = weights[0] * cp.sum(shared) + weights[1] * cp.sum(own)
    loss = _loss(data, P + Q, fit_intercept=fit_intercept)
    return cp.Problem(cp.Minimize(loss + penalty))


def sparse_logistic(X: FloatArray, y: FloatArray, alpha: float) -> cp.Problem:
    """State min Σ_i log(1 + exp z_i) − y_i z_i + α|w|₁, z = Xw + b; y is 0 or 1."""
    w, b = cp.Variable(X.shape[1], name="w"), cp.Variable(name="b")
    z = X @ w + b
    return cp.Problem(cp.Minimize(cp.sum(cp.logistic(z)) - y @ z + alpha * cp.norm1(w)))


def _coefficients(data: Samples) -> Any:
    """Return a variable for the coefficients of all tasks, (d, T)."""
    X, _, task = data
    return cp.Variable((X.shape[1], int(task.max()) + 1))


def _loss(data: Samples, W: Any, *, fit_intercept: bool = False) -> Any:
    (X, y, task), parts = data, []
    for t in range(W.shape[1]):
        own = task == t
        intercept = cp.Variable() if fit_intercept else 0.0
        parts.append(cp.sum_squares(y[own] - X[own] @ W[:, t] - intercept))
    return sum(parts)


def _centre(T: int) -> FloatArray:
    return np.eye(T) - 1.0 / T


def _pairs(W: Any) -> list[Any]:
    return [one - other for one, other in combinations(W.T, 2)]


def _coordinates(model: Any, X: FloatArray) -> FloatArray:
    """Return the features of a regression, or orthonormal coordinates of its kernel."""
    if model.standardize:
        X = StandardScaler().fit_transform(X)
    if model.kernel is None:
        return X
    _, Z = kernel_basis(from_spec(model.kernel), X, tol=model.basis_tol)
    return Z


def _squared_norm(model: Any, X: Any, y: Any, task: Any) -> cp.Problem:
    selects = type(model).__name__ == "MultiTaskVariableSelectionRegressor"
    penalty = "rows" if selects else model._penalty
    X = _coordinates(model, X)
    X = X if selects else in_span(X)
    intercept = model.fit_intercept
    return squared_norm((X, y, task), model.gamma, penalty, fit_intercept=intercept)


def _ridge(model: Any, X: Any, y: Any, task: Any) -> cp.Problem:
    if type(model).__name__ == "AggregateRidgeRegressor":
        task = np.zeros_like(task)
    X = in_span(_coordinates(model, X))
    return ridge((X, y, task), model.gamma, fit_intercept=model.fit_intercept)


def _centred(X: FloatArray, y: FloatArray, task: IntArray) -> Samples:
    """Return standardised features and labels less the tasks' means.

    Tasks of one class have no part in the problem, nor have constant features.
    """
    X = StandardScaler().fit_transform(X[:, np.ptp(X, axis=0) > 0])
    both = [t for t in range(int(task.max()) + 1) if np.ptp(y[task == t]) > 0]
    kept = np.isin(task, both)
    X, y = X[kept], y[kept]
    task = np.searchsorted(both, task[kept])
    X = X - task_means(X, task, len(both))[task]
    return X, y - task_means(y[:, None], task, len(both))[task, 0], task


def _clustered(model: Any, X: Any, y: Any, task: Any) -> cp.Problem:
    X, y, task = _centred(X, y, task)
    r = number_of_groups(model.n_clusters, int(task.max()) + 1)
    names = ("epsilon_mean", "epsilon_between", "epsilon_within")
    epsilons = {name: getattr(model, name) for name in names}
    return clustered_tasks((in_span(X), y, task), model.lam, r, **epsilons)


def _flexible(model: Any, X: Any, y: Any, task: Any) -> cp.Problem:
    weights = (model.lam_1, max(model.lam_2, 1e-6), max(model.lam_3, 1e-6))
    return flexible_clusters(_centred(X, y, task), weights)


def _levels(model: Any, X: Any, y: Any, task: Any) -> cp.Problem:
    X, y, task = _centred(X, y, task)
    weights = [model.lam / model.phi**h for h in range(model.n_levels)]
    return pairwise_fusion((in_span(X), y, task), weights)


def _sum_of_norms(model: Any, X: Any, y: Any, task: Any) -> cp.Problem:
    weights, intercept = (model.lam_1, model.lam_2), model.fit_intercept
    return sum_of_norms((X, y, task), weights, model._model, fit_intercept=intercept)


def _neighbours(model: Any, X: Any, y: Any, task: Any) -> cp.Problem:
    samples = (X[task == 0] > model.binarize).astype(float)
    return sum(
        sparse_logistic(np.delete(samples, m, axis=1), node, model.alpha)
        for m, node in enumerate(samples.T)
        if np.ptp(node) > 0
    )


#: Of each method, its problem as a fitted estimator has it, with samples by task.
PROBLEMS: Mapping[type, Callable[[Any, Any, Any, Any], cp.Problem]] = {
    methods.AggregateRidgeRegressor: _ridge,
    methods.CMTLClassifier: _clustered,
    methods.DirtyModelRegressor: _sum_of_norms,
    methods.FlexClusClassifier: _flexible,
    methods.IndependentRidgeRegressor: _ridge,
    methods.MeTaGClassifier: _levels,
    methods.MultiTaskFeatureLearningRegressor: _squared_norm,
    methods.MultiTaskVariableSelectionRegressor: _squared_norm,
    methods.NeighbourhoodSelection: _neighbours,
    methods.RRHetRegressor: _squared_norm,
    methods.RobustMultiTaskRegressor: _sum_of_norms,
}
