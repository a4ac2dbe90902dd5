import hashlib
import io
import os
import tarfile

import pytest

from mtmkl_suite.data.entries import FileEntry
from mtmkl_suite.data.fetch import integrity
from mtmkl_suite.data.fetch.integrity import (
    find_problem,
    problem_of,
    read_checksums,
)

CONTENT = b"one\ntwo\nthree\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
FILE = FileEntry(path="a.txt", bytes=len(CONTENT), sha256=SHA256)
PACKED = FileEntry(path="images.tar", bytes=1, sha256="0" * 64)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(CONTENT)
    return path


def test_findings_are_remembered_until_the_file_changes(path, monkeypatch):
    calls = []
    monkeypatch.setattr(
        integrity, "problem_of", lambda *args: calls.append(args) or problem_of(*args)
    )
    for _ in range(3):
        assert find_problem(path, FILE) is None
    assert len(calls) == 1
    path.write_bytes(b"O" + CONTENT[1:])
    os.utime(path, ns=(0, 12345))
    assert find_problem(path, FILE) is not None


def test_members_are_checked_one_by_one(tmp_path):
    """Members that lack or differ are in the tests of downloads."""
    sums, path = tmp_path / "SHA256SUMS", tmp_path / "images.tar"
    sums.write_text(f"{SHA256}  a.txt\n")
    assert list(read_checksums(sums)) == ["a.txt"]

    def problem_with(*names):
        with tarfile.open(path, "w") as tar:
            for name in names:
                info = tarfile.TarInfo(name)
                info.size = len(CONTENT)
                tar.addfile(info, io.BytesIO(CONTENT))
        return find_problem(path, PACKED, sums)

    assert problem_with("a.txt") is None
    assert "'b.txt' is not the one in" in problem_with("a.txt", "b.txt")
    path.write_bytes(b"no tar file")
    problem = find_problem(path, PACKED, sums)
    assert "cannot be read as a tar file" in problem


def test_a_list_of_hashes_must_be_one(tmp_path):
    path = tmp_path / "SHA256SUMS"
    path.write_text(f"{SHA256}  a.txt\n{SHA256} b.txt\n")
    with pytest.raises(ValueError, match="line 2"):
        read_checksums(path)
