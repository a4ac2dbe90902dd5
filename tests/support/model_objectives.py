"""The objective of a fitted model, by the problem of its docstring.

Losses are those of decisions or predictions on the training samples; penalties are
computed from coefficients, or from dual coefficients and Gram matrices. Nothing comes
from a solver. Weights of kernels that are too large are scaled to what the problem
allows, the models as they are. Tasks are numbers 0 … T − 1, classes ±1.
"""

import numpy as np
from method_cases import case_of

from mtmkl.certify.kernel_problems import _grams, square_root
from mtmkl.methods._base.linear import LinearPathEstimator
from mtmkl.methods._base.linear_classifier import LinearTaskClassifier


def objective(model, X, y, task):
    """Return the value of the problem at a fitted model."""
    case = case_of(type(model).__name__)
    if case.objective is not None:
        return case.objective(model, X, y, task)
    outputs = getattr(model, "decision_function", model.predict)(X, task)
    return _losses(model, y, outputs) + case.penalty(model, X, task)


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


def grams_of(model, X, kernels):
    """Return the matrices of kernels on all samples, (D, n, n)."""
    return np.array(_grams(model, X, kernels))


def forms(model, X, task, weights):
    """Return β_t'K_tdβ_t, (T, D), of the machines with these weights of the kernels."""
    own, K = by_task(model, task), grams_of(model, X, model.kernels)
    weights = np.broadcast_to(weights, (len(own), len(K)))
    assert_outputs(model, X, task, np.einsum("td,dij,tj->ti", weights, K, own))
    return np.maximum(np.einsum("ti,dij,tj->td", own, K, own), 0.0)


def assert_outputs(model, X, task, made):
    """Assert that a model predicts what dual coefficients make, but for offsets.

    Predictions come from weights of the features where there are any.
    """
    outputs = getattr(model, "decision_function", model.predict)
    for t, values in enumerate(made):
        own = task == t
        offsets = outputs(X[own], task[own]) - values[own]
        assert np.ptp(offsets) <= 1e-9 * max(np.abs(values).max(), 1.0)


def by_task(model, task):
    """Return dual coefficients, (T, n), zero but for the samples of each task."""
    return model.dual_coef_ * (task == np.arange(task.max() + 1)[:, None])


def relative_entropy(s, log_alpha):
    """Return Σ_d KL(Bern(s_d) ‖ Bern(1/(1 + α)))."""
    log_off = -np.logaddexp(0.0, -log_alpha)
    log_on = -np.logaddexp(0.0, log_alpha)
    off = 1 - s
    with np.errstate(divide="ignore", invalid="ignore"):
        on_part = np.where(s > 0, s * (np.log(s) - log_on), 0.0)
        off_part = np.where(off > 0, off * (np.log(off) - log_off), 0.0)
    return np.sum(on_part + off_part)


def root(basis):
    """Return R with RR' the Gram matrix of the landmarks."""
    return square_root(basis.kernel(basis.landmarks, basis.landmarks))


def coordinates_of(model):
    """Return W in orthonormal coordinates of the span of the landmarks."""
    basis, W = model._basis, model.coef_
    if basis is None:
        return W
    return root(basis).T @ basis.models(W)


def standardised(model, X, coef):
    """Return weights of features of deviation 1, of the tasks in the problem.

    The others have weights of zero.
    """
    return (coef * X.std(axis=0)[:, None])[:, model.coef_.any(axis=0)]


def switched(model, X, task):
    s = model.switches_
    energy = 0.5 * np.sum(s * forms(model, X, task, s))
    return relative_entropy(s, model.log_alpha_) + energy
