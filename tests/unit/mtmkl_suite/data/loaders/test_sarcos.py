import numpy as np
import pytest
from scipy.io import loadmat

from mtmkl_suite.data.loaders.sarcos import load_sarcos


@pytest.fixture
def files(data_mirror):
    return {"sarcos_inv_test.mat": data_mirror / "sarcos" / "sarcos_inv_test.mat"}


def test_a_task_is_a_joint_with_rows_of_its_own(files):
    data = load_sarcos(files, n_per_task=300, seed=4)
    table = loadmat(files["sarcos_inv_test.mat"])["sarcos_inv_test"]
    assert data.n_tasks == 7
    assert data.task_sizes.tolist() == [300] * 7
    row_of = {tuple(row): k for k, row in enumerate(table[:, :21])}
    drawn = []
    for t in range(7):
        rows = [row_of[tuple(x)] for x in data.X[data.rows_of(t)]]
        assert len(set(rows)) == 300
        np.testing.assert_array_equal(data.y[data.rows_of(t)], table[rows, 21 + t])
        drawn.append(rows)
    assert drawn[0] != drawn[1]
