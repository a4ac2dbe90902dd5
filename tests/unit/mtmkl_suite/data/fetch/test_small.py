"""Small sets from a server on this machine: there, slow, wrong, busy and absent."""

from collections import Counter

import pytest
from data_entries import file_of, set_of

from mtmkl_suite.cli import datasets
from mtmkl_suite.cli.main import main
from mtmkl_suite.config.load import load_run_config
from mtmkl_suite.data import DataNotAvailableError
from mtmkl_suite.data.entries import DataSetEntry
from mtmkl_suite.data.fetch import download as module
from mtmkl_suite.data.fetch import obtaining, small
from mtmkl_suite.data.fetch.small import fetch_quickly, fetch_small, missing_small_sets

CONTENT = b"".join(b"%d,%d\n" % (k, k * k) for k in range(500))
NOBODY = "http://127.0.0.1:1"  # reserved, and not served


def small_set(name, *urls, size=None):
    file = file_of("a.csv", CONTENT, urls=list(urls), bytes=size or len(CONTENT))
    entry = DataSetEntry.model_validate(set_of(file))
    entry._name = name
    return entry


@pytest.fixture
def places(tmp_path, monkeypatch):
    monkeypatch.delenv(obtaining.MIRROR_VARIABLE, raising=False)
    monkeypatch.setenv(obtaining.CACHE_VARIABLE, str(tmp_path / "cache"))
    return obtaining.Places()


def test_a_slow_set_is_given_up_and_the_others_arrive(site, places, monkeypatch):
    monkeypatch.setattr(small, "_SECONDS", 0.5)
    site.dripped.add("slow")  # it would take 20 seconds
    slow, other, fast = (site.add(k, CONTENT) for k in ("slow", "other", "fast"))
    sets = [small_set("slow", slow, other), small_set("fast", fast)]
    reasons = fetch_quickly(sets, places)
    assert list(reasons) == ["slow"]
    assert "did not arrive in time" in reasons["slow"]
    (cached,) = (path for path in places.cache.rglob("*") if path.is_file())
    assert cached == places.cache / "fast" / "a.csv"
    assert cached.read_bytes() == CONTENT


def test_a_busy_server_is_asked_once(site, places):
    site.n_failures["busy"] = 1
    reasons = fetch_quickly([small_set("busy", site.add("busy", CONTENT))], places)
    assert "HTTP status 503" in reasons["busy"]
    assert site.n_requests == {"busy": 1}


def test_a_cache_that_cannot_be_written_is_no_error(site, places):
    places.cache.write_text("a file, where a folder is wanted")
    reasons = fetch_quickly([small_set("set", site.add("set", CONTENT))], places)
    assert list(reasons) == ["set"]


def test_large_sets_are_left_out(places):
    sizes = {"large": small.MOST_BYTES, "small": small.MOST_BYTES - 1}
    sets = [[small_set(name, size=size)] for name, size in sizes.items()]
    assert [entry.name for entry in missing_small_sets(sets, places)] == ["small"]


@pytest.fixture
def asked(places, monkeypatch):
    """Addresses that are asked; none answers, and there are no data."""
    asked = Counter()

    def received(url, most_bytes, until):
        asked[url] += 1
        raise DataNotAvailableError("the connection failed")

    monkeypatch.setattr(module, "_received", received)
    return asked


def test_without_a_network_the_command_succeeds_and_says_so(asked, capsys):
    assert main(["datasets", "fetch", "--small"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert all(words in said[0] for words in ("`download: never`", "school", "wall_fo"))
    assert len(said) == 2
    assert said[1].startswith("Going on without ")
    assert "the connection failed" in said[1]
    assert asked


@pytest.mark.parametrize("download", ["never", "all"])
def test_nothing_is_asked_unless_small_sets_are_wanted(
    asked, capsys, monkeypatch, download
):
    run = load_run_config().model_copy(update={"download": download})
    monkeypatch.setattr(datasets, "load_run_config", lambda: run)
    assert main(["datasets", "fetch", "--small"]) == 0
    assert not asked
    assert capsys.readouterr().err == ""


def test_only_what_is_used_and_missing_is_wanted(
    asked, capsys, monkeypatch, data_mirror
):
    fetch_small(["digits", "linear_synthetic"])
    monkeypatch.setenv(obtaining.MIRROR_VARIABLE, str(data_mirror))
    fetch_small()
    monkeypatch.delenv(obtaining.MIRROR_VARIABLE)
    assert not asked
    fetch_small(["landmine_balanced", "mnist", "digits"])
    assert capsys.readouterr().err.startswith("Downloading small data sets: landmine (")
