"""Independent and pooled support vector machines."""

import numpy as np
import pytest
from method_cases import COSTS, FEW_KERNELS, KERNELS, MIXED, Case
from model_objectives import forms
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC, SVR
from sklearn.utils import get_tags

from mtmkl.methods import (
    GroupFeatureSharingClassifier,
    IndependentSVMClassifier,
    IndependentSVMRegressor,
    MEDMetric,
    MKMTSFLClassifier,
    PooledSVMClassifier,
)
from mtmkl.model_selection import PathSearchCV

SVM, GIVEN = IndependentSVMClassifier, "precomputed"


def kernel(X, Z):
    square = ((X[:, None] - Z[None]) ** 2).sum(axis=2)
    return X @ Z.T + np.exp(-square / 8.0)


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        ("linear", {}), ("rbf", {}), ("poly", {}), (laplacian_kernel, {}),
        ("rbf", {"gamma": "auto"}), ("poly", {"gamma": 0.5, "degree": 2, "coef0": 1.0}),
    ],
)  # fmt: skip
def test_kernels_of_scikit_learn_have_its_parameters(labelled, kernel, options):
    X, y, _ = labelled
    kernels = {"name": kernel, **options} if options else kernel
    found, expected = (
        machine.fit(X, y).decision_function(X)
        for machine in (
            SVM(kernels=kernels, tol=1e-10), SVC(kernel=kernel, **options, tol=1e-10)
        )
    )  # fmt: skip
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_scale_is_the_same_of_sparse_inputs(labelled):
    X, y, task = labelled
    dense = IndependentSVMClassifier(kernels="rbf").fit(X, y, task)
    sparse = IndependentSVMClassifier(kernels="rbf").fit(csr_array(X), y, task)
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-6)


def test_precomputed_values_are_as_good_as_the_kernel(labelled):
    X, y, task = labelled
    train, test = slice(0, 30), slice(30, None)
    K, cross = kernel(X[train], X[train]), kernel(X[test], X[train])
    for method in (IndependentSVMClassifier, PooledSVMClassifier):
        given = method(kernels="precomputed", tol=1e-10)
        given.fit(K, y[train], task[train])
        own = method(kernels=kernel, tol=1e-10).fit(X[train], y[train], task[train])
        np.testing.assert_allclose(
            given.decision_function(cross, task[test]),
            own.decision_function(X[test], task[test]),
            atol=1e-7,
        )
        assert given.kernel_names_ == ("precomputed",)


def test_precomputed_values_in_single_precision(labelled):
    X, y, task = labelled
    K = (X @ X.T).astype(np.float32)
    model = IndependentSVMClassifier(kernels="precomputed").fit(K, y, task)
    own = IndependentSVMClassifier(kernels="linear").fit(X, y, task)
    assert model.objective_ == pytest.approx(own.objective_, rel=1e-5)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        model.fit(K.astype(np.float64), y, task)


def test_precomputed_values_in_a_search_of_scikit_learn(labelled):
    X, y, _ = labelled
    K = kernel(X, X)
    model = IndependentSVMClassifier(kernels="precomputed", tol=1e-8)
    assert get_tags(model).input_tags.pairwise
    assert not get_tags(IndependentSVMClassifier()).input_tags.pairwise
    found = cross_val_score(model, K, y)
    assert found.tolist() == cross_val_score(SVC(kernel="precomputed"), K, y).tolist()


def test_precomputed_values_in_a_path_search(labelled):
    X, y, task = labelled
    grid = {"C": [0.1, 1.0, 10.0]}
    found, expected = (
        PathSearchCV(IndependentSVMClassifier(kernels=kernels), grid, cv=3)
        .fit(inputs, y, task=task)
        .cv_results_["mean_test_score"]
        for kernels, inputs in (("linear", X), ("precomputed", X @ X.T))
    )
    assert found.tolist() == expected.tolist()


def test_precomputed_values_with_a_column_of_targets_for_each_task(labelled):
    X = labelled[0]
    Y = np.column_stack([X[:, 0], X[:, 1] - X[:, 2] ** 2])
    K = kernel(X, X)
    model = IndependentSVMRegressor(kernels="precomputed", tol=1e-10).fit(K, Y)
    ones = [SVR(kernel="precomputed", tol=1e-10).fit(K, each) for each in Y.T]
    expected = np.column_stack([one.predict(K[:9]) for one in ones])
    # LIBSVM keeps kernel values in single precision.
    np.testing.assert_allclose(model.predict(K[:9]), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SVM(kernels="sigmoid"), "'sigmoid' is not positive semi"),
        (SVM(kernels=GIVEN), r"square.*got shape \(56, 3"),
        (SVM(kernels=GIVEN, standardize=True), "standardize=False"),
        (GroupFeatureSharingClassifier(kernels=GIVEN), 'normalize="trace"'),
        (MKMTSFLClassifier(kernels=GIVEN), "lacks the matrix itself"),
        (SVM(kernels=[GIVEN]), "lacks the matrix itself"),
        (MEDMetric(kernels=GIVEN), "gives no distances"),
        (SVM(kernels=lambda X, Z: -(X @ Z.T)), "not positive semi-definite"),
        (SVM(kernels=lambda X, Z: X), "array of shape"),
        *(
            (SVM(kernels={"name": "rbf", "gamma": wrong}), "gamma must be positive")
            for wrong in ("wide", 0.0, True, None)
        ),
    ],
)
def test_kernels_that_cannot_be_are_refused(labelled, model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*labelled)


def penalty(model, X, task):
    if type(model).__name__ == "PooledSVMClassifier":
        task = np.zeros_like(task)
    return 0.5 * np.sum(forms(model, X, task, 1.0))


SMALL = {"": {"kernels": FEW_KERNELS}}
CASES = {
    "IndependentSVMClassifier": Case(
        settings=SMALL, penalty=penalty, variants=[KERNELS, {"fit_intercept": False}],
        grid=COSTS,
    ),
    "IndependentSVMRegressor": Case(
        settings=SMALL, penalty=penalty,
        variants=[KERNELS, {"epsilon": 0.0, "standardize_target": True}], grid=COSTS,
    ),
    "PooledSVMClassifier": Case(
        settings=SMALL, penalty=penalty, variants=[KERNELS, MIXED], grid=COSTS
    ),
}  # fmt: skip
