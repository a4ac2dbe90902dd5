import numpy as np
import pandas as pd
import pytest

from mtmkl.methods import IndependentRidgeRegressor


@pytest.mark.parametrize("missing", [np.nan, None])
def test_a_missing_label_among_strings_is_an_error(missing):
    task = np.array(["rome", "paris", missing, "rome"], dtype=object)
    with pytest.raises(ValueError, match="task labels must be integers or strings"):
        IndependentRidgeRegressor().fit(np.eye(4), np.arange(4.0), task)


def test_strings_and_integers_as_objects_are_labels():
    for labels in (["rome", "paris", "rome", "paris"], [3, 1, 3, 1]):
        task = np.array(labels, dtype=object)
        fitted = IndependentRidgeRegressor().fit(np.eye(4), np.arange(4.0), task)
        assert list(fitted.tasks_) == sorted(set(labels))


@pytest.mark.parametrize("odd", [np.inf, np.nan, 1.5])
def test_numbers_that_are_no_labels_are_named(odd):
    with pytest.raises(ValueError, match=f"integers or strings, got {odd}"):
        IndependentRidgeRegressor().fit(np.eye(4), np.arange(4.0), [0, 1, odd, 1])


def test_integers_among_strings_are_an_error():
    for task in ([1, "1", 1, "1"], np.array([1, "1", 1, "1"], dtype=object)):
        with pytest.raises(ValueError, match="all integers or all strings"):
            IndependentRidgeRegressor().fit(np.eye(4), np.arange(4.0), task)


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


def test_weights_in_the_place_of_tasks_are_refused():
    with pytest.raises(ValueError, match=r"got 0.5 \(task comes after y; no method"):
        IndependentRidgeRegressor().fit(np.eye(4), np.arange(4.0), [0.5, 1.0, 1.0, 2.0])
