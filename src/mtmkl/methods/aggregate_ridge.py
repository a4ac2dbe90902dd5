"""One ridge regression for all tasks together."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from mtmkl.checks import check_positive, checks
from mtmkl.methods._base.estimator import MultiTaskRegressor
from mtmkl.methods._base.linear import LinearPathEstimator, PreparedRegression
from mtmkl.solvers.linear.ridge import solve_ridge
from mtmkl.solvers.solution import Solution
from mtmkl.typing import FloatArray, IntArray


@dataclass(eq=False, repr=False)
class AggregateRidgeRegressor(LinearPathEstimator, MultiTaskRegressor):
    r"""Fit one ridge regression to all tasks together.

    Solves

    .. math::

        \min_w \sum_t \|y_t - X_t w\|^2 + \gamma \|w\|^2.

    Parameters
    ----------
    gamma : float
        γ > 0.
    fit_intercept : bool
        Whether there is an unpenalised intercept, one for all tasks.

    Attributes
    ----------
    coef_ : ndarray of shape (d, T)
        w, repeated for each task.
    intercept_ : ndarray of shape (T,)
    objective_, dual_objective_, duality_gap_ : float
        Value of the problem and the dual value, which differ by rounding alone.
    n_iter_ : int
        1: the solution has a closed form.
    """

    _takes_shared = False
    _checks = checks(gamma=check_positive)

    gamma: float = 1.0
    _: KW_ONLY
    fit_intercept: bool = True

    def _prepare(
        self, X: FloatArray, y: FloatArray, task: IntArray
    ) -> PreparedRegression:
        return super()._prepare(X, y, np.zeros_like(task))

    def _solve(self, prepared: PreparedRegression, start: Any) -> Solution:
        return solve_ridge(prepared.tasks, self.gamma)

    def _keep(self, prepared: PreparedRegression, solution: Solution) -> None:
        super()._keep(prepared, solution)
        n_tasks = self.tasks_.size
        self.coef_ = np.repeat(self.coef_, n_tasks, axis=1)
        self.intercept_ = np.repeat(self.intercept_, n_tasks)
