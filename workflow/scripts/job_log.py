import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from mtmkl.config import ConfigError
from mtmkl.datasets.errors import DataCorruptError, DataNotAvailableError
from mtmkl.files import DamagedFileError
from snakemake_logger_plugin_mtmkl import CAUSE

# Their messages say all; where they were raised helps nobody.
EXPLAINED = (ConfigError, DamagedFileError, DataCorruptError, DataNotAvailableError)


@contextmanager
def job_log(snakemake: Any) -> Iterator[TextIO]:
    """Send what a job prints to its log, and the cause if it fails."""
    with open(snakemake.log[0], "w", encoding="utf-8") as log:
        stdout, stderr = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = log
        try:
            yield log
        except EXPLAINED as error:
            print(f"{CAUSE}\n{error}", file=log)
            sys.exit(1)
        except Exception:
            print(CAUSE, file=log)
            traceback.print_exc(file=log)
            sys.exit(1)
        except KeyboardInterrupt:
            sys.exit(130)
        finally:
            sys.stdout, sys.stderr = stdout, stderr
