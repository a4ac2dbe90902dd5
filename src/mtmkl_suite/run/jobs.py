"""The frame of a job's work: its log and the cause of its failure."""

import multiprocessing
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from mtmkl_suite.errors import ConfigError, DataCorruptError, DataNotAvailableError
from mtmkl_suite.files import DamagedFileError, disk_problem

CAUSE = "The job failed:"
"""Line in the log of a job after which its cause stands."""

# Their messages say all; where they were raised helps nobody.
_EXPLAINED = (ConfigError, DamagedFileError, DataCorruptError, DataNotAvailableError)


@contextmanager
def job_log(snakemake: Any) -> Iterator[TextIO]:
    """Send what a job prints to its log, and the cause if it fails."""
    end_with_the_run()
    path = Path(snakemake.log[0])
    with _opened(path) as log:
        stdout, stderr = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = log
        try:
            yield log
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
