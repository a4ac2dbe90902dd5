import numpy as np
import pandas as pd
import pytest

from mtmkl_suite.data.loaders.patients import (
    DERMATOLOGY_ATTRIBUTES,
    DISEASES,
    dermatology_table,
    load_dermatology,
    load_heart,
    load_parkinsons,
)


@pytest.fixture(scope="module")
def dermatology(data_mirror):
    return {"dermatology.data": data_mirror / "dermatology" / "dermatology.data"}


def test_dermatology_table(dermatology):
    table, label = dermatology_table(dermatology["dermatology.data"])
    assert table.shape == (366, 34)
    assert np.bincount(label).tolist() == [0, 112, 61, 72, 49, 52, 20]
    assert np.isnan(table).sum(axis=0).tolist() == [0] * 33 + [8]
    assert len(DERMATOLOGY_ATTRIBUTES) == 34
    # A band-like infiltrate marks lichen planus, a family history the last disease.
    means = {k: table[label == k].mean(axis=0) for k in range(1, 7)}
    band, family = DERMATOLOGY_ATTRIBUTES.index("band-like infiltrate"), 10
    assert DISEASES[max(means, key=lambda k: means[k][band]) - 1] == "lichen planus"
    assert max(means, key=lambda k: means[k][family]) == 6


def test_dermatology_tasks(dermatology):
    data = load_dermatology(dermatology)
    table, label = dermatology_table(dermatology["dermatology.data"])
    assert data.X.shape == (6 * 366, 34)
    assert data.feature_names[-1] == "bias"
    assert "age" not in data.feature_names
    for task in range(6):
        rows = data.rows_of(task)
        assert np.array_equal(data.X[rows, :33], table[:, :33])
        assert (data.X[rows, 33] == 1).all()
        assert np.array_equal(data.y[rows], np.where(label == task + 1, 1, -1))
        assert data.sample[rows].tolist() == list(range(366))


def test_age_replaces_the_bias_column(dermatology):
    data = load_dermatology(dermatology, age=True, bias=False)
    assert data.X.shape[1] == 34
    assert data.feature_names[-1] == "age"
    table, _ = dermatology_table(dermatology["dermatology.data"])
    age = data.X[data.rows_of(0), 33]
    known = ~np.isnan(table[:, 33])
    assert np.sum(~known) == 8
    np.testing.assert_array_equal(age[known], table[known, 33])
    np.testing.assert_array_equal(age[~known], np.median(table[known, 33]))


@pytest.fixture
def heart(data_mirror):
    return data_mirror / "statlog_heart" / "heart.dat"


def test_blocks_of_age(heart):
    data = load_heart({"heart.dat": heart})
    assert data.n_tasks == 10
    assert np.all(data.task_sizes == 27)
    age = data.X[:, 0]
    assert np.all(np.diff(age) >= 0)
    assert data.task_names[0] == "block 1, age 29 to 42"
    assert data.X.min(axis=0) == pytest.approx(np.zeros(13))
    assert data.X.max(axis=0) == pytest.approx(np.ones(13))
    assert np.sum(data.y > 0) == 120


def test_patients_of_one_age_keep_the_order_of_the_file(heart):
    data = load_heart({"heart.dat": heart})
    table = np.loadtxt(heart)
    scaled = (table[:, 7] - table[:, 7].min()) / np.ptp(table[:, 7])
    at_58 = table[:, 0] == 58
    age_58 = (58 - 29) / (77 - 29)
    np.testing.assert_allclose(
        data.X[np.isclose(data.X[:, 0], age_58), 7], scaled[at_58]
    )


@pytest.fixture
def parkinsons(data_mirror):
    return data_mirror / "parkinsons_telemonitoring" / "parkinsons_updrs.data"


def test_a_patient_has_two_tasks_of_the_same_recordings(parkinsons):
    data = load_parkinsons({"parkinsons_updrs.data": parkinsons})
    table = pd.read_csv(parkinsons)
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
