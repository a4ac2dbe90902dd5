import csv

import numpy as np
import pytest

from mtmkl.kernels.task_trees import clusters
from mtmkl_suite.data import default_registry
from mtmkl_suite.data.loaders.tss_bacteria import load_tss_bacteria

TREE = "phylogeny/itol_tree_of_life.nwk"


@pytest.fixture
def files(data_mirror):
    entry = default_registry()["tss_bacteria"]
    folder = data_mirror / "tss_bacteria"
    paths = {file.path: folder / file.path for file in entry.files}
    return paths | {TREE: data_mirror / TREE}


def test_letters_outside_the_alphabet_count_nothing(files):
    spec = {"name": "weighted_degree", "degree": 1, "normalize": False}
    data = load_tss_bacteria(files, features=spec)
    n_letters = np.diff(data.X.indptr)
    assert (n_letters < 81).sum() == 11
    fewer = {data.task_names[t] for t in data.task[n_letters < 81]}
    assert fewer == {"H. pylori", "L. interrogans"}
    with pytest.raises(ValueError, match="no letter of the alphabet 'ACGT'"):
        load_tss_bacteria(files, features=spec | {"on_unknown": "error"})


def test_draws(files):
    first, other = (
        load_tss_bacteria(files, n_per_class=600, seed=seed) for seed in (1, 2)
    )
    sizes = [1200] * 13
    sizes[2] = 517 + 515
    assert first.task_sizes.tolist() == sizes
    assert first.digest() != other.digest()
    assert first.y.tolist() == other.y.tolist()
    with pytest.raises(ValueError, match="n_per_class is 0"):
        load_tss_bacteria(files, n_per_class=0)


def test_distances_are_those_of_the_phylogeny(files, data_mirror):
    data = load_tss_bacteria(files, n_per_class=1)
    with (data_mirror / "phylogeny" / "timer13_patristic.csv").open() as file:
        header, *rows = csv.reader(file)
    assert [name.replace(".", ". ", 1) for name in header[2:]] == list(data.task_names)
    expected = np.array([row[2:] for row in rows], dtype=float)
    np.testing.assert_allclose(data.task_relations["phylogeny"], expected, atol=6e-6)
    found = clusters(data.task_relations["tree_of_life"], data.task_names)
    assert [3, 9] in found  # E. coli and S. Typhimurium
    assert len(found) == 12
