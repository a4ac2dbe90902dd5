"""FlexClus: clusters of tasks that differ from feature to feature."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mtmkl.checks import check_not_negative, checks
from mtmkl.methods._base.estimator import MultiTaskClassifier
from mtmkl.methods._base.linear_classifier import LinearTaskClassifier, PreparedTasks
from mtmkl.solvers.linear.task_decomposition import TaskDecomposition
from mtmkl.solvers.solution import Solution

if TYPE_CHECKING:
    from mtmkl.solvers.linear.flexible_clusters import FlexibleClusters


@dataclass(eq=False, repr=False)
class FlexClusClassifier(LinearTaskClassifier, MultiTaskClassifier):
    r"""Least-squares classifiers whose tasks cluster feature by feature.

    Minimises over W = U + V (d × T) and intercepts b

    .. math::

        \sum_t \|y_t - X_t w_t - b_t\|^2 + \lambda_1 \sum_d \sum_{i < j}
        |u_{di} - u_{dj}| + \lambda_2 \|U\|_F^2 + \lambda_3 \|V\|_F^2,

    with y = ±1 and X standardised over the training samples of all tasks together;
    features that are constant there are left out. With λ₁ = 0 the tasks are independent
    ridge regressions with weight λ₂λ₃/(λ₂ + λ₃).

    Parameters
    ----------
    lam_1 : float
        λ₁ ≥ 0.
    lam_2, lam_3 : float
        λ₂, λ₃ ≥ 0; less than 1e-6 counts as 1e-6, so that the minimum is unique.
    tol, max_iter
        As for :class:`CMTLClassifier`.

    Attributes
    ----------
    common_coef_ : ndarray of shape (d, T)
        The part of ``coef_`` that is U: tasks of one cluster are equal in a row.
    coef_, intercept_, history_ : ndarray
    objective_, dual_objective_, duality_gap_ : float
    n_iter_ : int
        As for :class:`CMTLClassifier`; tasks of one class are treated as there.

    References
    ----------
    L. W. Zhong and J. T. Kwok, Convex multitask learning with flexible task clusters,
    International Conference on Machine Learning, 2012.
    """

    _rotation_invariant = False
    _checks = checks(
        lam_1=check_not_negative, lam_2=check_not_negative, lam_3=check_not_negative
    )

    lam_1: float = 1.0
    lam_2: float = 1.0
    lam_3: float = 1.0

    def _position(self) -> tuple[float, ...]:
        return -self.lam_3, -self.lam_2, -self.lam_1

    def _penalty(self, n_tasks: int) -> "FlexibleClusters":
        from mtmkl.solvers.linear.flexible_clusters import RIDGE, FlexibleClusters

        ridges = max(self.lam_2, RIDGE), max(self.lam_3, RIDGE)
        return FlexibleClusters(self.lam_1, *ridges)

    def _minimise(self, tasks: TaskDecomposition, start: Any) -> Solution:
        solution = super()._minimise(tasks, start)
        W = np.ascontiguousarray(solution.coef.T)
        common = self._penalty(tasks.n_tasks).split(W).T
        return replace(solution, extra={**solution.extra, "common": common})

    def _keep(self, prepared: PreparedTasks, solution: Solution) -> None:
        super()._keep(prepared, solution)
        self.common_coef_ = prepared.expand(solution.extra.get("common", solution.coef))
