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


def test_audit_prints_what_differs(capsys):
    assert main(["audit", "yousefi2015"]) == 0
    printed = capsys.readouterr().out
    assert "20 %: 7 data sets, 8 methods, control 'Our Method'" in printed
    assert "Pen" in printed
    assert "4.857" in printed


def test_a_paper_without_printed_ranks_cannot_be_audited(capsys):
    assert main(["audit", "argyriou2008"]) == 1
    printed = capsys.readouterr().err
    assert "mtmkl: paper 'argyriou2008': table_1.csv has no printed ranks" in printed
    assert "yousefi2015" in printed.partition("; papers that can be audited: ")[2]


def test_an_unknown_paper_cannot_be_audited(capsys):
    assert main(["audit", "nope"]) == 1
    printed = capsys.readouterr().err
    assert "mtmkl: paper 'nope': there is no printed table_1.csv" in printed
    assert "yousefi2015" in printed.partition("; papers that can be audited: ")[2]


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
