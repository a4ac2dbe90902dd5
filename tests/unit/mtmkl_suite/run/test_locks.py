"""Who may write results, and what killed writers left."""

import os
import signal
import subprocess
import sys
import time

import pytest

from mtmkl_suite.errors import ResultsInUseError
from mtmkl_suite.run.folders import RunFolder
from mtmkl_suite.run.locks import discard_unfinished, hold_results, release_results

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
    command = [sys.executable, "-c", HOLD, str(tmp_path / "quick")]
    pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    process = subprocess.Popen(command, text=True, **pipes)
    assert process.stdout.readline() == "locked\n"
    yield process
    process.kill()
    process.communicate()


def test_one_process_at_a_time(tmp_path, holder):
    with pytest.raises(ResultsInUseError, match=f"process {holder.pid}"):
        hold_results(RunFolder(tmp_path / "quick"))
    hold_results(RunFolder(tmp_path / "quick+seed=7"))


@pytest.fixture
def unfinished(tmp_path):
    """Return what processes that were killed an hour ago were writing, by folder."""
    an_hour_ago = time.time() - 3600
    found = {}
    for folder in ("quick/tiny/fits", "paper/tiny/fits", "cache/0a"):
        path = tmp_path / folder / "tmpab_12345.part"
        path.parent.mkdir(parents=True)
        path.touch()
        os.utime(path, (an_hour_ago, an_hour_ago))
        found[folder.split("/")[0]] = path
    return found


def left(unfinished):
    return [name for name, path in unfinished.items() if path.exists()]


def test_the_next_run_deletes_what_a_killed_one_was_writing(tmp_path, unfinished):
    hold_results(RunFolder(tmp_path / "quick"))
    assert left(unfinished) == ["paper"]


def test_what_another_run_may_be_writing_stays(tmp_path, holder, unfinished):
    hold_results(RunFolder(tmp_path / "paper"))
    assert left(unfinished) == ["quick", "cache"]


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
    discard_unfinished(tmp_path, before=left.stat().st_mtime)
    assert left.exists()
    discard_unfinished(tmp_path, before=time.time() + 1)
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == {*kept}
