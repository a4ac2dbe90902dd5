import numpy as np
import pytest

from mtmkl.methods.independent_ridge import IndependentRidgeRegressor
from mtmkl.methods.multi_task_feature_learning import MultiTaskFeatureLearningRegressor
from mtmkl_suite.papers.argyriou2008.zero_one_labels import (
    ZeroOneFeatureLearning,
    ZeroOneRidge,
)


@pytest.mark.parametrize(
    ("method", "plain"),
    [
        (ZeroOneRidge, IndependentRidgeRegressor),
        (ZeroOneFeatureLearning, MultiTaskFeatureLearningRegressor),
    ],
)
def test_signs_are_those_of_a_cut_at_one_half(method, plain):
    rng = np.random.default_rng(0)
    X, task = rng.normal(size=(60, 4)), np.repeat([0, 1, 2], 20)
    X[:, 3] = 1.0  # the bias column, penalised
    y = np.where(X[:, 0] + 0.8 + rng.normal(size=60) > 0, 1.0, -1.0)

    def fitted(cls, y):
        model = cls(gamma=5.0, fit_intercept=False).fit(X, y, task=task)
        return model.predict(X, task=task)

    ours, coded = fitted(method, y), fitted(plain, (y + 1) / 2)
    np.testing.assert_allclose(ours, 2 * coded - 1, atol=1e-8)
    np.testing.assert_array_equal(ours > 0, coded > 0.5)
    # It is another method: the bias is drawn to ½, not to 0.
    assert not np.allclose(ours, fitted(plain, y), atol=1e-3)
