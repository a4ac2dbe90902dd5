"""Comparison of files with the sizes and hashes of the registry."""

import hashlib
import io
import tarfile
from collections import Counter
from pathlib import Path

from mtmkl_suite.data.entries import FileEntry


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_checksums(path: Path) -> dict[str, str]:
    """Read lines of ``<sha256>  <member>`` into a mapping of member to hash."""
    lines = (line.partition("  ") for line in path.read_text("utf-8").splitlines())
    return {member: digest for digest, _, member in lines}


def problem_of(
    content: bytes, file: FileEntry, checksums: Path | None = None
) -> str | None:
    """Compare the content of a file with its entry, and say what is wrong, if anything.

    ``checksums`` lists the hashes of the members of a tar file, which then also passes
    if it is packed differently but holds exactly these members.
    """
    if file.newline == "lf":
        content = content.replace(b"\r\n", b"\n")
    if len(content) != file.bytes:
        problem = f"it has {len(content)} bytes, expected {file.bytes}"
    elif (found := hashlib.sha256(content).hexdigest()) != file.sha256:
        problem = f"its sha256 is {found}, expected {file.sha256}"
    else:
        return None
    return problem if checksums is None else _members_problem(content, checksums)


def _members_problem(content: bytes, checksums: Path) -> str | None:
    lacking = Counter(read_checksums(checksums).items())
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            for member in tar:
                if (opened := tar.extractfile(member)) is not None:  # else a folder
                    digest = hashlib.sha256(opened.read()).hexdigest()
                    lacking[member.name, digest] -= 1
    except (tarfile.TarError, EOFError, OSError) as error:
        return f"it cannot be read as a tar file ({error})"
    wrong = sorted(name for (name, _), count in lacking.items() if count)
    return f"its member {wrong[0]!r} is not as in {checksums.name}" if wrong else None
