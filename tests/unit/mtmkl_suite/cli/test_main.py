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


def test_an_unknown_experiment_is_a_line_not_a_traceback(capsys):
    assert main(["run", "--paper", "argyriou2008", "--experiment", "scholl"]) == 1
    assert (
        "unknown experiment 'scholl'; did you mean 'school'?" in capsys.readouterr().err
    )


def test_a_grid_of_no_method_is_a_line_not_ignored(capsys):
    run = ["run", "--paper", "argyriou2008", "--experiment", "digits"]
    assert main([*run, "--grid", '{"gamma": [1]}']) == 1
    assert "mtmkl: --grid needs --method package" in capsys.readouterr().err


def test_fetch_says_that_the_mirror_counts(capsys):
    with pytest.raises(SystemExit):
        main(["datasets", "--help"])
    words = " ".join(capsys.readouterr().out.split())
    assert "download what neither the mirror nor the cache has" in words


def test_every_data_set_is_listed(capsys):
    assert main(["list", "datasets"]) == 0
    printed = capsys.readouterr().out
    assert "digits" in printed
    assert "built-in" in printed
