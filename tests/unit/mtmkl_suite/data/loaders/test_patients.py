import numpy as np
import pytest

from mtmkl_suite.data import load
from mtmkl_suite.data.loaders.patients import (
    DERMATOLOGY_ATTRIBUTES,
    DISEASES,
    dermatology_table,
    load_dermatology,
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


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("dermatology", "8ec655c51e197d69"),
        ("statlog_heart", "8d4235a444b9cc37"),
        ("parkinsons_telemonitoring", "9241aac1ae94f9d3"),
    ],
)
def test_content_is_that_of_the_published_record(data_mirror, name, digest):
    assert load(name).digest() == digest
