"""The objective of a fitted model, by the problem of its docstring.

Losses are those of decisions or predictions on the training examples; penalties are
computed from coefficients, or from dual coefficients and Gram matrices. Nothing comes
from a solver. Weights of kernels that are too large are scaled to what the problem
allows, the models as they are. Tasks are numbers 0 … T − 1, classes ±1.
"""

from itertools import combinations

import numpy as np

from mtmkl.certify.kernel_problems import square_root
from mtmkl.kernels.terms import KernelTerms
from mtmkl.methods._base.linear import LinearPathEstimator
from mtmkl.methods._base.linear_classifier import LinearTaskClassifier
from mtmkl.methods._base.multi_task_terms import MultiTaskTerms


def objective(model, X, y, task):
    """Return the value of the problem at a fitted model."""
    outputs = getattr(model, "decision_function", model.predict)(X, task)
    return _losses(model, y, outputs) + PENALTIES[type(model).__name__](model, X, task)


def graph_objective(model, X):
    """Return that of a fitted graph, for samples of 0 and 1."""
    signs, scores = 2 * X - 1, model.decision_function(X)
    above = np.triu_indices(X.shape[1], 1)
    if type(model).__name__ == "NeighbourhoodSelection":
        varying = np.ptp(X, axis=0) > 0
        losses = np.logaddexp(0.0, -(signs * scores)[:, varying]).sum()
        return losses + model.alpha * np.abs(model.coef_).sum()
    squares = (model.coef_**2 + model.coef_.T**2)[above]
    switches = model.switches_[above]
    penalty = _relative_entropy(switches, model.log_alpha_)
    penalty += 0.5 * np.sum(squares / switches)
    return model.C * np.maximum(1 - signs * scores, 0.0).sum() + penalty


def _losses(model, y, outputs):
    if isinstance(model, LinearPathEstimator | LinearTaskClassifier):
        return np.sum((y - outputs) ** 2)
    loss = getattr(model, "loss", None)
    scale = getattr(model, "target_scale_", 1.0)
    if loss == "squared":
        each = (y - outputs) ** 2 / 2
    elif loss == "logistic":
        each = np.logaddexp(0.0, -y * outputs)
    elif hasattr(model, "epsilon"):
        each = np.maximum(np.abs(y - outputs) - scale * model.epsilon, 0.0)
    else:
        each = np.maximum(1 - y * outputs, 0.0)
    return scale * model.C * each.sum()


def _grams(model, X, kernels):
    """Return the matrices of kernels on all examples, (D, n, n)."""
    terms = KernelTerms.of(
        X, kernels, normalize=model.normalize, standardize=model.standardize
    )
    Z = terms.inputs(X)
    out = np.empty((terms.n_terms, len(X), len(X)))
    for d in range(terms.n_terms):
        if terms.is_feature[d]:
            x = Z[:, terms.column[d]]
            out[d] = terms.scale[d] * np.outer(x, x)
        else:
            out[d] = terms.scale[d] * terms.kernels[d](Z, Z)
    return out


def _forms(model, X, task, weights):
    """Return β_t'K_tdβ_t, (T, D), of the machines with these weights of the kernels."""
    own, K = _by_task(model, task), _grams(model, X, model.kernels)
    weights = np.broadcast_to(weights, (len(own), len(K)))
    _assert_outputs(model, X, task, np.einsum("td,dij,tj->ti", weights, K, own))
    return np.maximum(np.einsum("ti,dij,tj->td", own, K, own), 0.0)


def _assert_outputs(model, X, task, made):
    """Assert that a model predicts what dual coefficients make, but for offsets.

    Predictions come from weights of the inputs where there are any.
    """
    outputs = getattr(model, "decision_function", model.predict)
    for t, values in enumerate(made):
        own = task == t
        offsets = outputs(X[own], task[own]) - values[own]
        assert np.ptp(offsets) <= 1e-9 * max(np.abs(values).max(), 1.0)


def _by_task(model, task):
    """Return dual coefficients, (T, n), zero but for the examples of each task."""
    return model.dual_coef_ * (task == np.arange(task.max() + 1)[:, None])


