"""Multi-task variable selection: problem (5) of Argyriou et al. (2008)."""

from typing import Any

import numpy as np

from mtmkl.methods._base.estimator import MultiTaskRegressor
from mtmkl.methods._base.linear import (
    PreparedRegression,
    SquaredNormEstimator,
    rank_of,
)
from mtmkl.solvers.solution import Solution
from mtmkl.typing import FloatArray, IntArray


class MultiTaskVariableSelectionRegressor(SquaredNormEstimator, MultiTaskRegressor):
    r"""Select a few of the features for all tasks.

    Solves problem (5) of the paper,

    .. math::

        \min_W \sum_t \|y_t - X_t w_t\|^2 + \gamma \|W\|_{2,1}^2,

    ||W||_{2,1} the sum over features i of the norm of (w_1i … w_Ti): feature learning
    with the feature matrix U held at I.

    Parameters
    ----------
    gamma : float
        γ > 0.
    fit_intercept, tol, max_iter
        As for :class:`MultiTaskFeatureLearningRegressor`.

    Attributes
    ----------
    coef_ : ndarray of shape (d, T)
        W, with rows of exact zeros for the features left out.
    intercept_ : ndarray of shape (T,)
    norm_ : float
        ||W||_{2,1}.
    objective_, dual_objective_, duality_gap_ : float
        Value of (5), a lower bound on the minimum, and their relative difference.
    n_iter_ : int
    history_ : ndarray
        Objective at each check of the certificate.

    References
    ----------
    A. Argyriou, T. Evgeniou and M. Pontil, Convex multi-task feature learning, Machine
    Learning 73(3), 243–272, 2008.
    """

    def _reduced(
        self, X: FloatArray, y: FloatArray, task: IntArray, *, n_tasks: int
    ) -> Any:
        from mtmkl.solvers.linear.working_sets import RowProblem

        return RowProblem.of(X, y, task, n_tasks=n_tasks)

    def _solve(self, prepared: PreparedRegression, start: Any) -> Solution:
        from mtmkl.solvers.linear.working_sets import solve

        return solve(prepared.tasks, self.gamma, start=start, **self._limits)

    @property
    def D_(self) -> FloatArray:  # noqa: N802
        """Diag(||w^i|| / ||W||_{2,1}), equation (11); I/d where W = 0."""
        lengths = np.linalg.norm(self.coef_, axis=1)
        total, d = lengths.sum(), self.coef_.shape[0]
        return np.diag(lengths / total) if total > 0 else np.eye(d) / d

    @property
    def A_(self) -> FloatArray:  # noqa: N802
        """W itself: the features are those given, in their own order."""
        return self.coef_

    @property
    def n_features_(self) -> int:
        """Number of features kept: row norms above 1e-6 of the largest."""
        return rank_of(np.linalg.norm(self.coef_, axis=1))
