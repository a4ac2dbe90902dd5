"""Damaged files of results are named, with what to do."""

import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from mtmkl.files import (
    DamagedFileError,
    discard_unfinished,
    intact,
    read_json,
    read_table,
    write_json,
)
from mtmkl.files import write_table as write


def read_arrays(path):
    with intact(path), np.load(path) as stored:
        return {name: stored[name] for name in stored.files}


@pytest.fixture
def stored(tmp_path):
    rng = np.random.default_rng(0)
    write(tmp_path / "a.csv.gz", pd.DataFrame(rng.normal(size=(50, 3))))
    write_json(tmp_path / "a.json", {"status": "ok"})
    np.savez_compressed(tmp_path / "a.npz", values=rng.normal(size=500))
    return tmp_path


def cut(content):
    return content[: len(content) // 2]


def turned(content):
    middle = len(content) // 2
    return content[:middle] + bytes(255 - b for b in content[middle:-8]) + content[-8:]


@pytest.mark.parametrize("damage", [cut, turned, lambda content: b""])
@pytest.mark.parametrize(
    ("name", "read"),
    [("a.csv.gz", read_table), ("a.json", read_json), ("a.npz", read_arrays)],
)
def test_a_damaged_file_is_named(stored, name, read, damage):
    path = stored / name
    read(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DamagedFileError, match=f"{name} is damaged .*Delete it"):
        read(path)


def test_a_missing_file_is_not_a_damaged_one(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "a.csv")


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
