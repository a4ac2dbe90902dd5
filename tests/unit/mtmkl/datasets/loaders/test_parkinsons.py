import numpy as np
import pandas as pd
import pytest

from mtmkl.datasets.errors import DataCorruptError
from mtmkl.datasets.loaders.parkinsons import load_parkinsons


@pytest.fixture
def path(data_mirror):
    return data_mirror / "parkinsons_telemonitoring" / "parkinsons_updrs.data"


def test_a_patient_has_two_tasks_of_the_same_recordings(path):
    data = load_parkinsons({"parkinsons_updrs.data": path})
    table = pd.read_csv(path)
    assert (data.n_tasks, data.X.shape) == (84, (2 * 5875, 19))
    assert (data.task_sizes.min(), data.task_sizes.max()) == (101, 168)
    for patient in (0, 41):
        own = table[table["subject#"] == patient + 1]
        motor, total = data.rows_of(patient), data.rows_of(patient + 42)
        np.testing.assert_array_equal(data.y[motor], own["motor_UPDRS"])
        np.testing.assert_array_equal(data.y[total], own["total_UPDRS"])
        np.testing.assert_array_equal(data.X[motor], data.X[total])
        np.testing.assert_array_equal(data.sample[motor], data.sample[total])
        np.testing.assert_array_equal(data.X[motor][:, -1], own["PPE"])
        np.testing.assert_array_equal(data.X[motor][:, 2], own["test_time"])


def test_a_missing_patient_is_named(path, tmp_path):
    table = pd.read_csv(path)
    table.loc[table["subject#"] == 42, "subject#"] = 41
    changed = tmp_path / "parkinsons_updrs.data"
    table.to_csv(changed, index=False)
    with pytest.raises(DataCorruptError, match="patients"):
        load_parkinsons({"parkinsons_updrs.data": changed})


def test_text_in_the_table_is_named(path, tmp_path):
    changed = tmp_path / "parkinsons_updrs.data"
    changed.write_text(path.read_text().replace("28.199", "unknown", 1))
    with pytest.raises(DataCorruptError, match="not a table of numbers"):
        load_parkinsons({"parkinsons_updrs.data": changed})
