r"""Algorithm 1 of Argyriou, Evgeniou and Pontil (2008): alternating minimisation.

Minimises the perturbed objective

    R_ε(W, D) = Σ_t ||y_t − X_t w_t||² + γ Σ_t w_t' D⁻¹ w_t + γ ε tr(D⁻¹),  tr D ≤ 1,

by turns in W and in D, from D = I/d. Given D, w_t = DX_t'(X_t D X_t' + γI)⁻¹ y_t, which
needs no inverse of D; given W, equation (13):

    D = (WW' + εI)^{1/2} / tr (WW' + εI)^{1/2}.

The iterates decrease R_ε and converge for ε > 0 (Theorem 2); reducing ε whenever W has
stabilised leads to the minimiser for ε = 0 (Theorem 3). With ε = 0 throughout, the
range of W cannot grow beyond that of the first iterate, and the limit need not be
optimal when T < d. The certificate is that of the unperturbed problem, so that it shows
how far from its optimum the iterates are.
"""

import warnings
from typing import NamedTuple

import numba
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mtmkl.solvers.linear.task_decomposition import TaskDecomposition
from mtmkl.solvers.solution import Certificate, Solution
from mtmkl.typing import FloatArray, IntArray


class _Covariance(NamedTuple):
    """D = level·I + U diag(weight) U', of trace 1."""

    vectors: FloatArray
    weight: FloatArray
    level: float


