"""Digests of what jobs have written, so that what was damaged since is made again."""

from collections.abc import Iterable
from pathlib import Path

from mtmkl.datasets.fetch.integrity import read_checksums, sha256_of
from mtmkl.files import write_text


def digests_of(log: Path) -> Path:
    """Return the file with the digests of a job, beside its log."""
    return log.with_suffix(".sha256")


def write_digests(log: Path, outputs: Iterable[Path]) -> None:
    """Write the digests of what a job has made, as ``sha256sum`` does."""
    files = [
        file
        for path in outputs
        for file in (sorted(path.rglob("*")) if path.is_dir() else [path])
        if file.is_file()
    ]
    lines = [f"{sha256_of(file)}  {file}\n" for file in files]
    write_text(digests_of(log), "".join(lines))


def discard_damaged(logs: Path) -> list[Path]:
    """Delete what jobs have written if any of it is no longer what it was.

    Returns the damaged files. All others of their jobs are deleted, too: a job makes
    them together, and of a folder only its other files tell that one is missing.
    """
    damaged = []
    for digests in sorted(logs.rglob("*.sha256")):
        try:
            expected = read_checksums(digests)
        except ValueError:
            digests.unlink()
            continue
        changed = [
            Path(name)
            for name, digest in expected.items()
            if Path(name).is_file() and sha256_of(Path(name)) != digest
        ]
        if changed:
            for name in expected:
                Path(name).unlink(missing_ok=True)
        damaged += changed
    return damaged
