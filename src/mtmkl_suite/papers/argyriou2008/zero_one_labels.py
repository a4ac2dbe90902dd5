"""Labels 0 and 1 in place of −1 and +1, as a reading of the experiments on classes.

Least squares with penalised intercepts depends on the code of the labels. Here an
estimator is fitted to 0 and 1, and what it predicts is brought back: 2 f(x) − 1, which
is positive where f(x) is above ½.
"""

from mtmkl.methods._base.linear import LinearPathEstimator, PreparedRegression
from mtmkl.methods.independent_ridge import IndependentRidgeRegressor
from mtmkl.methods.multi_task_feature_learning import MultiTaskFeatureLearningRegressor
from mtmkl.typing import FloatArray, IntArray


class _ZeroOneLabels(LinearPathEstimator):
    """An estimator on labels 0 and 1; to be named before the class of the method."""

    def _prepare(
        self, X: FloatArray, y: FloatArray, task: IntArray
    ) -> PreparedRegression:
        return super()._prepare(X, (y + 1.0) / 2.0, task)

    def _outputs(self, X: FloatArray, task: IntArray) -> FloatArray:
        return 2.0 * super()._outputs(X, task) - 1.0


class ZeroOneFeatureLearning(_ZeroOneLabels, MultiTaskFeatureLearningRegressor):
    """Multi-task feature learning on labels 0 and 1."""


class ZeroOneRidge(_ZeroOneLabels, IndependentRidgeRegressor):
    """Independent ridge regressions on labels 0 and 1."""
