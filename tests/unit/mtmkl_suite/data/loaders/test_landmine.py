import numpy as np
import pytest

from mtmkl_suite.data.loaders.landmine import load_balanced_landmine, load_landmine


@pytest.fixture
def files(data_mirror):
    return {"LandmineData.mat": data_mirror / "landmine" / "LandmineData.mat"}


def test_balanced_fields_have_their_mines_and_as_much_clutter(files):
    whole = load_landmine(files)
    assert whole.digest() == "420bff69da4412d3"
    given = {f"landmine/{name}": path for name, path in files.items()}
    data, other = (load_balanced_landmine(given, seed=seed) for seed in (0, 1))
    for t in range(29):
        mines = whole.X[(whole.task == t) & (whole.y > 0)]
        mine = data.task == t
        np.testing.assert_array_equal(data.X[mine & (data.y > 0)], mines)
        assert np.sum(mine & (data.y < 0)) == len(mines)
    assert data.y.sum() == 0
    assert not np.array_equal(data.X, other.X)
