import sys
from importlib import metadata

import pytest

import mtmkl
from mtmkl_suite.cli.main import main


def test_version(capsys):
    assert mtmkl.__version__ == metadata.version("mtmkl")
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"mtmkl {mtmkl.__version__}\n"


def test_verify_without_names_checks_every_data_set(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("MTMKL_DATA_MIRROR", str(tmp_path))
    monkeypatch.setenv("MTMKL_DATA_CACHE", str(tmp_path))
    assert main(["datasets", "verify"]) == 0
    printed = capsys.readouterr().out
    assert "school" in printed
    assert "missing" in printed


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rnu --paper argyriou2008", "unknown command 'rnu'; did you mean 'run'?"),
        ("list artefact", "unknown kind 'artefact'; did you mean 'artefacts'?"),
        ("run --papr jebara2011", "unknown flag '--papr'; did you mean '--paper'?"),
        ("run --data a.csv --targt=y", "unknown flag '--targt'; did you mean '--targ"),
        ("run --data a.csv --tier qick", "unknown value 'qick'; did you mean 'quick'"),
        ("datasets fecth school", "unknown action 'fecth'; did you mean 'fetch'?"),
        ("--versoin", "unknown flag '--versoin'; did you mean '--version'?"),
    ],
)
def test_the_nearest_command_value_or_flag(capsys, line, words):
    with pytest.raises(SystemExit) as ended:
        main(line.split())
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("below", ["file", "file/folder"])
def test_results_in_a_file_are_a_line_not_a_traceback(tmp_path, capsys, below):
    (tmp_path / "file").touch()
    run = ["run", "--paper", "argyriou2008", "--experiment", "digits", "--results"]
    assert main([*run, str(tmp_path / below)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("mtmkl: Not a")
    assert "take another folder, and start again" in said


def test_own_data_without_columns_say_which_options_are_lacking(capsys):
    assert main(["run", "--data", "my.csv"]) == 1
    said = "--data my.csv needs --task COLUMN and --target COLUMN"
    assert said in capsys.readouterr().err
    assert main(["run", "--data", "my.xlsx", "--task", "t", "--target", "y"]) == 1
    assert "that is read (.csv, .tsv, .parquet or .npz" in capsys.readouterr().err


def test_without_a_package_of_the_suite_the_remedy_is_named(
    capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    for module in ("common", "run"):
        monkeypatch.delitem(sys.modules, f"mtmkl_suite.cli.{module}", raising=False)
    assert main(["run", "--paper", "argyriou2008"]) == 1
    said = 'mtmkl: rich.console is not installed: pip install "mtmkl[suite]"\n'
    assert capsys.readouterr().err == said
    assert not any(tmp_path.iterdir())
