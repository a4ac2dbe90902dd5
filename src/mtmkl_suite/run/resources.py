"""Needs of a job: memory as once measured, and a limit on its time.

Schedulers of clusters end a job that takes more than it asked for. So what is asked for
has a margin, and the workflow asks for more in every attempt.
"""

import csv
import math
from collections.abc import Mapping
from pathlib import Path

from mtmkl_suite.config.load import read_measured
from mtmkl_suite.config.models import Paper
from mtmkl_suite.run.grouping import FitGroup
from mtmkl_suite.run.plan import expected_seconds

UNMEASURED_MEGABYTES = 3000
"""Of a job that was not measured: more than nine of ten jobs of the papers take."""

_MARGIN = 1.5
_START = 300  # MB that any job takes, and is asked for beyond the margin
_LEAST_MINUTES = 20  # a node without compiled code compiles it first
_SLOWER = 4  # times: another processor, or one that others use as well


def measured_memory(path: Path) -> dict[str, float]:
    """Return the megabytes that jobs once took, from a table that publishing writes.

    A job is an experiment, all of whose fits count, or the name of another job.
    """
    return read_measured(path, "job", "megabytes")


def largest_memory(files: Mapping[str, Path]) -> dict[str, int]:
    """Return the megabytes that jobs took, the largest of each experiment."""
    largest: dict[str, int] = {}
    for name, path in files.items():
        with path.open(newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                # "-" or "NA": the job ended before it was looked at.
                text = row.get("max_rss") or ""
                if text[:1].isdigit():
                    job = name.split("/")[0]
                    largest[job] = max(largest.get(job, 0), math.ceil(float(text)))
    return largest


def megabytes(measured: Mapping[str, float], job: str) -> int:
    """Return the memory to ask for."""
    known = measured.get(job, measured.get(job.split("@")[0]))
    if known is None:
        return UNMEASURED_MEGABYTES
    return math.ceil((_START + _MARGIN * known) / 100) * 100


def minutes(config: Paper, group: FitGroup) -> int:
    """Return the limit on the time of fits."""
    seconds = sum(expected_seconds(config.seconds, job) for job in group.jobs)
    return max(_LEAST_MINUTES, math.ceil(_SLOWER * seconds / 60))
