"""What surrounds the work of a job: its log, the cause of its failure, its digests."""

import logging
import multiprocessing
import os
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from mtmkl_suite.data.errors import DataCorruptError, DataNotAvailableError
from mtmkl_suite.data.fetch.integrity import sha256_of
from mtmkl_suite.errors import ConfigError
from mtmkl_suite.files import DamagedFileError, disk_problem, read_json, write_json

CAUSE = "The job failed:"
"""Line in the log of a job after which its cause stands."""

# Their messages say all; where they were raised helps nobody.
_EXPLAINED = (ConfigError, DamagedFileError, DataCorruptError, DataNotAvailableError)

_log = logging.getLogger(__name__)


@contextmanager
def job_log(snakemake: Any) -> Iterator[TextIO]:
    """Send what a job prints to its log, and the cause if it fails.

    What it has written is recorded beside the log once it has ended well.
    """
    end_with_the_run()
    path = Path(snakemake.log[0])
    _digests_of(path).unlink(missing_ok=True)
    with _opened(path) as log:
        stdout, stderr = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = log
        try:
            yield log
            again = snakemake.params.get("again", 0)
            write_digests(path, map(Path, snakemake.output), again)
        except _EXPLAINED as error:
            print(f"{CAUSE}\n{error}", file=log)
            sys.exit(1)
        except Exception as error:
            print(CAUSE, file=log)
            problem = disk_problem(error) if isinstance(error, OSError) else None
            print(problem or traceback.format_exc(), file=log)
            sys.exit(1)
        except KeyboardInterrupt:
            sys.exit(130)
        finally:
            sys.stdout, sys.stderr = stdout, stderr


def write_digests(log: Path, outputs: Iterable[Path], again: int = 0) -> None:
    """Write the digests of what a job has made, and how often that was damaged."""
    files = [
        file
        for path in outputs
        for file in (sorted(path.rglob("*")) if path.is_dir() else [path])
        if file.is_file()
    ]
    digests = {str(file): sha256_of(file) for file in files}
    write_json(_digests_of(log), {"again": again, "files": digests})


def times_damaged(log: Path) -> int:
    """Return how often results of a job were found damaged, now included.

    It is among the parameters of the job. So Snakemake itself, which decides before a
    run starts what is to be done, runs the job again and all that follow from it.
    """
    try:
        before = read_json(_digests_of(log))
        files, again = before["files"].items(), int(before["again"])
    except (OSError, DamagedFileError, LookupError, TypeError, ValueError):
        return 0
    damaged = [
        name
        for name, digest in files
        if Path(name).is_file() and sha256_of(Path(name)) != digest
    ]
    for name in damaged:
        _log.warning("%s is damaged (its digest is another): made again", name)
    return again + bool(damaged)


def _digests_of(log: Path) -> Path:
    return log.with_suffix(".json")


def end_with_the_run() -> None:
    """Let a forked process end when the run that has started it does."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """Open the log; what a full disk does to it can only be said elsewhere."""
    try:
        with path.open("w", encoding="utf-8") as log:
            yield log
    except OSError as error:
        problem = disk_problem(error)
        if not problem:
            raise
        print(problem, file=sys.stderr)
        sys.exit(1)
