"""The fits of a paper: run by processes, gathered into one table of scores."""

import json
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mtmkl.methods._base.checks import refusal_of_sparse
from mtmkl.sparse import is_sparse
from mtmkl_suite.config.models import Method, Paper, Variant
from mtmkl_suite.data.protocols import Protocol, train_unit
from mtmkl_suite.data.splits import load_splits
from mtmkl_suite.evaluation.cache import write_npz
from mtmkl_suite.evaluation.cells import (
    ALL,
    COLUMNS,
    MethodFailedError,
    held_params,
    naming,
    run_job,
)
from mtmkl_suite.evaluation.jobs import FitJob, Job, MethodSpec
from mtmkl_suite.evaluation.selectors import resolve_selector
from mtmkl_suite.evaluation.supplied import refusal_of_matrices
from mtmkl_suite.files import read_table, write_table
from mtmkl_suite.methods import resolve
from mtmkl_suite.metrics import metric
from mtmkl_suite.run.fit_warnings import warnings_of
from mtmkl_suite.run.folders import PaperFolder
from mtmkl_suite.run.grouping import FitGroup, fit_groups
from mtmkl_suite.run.pipeline import code_version, load_variant
from mtmkl_suite.run.plan import find_variant, method_specs

UNSUPPORTED = "unsupported"
"""Metric of the row that says why a method was not run."""

FAILED = "failed"
"""Metric of the row that says why a method has no scores: it raised an exception."""

_METHOD = ["experiment", "dataset", "method"]


def group_config(config: Paper, group: FitGroup) -> Paper:
    """Return a paper's configuration with what the fits of a group depend on alone."""
    experiment = config.experiments[group.experiment]
    methods = {job.method for job in group.jobs}
    entries = [each for each in experiment.methods if each.method in methods]
    protocol = config.protocols[experiment.protocol]
    blank = {"title": "", "section": "", "repeats": None, "methods": entries}
    cited = dict.fromkeys(("title", "authors", "venue"), "")
    found = {
        "paper": config.paper.model_copy(update={**cited, "year": 0, "doi": None}),
        "protocols": {
            experiment.protocol: Protocol.model_construct(kind=protocol.kind)
        },
        "methods": {each.method: config.methods[each.method] for each in entries},
        "experiments": {group.experiment: experiment.model_copy(update=blank)},
        "artefacts": {},
        "claims": [],
        "seconds": {},
        "changes": {},
        "readings": None,
    }
    return config.model_copy(update=found)


def _method_of(config: Paper, job: FitJob) -> Method:
    return config.method_of(config.experiments[job.experiment].entry(job.method))


@dataclass(frozen=True)
class Fits:
    """Files that a fit job leaves."""

    plan: FitJob
    scores: pd.DataFrame
    """With the columns of a scores table."""
    arrays: dict[str, NDArray[Any]]
    """Kept attributes, by ``name|train size|repeat|n_tasks|subset``."""


def run_fit(
    config: Paper,
    plan: FitJob,
    *,
    seed: int,
    splits: Path,
    cache: Path,
    chosen: pd.DataFrame | None = None,
    progress: Callable[[str], None] = lambda message: None,
) -> Fits:
    """Run one fit job.

    A method that cannot be run on the data, or that fails, leaves one row instead,
    metric "unsupported" or "failed", with the reason in the column of the parameters.
    Cells finished before a failure stay in the cache: a new run tries the rest again.
    """
    stored = load_splits(splits)
    if not stored:
        return Fits(plan, no_scores(), {})
    spec: MethodSpec = method_specs(config, plan.experiment)[plan.method]
    spec = spec.with_design(seed)
    variant = find_variant(config, plan.dataset)
    experiment = config.experiments[plan.experiment]
    job = Job(
        paper=config.paper.id,
        plan=plan,
        spec=spec,
        method_class=resolve(spec.class_name),
        experiment=experiment,
        metrics={name: metric(name) for name in experiment.metrics},
        seed=seed,
        code_version=code_version(_method_of(config, plan)),
        cache=cache,
        held={},
        train_unit=train_unit(config.protocols[experiment.protocol].kind),
    )
    try:
        reason = _unsupported(job, variant)
        if reason is not None:
            return Fits(plan, _gap(job, UNSUPPORTED, reason), {})
        job = replace(job, held=_held(job, chosen))
        # Parallelism comes from jobs; one thread also makes sums independent of cores.
        with threadpool_limits(1):
            scores, arrays = run_job(
                job,
                lambda repeat: load_variant(variant, seed, repeat=repeat),
                stored,
                progress=progress,
            )
    except MethodFailedError as error:
        progress(traceback.format_exc())
        return Fits(plan, _gap(job, FAILED, str(error)), {})
    return Fits(plan, scores, arrays)


def run_fits(
    config: Paper,
    group: FitGroup,
    folder: PaperFolder,
    *,
    seed: int,
    cache: Path,
    chosen: Path | None = None,
    progress: Callable[[str], None] = lambda message: None,
) -> None:
    """Run the fits that share a process and write their results."""
    experiment = config.experiments[group.experiment]
    splits = {
        job.dataset: folder.splits(experiment.protocol, job.dataset)
        for job in group.jobs
    }
    before = read_table(chosen, keep_default_na=False) if chosen else None
    fits = []
    for job in group.jobs:
        with warnings_of(config.methods[job.method].label):
            fit = run_fit(
                config,
                job,
                seed=seed,
                splits=splits[job.dataset],
                cache=cache,
                chosen=before,
                progress=progress,
            )
        fits.append(fit)
    write_fits(group, fits, folder)


