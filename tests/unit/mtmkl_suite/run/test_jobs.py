"""The log of a job and its failure."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from mtmkl_suite.run.jobs import CAUSE, job_log


def job(log):
    return SimpleNamespace(log=[str(log)])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_disk_too_full_for_the_log_is_said_in_one_line(tmp_path, capsys):
    (tmp_path / "job.log").symlink_to("/dev/full")
    with pytest.raises(SystemExit) as ended, job_log(job(tmp_path / "job.log")):
        raise RuntimeError("cannot be logged")
    assert ended.value.code == 1
    said = capsys.readouterr().err.strip()
    assert said.startswith("No space left on device: ")
    assert "\n" not in said


def test_what_is_printed_and_the_cause_of_a_failure_are_in_the_log(tmp_path):
    log = tmp_path / "job.log"

    def fail():
        print("a line")
        raise RuntimeError("what went wrong")

    with pytest.raises(SystemExit), job_log(job(log)):
        fail()
    text = log.read_text()
    assert text.startswith(f"a line\n{CAUSE}\n")
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