def solve_alternating(
    tasks: TaskDecomposition,
    gamma: float,
    *,
    epsilon: float = 1e-3,
    epsilon_decay: float = 0.5,
    epsilon_min: float = 1e-12,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> Solution:
    """Alternate between the coefficients W and the matrix D.

    Returns ``coef`` of shape (d, T); ``dual`` of shape (n,); the certificate is of the
    problem with ε = 0. ``extra["norm"]`` is ||W||_tr, and
    ``extra["perturbed_history"]`` the R_ε of each iteration, with the ε of then.

    Warns
    -----
    ConvergenceWarning
        If W is still moving after ``max_iter`` iterations.
    """
    if not (gamma > 0 and np.isfinite(gamma)):
        raise ValueError(f"gamma must be positive and finite, got {gamma}")
    if epsilon < 0:
        raise ValueError(f"epsilon must be at least 0, got {epsilon}")
    if not 0 < epsilon_decay <= 1:
        raise ValueError(f"epsilon_decay must be in (0, 1], got {epsilon_decay}")
    d = tasks.n_features
    scaled = tasks.right * tasks.singular[:, None]
    D = _multiple_of_identity(d)
    W = np.zeros((d, tasks.n_tasks))
    history: list[float] = []
    perturbed: list[float] = []
    stabilised = False
    while len(history) < max_iter and not stabilised:
        previous = W
        W, loss = _coefficients(tasks, scaled, D, gamma)
        D, norm, perturbed_norm = _covariance(W, epsilon)
        history.append(loss + gamma * norm**2)
        perturbed.append(loss + gamma * perturbed_norm**2)
        if np.linalg.norm(W - previous) <= tol * np.linalg.norm(W):
            smaller = max(epsilon * epsilon_decay, epsilon_min)
            stabilised = not smaller < epsilon
            epsilon = min(epsilon, smaller)

    dual = 2.0 * (tasks.target - _forward(scaled, W, tasks.offsets))
    # The value of W itself, not of the ridge regressions that it came from.
    history[-1] = tasks.constant + float(dual @ dual) / 4 + gamma * norm**2
    scale, bound = _bound(tasks, scaled, dual, gamma)
    certificate = Certificate(
        objective=history[-1],
        dual_objective=bound,
        n_iter=len(history),
        status="converged" if stabilised else "stopped",
        history=np.asarray(history),
    )
    if not stabilised:
        warnings.warn(
            f"alternating minimisation, gamma={gamma:g}: stopped after {len(history)} "
            f"iterations at epsilon={epsilon:.1e} and a relative duality gap of "
            f"{certificate.duality_gap:.1e}; raise max_iter or tol",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Solution(
        coef=W,
        certificate=certificate,
        dual=tasks.expand(scale * dual),
        extra={"norm": norm, "perturbed_history": np.asarray(perturbed)},
    )


def _multiple_of_identity(d: int) -> _Covariance:
    return _Covariance(np.zeros((d, 0)), np.zeros(0), 1.0 / d)


def _coefficients(
    tasks: TaskDecomposition, scaled: FloatArray, D: _Covariance, gamma: float
) -> tuple[FloatArray, float]:
    """Return W given D, and its loss."""
    projected = (scaled @ D.vectors) * np.sqrt(D.weight)
    reduced, loss = _ridge_steps(
        projected, tasks.target, tasks.offsets, D.level, tasks.singular, gamma
    )
    back = _adjoint(scaled, reduced, tasks.offsets)
    W = D.level * back + D.vectors @ (D.weight[:, None] * (D.vectors.T @ back))
    return W, tasks.constant + loss


def _covariance(W: FloatArray, epsilon: float) -> tuple[_Covariance, float, float]:
    """Return D given W, ||W||_tr, and tr (WW' + εI)^{1/2}."""
    d = W.shape[0]
    vectors, singular, _ = np.linalg.svd(W, full_matrices=False)
    norm = singular.sum()
    roots = np.sqrt(singular**2 + epsilon)
    total = roots.sum() + (d - singular.size) * np.sqrt(epsilon)
    if total > 0:
        weight = (roots - np.sqrt(epsilon)) / total
        return _Covariance(vectors, weight, np.sqrt(epsilon) / total), norm, total
    return _multiple_of_identity(d), norm, total


def _bound(
    tasks: TaskDecomposition, scaled: FloatArray, dual: FloatArray, gamma: float
) -> tuple[float, float]:
    """Return the best multiple of a dual point, and the bound that it gives."""
    linear = float(tasks.target @ dual)
    gradient = _adjoint(scaled, dual, tasks.offsets)
    dual_norm = float(np.linalg.norm(gradient, 2))
    quadratic = float(dual @ dual) / 4 + dual_norm**2 / (4 * gamma)
    scale = linear / (2 * quadratic) if quadratic > 0 else 0.0
    return scale, tasks.constant + scale * linear / 2


@numba.njit(cache=True, nogil=True)
def _ridge_steps(
    projected: FloatArray,
    target: FloatArray,
    offsets: IntArray,
    level: float,
    singular: FloatArray,
    gamma: float,
) -> tuple[FloatArray, float]:
    """Return (X_t D X_t' + γI)⁻¹ c_t for all tasks and the loss Σ ||c_t − X_t w_t||².

    X_t D X_t' is level·S_t² + P_t P_t', P_t the task's rows of ``projected``; the
    residual of the step is γ times the solution.
    """
    answer = np.empty_like(target)
    loss = 0.0
    for t in range(offsets.size - 1):
        lo, hi = offsets[t], offsets[t + 1]
        rows = projected[lo:hi]
        system = np.dot(rows, rows.T)
        for j in range(hi - lo):
            system[j, j] += level * singular[lo + j] ** 2 + gamma
        answer[lo:hi] = np.linalg.solve(system, target[lo:hi])
        for j in range(lo, hi):
            loss += (gamma * answer[j]) ** 2
    return answer, loss


@numba.njit(cache=True, nogil=True)
def _adjoint(scaled: FloatArray, values: FloatArray, offsets: IntArray) -> FloatArray:
    """Return the d × T matrix with columns X_t' values_t."""
    columns = np.empty((scaled.shape[1], offsets.size - 1))
    for t in range(offsets.size - 1):
        lo, hi = offsets[t], offsets[t + 1]
        columns[:, t] = np.dot(values[lo:hi], scaled[lo:hi])
    return columns


@numba.njit(cache=True, nogil=True)
def _forward(scaled: FloatArray, W: FloatArray, offsets: IntArray) -> FloatArray:
    """Return X_t w_t for all tasks, stacked."""
    values = np.empty(scaled.shape[0])
    for t in range(offsets.size - 1):
        lo, hi = offsets[t], offsets[t + 1]
        values[lo:hi] = np.dot(scaled[lo:hi], np.ascontiguousarray(W[:, t]))
    return values
