import numpy as np
import pytest

from mtmkl_suite.evaluation.metrics.features import feature_weights, large_rows
from mtmkl_suite.evaluation.metrics.outcome import Outcome


class Fitted:
    def __init__(self, **attributes):
        vars(self).update(attributes)


def outcome(**attributes):
    one = np.ones(1)
    return Outcome(
        y=one,
        prediction=one,
        task=np.zeros(1, int),
        task_names=("a",),
        estimator=Fitted(**attributes),
        truth={},
    )


@pytest.mark.parametrize(
    ("norms", "count"),
    [([5, 2, 2, 1], 3), ([1, 8, 1], 1), ([1, 1, 1, 1], 4), ([0, 0], 1)],
)
def test_large_rows_hold_four_fifths_of_the_norms(norms, count):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(len(norms), 6))
    A = rows / np.linalg.norm(rows, axis=1, keepdims=True) * np.array(norms)[:, None]
    assert list(large_rows(outcome(A_=A))) == [("large_rows", "all", count)]


def test_weights_are_those_of_the_first_feature():
    U, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 2)))
    found = list(feature_weights(outcome(features_=U)))
    assert [name for name, _, _ in found] == [
        f"feature_weight_{k}" for k in (1, 2, 3, 4)
    ]
    np.testing.assert_allclose([value for _, _, value in found], np.abs(U[:, 0]))


def test_methods_without_features_yield_nothing():
    assert not [*large_rows(outcome()), *feature_weights(outcome())]