def _relative_entropy(s, log_alpha):
    """Return Σ_d KL(Bern(s_d) ‖ Bern(1/(1 + α)))."""
    log_off = -np.logaddexp(0.0, -log_alpha)
    log_on = -np.logaddexp(0.0, log_alpha)
    off = 1 - s
    with np.errstate(divide="ignore", invalid="ignore"):
        on_part = np.where(s > 0, s * (np.log(s) - log_on), 0.0)
        off_part = np.where(off > 0, off * (np.log(off) - log_off), 0.0)
    return np.sum(on_part + off_part)


def _switched(model, X, task):
    s = model.switches_
    energy = 0.5 * np.sum(s * _forms(model, X, task, s))
    return _relative_entropy(s, model.log_alpha_) + energy


def _pooling(model, X, task):
    (K,), s = _grams(model, X, [model.kernel]), model.switches_
    scale = model.specialised_scale or 0.9 * (task.max() + 1)
    communal = model.communal_scale * K @ model.dual_coef_
    own = _by_task(model, task)
    specialised = scale * own @ K
    _assert_outputs(model, X, task, communal + s[:, None] * specialised)
    energy = model.dual_coef_ @ communal + s @ np.sum(own * specialised, axis=1)
    return _relative_entropy(s, model.log_alpha_) + 0.5 * energy


def _sum_kernel(model, X, task):
    if type(model).__name__ == "PooledSVM":
        task = np.zeros_like(task)
    return 0.5 * np.sum(_forms(model, X, task, 1.0))


def _weighted(model, X, task):
    theta = model.weights_
    assert (theta >= 0).all()
    pairs = combinations(theta, 2)
    coupling = sum(np.linalg.norm(one - other) for one, other in pairs)
    sizes = np.maximum(theta.sum(axis=1, keepdims=True), 1.0)
    energy = 0.5 * np.sum(sizes * theta * _forms(model, X, task, theta))
    return energy + getattr(model, "lam", 0.0) * coupling


def _mixed_norm(model, X, task):
    weights, p = model.weights_, float(model.p)
    assert (model.gamma_ >= 0).all()
    gamma = model.gamma_ / max(model.gamma_.sum(), 1.0)
    norms = weights * np.sqrt(_forms(model, X, task, weights))
    used = gamma > 0
    assert not norms[:, ~used].any()
    return 0.5 * np.sum(np.linalg.norm(norms[:, used], p, axis=0) ** 2 / gamma[used])


def _root(basis):
    """Return R with RR' the Gram matrix of the landmarks."""
    return square_root(basis.kernel(basis.landmarks, basis.landmarks))


def _mixed_schatten(model, X, task):
    coordinates, norms = model._coordinates, []
    scales = coordinates.terms.scale
    for basis, values, scale in zip(
        coordinates.bases, model._coef, scales, strict=True
    ):
        if values is None:
            norms.append(0.0)
            continue
        if basis is not None:
            values = _root(basis).T @ values
        norms.append(np.linalg.norm(values, "nuc") / np.sqrt(scale))
    return 0.5 * np.linalg.norm(norms, model.q) ** 2


def _multi_task_mkl(model, X, task):
    theta, beta = model.weights_, model.dual_coef_
    assert (theta >= 0).all()
    size = max(np.linalg.norm(theta, model.p), 1.0)
    terms = MultiTaskTerms.of(model.terms, model.tasks_.tolist(), None, None)
    grams = _grams(model, X, terms.kernels)
    pairs = np.ix_(task, task)
    matrices = [
        grams[b] * R[pairs] for b, R in zip(terms.base, terms.task_kernels, strict=True)
    ]
    made = np.einsum("m,mij,j->i", theta, matrices, beta)
    _assert_outputs(model, X, task, [made] * (task.max() + 1))
    return 0.5 * size * theta @ [beta @ K @ beta for K in matrices]


def _coordinates_of(model):
    """Return W in orthonormal coordinates of the span of the landmarks."""
    basis, W = model._coordinates.basis, model.coef_
    if basis is None:
        return W
    return _root(basis).T @ (basis.coefficients @ W)


def _ridge(model, X, task):
    return np.sum(model.gamma * _coordinates_of(model) ** 2)


def _pooled_ridge(model, X, task):
    w = model.coef_[:, :1]
    assert (model.coef_ == w).all()
    return model.gamma * np.sum(w**2)


def _trace_norm(model, X, task):
    return model.gamma * np.linalg.norm(_coordinates_of(model), "nuc") ** 2


def _row_norms(model, X, task):
    return model.gamma * np.linalg.norm(model.coef_, axis=1).sum() ** 2


