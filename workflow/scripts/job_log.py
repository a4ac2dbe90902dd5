import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from mtmkl.datasets.errors import DataCorruptError, DataNotAvailableError
from mtmkl.documents import ConfigError
from mtmkl.files import DamagedFileError, disk_problem
from mtmkl_suite.run.digests import digests_of, write_digests
from snakemake_logger_plugin_mtmkl import CAUSE

# Their messages say all; where they were raised helps nobody.
EXPLAINED = (ConfigError, DamagedFileError, DataCorruptError, DataNotAvailableError)


@contextmanager
def job_log(snakemake: Any) -> Iterator[TextIO]:
    """Send what a job prints to its log, and the cause if it fails.

    What it has written is recorded beside the log once it has ended well.
    """
    path = Path(snakemake.log[0])
    digests_of(path).unlink(missing_ok=True)
    with _opened(path) as log:
        stdout, stderr = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = log
        try:
            yield log
            write_digests(path, map(Path, snakemake.output))
        except EXPLAINED as error:
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
