"""Sparse features in every method; large ones are not copied."""

import numpy as np
import pytest
from made_scores import made_job
from method_cases import KERNELS
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_estimator_sparse_array,
    check_estimator_sparse_matrix,
    check_estimator_sparse_tag,
)

from mtmkl.datasets import MultiTaskData
from mtmkl.methods import REGISTRY
from mtmkl.methods._base.estimator import MultiTaskRegressor
from mtmkl.methods._base.kernel_machine import KernelMachine
from mtmkl_suite.data import make_splits
from mtmkl_suite.evaluation.cells import FitJob, run_job

KERNEL_MACHINES = [
    name for name in REGISTRY if issubclass(REGISTRY[name], KernelMachine)
]


@pytest.fixture
def examples():
    """Three tasks of 12 samples; two thirds of the features are 0."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((36, 6))
    X[np.abs(X) < 1] = 0
    task = np.arange(36) % 3
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(36) > 0, 1.0, -1.0)
    return X, y, task


def outputs(method, X, task):
    scores = "decision_function" if is_classifier(method) else "predict"
    return getattr(method, scores)(X, task)


@pytest.mark.parametrize("name", list(REGISTRY))
def test_sparse_inputs_are_refused_with_the_reason_or_taken(name, examples):
    X, y, task = examples
    method = REGISTRY[name]()
    message = f"X is sparse, and {name} takes dense features only: .*; X.toarray"
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.coo_array):
        if get_tags(method).input_tags.sparse:
            outputs(method.fit(kind(X), y, task), kind(X), task)
            continue
        with pytest.raises(TypeError, match=message + r"\(\) would need 0.00173 MB"):
            method.fit(kind(X), y, task)
        with pytest.raises(TypeError, match=message):
            list(method.fit_path(kind(X), y, task, grid=[{}]))


def halved(X):
    """Return sparse features of which each entry stands twice, with half its value."""
    whole = sparse.csr_array(X)
    halves = np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2)
    return sparse.csr_array((*halves, 2 * whole.indptr), shape=X.shape)


@pytest.mark.parametrize("name", KERNEL_MACHINES)
def test_kernel_machines_give_the_same_on_sparse_and_dense_inputs(name, examples):
    X, y, task = examples
    dense, from_sparse = (
        REGISTRY[name](**KERNELS, normalize="trace", tol=1e-10).fit(Z, y, task)
        for Z in (X, halved(X))
    )
    assert from_sparse.objective_ == pytest.approx(dense.objective_, rel=1e-9)
    expected = outputs(dense, X, task)
    for inputs in (halved(X), sparse.csr_matrix(X), X):
        np.testing.assert_allclose(
            outputs(from_sparse, inputs, task), expected, rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize("name", KERNEL_MACHINES)
@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"kernels": "linear", "standardize": True}, "subtracts the means"),
        ({"kernels": "features", "normalize": None}, '"features" makes a dense column'),
        ({"kernels": ["linear", "features"], "normalize": None}, 'such as "linear"'),
    ],
)
def test_settings_that_need_dense_inputs_are_named(name, params, reason, examples):
    X, y, task = examples
    method = REGISTRY[name](**params)
    with pytest.raises(
        TypeError, match=f"{name} takes dense features only: .*{reason}"
    ):
        method.fit(sparse.csr_array(X), y, task)


def test_settings_that_need_dense_inputs_need_them_in_predictions_too(examples):
    X, y, task = examples
    method = REGISTRY["PooledSVMClassifier"](standardize=True).fit(X, y, task)
    for function in (method.predict, method.decision_function):
        with pytest.raises(TypeError, match="X is sparse"):
            function(sparse.csr_array(X), task)


@pytest.mark.parametrize("name", KERNEL_MACHINES)
def test_scikit_learn_checks(name):
    method = REGISTRY[name](kernels="linear")
    check_estimator_sparse_tag(name, method)
    check_estimator_sparse_array(name, method)
    check_estimator_sparse_matrix(name, method)


def test_bad_sparse_inputs(examples):
    X, y, task = examples
    method = REGISTRY["PooledSVMClassifier"](kernels="linear").fit(
        sparse.csr_array(X), y, task
    )
    with pytest.raises(ValueError, match="6 features"):
        method.decision_function(sparse.csr_array(X[:, :4]), task)
    X[3, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        method.fit(sparse.csr_array(X), y, task)
    with pytest.raises(ValueError, match="X has values up to 1e"):
        method.fit(sparse.csr_array(np.full((36, 1), 1e200)), y, task)
    with pytest.raises(ValueError, match="real numbers"):
        method.fit(sparse.csr_array(np.nan_to_num(X) * 1j), y, task)


class Reached(MultiTaskRegressor):
    """Takes sparse features, and says that it got them."""

    shapes = []  # noqa: RUF012

    def _dense_only(self):
        return None

    def _fit(self, X, y, task):
        assert isinstance(X, sparse.csr_array)
        self.shapes.append(X.shape)

    def _outputs(self, X, task):
        return np.zeros(X.shape[0])


def test_sparse_features_reach_fit_without_a_dense_copy(tmp_path):
    """One would have 80 GB."""
    X = sparse.random_array((100_000, 100_000), density=1e-5, format="csr", rng=0)
    y = np.random.default_rng(0).normal(size=X.shape[0])
    data = MultiTaskData(X=X, y=y, task=np.arange(y.size) % 10, name="big")
    protocol = {"id": "half", "kind": "random", "repeats": 1, "folds": 2}
    splits = make_splits(data, {**protocol, "train_samples": 50_000}, 0)
    job = made_job(
        tmp_path, Reached, method={}, experiment={"metrics": ["mse"]},
        plan=FitJob("memory", "big", "m", 0, (0,)),
    )  # fmt: skip
    Reached.shapes.clear()
    run_job(job, lambda repeat: data, splits)
    assert Reached.shapes == [(50_000, 100_000)]
