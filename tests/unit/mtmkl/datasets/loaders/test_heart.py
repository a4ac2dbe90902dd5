import numpy as np
import pytest

from mtmkl.datasets.errors import DataCorruptError
from mtmkl.datasets.loaders.heart import load_heart


@pytest.fixture
def path(data_mirror):
    return data_mirror / "statlog_heart" / "heart.dat"


def test_blocks_of_age(path):
    data = load_heart({"heart.dat": path})
    assert data.n_tasks == 10
    assert np.all(data.task_sizes == 27)
    age = data.X[:, 0]
    assert np.all(np.diff(age) >= 0)
    assert data.task_names[0] == "block 1, age 29 to 42"
    assert data.X.min(axis=0) == pytest.approx(np.zeros(13))
    assert data.X.max(axis=0) == pytest.approx(np.ones(13))
    assert np.sum(data.y > 0) == 120


def test_patients_of_one_age_keep_the_order_of_the_file(path):
    data = load_heart({"heart.dat": path})
    table = np.loadtxt(path)
    scaled = (table[:, 7] - table[:, 7].min()) / np.ptp(table[:, 7])
    at_58 = table[:, 0] == 58
    age_58 = (58 - 29) / (77 - 29)
    np.testing.assert_allclose(
        data.X[np.isclose(data.X[:, 0], age_58), 7], scaled[at_58]
    )


def test_edited_file_is_refused(path, tmp_path):
    table = np.loadtxt(path)
    table[0, 0] = 20
    edited = tmp_path / "heart.dat"
    np.savetxt(edited, table)
    with pytest.raises(DataCorruptError, match="range of age"):
        load_heart({"heart.dat": edited})
    edited.write_text("age sex\n1 2\n")
    with pytest.raises(DataCorruptError, match="not a table of numbers"):
        load_heart({"heart.dat": edited})
