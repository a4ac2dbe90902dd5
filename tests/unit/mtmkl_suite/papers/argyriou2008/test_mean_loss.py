import numpy as np
import pytest

from mtmkl.methods import (
    MultiTaskFeatureLearningRegressor,
    MultiTaskVariableSelectionRegressor,
    RRHetRegressor,
)
from mtmkl_suite.papers.argyriou2008.mean_loss import (
    MeanLossFeatureLearning,
    MeanLossRRHet,
    MeanLossVariableSelection,
)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X, task = rng.normal(size=(60, 4)), np.repeat([0, 1, 2], 20)
    return X, X[:, 0] + 0.5 * rng.normal(size=60), task


@pytest.mark.parametrize(
    ("method", "plain"),
    [
        (MeanLossFeatureLearning, MultiTaskFeatureLearningRegressor),
        (MeanLossVariableSelection, MultiTaskVariableSelectionRegressor),
        (MeanLossRRHet, RRHetRegressor),
    ],
)
def test_gamma_counts_as_many_times_as_there_are_tasks(method, plain, data):
    X, y, task = data
    ours = method(gamma=2.0, fit_intercept=False).fit(X, y, task=task)
    theirs = plain(gamma=6.0, fit_intercept=False).fit(X, y, task=task)
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    assert ours.gamma == 2.0


def test_the_gap_in_all_coordinates_is_that_of_the_problem_solved(data):
    X, y, task = data
    settings = {"kernel": {"name": "gaussian", "width": 2.0}, "basis_tol": 1e-2}
    ours = MeanLossFeatureLearning(gamma=0.1, **settings).fit(X, y, task=task)
    theirs = MultiTaskFeatureLearningRegressor(gamma=0.3, **settings)
    theirs.fit(X, y, task=task)
    assert ours.untruncated_gap_ == pytest.approx(theirs.untruncated_gap_)
