"""Convex multi-task feature learning (Argyriou, Evgeniou and Pontil 2008)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from mtmkl.kernels.base import Kernel
from mtmkl.methods._linear import (
    SquaredNormEstimator,
    covariance_of,
    learned_features,
    rank_of,
)
from mtmkl.methods.base import check_choice, check_not_negative, check_positive

if TYPE_CHECKING:
    from mtmkl.solvers.solution import Solution
    from mtmkl.solvers.squared_norm import WarmStart
    from mtmkl.solvers.task_decomposition import TaskDecomposition

FloatArray = NDArray[np.float64]


class MultiTaskFeatureLearning(SquaredNormEstimator):
    r"""Learn a few features, orthonormal combinations of the inputs, for all tasks.

    Solves problem (4) of the paper, min over orthogonal U and A of

        Σ_t ||y_t − X_t U a_t||² + γ ||A||²_{2,1},

    by way of the equivalent convex problem (14) in W = UA,

        min_W  Σ_t ||y_t − X_t w_t||² + γ ||W||²_tr,

    ||W||_tr the sum of the singular values. The loss is a sum, so γ scales with the
    number of examples. With a kernel, x stands for φ(x), written in coordinates of an
    orthonormal basis of the training span (the paper's Algorithm 2).

    Parameters
    ----------
    gamma : float
        γ > 0.
    kernel : Kernel, mapping or str, optional
        A kernel of :mod:`mtmkl.kernels.base` or its specification, for instance
        ``{"name": "gaussian", "median_factor": 0.5}``; without it, the inputs as they
        are.
    solver : {"admm", "alternating"}
        "admm" solves (14) to the relative duality gap ``tol``. "alternating" is the
        paper's Algorithm 1, stopped when W has stabilised.
    fit_intercept : bool
        Whether each task has an unpenalised offset.
    standardize : bool
        Whether inputs are brought to mean 0 and standard deviation 1 over the training
        examples of all tasks together, before the kernel.
    tol : float
        "admm": relative duality gap at which to stop. "alternating": relative change of
        W at which it has stabilised.
    max_iter : int
        Iterations at which to stop in any case, with a ``ConvergenceWarning``.
    basis_tol : float
        With a kernel: eigenvalues of the Gram matrix of the distinct training inputs
        at most this share of the largest are cut.
    epsilon, epsilon_decay, epsilon_min : float
        "alternating" only: the perturbation ε it begins with, the factor by which it
        is reduced whenever W has stabilised (1 keeps it), and its least value.

    Attributes
    ----------
    coef_ : ndarray of shape (d, T)
        W; with a kernel d is the dimension of the basis.
    intercept_ : ndarray of shape (T,)
    norm_ : float
        ||W||_tr.
    objective_ : float
        Value of (14), and so of (4), at W.
    duality_gap_ : float
        Certified relative distance of ``objective_`` from the minimum (with a kernel:
        of the problem in the coordinates kept).
    n_iter_ : int
    history_ : ndarray
        Objective at each check of the certificate, or at each alternation.
    perturbed_history_ : ndarray of shape (n_iter_,)
        "alternating" only: R_ε at each iteration.
    basis_dimension_ : int
        With a kernel: dimension of the basis.
    discarded_trace_ : float
        With a kernel: share of the Gram matrix's trace beyond ``basis_tol``.

    References
    ----------
    A. Argyriou, T. Evgeniou and M. Pontil, Convex multi-task feature learning, Machine
    Learning 73(3), 243–272, 2008.
    """

    _penalty = "trace"

    def __init__(
        self,
        gamma: float = 1.0,
        *,
        kernel: Kernel | Mapping[str, Any] | str | None = None,
        solver: Literal["admm", "alternating"] = "admm",
        fit_intercept: bool = False,
        standardize: bool = False,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        basis_tol: float = 1e-6,
        epsilon: float = 1e-3,
        epsilon_decay: float = 0.5,
        epsilon_min: float = 1e-12,
    ) -> None:
        self.gamma = gamma
        self.kernel = kernel
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.basis_tol = basis_tol
        self.epsilon = epsilon
        self.epsilon_decay = epsilon_decay
        self.epsilon_min = epsilon_min

    @property
    def D_(self) -> FloatArray:  # noqa: N802
        """(WW')^{1/2} / tr (WW')^{1/2}, equation (13) at ε = 0; I/d where W = 0."""
        return covariance_of(self.coef_)

    @property
    def features_(self) -> FloatArray:
        """U, columns by decreasing importance, shape (d, min(d, T))."""
        return learned_features(self.coef_)[0]

    @property
    def A_(self) -> FloatArray:  # noqa: N802
        """U'W, the tasks' coefficients on the features, shape (min(d, T), T)."""
        return learned_features(self.coef_)[0].T @ self.coef_

    @property
    def n_features_(self) -> int:
        """Rank of W: singular values above 1e-6 of the largest."""
        return rank_of(np.linalg.svd(self.coef_, compute_uv=False))

    def _check_params(self) -> None:
        super()._check_params()
        check_choice("solver", self.solver, ("admm", "alternating"))
        check_not_negative("epsilon", self.epsilon)
        check_positive("epsilon_decay", self.epsilon_decay)
        if self.epsilon_decay > 1:
            raise ValueError(
                f"epsilon_decay must be at most 1, got {self.epsilon_decay!r}"
            )
        check_not_negative("epsilon_min", self.epsilon_min)

    def _solve(
        self, tasks: "TaskDecomposition", start: "WarmStart | None"
    ) -> "Solution":
        if self.solver == "admm":
            return super()._solve(tasks, start)
        from mtmkl.solvers.alternating import solve_alternating

        solution = solve_alternating(
            tasks,
            self.gamma,
            penalty="trace",
            epsilon=self.epsilon,
            epsilon_decay=self.epsilon_decay,
            epsilon_min=self.epsilon_min,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self.perturbed_history_ = solution.extra["perturbed_history"]
        return solution
