import numpy as np
import pytest

from mtmkl.methods import IndependentRidge


@pytest.mark.parametrize("missing", [np.nan, None])
def test_a_missing_label_among_strings_is_an_error(missing):
    task = np.array(["rome", "paris", missing, "rome"], dtype=object)
    with pytest.raises(ValueError, match="task labels must be integers or strings"):
        IndependentRidge().fit(np.eye(4), np.arange(4.0), task)


def test_strings_and_integers_as_objects_are_labels():
    for labels in (["rome", "paris", "rome", "paris"], [3, 1, 3, 1]):
        task = np.array(labels, dtype=object)
        fitted = IndependentRidge().fit(np.eye(4), np.arange(4.0), task)
        assert list(fitted.tasks_) == sorted(set(labels))


@pytest.mark.parametrize("odd", [np.inf, np.nan, 1.5])
def test_numbers_that_are_no_labels_are_named(odd):
    with pytest.raises(ValueError, match=f"integers or strings, got {odd}"):
        IndependentRidge().fit(np.eye(4), np.arange(4.0), [0, 1, odd, 1])


def test_integers_among_strings_are_an_error():
    for task in ([1, "1", 1, "1"], np.array([1, "1", 1, "1"], dtype=object)):
        with pytest.raises(ValueError, match="all integers or all strings"):
            IndependentRidge().fit(np.eye(4), np.arange(4.0), task)
