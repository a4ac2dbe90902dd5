import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO


@contextmanager
def job_log(snakemake: Any) -> Iterator[TextIO]:
    """Send what a job prints to its log, its traceback too; errors go to both."""
    with open(snakemake.log[0], "w", encoding="utf-8") as log:
        stdout, stderr = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = log
        try:
            yield log
        except Exception as error:
            traceback.print_exc(file=log)
            print(f"{snakemake.rule}: {error}", file=stderr)
            raise
        finally:
            sys.stdout, sys.stderr = stdout, stderr
