"""One run at a time writes a folder of results; what killed ones left is deleted."""

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from mtmkl_suite.errors import ResultsInUseError
from mtmkl_suite.files import make_folder
from mtmkl_suite.run.folders import RunFolder, cache

_UNFINISHED = f"tmp{'[a-z0-9_]' * 8}.part"
"""Names of files that are being written, see :func:`mtmkl_suite.files.write_bytes`."""

_held: list[IO[str]] = []
"""Locks of this process; the kernel drops them with it, however it ends."""


def release_results() -> None:
    """Let other runs write the folders that this process holds."""
    while _held:
        _held.pop().close()


def hold_results(folder: RunFolder) -> None:
    """Keep other runs out of a folder of results, until they are released.

    The kernel holds the lock: nothing is left to be removed by hand. What a killed run
    was writing here is deleted, and what it was writing to the cache, unless another
    run may be writing there.
    """
    started = time.time()
    make_folder(folder.path)
    file = folder.lock.open("a+", encoding="ascii")
    try:
        # Not flock: its locks would live on in orphaned child processes.
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:
        file.seek(0)
        owner = file.read().strip() or "unknown"
        file.close()
        raise ResultsInUseError(
            f"another run (process {owner}) is writing {folder.path}: wait until it "
            "has finished, or stop it"
        ) from error
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    shared = [] if _others_run(folder) else [cache(folder.path.parent)]
    discard_unfinished(folder.path, *shared, before=started)
    _held.append(file)


def _others_run(folder: RunFolder) -> bool:
    """Tell whether any other run below the same top folder holds its lock."""
    for path in folder.path.parent.glob(f"*/{folder.lock.name}"):
        if path == folder.lock:
            continue  # closing it would give our own lock back
        try:
            with path.open("a", encoding="ascii") as file:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # held, or of somebody else
            return True
    return False


def discard_unfinished(*folders: Path, before: float) -> None:
    """Delete what killed processes were writing."""
    for folder in folders:
        for path in sorted(folder.rglob(_UNFINISHED)):
            with suppress(OSError):  # read-only, or its process has finished it
                if path.is_file() and path.stat().st_mtime < before:
                    path.unlink()
