from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from mtmkl.datasets.container import MultiTaskData
from mtmkl_suite.data.scaling import (
    fitted_inputs,
    fitted_targets,
    scaled_inputs,
    scaled_targets,
)


def data(X):
    return MultiTaskData(X=X, y=[1.0, -1.0, 1.0], task=[0, 0, 1], name="toy")


def test_features_go_from_zero_to_one_and_constant_ones_are_zero():
    scaled = scaled_inputs(data([[2.0, 5.0], [4.0, 5.0], [3.0, 5.0]]), "unit_range")
    np.testing.assert_array_equal(scaled.X, [[0.0, 0.0], [1.0, 0.0], [0.5, 0.0]])
    assert scaled.name == "toy"


def test_targets_are_in_units_of_the_training_rows_of_their_task():
    y, task = [1.0, 3.0, 5.0, 40.0, 40.0, 41.0], [0, 0, 0, 1, 1, 1]
    raw = MultiTaskData(X=np.arange(6.0)[:, None], y=y, task=task, name="toy")
    train = np.array([0, 1, 3, 4])
    assert fitted_targets(raw, train) is raw
    found = fitted_targets(scaled_targets(raw, "within_tasks"), train)
    np.testing.assert_array_equal(found.y, [-1.0, 1.0, 3.0, 0.0, 0.0, 1.0])
    assert "within_tasks" not in found.truth


def test_a_feature_that_no_training_row_has_is_kept():
    raw = data([[7.0, 1.0], [7.0, 3.0], [2.0, 9.0]])
    gaps = np.array([[1, 0], [1, 0], [0, 1]])
    raw = replace(raw, truth={"gaps": gaps, "categories": np.array([], dtype=int)})
    found = fitted_inputs(raw, np.array([0, 1]))
    np.testing.assert_array_equal(found.X, [[0.0, 1.0], [0.0, 3.0], [2.0, 2.0]])


def test_what_cannot_be_scaled_is_refused():
    with pytest.raises(ValueError, match="sparse features"):
        scaled_inputs(data(csr_array(np.ones((3, 2)))), "unit_range")