def write_fits(group: FitGroup, fits: Iterable[Fits], folder: PaperFolder) -> None:
    """Write the scores and the arrays of the fits of a group."""
    fits = list(fits)
    # As objects: the numbers of a fit are written alike whatever stands beside them.
    scores = pd.concat([fit.scores.astype(object) for fit in fits], ignore_index=True)
    arrays = {
        f"{place(fit.plan)}|{name}": array
        for fit in fits
        for name, array in fit.arrays.items()
    }
    write_npz(folder.arrays_of(group.name), arrays)
    write_table(folder.scores_of(group.name), scores)


def place(plan: FitJob) -> str:
    """Return what stands before the name of an array kept of a fit."""
    return f"{plan.experiment}/{plan.dataset}/{plan.method}"


def no_scores() -> pd.DataFrame:
    """Return a scores table without rows."""
    return pd.DataFrame(columns=list(COLUMNS))


def _unsupported(job: Job, variant: Variant) -> str | None:
    """Return why a method cannot be run on the data, if it says so."""
    cls, spec = job.method_class, job.spec
    data = load_variant(variant, job.seed, repeat=job.plan.repeats[0])
    with naming(f"method {job.plan.method!r} on {job.plan.dataset}"):
        reason: str | None = None
        if hasattr(cls, "unsupported"):
            reason = cls.unsupported(data)
        settings = [{**spec.params, **p} for p in spec.grid_points() or [{}]]
        if reason is None:
            reason = refusal_of_matrices(cls, settings, data)
        # A paper's own way of choosing refuses data itself.
        is_estimator = resolve_selector(spec.selection).takes is None
        if reason is None and is_sparse(data.X) and is_estimator:
            reasons = (refusal_of_sparse(cls(**each), data.X) for each in settings)
            reason = next(filter(None, reasons), None)
    return reason


def _held(job: Job, chosen: pd.DataFrame | None) -> dict[str, Any]:
    """Return what the first chunk of a method has chosen; its failure is everyone's."""
    if chosen is None or chosen.empty:
        return {}
    failed = chosen[chosen["metric"] == FAILED]
    if len(failed):
        raise MethodFailedError(json.loads(failed["params"].iloc[0])["reason"])
    return held_params(job.spec, chosen)


def _gap(job: Job, metric: str, reason: str) -> pd.DataFrame:
    """Return the one row of a method without scores."""
    row = dict.fromkeys(COLUMNS) | {
        "paper": job.paper,
        "experiment": job.plan.experiment,
        "dataset": job.plan.dataset,
        "method": job.plan.method,
        "task": ALL,
        "metric": metric,
        "params": json.dumps({"reason": reason}),
        "code_version": job.code_version,
        "train_unit": job.train_unit,
    }
    return pd.DataFrame([row], columns=list(COLUMNS))


def needs_first_chunk(config: Paper, plan: FitJob) -> bool:
    """Tell whether a job holds what the first chunk of its method has chosen."""
    spec = method_specs(config, plan.experiment)[plan.method]
    return any(repeat not in plan.repeats for repeat in spec.hold.values())


def collect_scores(config: Paper, folder: PaperFolder) -> None:
    """Write one scores table of all fits of a paper, in the order of its plan."""
    tables = [
        read_table(folder.scores_of(group.name), keep_default_na=False, dtype=str)
        for group in fit_groups(config)
    ] or [no_scores()]  # a figure of equations needs none
    scores = complete_methods(pd.concat(tables, ignore_index=True))
    write_table(folder.scores, scores)


def complete_methods(scores: pd.DataFrame) -> pd.DataFrame:
    """Leave out the scores of methods that failed in another of their jobs.

    Fewer repeats than planned must not pass for all.
    """
    is_failure = scores["metric"] == FAILED
    place = pd.MultiIndex.from_frame(scores[_METHOD])
    return scores[is_failure | ~place.isin(place[is_failure])]


def failures(scores: Path) -> list[str]:
    """Return a line for each method that failed, from the scores table of a paper."""
    failed = _failed_rows(scores)
    return [
        f"experiment {experiment!r}: {json.loads(params)['reason']}"
        for experiment, params in zip(
            failed["experiment"], failed["params"], strict=True
        )
    ]


def discard_failures(config: Paper, folder: PaperFolder) -> None:
    """Delete the scores of fits whose method failed, so that they run again."""
    failed = set(
        _failed_rows(folder.scores)[_METHOD].itertuples(index=False, name=None)
    )
    for group in fit_groups(config):
        places = {(job.experiment, job.dataset, job.method) for job in group.jobs}
        if places & failed:
            folder.scores_of(group.name).unlink(missing_ok=True)


def _failed_rows(scores: Path) -> pd.DataFrame:
    table = read_table(scores, keep_default_na=False, dtype=str)
    failed = table[table["metric"] == FAILED]
    return failed.drop_duplicates([*_METHOD, "params"])
