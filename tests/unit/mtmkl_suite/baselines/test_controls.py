"""The controls are what floors and ceilings should be."""

import numpy as np
import pytest
from scipy import sparse

from mtmkl_suite.baselines.controls import OracleControl, TaskMeanControl

X = np.array([[1.0], [1.0], [2.0], [1.0]])
Y = np.array([3.0, 5.0, 7.0, 11.0])
TASK = np.array([0, 0, 0, 1])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_task_mean_ignores_the_inputs(kind):
    control = TaskMeanControl().fit(kind(X), Y, TASK)
    np.testing.assert_allclose(control.predict(kind(X + 9), TASK), [5, 5, 5, 11])
    assert not TaskMeanControl.fits_on_test


@pytest.mark.parametrize("fitted_on", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_oracle_recognises_examples_in_any_order_and_form(fitted_on, kind):
    inputs = X - 1  # the first two samples and the last are 0
    control = OracleControl().fit(fitted_on(inputs), Y, TASK)
    assert OracleControl.fits_on_test
    if fitted_on is kind:
        np.testing.assert_array_equal(control.predict(kind(inputs), TASK), Y)
    # The first two samples agree in task and features: the mean of 3 and 5. One that
    # was not seen gets the mean of its task.
    rows = [3, 2, 0]
    found = control.predict(kind(inputs[rows]), TASK[rows])
    np.testing.assert_array_equal(found, [11, 7, 4])
    np.testing.assert_array_equal(control.predict(kind([[8.0]]), [0]), [5])
