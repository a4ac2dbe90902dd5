import numpy as np
import pytest

from mtmkl.datasets.errors import DataCorruptError
from mtmkl.datasets.loaders.dermatology import (
    ATTRIBUTES,
    DISEASES,
    load_dermatology,
    load_dermatology_table,
)
from mtmkl.datasets.splits import make_splits


@pytest.fixture(scope="module")
def files(data_mirror):
    return {"dermatology.data": data_mirror / "dermatology" / "dermatology.data"}


def test_table(files):
    table, label = load_dermatology_table(files)
    assert table.shape == (366, 34)
    assert np.bincount(label).tolist() == [0, 112, 61, 72, 49, 52, 20]
    assert np.isnan(table).sum(axis=0).tolist() == [0] * 33 + [8]
    assert len(ATTRIBUTES) == 34
    # A band-like infiltrate marks lichen planus, a family history the last disease.
    means = {k: table[label == k].mean(axis=0) for k in range(1, 7)}
    band, family = ATTRIBUTES.index("band-like infiltrate"), 10
    assert DISEASES[max(means, key=lambda k: means[k][band]) - 1] == "lichen planus"
    assert max(means, key=lambda k: means[k][family]) == 6


def test_tasks(files):
    data = load_dermatology(files)
    table, label = load_dermatology_table(files)
    assert data.X.shape == (6 * 366, 34)
    assert data.feature_names[-1] == "bias"
    assert "age" not in data.feature_names
    for task in range(6):
        rows = data.rows_of(task)
        assert np.array_equal(data.X[rows, :33], table[:, :33])
        assert (data.X[rows, 33] == 1).all()
        assert np.array_equal(data.y[rows], np.where(label == task + 1, 1, -1))
        assert data.sample[rows].tolist() == list(range(366))


def test_random_splits(files):
    data = load_dermatology(files)
    protocol = {
        "id": "d",
        "kind": "random",
        "repeats": 10,
        "folds": 5,
        "train_samples": 200,
    }
    for split in make_splits(data, protocol, 0).values():
        assert np.unique(data.sample[split.train]).size == 200
        assert np.unique(data.sample[split.test]).size == 166
        assert split.train.size == 6 * 200
        assert split.test.size == 6 * 166


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[:-1], "shape is"),
        (lambda lines: [lines[0][:-1] + "1", *lines[1:]], "class sizes"),
        (lambda lines: ["7" + lines[0][1:], *lines[1:]], "values of the attributes"),
        (lambda lines: [row.replace("?", "40") for row in lines], "unknown ages is 0"),
        (lambda lines: ["erythema" + lines[0][1:], *lines[1:]], "not a table"),
        (lambda lines: [lines[0] + ",1", *lines[1:]], "not a table"),
    ],
)
def test_another_table_is_refused(files, tmp_path, change, message):
    lines = files["dermatology.data"].read_text().splitlines()
    path = tmp_path / "dermatology.data"
    path.write_text("\n".join(change(lines)))
    with pytest.raises(DataCorruptError, match=message):
        load_dermatology({"dermatology.data": path})
