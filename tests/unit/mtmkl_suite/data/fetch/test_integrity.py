import hashlib
import io
import tarfile

from mtmkl_suite.data.entries import FileEntry
from mtmkl_suite.data.fetch.integrity import problem_of, read_checksums

CONTENT = b"one\ntwo\nthree\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
PACKED = FileEntry(path="images.tar", bytes=1, sha256="0" * 64)


def test_members_are_checked_one_by_one(tmp_path):
    """Members that lack or differ are in the tests of downloads."""
    sums = tmp_path / "SHA256SUMS"
    sums.write_text(f"{SHA256}  a.txt\n")
    assert list(read_checksums(sums)) == ["a.txt"]

    def problem_with(*names):
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w") as tar:
            for name in names:
                info = tarfile.TarInfo(name)
                info.size = len(CONTENT)
                tar.addfile(info, io.BytesIO(CONTENT))
        return problem_of(stream.getvalue(), PACKED, sums)

    assert problem_with("a.txt") is None
    assert "'b.txt' is not as in" in problem_with("a.txt", "b.txt")
    assert "cannot be read as a tar" in problem_of(b"no tar file", PACKED, sums)
