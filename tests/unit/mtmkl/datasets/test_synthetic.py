import numpy as np
import pytest
from scipy import stats

from mtmkl.datasets.synthetic import (
    linear_synthetic,
    nonlinear_features,
    nonlinear_synthetic,
)

GENERATORS = {
    "linear": (linear_synthetic, "n_irrelevant", 0, 5),
    "nonlinear": (nonlinear_synthetic, "n_variables", 5, 7),
}


@pytest.fixture(params=GENERATORS)
def generator(request):
    return GENERATORS[request.param]


def noise_of(data):
    """Targets less what the true coefficients predict."""
    coef = data.truth["coef"]
    linear = data.name == "linear_synthetic"
    features = data.X if linear else nonlinear_features(data.X)
    return data.y - np.einsum("nd,dn->n", features, coef[:, data.task])


def test_sizes_of_the_paper():
    linear = linear_synthetic(n_irrelevant=6)
    assert linear.X.shape == (200 * 25, 11)
    assert np.bincount(linear.task[~linear.truth["is_test"]]).tolist() == [5] * 200
    assert np.bincount(linear.task[linear.truth["is_test"]]).tolist() == [20] * 200
    nonlinear = nonlinear_synthetic(n_variables=8)
    assert nonlinear.X.shape == (200 * 40, 8)
    is_test = nonlinear.truth["is_test"]
    assert np.bincount(nonlinear.task[is_test]).tolist() == [20] * 200
    assert linear.origin == nonlinear.origin == "synthetic"


def test_variants_of_a_seed_are_paired(generator):
    draw, option, least, _ = generator
    plain = draw(**{option: least}, n_tasks=7, seed=3)
    wide = draw(**{option: least + 2}, n_tasks=7, seed=3)
    wider = draw(**{option: least + 4}, n_tasks=7, seed=3)
    assert np.array_equal(wide.y, plain.y)
    assert np.array_equal(wide.X[:, :5], plain.X)
    assert np.array_equal(wider.X[:, :7], wide.X)
    assert wider.X.shape[1] == plain.X.shape[1] + 4


def test_noise_is_normal_with_the_papers_spread(generator):
    draw, option, least, _ = generator
    noise = noise_of(draw(**{option: least + 2}, seed=0))
    assert stats.kstest(noise / 0.1, "norm").pvalue > 1e-3


def test_inputs_are_uniform(generator):
    draw, option, least, _ = generator
    X = draw(**{option: least + 3}, seed=0).X
    for column in X.T:
        assert stats.kstest(column, "uniform").pvalue > 1e-3
    correlation = np.corrcoef(X.T) - np.eye(X.shape[1])
    assert np.abs(correlation).max() < 5 / np.sqrt(len(X))


def test_coefficients_have_the_stated_covariance(generator):
    draw, _, _, n_features = generator
    data = draw(n_tasks=4000, n_train=1, n_test=1, seed=0)
    coef, covariance = data.truth["coef"], data.truth["covariance"]
    assert coef.shape == (n_features, 4000)
    scaled = coef / np.sqrt(np.diag(covariance))[:, None]
    for row in scaled:
        assert stats.kstest(row, "norm").pvalue > 1e-3
    correlation = np.corrcoef(coef) - np.eye(n_features)
    assert np.abs(correlation).max() < 5 / np.sqrt(4000)


def test_truth_of_the_linear_data():
    truth = linear_synthetic(n_irrelevant=2, n_tasks=4).truth
    expected = np.diag([1, 0.64, 0.49, 0.36, 0.25, 0, 0])
    assert np.array_equal(truth["covariance"], expected)
    assert np.array_equal(truth["coef"][5:], np.zeros((2, 4)))
    assert truth["relevant"].tolist() == [0, 1, 2, 3, 4]


def test_nonlinear_features():
    assert nonlinear_features([[2.0, 3.0, 5.0, 7.0, 11.0, 13.0]]).tolist() == [
        [4.0, 49.0, 6.0, 55.0, 3.0, 7.0, 1.0]
    ]
