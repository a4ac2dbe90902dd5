import json

import pandas as pd
import pytest

from mtmkl_suite.cli import verify
from mtmkl_suite.cli.main import main
from mtmkl_suite.config.against import published_folder
from mtmkl_suite.files import read_table, write_json, write_table
from mtmkl_suite.run.verify import Check, Record

PAPER = "jawanpuria2011"


@pytest.fixture
def record(tmp_path, monkeypatch):
    """A copy of a part of the published record of a paper, without readings."""
    folder = published_folder(PAPER)
    scores = read_table(folder / "scores.csv.gz", dtype=str, keep_default_na=False)
    small = scores[scores["experiment"] == "school"]
    write_table(tmp_path / "scores.csv.gz", small)
    document = {"tier": "paper", "seed": 0, "machine": {}}
    write_json(tmp_path / "provenance.json", document)
    monkeypatch.setattr(verify, "published_folder", lambda paper: tmp_path)
    return small


def test_status_counts_each_cell_once(record, capsys):
    assert main(["verify", "--status", "--paper", PAPER]) == 0
    shown = capsys.readouterr().out
    names = ["dataset", "method", "n_tasks", "train_size", "repeat"]
    n = len(pd.DataFrame(record)[names].drop_duplicates())
    assert f" of {n} cells are of this code" in shown
    assert "table_1" in shown


def test_without_data_nothing_is_computed_and_that_is_no_success(
    record, capsys, tmp_path, monkeypatch
):
    monkeypatch.delenv("MTMKL_DATA_MIRROR", raising=False)
    monkeypatch.setenv("MTMKL_DATA_CACHE", str(tmp_path / "nothing"))
    words = ["--paper", PAPER, "--cells", "2", "--seed", "5"]
    assert main(["verify", *words, "--results", str(tmp_path)]) == 1
    assert (
        "2 were not computed: their data are not here (school)"
        in capsys.readouterr().out
    )
    document = json.loads((tmp_path / "verify" / "receipt-5.json").read_text())
    assert len(document["no_data"]) == 2
    again = ["verify", "--receipt", str(tmp_path / "verify" / "receipt-5.json")]
    assert main([*again, "--seed", "5"]) == 1
    assert "leave out --paper, --seed and --current" in capsys.readouterr().err
    document["no_data"][0]["repeat"] = 99
    other = tmp_path / "other.json"
    write_json(other, document)
    assert main(["verify", "--receipt", str(other)]) == 1
    assert "is not in the record here: check out the commit" in capsys.readouterr().err


def test_only_short_cells_of_the_code_as_it_is_here_are_drawn(
    record, capsys, tmp_path, monkeypatch
):
    monkeypatch.delenv("MTMKL_DATA_MIRROR", raising=False)
    monkeypatch.setenv("MTMKL_DATA_CACHE", str(tmp_path / "nothing"))
    words = ["verify", "--paper", PAPER, "--seed", "5", "--results", str(tmp_path)]
    monkeypatch.setattr(Record, "code_of", lambda *_: "0" * 12)
    assert main([*words, "--current"]) == 0
    assert "No such cell of the record is of the code" in capsys.readouterr().out
    code = record["code_version"].iloc[0]
    monkeypatch.setattr(Record, "code_of", lambda *_: code)
    of_code = record[record["code_version"] == code]
    # Rows of single tasks have none.
    seconds = pd.to_numeric(of_code["fit_seconds"], errors="coerce")
    longest = seconds.median()
    # Without data nothing is computed, and the receipt says what was drawn.
    assert main([*words, "--current", "--longest", str(longest)]) == 1
    assert "their data are not here (school)" in capsys.readouterr().out
    document = json.loads((tmp_path / "verify" / "receipt-5.json").read_text())
    names = ["method", "dataset", "n_tasks", "train_size", "repeat"]
    short = of_code.loc[seconds <= longest, names].drop_duplicates()
    assert len(short) < len(of_code[names].drop_duplicates())
    drawn = pd.DataFrame(document["no_data"])[names].astype(str)
    assert sorted(map(tuple, drawn.values)) == sorted(map(tuple, short.values))


@pytest.mark.parametrize("kernels", ["Haswell", "SkylakeX"])
def test_a_difference_on_another_processor_names_the_page_about_it(
    record, capsys, tmp_path, monkeypatch, kernels
):
    of_record = {"blas": "Haswell"}
    document = {"tier": "paper", "seed": 0, "machine": of_record}
    write_json(tmp_path / "provenance.json", document)
    monkeypatch.setattr(verify, "machine", lambda: {"blas": kernels})
    result = {"outcome": "differs", "n_differences": 1, "differences": [], "seconds": 1}
    monkeypatch.setattr(
        verify, "verify", lambda _, cells, **__: Check({cells[0]: result}, {}, [])
    )
    words = ["verify", "--paper", PAPER, "--cells", "1", "--results", str(tmp_path)]
    assert main(words) == 1
    is_named = "docs/verify.md" in capsys.readouterr().out
    assert is_named == (kernels != "Haswell")
