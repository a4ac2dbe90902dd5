import gzip

import numpy as np
import pytest

from mtmkl.sequences import SpectrumFeatures, WeightedDegreeFeatures
from mtmkl.sparse import same_inputs
from mtmkl_suite.data import DataNotAvailableError, default_registry, load
from mtmkl_suite.data.loaders.tss_fasta import load_tss_fasta

SEQUENCES = {
    "yeast_positive.fasta": ["ACGTAC", "ACGTTT", "acgtac", "ACGAAA"],
    "yeast_negative.fa": ["CCCCCC", "CCCCCG"],
    "fly_negative.fasta": ["TTTTTT"],
    "fly_positive.fasta": ["ACGGGG", "ACGGGC", "ACGGCC"],
}
DISTANCES = "name,note,yeast,fly,worm\nworm,x,1,2,0\nfly,y,4.5,0,2\nyeast,z,0,4.5,1\n"


@pytest.fixture
def folder(tmp_path):
    for name, sequences in SEQUENCES.items():
        lines = [f">{name} {k}\n{text}" for k, text in enumerate(sequences)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    (tmp_path / "distances.csv").write_text(DISTANCES)
    (tmp_path / "readme.txt").write_text("not read")
    return tmp_path


def test_one_task_per_organism(folder):
    with pytest.warns(UserWarning, match=r"yeast_positive\.fasta: 1 of 4 .* left out"):
        data = load("tss_fasta", folder=str(folder))
    assert data.task_names == ("fly", "yeast")
    assert data.task.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 1]
    assert data.y.tolist() == [1, 1, 1, -1, 1, 1, 1, -1, -1]
    texts = [*SEQUENCES["fly_positive.fasta"], "TTTTTT", "ACGTAC", "ACGTTT", "ACGAAA"]
    texts += SEQUENCES["yeast_negative.fa"]
    assert same_inputs(data.X, WeightedDegreeFeatures().fit_transform(texts))
    expected = [[0, 4.5], [4.5, 0]]
    np.testing.assert_array_equal(data.task_relations["distances"], expected)


@pytest.mark.filterwarnings("ignore:.*left out")
def test_options(folder):
    (folder / "16s.csv").write_text(DISTANCES.replace("4.5", "7"))
    (folder / "distances.csv").unlink()
    assert load_tss_fasta(folder=str(folder)).task_relations == {}
    data = load_tss_fasta(
        folder=str(folder),
        distances="16s.csv",
        n_per_class=2,
        features={"name": "spectrum", "k": 2},
    )
    assert data.task_relations["distances"][0, 1] == 7.0
    assert data.task_sizes.tolist() == [3, 4]
    assert data.X.shape[1] == SpectrumFeatures(2).fit(["A"]).n_features_out_


@pytest.mark.filterwarnings("ignore:.*left out")
def test_files_may_be_compressed(folder):
    before = load_tss_fasta(folder=str(folder))
    plain = folder / "yeast_positive.fasta"
    (folder / "yeast_positive.fa.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert load_tss_fasta(folder=str(folder)).digest() == before.digest()


def test_without_a_folder():
    with pytest.raises(DataNotAvailableError, match="Give its option 'folder' a fold"):
        load("tss_fasta")
    with pytest.raises(DataNotAvailableError, match="/none is no folder"):
        load("tss_fasta", folder="/none")
    assert default_registry().locate("tss_fasta") is None


@pytest.mark.filterwarnings("ignore:.*left out")
@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("fly_negative.fasta", None, r"no negatives of fly: add .* fly_negative\.fast"),
        ("worm_positive.fa", ">w\nACGTAC\n", r"add the file worm_negative\.fasta, or"),
        ("fly_negative.fa", ">w\nACGTAC\n", r"both the negatives of fly: keep one"),
        ("fly_negative.fasta", ">w\nTTTTTT\n>v\nacgggc\n", r"line 3: the sequence of"),
        ("yeast_negative.fa", ">w\nACGTAA\n>v\nACGTNN\n", r"yeast_negative\.fa, .* co"),
        ("yeast_negative.fa", ">w\nACG\n", r"yeast_negative\.fa, .* X\[0\] has 3 lett"),
        ("distances.csv", "", r"distances\.csv has no column 'fly'"),
        ("distances.csv", DISTANCES.replace("4.5", "?"), "of 'fly' and 'yeast' is '?'"),
        (
            "distances.csv",
            DISTANCES.replace("4.5", "3", 1),
            r"'fly' and 'yeast' is '3'",
        ),
    ],
)
def test_errors_name_the_file_and_the_remedy(folder, name, text, message):
    if text is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(text)
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        load_tss_fasta(folder=str(folder))
