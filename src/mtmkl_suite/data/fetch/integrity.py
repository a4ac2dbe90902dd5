"""Comparison of files with the sizes and hashes of the registry."""

import hashlib
import io
import tarfile
from pathlib import Path

from mtmkl_suite.data.entries import FileEntry

_verified: dict[tuple[str, int, int, str], str | None] = {}
"""Findings of this process, by path, size, time of change and expectation."""


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def with_lf(content: bytes) -> bytes:
    """Return the content with every CRLF replaced by LF."""
    return content.replace(b"\r\n", b"\n")


def read_checksums(path: Path) -> dict[str, str]:
    """Read lines of ``<sha256>  <member>`` into a mapping of member to hash."""
    checksums = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        digest, _, member = line.partition("  ")
        if len(digest) != 64 or not member:
            raise ValueError(f"{path}, line {number}: not '<sha256>  <member>'")
        checksums[member] = digest
    return checksums


def find_problem(
    path: Path, file: FileEntry, checksums: Path | None = None
) -> str | None:
    """Compare an existing file with its entry, and say what is wrong, if anything.

    An earlier finding of this process is taken as long as size and time of change of
    the file are the same.
    """
    stat = path.stat()
    key = (str(path.resolve()), stat.st_size, stat.st_mtime_ns, file.sha256)
    if key not in _verified:
        _verified[key] = problem_of(path.read_bytes(), file, checksums)
    return _verified[key]


def problem_of(
    content: bytes, file: FileEntry, checksums: Path | None = None
) -> str | None:
    """Compare the content of a file with its entry.

    ``checksums`` lists the hashes of the members of a tar file, which then also passes
    if it is packed differently but holds exactly these members.
    """
    if file.newline == "lf":
        content = with_lf(content)
    if len(content) != file.bytes:
        problem = f"it has {len(content)} bytes, expected {file.bytes}"
    elif (found := hashlib.sha256(content).hexdigest()) != file.sha256:
        problem = f"its sha256 is {found}, expected {file.sha256}"
    else:
        return None
    return problem if checksums is None else _members_problem(content, checksums)


def _members_problem(content: bytes, checksums: Path) -> str | None:
    expected, found = read_checksums(checksums), {}
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            for member in tar:
                if member.name in found:
                    return f"it holds {member.name!r} twice"
                if (opened := tar.extractfile(member)) is not None:  # else a folder
                    found[member.name] = hashlib.sha256(opened.read()).hexdigest()
    except (tarfile.TarError, EOFError, OSError) as error:
        return f"it cannot be read as a tar file ({error})"
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            return f"its member {name!r} is missing"
        if found[name] != expected.get(name):
            return f"its member {name!r} is not the one in {checksums.name}"
    return None
