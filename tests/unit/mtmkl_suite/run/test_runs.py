"""Where results go, and who may write them."""

import os
import signal
import subprocess
import sys
import time

import pytest

from mtmkl_suite.config.load import load_run_config
from mtmkl_suite.run.layout import RunFolder
from mtmkl_suite.run.runs import ResultsInUseError, lock_results, run_label

HOLD = """
import sys
from pathlib import Path
from mtmkl_suite.run.layout import RunFolder
from mtmkl_suite.run.runs import lock_results

file = lock_results(RunFolder(Path(sys.argv[1])))
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "quick")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "locked\n"
    yield process
    process.kill()
    process.communicate()


def usual(**changes):
    return load_run_config() | changes


def test_what_the_configuration_says_is_the_tier_alone():
    assert run_label(usual()) == "quick"
    paper_tier = load_run_config(usual(tier="paper"))
    assert run_label(paper_tier | {"on_missing_data": "fail"}) == "paper"


@pytest.mark.parametrize(
    ("changes", "options", "label"),
    [
        ({"seed": 7}, {}, "quick+seed=7"),
        ({"on_missing_data": "fail"}, {}, "quick+on_missing_data=fail"),
        ({"papers": ["jebara2011"]}, {}, "quick+jebara2011"),
        ({"papers": ["my papers/own.yaml"], "seed": 7}, {}, "quick+own+seed=7"),
        ({}, {"experiments": ["digits", "school"]}, "quick+digits+school"),
        ({}, {"methods": ["own.module:Class"]}, "quick+own.module.Class"),
    ],
)
def test_a_label_says_what_differs(changes, options, label):
    assert run_label(usual(**changes), **options) == label


def test_grids_have_folders_of_their_own():
    labels = [
        run_label(usual(), methods=["m:C"], grid=grid)
        for grid in ({"a": [1], "b": [2]}, {"b": [2], "a": [1]}, {"a": [1]}, None)
    ]
    assert labels[0] == labels[1]
    assert len(set(labels)) == 3


def test_a_label_is_a_possible_name_of_a_folder(tmp_path):
    long = [
        run_label(usual(), experiments=[f"experiment_{n}" for n in range(stop)])
        for stop in (40, 41)
    ]
    assert long[0] != long[1]
    for label in [*long, run_label(usual(papers=["a/{b} c.yaml"]))]:
        (tmp_path / label).mkdir()
        assert not set(label) & set("/{} ")


def test_one_process_at_a_time(tmp_path, holder):
    with pytest.raises(ResultsInUseError, match=f"process {holder.pid}"):
        lock_results(RunFolder(tmp_path / "quick"))
    lock_results(RunFolder(tmp_path / "quick+seed=7")).close()


def test_a_killed_process_leaves_no_lock(tmp_path, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with lock_results(RunFolder(tmp_path / "quick")):
        assert (tmp_path / "quick/.lock").read_text() == str(os.getpid())


def unfinished(*folders):
    """Make what a process that was killed an hour ago was writing."""
    an_hour_ago = time.time() - 3600
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "tmpab_12345.part"
        path.touch()
        os.utime(path, (an_hour_ago, an_hour_ago))
        yield path


def test_the_next_run_deletes_what_a_killed_one_was_writing(tmp_path):
    quick = tmp_path / "quick" / "tiny" / "fits"
    mine, cell, other = unfinished(quick, tmp_path / "cache" / "0a", tmp_path / "paper")
    lock_results(RunFolder(tmp_path / "quick")).close()
    assert [path.exists() for path in (mine, cell, other)] == [False, False, True]


def test_what_another_run_may_be_writing_stays(tmp_path, holder):
    mine, cell, other = unfinished(
        tmp_path / "paper", tmp_path / "cache" / "0a", tmp_path / "quick"
    )
    with lock_results(RunFolder(tmp_path / "paper")):
        assert [path.exists() for path in (mine, cell, other)] == [False, True, True]
