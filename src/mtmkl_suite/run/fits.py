"""The fits of a paper: run by processes, gathered into one table of scores."""

import json
import re
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from mtmkl.methods._base.checks import refusal_of_sparse
from mtmkl.sparse import is_sparse
from mtmkl_suite.config.models import Paper, Variant
from mtmkl_suite.data.protocols import Protocol, train_unit
from mtmkl_suite.data.splits import Split, SplitKey, load_splits
from mtmkl_suite.evaluation.cells import (
    ALL,
    COLUMNS,
    FitJob,
    Job,
    MethodFailedError,
    drawn_points,
    held_params,
    naming,
    run_job,
)
from mtmkl_suite.evaluation.selectors import resolve_selector
from mtmkl_suite.evaluation.supplied import refusal_of_matrices
from mtmkl_suite.files import read_table, write_npz, write_table
from mtmkl_suite.methods import resolve
from mtmkl_suite.metrics import metric
from mtmkl_suite.run.folders import PaperFolder
from mtmkl_suite.run.pipeline import load_variant
from mtmkl_suite.run.plan import FitGroup, fit_groups

UNSUPPORTED = "unsupported"
"""Metric of the row that says why a method was not run."""

FAILED = "failed"
"""Metric of the row that says why a method has no scores: it raised an exception."""

_METHOD = ["experiment", "dataset", "method"]

_WARNING = re.compile(r"(?P<start>.*: (?P<category>\w*Warning)): .*")
"""Line in the log of a job."""


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


def run_fit(
    config: Paper,
    plan: FitJob,
    *,
    seed: int,
    splits: Mapping[SplitKey, Split],
    cache: Path,
    version: str,
    chosen: pd.DataFrame | None = None,
    progress: Callable[[str], None] = lambda message: None,
) -> tuple[pd.DataFrame, dict[str, NDArray[Any]]]:
    """Run one fit job, and return its scores and the attributes that are kept.

    A method that cannot be run on the data, or that fails, leaves one row instead,
    metric "unsupported" or "failed", with the reason in the column of the parameters.
    Cells finished before a failure stay in the cache: a new run tries the rest again.
    """
    if not splits:
        return no_scores(), {}
    experiment = config.experiments[plan.experiment]
    variant = next(v for v in experiment.variants if v.id == plan.dataset)
    entry = experiment.entry(plan.method)
    method = config.method_of(entry)
    job = Job(
        paper=config.paper.id,
        plan=plan,
        experiment=experiment,
        entry=entry,
        method=method,
        method_class=resolve(method.class_name),
        grid=drawn_points(method, plan.method, seed),
        metrics={name: metric(name) for name in experiment.metrics},
        seed=seed,
        code_version=version,
        cache=cache,
        held={},
        train_unit=train_unit(config.protocols[experiment.protocol].kind),
    )
    try:
        reason = _unsupported(job, variant)
        if reason is not None:
            return _gap(job, UNSUPPORTED, reason), {}
        job = replace(job, held=_held(job, chosen))
        # Parallelism comes from jobs; one thread also makes sums independent of cores.
        with threadpool_limits(1):
            return run_job(
                job,
                lambda repeat: load_variant(variant, seed, repeat=repeat),
                splits,
                progress=progress,
            )
    except MethodFailedError as error:
        progress(traceback.format_exc())
        return _gap(job, FAILED, str(error)), {}


def run_fits(
    config: Paper,
    group: FitGroup,
    folder: PaperFolder,
    *,
    seed: int,
    cache: Path,
    versions: Mapping[str, str],
    chosen: Path | None = None,
    progress: Callable[[str], None] = lambda message: None,
) -> None:
    """Run the fits that share a process and write their results."""
    protocol = config.experiments[group.experiment].protocol
    before = read_table(chosen, keep_default_na=False) if chosen else None
    tables: list[pd.DataFrame] = []
    arrays: dict[str, NDArray[Any]] = {}
    for job in group.jobs:
        with warnings_of(config.methods[job.method].label):
            scores, kept = run_fit(
                config,
                job,
                seed=seed,
                splits=load_splits(folder.splits(protocol, job.dataset)),
                cache=cache,
                version=versions[job.method],
                chosen=before,
                progress=progress,
            )
        tables.append(scores)
        arrays |= {f"{job.place}|{name}": array for name, array in kept.items()}
    write_fits(folder, group.name, tables, arrays)


