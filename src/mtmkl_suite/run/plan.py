"""The fit jobs of a paper, by its configuration."""

import math
from collections.abc import Iterator, Mapping

from mtmkl_suite.config.models import Paper, Variant
from mtmkl_suite.evaluation.jobs import FitJob, MethodSpec

JOB_SECONDS = 300.0
"""Longest time of the repeats in one job, on one core; a single one may exceed it."""

UNMEASURED_REPEATS = 5
"""Repeats in one job of a method whose seconds were never measured."""


def method_specs(config: Paper, experiment: str) -> dict[str, MethodSpec]:
    """Return the configured methods of an experiment by their id."""
    specs = {}
    for entry in config.experiments[experiment].methods:
        method = config.method_of(entry)
        specs[entry.method] = MethodSpec(
            id=entry.method,
            class_name=method.class_name,
            params=method.params,
            grid=method.grid,
            selection=method.selection,
            n_tasks=tuple(entry.n_tasks),
            hold=entry.hold,
            along=tuple(entry.along),
            search=method.search.points if method.search else None,
        )
    return specs


def fit_jobs(config: Paper) -> Iterator[FitJob]:
    """Yield every fit job of a paper, in the order of its configuration.

    In the paper tier a method's repeats are cut into jobs of about
    :data:`JOB_SECONDS`, by the seconds that were once measured; never by the machine
    at hand, so that the plan is the same everywhere.
    """
    for name, experiment in config.experiments.items():
        repeats = config.n_repeats(name)
        # What a record has of other methods is not fitted again.
        own = config.own if config.record is not None else None
        specs = method_specs(config, name)
        for variant in experiment.variants:
            for spec in specs.values():
                if own is not None and spec.id not in own:
                    continue
                size = _repeats_per_job(config, name, variant, spec, repeats)
                for chunk, first in enumerate(range(0, repeats, size)):
                    yield FitJob(
                        name,
                        variant.id,
                        spec.id,
                        chunk,
                        tuple(range(first, min(first + size, repeats))),
                    )


def expected_seconds(
    measured: Mapping[str, float], job: FitJob, unmeasured: float = JOB_SECONDS
) -> float:
    """Return what a job took once, ``unmeasured`` if it was never measured."""
    seconds = measured.get(f"{job.experiment}/{job.dataset}/{job.method}")
    return unmeasured if seconds is None else seconds * len(job.repeats)


def _repeats_per_job(
    config: Paper, experiment: str, variant: Variant, spec: MethodSpec, repeats: int
) -> int:
    if config.tier != "paper":
        return repeats
    measured = config.seconds.get(f"{experiment}/{variant.id}/{spec.id}")
    if measured is None:
        size = min(UNMEASURED_REPEATS, repeats)
    else:
        size = math.ceil(repeats / max(1, math.ceil(measured * repeats / JOB_SECONDS)))
    # The first job chooses what the others hold.
    return max(size, *(repeat + 1 for repeat in spec.hold.values()), 1)


def find_variant(config: Paper, dataset: str) -> Variant:
    """Return the variant with this id."""
    return {variant.id: variant for variant in config.variants}[dataset]
