"""Independent ridge regressions, one per task."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from mtmkl.checks import check_positive
from mtmkl.kernels.base import Kernel
from mtmkl.methods._base.estimator import MultiTaskRegressor
from mtmkl.methods._base.linear import LinearPathEstimator, PreparedRegression
from mtmkl.solvers.linear.ridge import solve_ridge
from mtmkl.solvers.solution import Solution
from mtmkl.typing import Spec


@dataclass(eq=False, repr=False)
class IndependentRidgeRegressor(LinearPathEstimator, MultiTaskRegressor):
    r"""Fit a ridge regression to each task on its own.

    Solves for every task

    .. math::

        \min_{w_t} \|y_t - X_t w_t\|^2 + \gamma_t \|w_t\|^2.

    Parameters
    ----------
    gamma : float or array-like of shape (T,)
        γ_t > 0: one for all tasks, or one per task in the order of ``tasks_``.
    kernel : Kernel, mapping or str, optional
        A kernel of :mod:`mtmkl.kernels.base` or its specification (kernel ridge
        regression); without it, the features as they are.
    fit_intercept : bool
        Whether each task has an unpenalised intercept.
    standardize, basis_tol
        As for :class:`MultiTaskFeatureLearningRegressor`.

    Attributes
    ----------
    coef_ : ndarray of shape (d, T)
        With a kernel d is the dimension of the basis.
    intercept_ : ndarray of shape (T,)
    objective_, dual_objective_, duality_gap_ : float
        Σ_t (||y_t − X_t w_t||² + γ_t ||w_t||²) and the dual value, which
        differ by rounding alone.
    n_iter_ : int
        1: the solution has a closed form.
    basis_dimension_ : int
    discarded_trace_ : float
        As for :class:`MultiTaskFeatureLearningRegressor`.
    """

    per_task_params: ClassVar[tuple[str, ...]] = ("gamma",)

    gamma: Any = 1.0
    _: KW_ONLY
    kernel: Kernel | Spec | None = None
    fit_intercept: bool = True
    standardize: bool = False
    basis_tol: float = 1e-6

    def _check_params(self) -> None:
        super()._check_params()
        shape = np.shape(self.gamma)
        # Without a fit there are no tasks, and one number needs none.
        if shape and shape != (self.tasks_.size,):
            raise ValueError(
                f"gamma must be one number or one for each of the {self.tasks_.size} "
                f"tasks, got {self.gamma!r}"
            )
        for value in self.gamma if shape else [self.gamma]:
            check_positive("gamma", value)

    def _solve(self, prepared: PreparedRegression, start: Any) -> Solution:
        return solve_ridge(prepared.tasks, np.asarray(self.gamma, dtype=float))
