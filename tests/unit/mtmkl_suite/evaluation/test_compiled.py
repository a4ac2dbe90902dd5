"""Processes that have compiled are started again, and others are not."""

import signal
import subprocess
import sys

import pytest

MODULE = """
from numba import njit

@njit(cache={cache})
def twice(x):
    return 2 * x
"""
SCRIPT = """
import sys
from pathlib import Path
from mtmkl_suite.evaluation import compiled

compiled._STARTS = 4
compiled.start_again_when_compiled()
with Path("starts").open("a") as file:
    file.write("x")
from doubling import twice
print(twice(2.0))
compiled.stop_if_compiled()
Path("result").touch()
{end}
"""


@pytest.fixture
def start(tmp_path):
    """Write a program, run it, and return how it ended and what it did."""

    def start(end="", cache=True):
        (tmp_path / "doubling.py").write_text(MODULE.format(cache=cache))
        (tmp_path / "program.py").write_text(SCRIPT.format(end=end))
        (tmp_path / "starts").unlink(missing_ok=True)
        done = subprocess.run(
            [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True
        )
        return done, len((tmp_path / "starts").read_text())

    return start


def test_what_was_compiled_is_loaded_by_the_next_process(start, tmp_path):
    done, starts = start()
    assert (done.returncode, starts) == (0, 2)
    assert done.stdout.splitlines()[1:] == ["Compiled twice: started again", "4.0"]
    assert (tmp_path / "result").exists()
    done, starts = start()
    assert (done.returncode, starts, done.stdout) == (0, 1, "4.0\n")


@pytest.mark.nightly
def test_what_is_not_kept_on_disk_is_not_compiled_for_ever(start, tmp_path):
    done, starts = start(cache=False)
    assert (done.returncode, starts) == (1, 4)
    assert "Numba still compiles after 4 starts" in done.stderr
    assert not (tmp_path / "result").exists()


@pytest.mark.parametrize(
    ("end", "status"),
    [("sys.exit(3)", 3), ("compiled.os.abort()", -signal.SIGABRT)],
)
def test_a_process_ends_as_the_one_that_did_the_work(start, end, status):
    done, _ = start(end)
    assert done.returncode == status


def test_nobody_is_stopped_who_has_not_asked(monkeypatch):
    from mtmkl_suite.evaluation import compiled

    compiled.stop_if_compiled()
    monkeypatch.setattr(compiled, "_compiled", [])
    compiled.stop_if_compiled()
    monkeypatch.setattr(compiled, "_compiled", ["f"])
    with pytest.raises(SystemExit):
        compiled.stop_if_compiled()
