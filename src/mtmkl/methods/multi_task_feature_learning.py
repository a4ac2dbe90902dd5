"""Convex multi-task feature learning (Argyriou, Evgeniou and Pontil 2008)."""

from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy.sparse import coo_array

from mtmkl.kernels.base import Kernel
from mtmkl.methods._base.estimator import MultiTaskRegressor
from mtmkl.methods._base.linear import (
    FeatureLearner,
    PreparedRegression,
    SquaredNormEstimator,
    task_means,
)
from mtmkl.solvers.solution import Solution, relative_gap
from mtmkl.typing import Spec


@dataclass(eq=False, repr=False)
class MultiTaskFeatureLearningRegressor(
    FeatureLearner, SquaredNormEstimator, MultiTaskRegressor
):
    r"""Learn a few features, orthonormal combinations of those given, for all tasks.

    Solves problem (4) of the paper, min over orthogonal U and A of

    .. math::

        \sum_t \|y_t - X_t U a_t\|^2 + \gamma \|A\|_{2,1}^2,

    by way of the equivalent convex problem (14) in W = UA,

    .. math::

        \min_W \sum_t \|y_t - X_t w_t\|^2 + \gamma \|W\|_{\mathrm{tr}}^2,

    ||W||_tr the sum of the singular values. The loss is a sum, so γ scales with the
    number of samples. With a kernel, x stands for φ(x), written in coordinates of an
    orthonormal basis of the training span (the paper's Algorithm 2).

    Parameters
    ----------
    gamma : float
        γ > 0.
    kernel : Kernel, mapping or str, optional
        A kernel of :mod:`mtmkl.kernels.base` or its specification, for instance
        ``{"name": "gaussian", "median_factor": 0.5}``; without it, the features as they
        are.
    fit_intercept : bool
        Whether each task has an unpenalised intercept.
    standardize : bool
        Whether features are brought to mean 0 and standard deviation 1 over the
        training samples of all tasks together, before the kernel.
    tol : float
        Relative duality gap at which to stop.
    max_iter : int
        Maximum number of iterations; reaching it gives a ``ConvergenceWarning``.
    basis_tol : float
        With a kernel: eigenvalues of the Gram matrix of the distinct training samples
        at most this share of the largest, in (0, 1), are cut.

    Attributes
    ----------
    coef_ : ndarray of shape (d, T)
        W; with a kernel d is the dimension of the basis.
    intercept_ : ndarray of shape (T,)
    norm_ : float
        ||W||_tr.
    objective_ : float
        Value of (14), and so of (4), at W.
    dual_objective_ : float
        A lower bound on the minimum.
    duality_gap_ : float
        Certified relative distance of ``objective_`` from the minimum (with a kernel:
        of the problem in the coordinates kept).
    untruncated_gap_ : float
        With a kernel: the same of the problem in all coordinates, whose minimum may be
        lower; see the notes. A smaller ``basis_tol`` makes it smaller.
    n_iter_ : int
    history_ : ndarray
        Objective at each check of the certificate.
    basis_dimension_ : int
        With a kernel: dimension of the basis.
    discarded_trace_ : float
        With a kernel: share of the Gram matrix's trace beyond ``basis_tol``.

    Notes
    -----
    With a kernel the basis is cut at ``basis_tol``, so that φ(x_i) = z_i + r_i with r_i
    orthogonal to all z. The solution is feasible in all coordinates, with the same
    objective. A dual point a of value D in those kept has the value

        D − ||Σ_i r_i a_i e_t(i)'||²_op / 4γ  ≥  D − κ ||A||²_op / 4γ

    in all of them, κ the largest eigenvalue of the Gram matrix of the r_i of distinct
    samples and A (distinct samples × T) the sums of the a_i of equal samples. The
    multiple of a for which this is largest gives the lower bound D² / (D + κ ||A||²_op
    / 4γ) of ``untruncated_gap_``.

    References
    ----------
    A. Argyriou, T. Evgeniou and M. Pontil, Convex multi-task feature learning, Machine
    Learning 73(3), 243–272, 2008.
    """

    _penalty = "trace"

    _: KW_ONLY
    kernel: Kernel | Spec | None = None
    standardize: bool = False
    basis_tol: float = 1e-6

    def _keep(self, prepared: PreparedRegression, solution: Solution) -> None:
        super()._keep(prepared, solution)
        if prepared.basis is not None:
            self.untruncated_gap_ = self._untruncated_gap(prepared, solution)

    def _untruncated_gap(
        self, prepared: PreparedRegression, solution: Solution
    ) -> float:
        """Return the certified gap in all coordinates; see the notes of the class."""
        basis, task = prepared.basis, prepared.task
        a = solution.dual
        assert basis is not None
        if self.fit_intercept:
            # Inputs centred within tasks see the dual point centred.
            a = a - task_means(a[:, None], task, self.tasks_.size)[task, 0]
        shape = (int(basis.distinct.max()) + 1, self.tasks_.size)
        distinct = np.resize(basis.distinct, task.size)  # of each task that shares them
        A = coo_array((a, (distinct, task)), shape=shape).tocsr()
        largest = max(float(np.linalg.eigvalsh((A.T @ A).toarray())[-1]), 0.0)
        cost = basis.discarded_norm * largest / (4.0 * self.gamma)
        value = solution.certificate.dual_objective
        bound = value**2 / (value + cost) if value > 0 else 0.0
        return relative_gap(solution.certificate.objective, bound)
