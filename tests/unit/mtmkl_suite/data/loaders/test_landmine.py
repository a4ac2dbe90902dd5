import numpy as np
import pytest
from scipy.io import loadmat

from mtmkl_suite.data.loaders.landmine import load_balanced_landmine, load_landmine


@pytest.fixture
def files(data_mirror):
    return {"LandmineData.mat": data_mirror / "landmine" / "LandmineData.mat"}


def test_fields_are_tasks(files):
    data = load_landmine(files)
    stored = loadmat(files["LandmineData.mat"])
    assert data.n_tasks == 29
    assert data.task_sizes.min() == 445
    assert data.task_sizes.max() == 690
    for t in (0, 28):
        rows = data.rows_of(t)
        np.testing.assert_array_equal(data.X[rows], stored["feature"][0, t])
        np.testing.assert_array_equal(
            data.y[rows] > 0, stored["label"][0, t].ravel() == 1
        )
    assert set(np.unique(data.y)) == {-1.0, 1.0}
    assert np.mean(data.y > 0) == pytest.approx(0.061, abs=5e-4)


def test_balanced_fields_have_their_mines_and_as_much_clutter(files):
    whole = load_landmine(files)
    given = {f"landmine/{name}": path for name, path in files.items()}
    data, other = (load_balanced_landmine(given, seed=seed) for seed in (0, 1))
    for t in range(29):
        mines = whole.X[(whole.task == t) & (whole.y > 0)]
        mine = data.task == t
        np.testing.assert_array_equal(data.X[mine & (data.y > 0)], mines)
        assert np.sum(mine & (data.y < 0)) == len(mines)
    assert data.y.sum() == 0
    assert not np.array_equal(data.X, other.X)
