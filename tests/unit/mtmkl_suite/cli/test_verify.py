import json

import pytest

from mtmkl_suite.cli import verify
from mtmkl_suite.cli.main import main
from mtmkl_suite.config.load import published_folder
from mtmkl_suite.files import read_table, write_json, write_table
from mtmkl_suite.run import verify as run_verify

PAPER = "jawanpuria2011"
WORDS = ["verify", "--paper", PAPER, "--cells", "2", "--seed", "5c"]


@pytest.fixture
def receipt(tmp_path, monkeypatch):
    """The receipt of a check of a part of a published record, without readings."""
    folder = published_folder(PAPER)
    scores = read_table(folder / "scores.csv.gz", dtype=str, keep_default_na=False)
    small = scores[scores["experiment"] == "school"]
    write_table(tmp_path / "scores.csv.gz", small)
    document = {"tier": "paper", "seed": 0, "commit": "c", "machine": {"blas": "Zen"}}
    write_json(tmp_path / "provenance.json", document)
    monkeypatch.setattr(run_verify, "published_folder", lambda paper: tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "results/verify/receipt-5c.json"


def answer(result):
    """Return a stand-in for computing: the same result for each cell."""

    def computed(records, cells, **_):
        for cell in cells:
            shown = {"what": "mse", "published": "0.5", "here": "0.25"}
            same = {"n_different": 1, "seconds": 1.0, "scores": [shown]}
            yield cell, {**same, **result}

    return computed


def test_without_data_nothing_is_computed_and_that_is_no_success(
    receipt, capsys, tmp_path, monkeypatch
):
    monkeypatch.delenv("MTMKL_DATA_MIRROR", raising=False)
    monkeypatch.setenv("MTMKL_DATA_CACHE", str(tmp_path / "nothing"))
    assert main(WORDS) == 1
    assert "no data  jawanpuria2011: school" in capsys.readouterr().out
    assert json.loads(receipt.read_text())["counts"]["no data"] == 2


@pytest.mark.parametrize(("outcome", "status"), [("equal", 0), ("differs", 1)])
def test_a_difference_fails_and_shows_both_scores(
    receipt, capsys, monkeypatch, outcome, status
):
    stand_in = answer({"outcome": outcome})
    monkeypatch.setattr(verify, "computed_cells", stand_in)
    assert main(WORDS) == status
    out = capsys.readouterr().out
    assert "mse: published 0.5, here 0.25" in out
    counts = ["0" if status else "2", "0", "2" if status else "0", "0", "0"]
    assert ["all", *counts] in [line.split() for line in out.splitlines()]
    assert ("at commit c with BLAS Zen" in out) == bool(status)
    assert json.loads(receipt.read_text())["counts"][outcome] == 2
