"""Who may write results, and what killed writers left."""

import os
import signal
import subprocess
import sys
import time

import pytest

from mtmkl_suite.errors import ResultsInUseError
from mtmkl_suite.run.folders import RunFolder
from mtmkl_suite.run.locks import (
    discard_unfinished,
    hold_results,
    release_results,
)

HOLD = """
import sys
from pathlib import Path
from mtmkl_suite.run.folders import RunFolder
from mtmkl_suite.run.locks import hold_results

hold_results(RunFolder(Path(sys.argv[1])))
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def released():
    """Give locks of a test back."""
    yield
    release_results()


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


def test_one_process_at_a_time(tmp_path, holder):
    with pytest.raises(ResultsInUseError, match=f"process {holder.pid}"):
        hold_results(RunFolder(tmp_path / "quick"))
    hold_results(RunFolder(tmp_path / "quick+seed=7"))


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
    hold_results(RunFolder(tmp_path / "quick"))
    assert [path.exists() for path in (mine, cell, other)] == [False, False, True]


def test_what_another_run_may_be_writing_stays(tmp_path, holder):
    mine, cell, other = unfinished(
        tmp_path / "paper", tmp_path / "cache" / "0a", tmp_path / "quick"
    )
    hold_results(RunFolder(tmp_path / "paper"))
    assert [path.exists() for path in (mine, cell, other)] == [False, True, True]


STOPPED = """
import os, signal, sys
from pathlib import Path
from mtmkl_suite.files import write_bytes

os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
write_bytes(Path(sys.argv[1]), b"half of it")
"""


def test_what_a_killed_process_was_writing_is_deleted(tmp_path):
    target = tmp_path / "fits" / "scores.csv"
    killed = subprocess.run([sys.executable, "-c", STOPPED, str(target)])
    assert killed.returncode == -signal.SIGKILL
    (left,) = target.parent.iterdir()
    kept = [target, tmp_path / "own.part", tmp_path / "tmp12345678.partial"]
    for path in kept:
        path.write_text("kept")
    assert discard_unfinished(tmp_path, before=left.stat().st_mtime) == []
    assert discard_unfinished(tmp_path, before=time.time() + 1) == [left]
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(
        kept
    )
