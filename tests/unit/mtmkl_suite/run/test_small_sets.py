import re
from collections import Counter

import pytest

from mtmkl_suite.cli.main import main
from mtmkl_suite.config.load import load_run_config
from mtmkl_suite.data import DataNotAvailableError
from mtmkl_suite.data.fetch import download, obtaining
from mtmkl_suite.run.small_sets import fetch_small


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Addresses that are asked; none answers, and there are no data."""
    asked = Counter()

    def received(url, most_bytes, until):
        asked[url] += 1
        raise DataNotAvailableError("the connection failed")

    monkeypatch.setattr(download, "_received", received)
    monkeypatch.delenv(obtaining.MIRROR_VARIABLE, raising=False)
    monkeypatch.setenv(obtaining.CACHE_VARIABLE, str(tmp_path / "cache"))
    return asked


def run_with(**changes):
    usual = load_run_config()
    return usual.model_copy(update=changes)


def test_without_a_network_the_command_succeeds_and_says_so(asked, capsys):
    assert main(["datasets", "fetch", "--small"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert "`download: never`" in said[0]
    assert "school" in said[0]
    assert "wall_following" in said[0]
    assert len(said) == 2
    assert said[1].startswith("Going on without ")
    assert "the connection failed" in said[1]
    assert asked


@pytest.mark.parametrize("download", ["never", "all"])
def test_nothing_is_asked_unless_small_sets_are_wanted(asked, capsys, download):
    fetch_small(run_with(download=download))
    assert not asked
    assert capsys.readouterr().err == ""


def test_only_what_is_used_and_missing_is_wanted(asked, capsys, data_mirror):
    fetch_small(run_with(), ["digits", "linear_synthetic"])
    fetch_small(run_with(mirror=str(data_mirror)))
    assert not asked
    fetch_small(run_with(), ["landmine_balanced", "mnist", "digits"])
    assert capsys.readouterr().err.startswith("Downloading small data sets: landmine (")


def test_sets_without_a_loader_and_large_ones_are_left_out(asked, capsys):
    fetch_small(run_with())
    said = capsys.readouterr().err.splitlines()[0]
    names = re.fullmatch(r"Downloading small data sets: (.*) \(.* MB\);.*", said)[1]
    assert {"school", "landmine", "statlog_heart"} <= {*names.split(", ")}
    assert not {"mnist", "ocr_letters", "flowers17", "digits"} & {*names.split(", ")}
