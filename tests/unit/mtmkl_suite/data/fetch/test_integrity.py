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


def pack(path, members):
    with tarfile.open(path, "w") as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


def test_size_and_hash_are_checked(path):
    path.write_bytes(CONTENT[:-1])
    problem = find_problem(path, FILE)
    assert problem == "it has 13 bytes, expected 14"
    path.write_bytes(b"O" + CONTENT[1:])
    problem = find_problem(path, FILE)
    assert f"expected {SHA256}" in problem


def test_findings_are_remembered_until_the_file_changes(path, monkeypatch):
    calls = []
    monkeypatch.setattr(
        integrity, "problem_of", lambda *args: calls.append(args) or problem_of(*args)
    )
    for _ in range(3):
        assert find_problem(path, FILE) is None
    assert len(calls) == 1
    assert find_problem(path, FILE, remember=False) is None
    assert len(calls) == 2
    path.write_bytes(b"O" + CONTENT[1:])
    os.utime(path, ns=(0, 12345))
    assert find_problem(path, FILE) is not None


def test_members_are_checked_one_by_one(tmp_path):
    images = {"jpg/1.jpg": b"first", "jpg/2.jpg": b"second"}
    sums = tmp_path / "SHA256SUMS"
    sums.write_text(
        "".join(
            f"{hashlib.sha256(content).hexdigest()}  {name}\n"
            for name, content in images.items()
        )
    )
    assert list(read_checksums(sums)) == list(images)

    def problem_with(members):
        path = tmp_path / "images.tar"
        pack(path, members)
        return find_problem(path, PACKED, checksums=sums, remember=False)

    first, second = images.items()
    assert problem_with([first, second]) is None
    assert "'jpg/2.jpg' is missing" in problem_with([first])
    assert "'jpg/2.jpg' is not the one in" in problem_with(
        [first, ("jpg/2.jpg", b"third")]
    )
    assert "'jpg/3.jpg' is not the one in" in problem_with(
        [first, second, ("jpg/3.jpg", b"third")]
    )
    assert "holds 'jpg/1.jpg' twice" in problem_with([first, second, first])
    (tmp_path / "images.tar").write_bytes(b"no tar file")
    problem = find_problem(tmp_path / "images.tar", PACKED, checksums=sums)
    assert "cannot be read as a tar file" in problem


def test_a_list_of_hashes_must_be_one(tmp_path):
    path = tmp_path / "SHA256SUMS"
    path.write_text(f"{SHA256}  a.txt\n{SHA256} b.txt\n")
    with pytest.raises(ValueError, match="line 2"):
        read_checksums(path)