def write_fits(
    folder: PaperFolder,
    name: str,
    tables: Iterable[pd.DataFrame],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write the scores and the arrays of fits that shared a process."""
    # As objects: the numbers of a fit are written alike whatever stands beside them.
    scores = pd.concat([table.astype(object) for table in tables], ignore_index=True)
    write_npz(folder.arrays_of(name), arrays)
    write_table(folder.scores_of(name), scores)


@contextmanager
def warnings_of(method: str) -> Iterator[None]:
    """Print warnings, each in a line with the label of the method that is fitted."""

    def show(
        message: Warning | str, category: type[Warning], *_: object, **__: object
    ) -> None:
        text = " ".join(str(message).split())
        print(f"{method}: {category.__name__}: {text}")

    with warnings.catch_warnings():
        # By default the same text from the same line comes once.
        warnings.simplefilter("always", ConvergenceWarning)
        warnings.showwarning = show
        yield


def counted_warnings(logs: Iterable[Path]) -> list[str]:
    """Count warnings in logs by method and text, those of convergence by method."""
    kinds: Counter[str] = Counter()
    for log in logs:
        for line in log.read_text(encoding="utf-8").splitlines():
            if found := _WARNING.fullmatch(line):
                is_solver = found["category"] == ConvergenceWarning.__name__
                kinds[found["start"] if is_solver else line] += 1
    return [f"{kind} ({n} times)" if n > 1 else kind for kind, n in kinds.items()]


def no_scores() -> pd.DataFrame:
    """Return a scores table without rows."""
    return pd.DataFrame(columns=list(COLUMNS))


def _unsupported(job: Job, variant: Variant) -> str | None:
    """Return why a method cannot be run on the data, if it says so."""
    cls = job.method_class
    data = load_variant(variant, job.seed, repeat=job.plan.repeats[0])
    with naming(f"method {job.plan.method!r} on {job.plan.dataset}"):
        reason: str | None = None
        if hasattr(cls, "unsupported"):
            reason = cls.unsupported(data)
        settings = [{**job.method.params, **point} for point in job.grid]
        if reason is None:
            reason = refusal_of_matrices(cls, settings, data)
        # A paper's own way of choosing refuses data itself.
        is_estimator = resolve_selector(job.method.selection).takes is None
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
    return held_params(job.entry, chosen)


def _gap(job: Job, metric: str, reason: str) -> pd.DataFrame:
    """Return the one row of a method without scores."""
    params = json.dumps({"reason": reason})
    row = job.columns | {"task": ALL, "metric": metric, "params": params}
    return pd.DataFrame([row], columns=list(COLUMNS))


def needs_first_chunk(config: Paper, plan: FitJob) -> bool:
    """Tell whether a job holds what the first chunk of its method has chosen."""
    hold = config.experiments[plan.experiment].entry(plan.method).hold
    return any(repeat not in plan.repeats for repeat in hold.values())


def collect_scores(config: Paper, folder: PaperFolder) -> None:
    """Write one scores table of all fits of a paper, in the order of its plan."""
    tables = [
        read_table(folder.scores_of(group.name), keep_default_na=False, dtype=str)
        for group in fit_groups(config)
    ] or [no_scores()]  # a figure of equations needs none
    scores = complete_methods(pd.concat(tables, ignore_index=True))
    write_table(folder.scores, scores)


def complete_methods(scores: pd.DataFrame) -> pd.DataFrame:
    """Leave out methods that failed in one of their jobs: some repeats are not all."""
    is_failure = scores["metric"] == FAILED
    place = pd.MultiIndex.from_frame(scores[_METHOD])
    return scores[is_failure | ~place.isin(place[is_failure])]


def failures(scores: Path) -> list[str]:
    """Return a line for each method that failed, from the scores table of a paper."""
    failed = _failed_rows(scores)
    return [
        f"experiment {row['experiment']!r}: {json.loads(row['params'])['reason']}"
        for row in failed.to_dict("records")
    ]


def discard_failures(config: Paper, folder: PaperFolder) -> None:
    """Delete the scores of fits whose method failed, so that they run again."""
    failed = {"/".join(row) for row in _failed_rows(folder.scores)[_METHOD].to_numpy()}
    for group in fit_groups(config):
        if failed & {job.place for job in group.jobs}:
            folder.scores_of(group.name).unlink(missing_ok=True)


def _failed_rows(scores: Path) -> pd.DataFrame:
    table = read_table(scores, keep_default_na=False, dtype=str)
    failed = table[table["metric"] == FAILED]
    return failed.drop_duplicates([*_METHOD, "params"])
