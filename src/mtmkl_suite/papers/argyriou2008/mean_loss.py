"""The average of the errors of the tasks in place of their sum, as a reading of (2).

With T tasks, (1/T) Σ_t loss_t + γ ||A||² has the minimum of Σ_t loss_t + Tγ ||A||². A
task alone has T = 1, so that independent learning stays as it is.
"""

from copy import copy
from typing import Any, Self

from mtmkl.methods._base.linear import PreparedRegression, SquaredNormEstimator
from mtmkl.methods.multi_task_feature_learning import MultiTaskFeatureLearningRegressor
from mtmkl.methods.multi_task_variable_selection import (
    MultiTaskVariableSelectionRegressor,
)
from mtmkl.methods.rr_het import RRHetRegressor
from mtmkl.solvers.solution import Solution


class _MeanLoss(SquaredNormEstimator):
    """An estimator with γ times the number of tasks; before the class of the method."""

    def _solve(self, prepared: PreparedRegression, start: Any) -> Solution:
        return super(_MeanLoss, self._of_the_sum(prepared))._solve(prepared, start)

    def _of_the_sum(self, prepared: PreparedRegression) -> Self:
        made = copy(self)
        made.gamma = self.gamma * (int(prepared.task.max()) + 1)
        return made


class MeanLossFeatureLearning(_MeanLoss, MultiTaskFeatureLearningRegressor):
    """Multi-task feature learning by the average of the errors."""

    def _untruncated_gap(
        self, prepared: PreparedRegression, solution: Solution
    ) -> float:
        made = self._of_the_sum(prepared)
        return MultiTaskFeatureLearningRegressor._untruncated_gap(
            made, prepared, solution
        )


class MeanLossVariableSelection(_MeanLoss, MultiTaskVariableSelectionRegressor):
    """Multi-task variable selection by the average of the errors."""


class MeanLossRRHet(_MeanLoss, RRHetRegressor):
    """RR-Het by the average of the errors."""
