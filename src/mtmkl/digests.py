"""Digests of what jobs have written, so that what was damaged since is made again."""

from collections.abc import Iterable
from pathlib import Path

from mtmkl.datasets.integrity import read_checksums, sha256_of
from mtmkl.files import write_text


def digests_of(log: Path) -> Path:
    """Return the file with the digests of a job, beside its log."""
    return log.with_suffix(".sha256")


def write_digests(log: Path, outputs: Iterable[Path]) -> None:
    """Write the digests of what a job has made, as ``sha256sum`` does.

    Parameters
    ----------
    log : Path
        The job's log.
    outputs : iterable of Path
        Its files; those that are not there yet are left out.
    """
    lines = [f"{sha256_of(path)}  {path}\n" for path in outputs if path.is_file()]
    write_text(digests_of(log), "".join(lines))


def discard_damaged(logs: Path) -> list[Path]:
    """Delete files that are no longer what their job has written.

    Parameters
    ----------
    logs : Path
        Folder of the logs of a run.

    Returns
    -------
    list of Path
        The deleted files. Whoever plans a run then finds them missing.
    """
    damaged = []
    for digests in sorted(logs.rglob("*.sha256")):
        try:
            expected = read_checksums(digests)
        except ValueError:
            digests.unlink()
            continue
        for name, digest in expected.items():
            path = Path(name)
            if path.is_file() and sha256_of(path) != digest:
                path.unlink()
                damaged.append(path)
    return damaged