def _deviations(model, X, task):
    W = model.coef_ - model.coef_.mean(axis=1, keepdims=True)
    return model.gamma * np.linalg.norm(W, "nuc") ** 2


def _standardised(model, X, coef):
    """Return weights of inputs of deviation 1, of the tasks in the problem.

    The others have weights of zero.
    """
    return (coef * X.std(axis=0)[:, None])[:, model.coef_.any(axis=0)]


def _flexible_clusters(model, X, task):
    U = _standardised(model, X, model.common_coef_)
    V = _standardised(model, X, model.coef_ - model.common_coef_)
    distances = sum(np.abs(one - other).sum() for one, other in combinations(U.T, 2))
    lam_2, lam_3 = max(model.lam_2, 1e-6), max(model.lam_3, 1e-6)
    return model.lam_1 * distances + lam_2 * np.sum(U**2) + lam_3 * np.sum(V**2)


def _clustered_tasks(model, X, task):
    W = _standardised(model, X, model.coef_)
    T = W.shape[1]
    r = min(model.n_clusters, T)
    mean = W.mean(axis=1, keepdims=True)
    sizes = np.zeros(T)
    found = np.linalg.svd(W - mean, compute_uv=False)
    sizes[: found.size] = found[:T]
    least, most = 1 / model.epsilon_within, 1 / model.epsilon_between
    total = (T - r + 1) * least + (r - 1) * most
    # S has the eigenvalues of least Σσ²/s, in proportion to σ where they may be.
    low, high = 0.0, max(sizes.max(), 1e-300) / least
    for _ in range(200):
        middle = 0.5 * (low + high)
        # Larger divisors make smaller eigenvalues.
        if np.clip(sizes / max(middle, 1e-300), least, most).sum() > total:
            low = middle
        else:
            high = middle
    s = np.clip(sizes / high, least, most)
    between = np.sum(sizes**2 / s)
    return model.lam * (model.epsilon_mean * T * np.sum(mean**2) + between)


def _level_groups(model, X, task):
    W = _standardised(model, X, model.coef_)
    T, H = W.shape[1], model.n_levels
    distances = sum(np.linalg.norm(one - other) for one, other in combinations(W.T, 2))
    ridge = 1e-6 * T * np.sum(W.mean(axis=1) ** 2) / H
    return model.lam / model.phi ** (H - 1) * distances + ridge


def _co_clusters(model, X, task):
    W = _standardised(model, X, model.coef_)
    Q = _standardised(model, X, model.clustered_coef_)
    P = W - Q
    deviations = P - P.mean(axis=1, keepdims=True)
    beyond = np.linalg.svd(Q, compute_uv=False)[min(model.n_clusters, W.shape[1]) :]
    penalty = model.lam_1 * np.sum(deviations**2) + model.lam_2 * np.sum(beyond**2)
    return penalty + 1e-6 * np.sum(W**2)


def _groups(model, X, task):
    W, groups = _standardised(model, X, model.coef_), model.groups_[model.groups_ >= 0]
    norms = [np.linalg.norm(W[:, groups == g], "nuc") for g in np.unique(groups)]
    return model.lam * np.sum(np.square(norms))


PENALTIES = {
    "AggregateRidge": _pooled_ridge,
    "CMTL": _clustered_tasks,
    "CoClus": _co_clusters,
    "FlexClus": _flexible_clusters,
    "GroupFeatureSharing": _weighted,
    "IndependentRidge": _ridge,
    "IndependentSVM": _sum_kernel,
    "IndependentSVR": _sum_kernel,
    "MEDAdaptivePooling": _pooling,
    "MEDKernelSelection": _switched,
    "MEDRegression": _switched,
    "MKMTFLClassifier": _mixed_norm,
    "MKMTFLRegressor": _mixed_norm,
    "MKMTSFLClassifier": _mixed_schatten,
    "MKMTSFLRegressor": _mixed_schatten,
    "MeTaG": _level_groups,
    "MultiTaskFeatureLearning": _trace_norm,
    "MultiTaskMKL": _multi_task_mkl,
    "MultiTaskVariableSelection": _row_norms,
    "PooledSVM": _sum_kernel,
    "RRHet": _deviations,
    "SharedMKL": _weighted,
    "SingleTaskMKL": _weighted,
    "SingleTaskMKLRegressor": _weighted,
    "Whom": _groups,
}
