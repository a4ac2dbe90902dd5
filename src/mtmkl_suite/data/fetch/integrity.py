"""Comparison of files with the sizes and hashes of the registry."""

import hashlib
import tarfile
from pathlib import Path

from mtmkl_suite.data.entries import FileEntry

_verified: dict[tuple[str, int, int, str], str | None] = {}
"""Findings of this process, by path, size, time of change and expectation."""


def sha256_of(path: Path, *, newline: str | None = None) -> str:
    """Return the SHA-256 of a file in hexadecimal.

    With ``newline="lf"`` it is that of the content with every CRLF replaced by LF.
    """
    if newline == "lf":
        return hashlib.sha256(with_lf(path.read_bytes())).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def with_lf(content: bytes) -> bytes:
    """Return the content with every CRLF replaced by LF."""
    return content.replace(b"\r\n", b"\n")


def read_checksums(path: Path) -> dict[str, str]:
    """Read lines of ``<sha256>  <member>`` into a mapping of member to hash.

    Raises
    ------
    ValueError
        If a line is not of this form.
    """
    checksums = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        digest, _, member = line.partition("  ")
        if len(digest) != 64 or not member:
            raise ValueError(f"{path}, line {number}: not '<sha256>  <member>'")
        checksums[member] = digest
    return checksums


def find_problem(
    path: Path, file: FileEntry, *, checksums: Path | None = None, remember: bool = True
) -> str | None:
    """Compare an existing file with its entry, and say what is wrong, if anything.

    Parameters
    ----------
    path : Path
    file : FileEntry
    checksums : Path, optional
        Hashes of the members of a tar file. The file then also passes if it is packed
        differently but holds exactly these members.
    remember : bool
        Take the finding of an earlier call in this process as long as size and time
        of change of the file are the same.
    """
    stat = path.stat()
    key = (str(path.resolve()), stat.st_size, stat.st_mtime_ns, file.sha256)
    if not remember or key not in _verified:
        problem = None
        if file.newline is None and stat.st_size != file.bytes:
            problem = f"it has {stat.st_size} bytes, expected {file.bytes}"
        elif (found := sha256_of(path, newline=file.newline)) != file.sha256:
            problem = f"its sha256 is {found}, expected {file.sha256}"
        if problem is not None and checksums is not None:
            problem = _members_problem(path, checksums)
        _verified[key] = problem
    return _verified[key]


def _members_problem(path: Path, checksums: Path) -> str | None:
    expected = read_checksums(checksums)
    seen = set()
    try:
        with tarfile.open(path) as tar:
            for member in tar:
                content = tar.extractfile(member)
                if content is None:  # a folder
                    continue
                if member.name not in expected:
                    return f"its member {member.name!r} is not in {checksums.name}"
                if hashlib.sha256(content.read()).hexdigest() != expected[member.name]:
                    return f"its member {member.name!r} has another sha256"
                if member.name in seen:
                    return f"it holds {member.name!r} twice"
                seen.add(member.name)
    except (tarfile.TarError, EOFError, OSError) as error:
        return f"it cannot be read as a tar file ({error})"
    missing = sorted(expected.keys() - seen)
    return f"its member {missing[0]!r} is missing" if missing else None
