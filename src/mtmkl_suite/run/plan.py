"""The plan of a run: fit jobs, the work that shares a process, its memory and time.

In the quick tier a process takes longer to start than most fits: those of an experiment
share one, as do a paper's data sets, and all that is made of its fits. In the paper
tier short fits share one up to :data:`PROCESS_SECONDS`, and so do those of a reading.

Schedulers of clusters end a job that takes more than it asked for. So what is asked for
has a margin, and the workflow asks for more in every attempt.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mtmkl_suite.config.models import Paper, Variant
from mtmkl_suite.data.loaders.own import is_own
from mtmkl_suite.evaluation.cells import FitJob

JOB_SECONDS = 300.0
"""Longest time of the repeats in one job, on one core; a single one may exceed it."""

PROCESS_SECONDS = 180.0
"""Longest time of the fits that share a process of the paper tier, on one core."""

UNMEASURED_REPEATS = 5
"""Repeats in one job of a method whose seconds were never measured."""

UNMEASURED_MEGABYTES = 3000
"""Of a job that was not measured: more than nine of ten jobs of the papers take."""

_MARGIN = 1.5
_START = 300  # MB that any job takes, and is asked for beyond the margin
_LEAST_MINUTES = 20  # a node without compiled code compiles it first
_SLOWER = 4  # times: another processor, or one that others use as well


def fit_jobs(config: Paper) -> Iterator[FitJob]:
    """Yield every fit job of a paper, in the order of its configuration.

    In the paper tier a method's repeats are cut into jobs of about
    :data:`JOB_SECONDS`, by the seconds that were once measured; never by the machine
    at hand, so that the plan is the same everywhere.
    """
    for name, experiment in config.experiments.items():
        repeats = config.n_repeats(name)
        for variant in experiment.variants:
            for entry in experiment.methods:
                # What a record has of other methods is not fitted again.
                if config.record is not None and entry.method not in (config.own or ()):
                    continue
                size = repeats
                if config.tier == "paper":
                    size = _repeats_per_job(config, name, variant, entry.method)
                    # The first job chooses what the others hold.
                    size = max(size, *(held + 1 for held in entry.hold.values()), 1)
                for chunk, first in enumerate(range(0, repeats, size)):
                    own = tuple(range(first, min(first + size, repeats)))
                    yield FitJob(name, variant.id, entry.method, chunk, own)


def _repeats_per_job(
    config: Paper, experiment: str, variant: Variant, method: str
) -> int:
    repeats = config.n_repeats(experiment)
    measured = config.seconds.get(f"{experiment}/{variant.id}/{method}")
    if measured is None:
        return min(UNMEASURED_REPEATS, repeats)
    return math.ceil(repeats / max(1, math.ceil(measured * repeats / JOB_SECONDS)))


def expected_seconds(config: Paper, job: FitJob) -> float:
    """Return what a job took once, :data:`JOB_SECONDS` if it was never measured."""
    seconds = config.seconds.get(job.place)
    return JOB_SECONDS if seconds is None else seconds * len(job.repeats)


@dataclass(frozen=True)
class FitGroup:
    """Fits that share a process, and the files of their results."""

    name: str
    """Names these files; may have slashes."""
    jobs: tuple[FitJob, ...]
    """Of one experiment."""

    @property
    def experiment(self) -> str:
        """The experiment of the fits."""
        return self.jobs[0].experiment


def fit_groups(config: Paper) -> list[FitGroup]:
    """Return the fits of a paper by process, named by experiment or first job."""
    # Data of one's own may be large, and take time.
    is_small = config.tier == "quick" and not any(
        is_own(experiment.datasets.name) for experiment in config.experiments.values()
    )
    by_experiment = is_small or config.readings is not None
    groups: list[list[FitJob]] = []
    total = 0.0
    for job in fit_jobs(config):
        seconds = 0.0 if by_experiment else expected_seconds(config, job)
        total += seconds
        is_next = bool(groups) and groups[-1][0].experiment == job.experiment
        if is_next and total <= PROCESS_SECONDS:
            groups[-1].append(job)
        else:
            groups.append([job])
            total = seconds
    return [
        FitGroup(jobs[0].experiment if by_experiment else jobs[0].stem, tuple(jobs))
        for jobs in groups
    ]


def data_groups(config: Paper) -> list[list[Variant]]:
    """Return the data sets of a paper by the process that prepares them."""
    used = config.variants
    return [used] if config.tier == "quick" else [[variant] for variant in used]


@dataclass(frozen=True)
class ResultGroup:
    """Results that one process makes of the fits of a paper, in this order."""

    name: str
    steps: tuple[str, ...] = ()
    """Computations whose numbers artefacts draw."""
    artefacts: tuple[str, ...] = ()
    """Figures and tables."""
    has_record: bool = False
    """True if it writes the files that other programs read."""


def result_groups(config: Paper) -> list[ResultGroup]:
    """Return what is made of the fits of a paper by process."""
    if config.record is not None:
        # Which tables compare with a record depends on the data that can be had.
        return [ResultGroup("results", has_record=True)]
    computed, shown = tuple(steps(config)), tuple(config.artefacts)
    if config.tier == "quick":
        return [ResultGroup("results", computed, shown, has_record=True)]
    return [
        *(ResultGroup(f"step_{name}", steps=(name,)) for name in computed),
        *(ResultGroup(f"make_{name}", artefacts=(name,)) for name in shown),
        ResultGroup("record", has_record=True),
    ]


def steps(config: Paper) -> dict[str, list[str]]:
    """Return the steps that compute numbers, and the artefacts that draw these."""
    found: dict[str, list[str]] = {}
    for name, artefact in config.artefacts.items():
        for step in artefact.steps:
            found.setdefault(step, []).append(name)
    return found


def megabytes(measured: Mapping[str, float], job: str) -> int:
    """Return the memory to ask for; a reading not measured counts as its experiment."""
    job = job.split("/")[0]  # of fits, their experiment
    known = measured.get(job, measured.get(job.split("@")[0]))
    if known is None:
        return UNMEASURED_MEGABYTES
    return math.ceil((_START + _MARGIN * known) / 100) * 100


def minutes(config: Paper, group: FitGroup) -> int:
    """Return the limit on the time of fits."""
    seconds = sum(expected_seconds(config, job) for job in group.jobs)
    return max(_LEAST_MINUTES, math.ceil(_SLOWER * seconds / 60))
