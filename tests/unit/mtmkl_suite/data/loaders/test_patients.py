import numpy as np

from mtmkl_suite.data.loaders.patients import (
    DERMATOLOGY_ATTRIBUTES,
    DISEASES,
    dermatology_table,
)


def test_names_of_attributes_and_diseases_agree_with_the_data(data_mirror):
    table, label = dermatology_table(data_mirror / "dermatology" / "dermatology.data")
    assert len(DERMATOLOGY_ATTRIBUTES) == table.shape[1]
    # A band-like infiltrate marks lichen planus, a family history the last disease.
    means = np.array([table[label == k].mean(axis=0) for k in range(1, 7)])
    highest = dict(zip(DERMATOLOGY_ATTRIBUTES, means.argmax(axis=0), strict=True))
    assert DISEASES[highest["band-like infiltrate"]] == "lichen planus"
    assert highest["family history"] == len(DISEASES) - 1
