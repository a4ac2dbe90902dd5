"""Classes of the estimators: few are above each."""

import pytest

from mtmkl import methods


def depth(of):
    own = [base for base in of.__bases__ if base.__module__.startswith("mtmkl.")]
    return 1 + max(map(depth, own), default=0)


@pytest.mark.parametrize("name", [n for n in methods.__all__ if n != "REGISTRY"])
def test_no_estimator_is_more_than_three_classes_deep(name):
    assert depth(getattr(methods, name)) <= 3
