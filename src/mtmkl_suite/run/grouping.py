"""Groups of work that share a process.

In the quick tier a process takes longer to start than most fits: the data sets of a
paper share one, and so do the fits of an experiment, and all that is made of a paper's
fits. In the paper tier short fits of an experiment share one up to
:data:`PROCESS_SECONDS`, and longer ones have their own; of readings, hundreds of small
experiments, each shares one. What is fitted already is taken from the cache.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from mtmkl_suite.config.models import Paper, Variant
from mtmkl_suite.data.loaders.own import is_own
from mtmkl_suite.evaluation.jobs import FitJob
from mtmkl_suite.run.plan import expected_seconds, fit_jobs

PROCESS_SECONDS = 180.0
"""Longest time of the fits that share a process of the paper tier, on one core."""


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


def _shares(config: Paper) -> bool:
    return config.tier == "quick"


def fit_groups(config: Paper) -> list[FitGroup]:
    """Return the fits of a paper by process, in the order of its plan."""
    # Data of one's own may be large, and take time.
    is_own_data = any(
        is_own(experiment.datasets.name) for experiment in config.experiments.values()
    )
    of_readings = config.readings is not None
    by_experiment = of_readings or (_shares(config) and not is_own_data)

    groups: list[FitGroup] = []
    for name, jobs in groupby(fit_jobs(config), lambda job: job.experiment):
        if by_experiment:
            groups.append(FitGroup(name, tuple(jobs)))
        else:
            groups += _packed(config, jobs)
    return groups


def _packed(config: Paper, jobs: Iterable[FitJob]) -> Iterator[FitGroup]:
    """Yield the fits of an experiment by process, each named by its first job."""
    shared: list[FitJob] = []
    total = 0.0
    for job in jobs:
        seconds = expected_seconds(config.seconds, job)
        if shared and total + seconds > PROCESS_SECONDS:
            yield FitGroup(shared[0].stem, tuple(shared))
            shared, total = [], 0.0
        shared.append(job)
        total += seconds
    yield FitGroup(shared[0].stem, tuple(shared))


def group_of(groups: Iterable[FitGroup], job: FitJob) -> FitGroup:
    """Return the group that has the results of a fit."""
    for group in groups:
        if any(own.stem == job.stem for own in group.jobs):
            return group
    raise LookupError(f"no process has the fit {job.stem}")


def data_groups(config: Paper) -> list[list[Variant]]:
    """Return the data sets of a paper by the process that prepares them."""
    used = config.variants
    return [used] if _shares(config) else [[variant] for variant in used]


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


def all_results(config: Paper) -> ResultGroup:
    """Return all that is made of the fits of a paper, for one process."""
    computed, shown = tuple(steps(config)), tuple(config.artefacts)
    return ResultGroup("results", computed, shown, has_record=True)


def result_groups(config: Paper) -> list[ResultGroup]:
    """Return what is made of the fits of a paper by process."""
    if _shares(config) or config.record is not None:
        return [all_results(config)]
    return [
        *(ResultGroup(f"step_{name}", steps=(name,)) for name in steps(config)),
        *(ResultGroup(f"make_{n}", artefacts=(n,)) for n in config.artefacts),
        ResultGroup("record", has_record=True),
    ]


def steps(config: Paper) -> dict[str, list[str]]:
    """Return the steps that compute numbers, and the artefacts that draw these."""
    found: dict[str, list[str]] = {}
    for name, artefact in config.artefacts.items():
        for step in artefact.steps:
            found.setdefault(step, []).append(name)
    return found
