import numpy as np
import pandas as pd
import pytest

from mtmkl.methods import IndependentRidgeRegressor


def mixed(*labels):
    return np.array([*labels, *labels], dtype=object)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (mixed("rome", np.nan), "must be integers or strings"),
        (mixed("rome", None), "must be integers or strings"),
        (mixed(1, "1"), "all integers or all strings"),
        ([1, "1", 1, "1"], "all integers or all strings"),
        ([0, 1, np.inf, 1], "integers or strings, got inf"),
        ([0, 1, np.nan, 1], "integers or strings, got nan"),
        ([0.5, 1.0, 1.0, 2.0], r"got 0.5 \(task comes after y; no method"),
    ],
)
def test_what_is_no_label_is_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        IndependentRidgeRegressor().fit(np.eye(4), np.arange(4.0), labels)


LARGE = [2**63 + 5, 2**63 + 7, 2**63 + 5, 2**63 + 7]


@pytest.mark.parametrize(
    "labels",
    [
        LARGE,
        np.array(LARGE, dtype=np.uint64),
        np.array(LARGE, dtype=object),
        pd.array(LARGE, dtype="UInt64"),
        [-1, 2**63 + 7, -1, 2**63 + 7],  # no integer type holds both
        [2**64, 2**64 + 1, 2**64, 2**64 + 1],
        [0.0, 2.0**53 - 1, -0.0, 2.0**53 - 1],
        [True, False, True, False],
        mixed("rome", "paris"),
        pd.Categorical(["b", "a", "b", "a"], ["a", "b", "c"]),
    ],
)
def test_large_and_other_labels_are_kept_apart(labels):
    X, y = np.eye(4), np.arange(4.0)
    fitted = IndependentRidgeRegressor().fit(X, y, labels)
    assert fitted.tasks_.tolist() == sorted(set(labels))
    in_order = np.tile([labels[0] > labels[1], labels[0] < labels[1]], 2).astype(int)
    expected = IndependentRidgeRegressor().fit(X, y, in_order).predict(X, in_order)
    np.testing.assert_array_equal(fitted.predict(X, labels), expected)


@pytest.mark.parametrize(
    ("dtype", "least"), [(np.float64, 2**53), (np.float32, 2**24), (np.float16, 2**11)]
)
def test_floats_that_may_stand_for_several_integers_are_refused(dtype, least):
    X, y = np.eye(4), np.arange(4.0)
    for label in (least, -least, 4 * least):
        task = np.array([1, label] * 2, dtype=dtype)
        with pytest.raises(ValueError, match=f"task label {label} has the type"):
            IndependentRidgeRegressor().fit(X, y, task)
    fitted = IndependentRidgeRegressor().fit(
        X, y, np.array([1, least - 1] * 2, dtype=dtype)
    )
    assert fitted.tasks_.tolist() == [1, least - 1]
