"""The log of a job, its failure, and the digests of what it has made."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from mtmkl_suite.run.jobs import CAUSE, job_log, times_damaged, write_digests


def job(log, *output, **params):
    return SimpleNamespace(log=[str(log)], output=list(output), params=params)


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Files that a job has made, one of them in a folder."""
    monkeypatch.chdir(tmp_path)
    paths = [Path("results", name) for name in ("one.csv", "pages/two.html")]
    paths[1].parent.mkdir(parents=True)
    for path in paths:
        path.write_bytes(path.name.encode())
    return paths


@pytest.fixture
def log(made):
    """The log of this job."""
    path = Path("logs/fits/job.log")
    write_digests(path, [made[0], made[1].parent, Path("not_there")])
    return path


def test_what_is_as_it_was_written_is_not_damaged(log):
    assert times_damaged(log) == 0
    assert times_damaged(Path("logs/another.log")) == 0


@pytest.mark.parametrize("content", [b"", b"one.cs", b"one.csw", b"one.csv\n"])
def test_what_is_no_longer_what_was_written_is_said(made, log, content, caplog):
    made[0].write_bytes(content)
    assert times_damaged(log) == 1
    assert "results/one.csv is damaged" in caplog.text
    # The next run decides; nothing has happened yet.
    assert all(path.is_file() for path in made)


def test_what_was_made_again_can_be_damaged_again(made, log):
    made[0].write_bytes(b"")
    write_digests(log, made, again=times_damaged(log))
    assert times_damaged(log) == 1
    made[0].write_bytes(b"x")
    assert times_damaged(log) == 2


def test_a_damaged_file_of_a_folder_is_noticed(made, log):
    made[1].write_bytes(b"two.htm1")
    assert times_damaged(log) == 1


def test_a_file_that_is_gone_is_not_damaged(made, log):
    made[0].unlink()
    assert times_damaged(log) == 0


@pytest.mark.parametrize("content", [b"\xff", b'{"agaim": 0, "files": {}}', b"[]"])
def test_digests_that_are_damaged_themselves_say_nothing(made, log, content):
    log.with_suffix(".json").write_bytes(content)
    made[0].write_bytes(b"")
    assert times_damaged(log) == 0


def test_a_job_says_what_it_has_made_once_it_has_ended_well(made, tmp_path):
    log = tmp_path / "job.log"
    with job_log(job(log, str(made[0]), again=3)):
        print("a line")
    assert log.read_text() == "a line\n"
    assert times_damaged(log) == 3
    with pytest.raises(SystemExit), job_log(job(log, str(made[0]))):
        raise ValueError
    assert not log.with_suffix(".json").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_disk_too_full_for_the_log_is_said_in_one_line(tmp_path, capsys):
    (tmp_path / "job.log").symlink_to("/dev/full")
    with pytest.raises(SystemExit) as ended, job_log(job(tmp_path / "job.log")):
        raise RuntimeError("cannot be logged")
    assert ended.value.code == 1
    said = capsys.readouterr().err.strip()
    assert said.startswith("No space left on device: ")
    assert "\n" not in said


def test_the_cause_of_a_failure_is_in_the_log(tmp_path):
    log = tmp_path / "job.log"
    with pytest.raises(SystemExit), job_log(job(log)):
        raise RuntimeError("what went wrong")
    text = log.read_text()
    assert CAUSE in text
    assert "RuntimeError: what went wrong" in text


WORKER = """
import os
import time
from multiprocessing import get_context
from mtmkl_suite.run.jobs import end_with_the_run

def work(begun):
    if os.fork():  # as some libraries do
        os.wait()
    end_with_the_run()
    begun.set()
    time.sleep(60)

if __name__ == "__main__":
    context = get_context("forkserver")
    begun = context.Event()
    process = context.Process(target=work, args=(begun,))
    process.start()
    begun.wait()
    process.terminate()
    process.join()
"""


def test_what_a_worker_has_forked_ends_with_the_run(tmp_path):
    path = tmp_path / "worker.py"
    path.write_text(WORKER)
    # It ends once nobody holds its output.
    subprocess.run([sys.executable, path], capture_output=True, timeout=30, check=True)
