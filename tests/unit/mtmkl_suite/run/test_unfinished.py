import signal
import subprocess
import sys
import time

from mtmkl_suite.run.unfinished import discard_unfinished

STOPPED = """
import os, signal, sys
from pathlib import Path
from mtmkl.files import write_bytes

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


def test_what_cannot_be_deleted_stays(tmp_path, monkeypatch):
    left = tmp_path / "tmp12345678.part"
    left.touch()

    def refuse(self):
        raise PermissionError

    monkeypatch.setattr("pathlib.Path.unlink", refuse)
    assert discard_unfinished(tmp_path, tmp_path / "none", before=time.time() + 1) == []
    assert left.exists()
