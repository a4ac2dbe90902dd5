import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from mtmkl.methods.med_metric import MEDMetric

KERNELS = ["features", {"name": "gaussian", "width": 1.5}]


def test_features_alone_are_a_scaled_euclidean_distance(labelled):
    X, y, task = labelled
    metric = MEDMetric(alpha=100.0).fit(X, y, task)
    scaled = X * np.sqrt(metric.switches_)
    np.testing.assert_allclose(metric.pairwise(X), cdist(scaled, scaled), atol=1e-7)
    np.testing.assert_allclose(metric.transform(X[:5]), metric.pairwise(X[:5], X))
    assert metric.get_feature_names_out().tolist() == [
        f"medmetric{i}" for i in range(len(X))
    ]


def test_a_fit_without_task_warns_its_caller(labelled):
    X, y, _ = labelled
    with pytest.warns(UserWarning, match="are taken as one task") as seen:
        MEDMetric().fit(X, y)
    assert seen[0].filename == __file__


def test_distance_of_a_gaussian_kernel(labelled):
    X, y, task = labelled
    metric = MEDMetric(alpha=10.0, kernels=KERNELS[1:]).fit(X, y, task)
    square = cdist(X, X, "sqeuclidean")
    expected = np.sqrt(metric.switches_[0] * (2 - 2 * np.exp(-square / (2 * 1.5**2))))
    np.testing.assert_allclose(metric.pairwise(X), expected, atol=1e-7)


def test_is_a_metric(labelled):
    X, y, task = labelled
    metric = MEDMetric(alpha=10.0, kernels=KERNELS, normalize="trace").fit(X, y, task)
    D = metric.pairwise(X)
    np.testing.assert_allclose(D, D.T)
    given = X.copy()
    metric.fit(given, y, task)
    given[:] = 0.0
    np.testing.assert_allclose(metric.transform(X), D)
    np.testing.assert_array_equal(np.diag(D), 0.0)
    assert np.all(D[:, :, None] <= D[:, None, :] + D.T[None, :, :] + 1e-9)
    assert metric.distance(X[3], X[8]) == pytest.approx(D[3, 8])
    with pytest.raises(ValueError, match=r"must have shape \(3,\), got \(1,\) and"):
        metric.distance(X[3, :1], X[8])
    neighbours = make_pipeline(metric, KNeighborsClassifier(5, metric="precomputed"))
    assert neighbours.fit(X, y).score(X, y) > 0.7


def test_more_than_two_classes_are_tasks(labelled):
    X, _, task = labelled
    y = np.digitize(X[:, 1], [-0.5, 0.5])
    metric = MEDMetric(alpha=100.0).fit(X, y, task)
    assert metric.selection_.tasks_.size == 12
    assert np.argmax(metric.switches_) == 1
