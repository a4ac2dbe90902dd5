"""Files that killed processes were writing, deleted by the next run."""

from contextlib import suppress
from pathlib import Path

_UNFINISHED = f"tmp{'[a-z0-9_]' * 8}.part"
"""Names of files that are being written, see :func:`mtmkl.files.write_bytes`."""


def discard_unfinished(*folders: Path, before: float) -> list[Path]:
    """Delete what killed processes were writing."""
    discarded = []
    for folder in folders:
        for path in sorted(folder.rglob(_UNFINISHED)):
            with suppress(OSError):  # read-only, or its process has finished it
                if path.is_file() and path.stat().st_mtime < before:
                    path.unlink()
                    discarded.append(path)
    return discarded
