"""The hierarchical Bayes estimator; the sampler has tests of its own."""

import numpy as np
import pytest
from method_cases import Case
from sklearn.exceptions import ConvergenceWarning

from mtmkl.methods import HierarchicalBayesRegressor


def test_chains_agree_on_plain_data(data):
    estimator = HierarchicalBayesRegressor(n_samples=1000, n_burn_in=300).fit(*data)
    assert estimator.r_hat_.shape == estimator.effective_sample_size_.shape == (11,)
    assert estimator.r_hat_.max() < 1.1
    assert estimator.effective_sample_size_.min() > 50
    assert estimator.covariance_.shape == (5, 5)
    assert estimator.n_iter_ == 1300


def test_chains_that_disagree_are_told_of():
    rng = np.random.default_rng(0)
    X, task = rng.normal(size=(100, 20)), np.arange(100) % 10
    model = HierarchicalBayesRegressor(n_samples=20, n_burn_in=0)
    with pytest.warns(ConvergenceWarning, match=r"up to \d.*n_burn_in \(0\)") as seen:
        model.fit(X, X.sum(axis=1) + rng.normal(size=100), task)
    assert seen[0].filename == __file__
    assert model.r_hat_.max() > 1.5


def test_seed_decides(data):
    options = {"n_samples": 100, "n_burn_in": 50, "n_chains": 2}
    first, second, other = (
        HierarchicalBayesRegressor(random_state=seed, **options).fit(*data).coef_
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_samples": 3}, "n_samples must be a whole number of at least 4"),
        ({"n_chains": 0}, "n_chains must be a whole number"),
        ({"prior_degrees": 4.0}, "prior_degrees must exceed 4"),
    ],
)
def test_bad_parameters(params, message, data):
    with pytest.raises(ValueError, match=message):
        HierarchicalBayesRegressor(**params).fit(*data)


CASES = {
    "HierarchicalBayesRegressor": Case(
        settings={"": {"n_samples": 40, "n_burn_in": 20, "n_chains": 2}}
    )
}
