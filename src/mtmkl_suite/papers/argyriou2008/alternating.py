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
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mtmkl.methods._base.linear import PreparedRegression
from mtmkl.methods.multi_task_feature_learning import MultiTaskFeatureLearningRegressor
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition
from mtmkl.solvers.solution import Solution, Status, certified
from mtmkl.typing import FloatArray


class AlternatingFeatureLearning(MultiTaskFeatureLearningRegressor):
    """Multi-task feature learning by Algorithm 1.

    It stops when W, at the least ε, moves by no more than ``tol`` of its norm.
    """

    def _solve(self, prepared: PreparedRegression, start: Any) -> Solution:
        return solve_alternating(
            prepared.tasks, self.gamma, tol=self.tol, max_iter=self.max_iter
        )


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

    The certificate is of the problem with ε = 0. ``extra["norm"]`` is ||W||_tr.
    """
    X, y = _stacked(tasks)
    D = np.eye(tasks.n_features) / tasks.n_features
    W = np.zeros((tasks.n_features, tasks.n_tasks))
    history = list[float]()
    stabilised = False
    while len(history) < max_iter and not stabilised:
        previous = W
        XD = X @ D
        solved = np.linalg.solve(
            XD @ X.transpose(0, 2, 1) + gamma * np.eye(y.shape[1]), y[:, :, None]
        )
        W = np.einsum("trd,tr->dt", XD, solved[:, :, 0])
        # What W leaves of y is γ times the solution.
        loss = tasks.constant + float(np.sum((gamma * solved) ** 2))
        D, norm = _covariance(W, epsilon)
        history.append(loss + gamma * norm**2)
        if np.linalg.norm(W - previous) <= tol * np.linalg.norm(W):
            smaller = max(epsilon * epsilon_decay, epsilon_min)
            stabilised = not smaller < epsilon
            epsilon = min(epsilon, smaller)

    dual = 2.0 * (y - np.einsum("trd,dt->tr", X, W))
    # The value of W itself, not of the ridge regressions that it came from.
    history[-1] = tasks.constant + float(np.sum(dual**2)) / 4 + gamma * norm**2
    # The best multiple of the dual point, and the bound that it gives.
    linear = float(np.sum(y * dual))
    largest = float(np.linalg.norm(np.einsum("trd,tr->dt", X, dual), 2))
    quadratic = float(np.sum(dual**2)) / 4 + largest**2 / (4 * gamma)
    scale = linear / (2 * quadratic) if quadratic > 0 else 0.0
    status: Status = "converged" if stabilised else "stopped"
    bound = tasks.constant + scale * linear / 2
    certificate = certified(history, bound, len(history), status)
    if not stabilised:
        warnings.warn(
            f"alternating minimisation, gamma={gamma:g}: stopped after {len(history)} "
            f"iterations at epsilon={epsilon:.1e} and a relative duality gap of "
            f"{certificate.duality_gap:.1e}; raise max_iter or tol",
            ConvergenceWarning,
            stacklevel=2,
        )
    reduced = [dual[t, :size] for t, size in enumerate(np.diff(tasks.offsets))]
    return Solution(
        coef=W,
        certificate=certificate,
        dual=tasks.expand(scale * np.concatenate(reduced)),
        extra={"norm": norm},
    )


def _stacked(tasks: TaskDecomposition) -> tuple[FloatArray, FloatArray]:
    """Return features (T, r, d) and targets (T, r), with rows of zeros to one r."""
    sizes = np.diff(tasks.offsets)
    X = np.zeros((tasks.n_tasks, int(sizes.max(initial=0)), tasks.n_features))
    y = np.zeros(X.shape[:2])
    task = np.repeat(np.arange(tasks.n_tasks), sizes)
    row = np.arange(task.size) - tasks.offsets[task]
    X[task, row] = tasks.singular[:, None] * tasks.right
    y[task, row] = tasks.target
    return X, y


def _covariance(W: FloatArray, epsilon: float) -> tuple[FloatArray, float]:
    """Return D given W, and ||W||_tr."""
    d = W.shape[0]
    U, singular, _ = np.linalg.svd(W, full_matrices=W.shape[1] < d)
    roots = np.sqrt(np.pad(singular, (0, d - singular.size)) ** 2 + epsilon)
    total = float(roots.sum())
    D = (U * roots) @ U.T / total if total > 0 else np.eye(d) / d
    return D, float(singular.sum())
