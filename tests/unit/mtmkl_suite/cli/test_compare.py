import subprocess
import sys

import demsar2006
import numpy as np
import pandas as pd
import pytest

from mtmkl_suite.cli.main import main


@pytest.fixture
def demsar(tmp_path):
    path = tmp_path / "demsar.csv"
    demsar2006.as_ranked().rename_axis("dataset").to_csv(path)
    return path


def test_a_page_and_tables(demsar, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["--higher-is-better", "--control", "C4.5", "--rope", "0.01"]
    assert main(["compare", str(demsar), *options]) == 0
    printed, notes = capsys.readouterr()
    assert "The methods differ" in printed
    words = "better than C4.5: C4.5+m, C4.5+m+cf; 1 method not significantly different"
    assert f"{words} from C4.5" in printed
    told = "Read demsar.csv: 14 rows, 4 methods (C4.5, "
    assert notes.startswith(f"mtmkl: note: {told}")
    assert "note: All methods are equal on mushroom" in notes
    folder = tmp_path / "comparison-demsar"
    assert (folder / "comparison.html").resolve().as_uri() in printed
    assert told in (folder / "comparison.html").read_text()
    assert {path.name for path in folder.iterdir()} == {
        "comparison.html", "critical_difference.svg", "differences.svg", "scores.csv",
        "ranks.csv", "tests.csv", "pairs.csv", "differences.csv", "control.csv",
    }  # fmt: skip
    ranks = pd.read_csv(folder / "ranks.csv").set_index("method")["mean_rank"]
    assert ranks["C4.5+m+cf"] == pytest.approx(1.964, abs=5e-4)


def test_repeats_are_compared_in_words(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [
        (method, dataset, repeat, 0.8 + gain + rng.normal(0, 0.01))
        for dataset in ("Heart", "Robot", "Pen", "Image", "Digits", "Letter")
        for method, gain in (("mine", 0.05), ("theirs", 0.0))
        for repeat in range(10)
    ]
    path = tmp_path / "long.csv"
    columns = ["method", "dataset", "repeat", "accuracy"]
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    options = ["--score-column", "accuracy", "--rope", "0.01", "--test-share", "0.2"]
    out = tmp_path / "out"
    assert main(["compare", str(path), *options, "--output", str(out)]) == 0
    printed = capsys.readouterr().out
    words = "mine beats theirs with probability more than 0.99 (6 data sets, 60 repeat"
    assert words in printed
    page = (out / "comparison.html").read_text()
    assert words in page
    assert "repeats are correlated by 0.2 (--test-share)" in page
    (row,) = pd.read_csv(out / "posteriors.csv").to_dict("records")
    assert row["p_first_better"] > 0.99
    assert f"; if {row['weakest_without']} is left out, " in printed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "add --higher-is-better or --lower-is-better"),
        (["--higher-is-better", "--control", "me"], "unknown method 'me'"),
        (["--higher-is-better", "--rope", "-1"], "rope is -1.0"),
        (["--higher-is-better", "--where", "x=1"], "there is no column 'x'"),
    ],
)
def test_what_is_refused_leaves_nothing(demsar, tmp_path, capsys, options, words):
    out = tmp_path / "out"
    assert main(["compare", str(demsar), "--output", str(out), *options]) == 1
    assert words in capsys.readouterr().err
    assert not out.exists()


def test_an_output_that_is_a_file(demsar, tmp_path, capsys):
    run = ["compare", str(demsar), "--higher-is-better", "--output", str(demsar)]
    assert main(run) == 1
    said = f"mtmkl: Not a folder ({demsar}): take another folder, and start again\n"
    assert said in capsys.readouterr().err


def test_files_of_one_name_do_not_replace_each_other_unsaid(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    values = demsar2006.as_ranked()
    for path in ("res.2024-01.csv", "res.2024-02.CSV.csv.gz", "a/res.csv", "b/res.csv"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        table = values.drop(columns="C4.5" if path[0] == "b" else [])
        table.rename_axis("dataset").to_csv(path)
        control = ["--control", "C4.5"] if path[0] == "a" else []
        run = ["compare", path, "--higher-is-better", *control]
        assert main(run) == 0
        said = "another comparison in comparison-res was" in capsys.readouterr().err
        assert said == (path[0] == "b")
    assert main(run) == 0  # the same once more
    assert "another comparison" not in capsys.readouterr().err
    names = {path.name.partition("-")[2] for path in tmp_path.glob("comparison-*")}
    assert names == {"res.2024-01", "res.2024-02.CSV", "res"}
    # Nor is a table of the earlier one left beside those of the later.
    assert not (tmp_path / "comparison-res/control.csv").exists()


@pytest.mark.nightly
def test_a_reader_who_has_seen_enough(demsar, tmp_path):
    """As ``mtmkl compare … | true``."""
    words = [str(demsar), "--higher-is-better", "--output", str(tmp_path / "out")]
    command = [sys.executable, "-m", "mtmkl_suite.cli.main", "compare", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    assert process.wait() == 1
