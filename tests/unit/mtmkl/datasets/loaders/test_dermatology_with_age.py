import numpy as np
import pytest

from mtmkl.datasets.loaders.dermatology import load_dermatology, load_dermatology_table


@pytest.fixture
def files(data_mirror):
    return {"dermatology.data": data_mirror / "dermatology" / "dermatology.data"}


def test_age_replaces_the_bias_column(files):
    data = load_dermatology(files, age=True, bias=False)
    assert data.X.shape[1] == 34
    assert data.feature_names[-1] == "age"
    table, _ = load_dermatology_table(files)
    age = data.X[data.rows_of(0), 33]
    known = ~np.isnan(table[:, 33])
    assert np.sum(~known) == 8
    np.testing.assert_array_equal(age[known], table[known, 33])
    np.testing.assert_array_equal(age[~known], np.median(table[known, 33]))


def test_age_stands_before_the_bias_column(files):
    data = load_dermatology(files, age=True)
    assert data.feature_names[-2:] == ("age", "bias")
    np.testing.assert_array_equal(data.X[:, -1], 1.0)
