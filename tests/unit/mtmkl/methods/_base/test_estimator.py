"""Classes of the estimators: few are above each."""

import warnings

import numpy as np
import pytest

from mtmkl import methods


def depth(of):
    own = [base for base in of.__bases__ if base.__module__.startswith("mtmkl.")]
    return 1 + max(map(depth, own), default=0)


def test_no_estimator_is_more_than_three_classes_deep():
    assert max(map(depth, methods.REGISTRY.values())) <= 3


def test_a_fit_without_task_warns_its_caller():
    X, y = np.arange(6.0)[:, None], np.arange(6.0)
    model = methods.IndependentRidgeRegressor()
    with pytest.warns(UserWarning, match="all 6 samples are taken as one task") as seen:
        model.fit(X, y)
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y, task=np.zeros(6)).predict(X)
        model.fit(X, np.column_stack([y, y])).predict(X)
