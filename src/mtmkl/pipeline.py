"""The steps of a run, each from files to files.

The rules of the workflow and ``mtmkl run`` call the same functions, so both do the
same work. A step reads its inputs, computes, and writes whole files only.
"""

import contextlib
import json
import os
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtmkl.config import ConfigError
from mtmkl.evaluation.plan import (
    FitJob,
    MethodSpec,
    Variant,
    find_variant,
    fit_jobs,
    method_specs,
)
from mtmkl.evaluation.seeds import data_seed
from mtmkl.files import read_json, read_table, write_json, write_table

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from mtmkl.datasets.container import MultiTaskData
    from mtmkl.datasets.splits import Split, SplitKey
    from mtmkl.evaluation.cells import Job

UNSUPPORTED = "unsupported"
"""Metric of the row that says why a method was not run."""

FAILED = "failed"
"""Metric of the row that says why a method has no scores: it raised an exception."""

_METHOD = ["experiment", "dataset", "method"]
_CELL_LOOP = "mtmkl.evaluation.cells"
_BEST_ON_TEST = "mtmkl.papers.yousefi2015.best_on_test"


def method_module(class_name: str) -> str:
    """Return the module that defines a configured method's class.

    Parameters
    ----------
    class_name : str
        Registered name or ``package.module:Class``.

    Raises
    ------
    ValueError
        If the name is not registered and not a dotted path.
    """
    from mtmkl.methods import resolve

    return str(resolve(class_name).__module__)


def check_names(config: Mapping[str, Any]) -> None:
    """Check the names and values of a paper's configuration, before any work.

    Raises
    ------
    ValueError
        Names the method and what it lacks, or the metric, test or argument that is
        wrong; the metric that a data set cannot have, or that nothing can be chosen by.
    """
    from mtmkl.config_checks import check_settings
    from mtmkl.statistics.claims import check_claims

    check_settings(config)
    check_claims(config["claims"], config["methods"])


def code_version(method: Mapping[str, Any], metrics: Iterable[str]) -> str:
    """Return the fingerprint of the code behind a configured method's scores.

    It covers the method, its solvers, the loop over cells and the metrics; data and
    splits enter a cell's key by content.
    """
    from mtmkl.evaluation.fingerprint import code_fingerprint
    from mtmkl.evaluation.metrics import metric_module

    if method["selection"] == "best_on_test":
        return code_fingerprint(_BEST_ON_TEST)
    measures = {metric_module(name) for name in metrics}
    return code_fingerprint(
        method_module(method["class"]), _CELL_LOOP, *sorted(measures)
    )


def use_mirror(folder: str | None) -> None:
    """Take data sets from a folder, here and in the processes started from here.

    Parameters
    ----------
    folder : str or None
        None leaves the environment variable ``MTMKL_DATA_MIRROR`` as it is.

    Raises
    ------
    mtmkl.config.ConfigError
        If there is no such folder.
    """
    if folder is None:
        return
    if not Path(folder).is_dir():
        raise ConfigError(f"key 'mirror': {folder!r} is not a folder")
    os.environ["MTMKL_DATA_MIRROR"] = str(Path(folder).resolve())


def load_variant(
    variant: Variant, seed: int, *, repeat: int = 0, download: bool = False
) -> "MultiTaskData":
    """Load a data set, or the draw of one repeat where repeats differ.

    Parameters
    ----------
    variant : Variant
    seed : int
        The root seed; like ``repeat`` it matters for drawn sets alone
        (``mtmkl.datasets.is_drawn``), unless the options of the variant hold a seed.
    repeat : int
    download : bool
        Whether to try the network for what is neither in the mirror nor cached.

    Raises
    ------
    mtmkl.datasets.DataNotAvailableError
        If the files are nowhere; names the data set and the remedy.
    """
    from mtmkl.datasets import is_drawn, load

    options = dict(variant.options)
    if is_drawn(variant.name):
        options.setdefault("seed", data_seed(seed, variant.name, repeat))
    return load(variant.name, download=download, **options)


def describe_data(
    variant: Variant, seed: int, *, download: bool, on_missing: str
) -> dict[str, Any]:
    """Return what reports say of a data set, whether it is there or not.

    Of a set that is drawn for every repeat it is the first repeat's draw.

    Parameters
    ----------
    variant : Variant
    seed : int
        The root seed.
    download : bool
        Whether to try the network.
    on_missing : {"report", "fail"}
        What to do when the data cannot be had.

    Raises
    ------
    mtmkl.datasets.DataNotAvailableError
        If they are missing and the policy is to fail.
    """
    import numpy as np

    from mtmkl.datasets import DataNotAvailableError, describe
    from mtmkl.sparse import is_sparse

    info = {"id": variant.id, "name": variant.name, **describe(variant.name)}
    try:
        data = load_variant(variant, seed, download=download)
    except DataNotAvailableError as error:
        if on_missing == "fail":
            raise
        return info | {"status": "missing", "reason": str(error)}
    sizes = data.task_sizes
    return info | {
        "status": "ok",
        "reason": "",
        "origin": data.origin,
        "digest": data.digest(),
        "n": int(data.X.shape[0]),
        "d": int(data.X.shape[1]),
        **({"nonzeros": int(data.X.nnz)} if is_sparse(data.X) else {}),
        "n_tasks": data.n_tasks,
        "task_sizes": [int(sizes.min()), float(np.median(sizes)), int(sizes.max())],
        "feature_names": list(data.feature_names),
        "task_names": list(data.task_names),
    }


def write_data_info(
    path: Path, variant: Variant, seed: int, *, download: bool, on_missing: str
) -> None:
    """Write :func:`describe_data` as JSON."""
    info = describe_data(variant, seed, download=download, on_missing=on_missing)
    write_json(path, info)


def write_splits(
    path: Path,
    data_info: Path,
    variant: Variant,
    protocol: Mapping[str, Any],
    seed: int,
) -> None:
    """Write the splits of a data set under a protocol; none if the data are missing.

    Where repeats differ in their data, each is split by its own.
    """
    from mtmkl.datasets import is_drawn
    from mtmkl.datasets.splits import make_splits, save_splits

    splits: dict[SplitKey, Split] = {}
    if read_json(data_info)["status"] == "ok":
        if is_drawn(variant.name):
            for repeat in range(protocol["repeats"]):
                data = load_variant(variant, seed, repeat=repeat)
                splits |= make_splits(data, protocol, seed, repeats=[repeat])
        else:
            splits = make_splits(load_variant(variant, seed), protocol, seed)
    save_splits(path, splits)


def job_config(config: Mapping[str, Any], plan: FitJob) -> dict[str, Any]:
    """Return the part of a paper's configuration that a fit job depends on."""
    used = (
        "datasets", "protocol", "mode", "metrics", "record_tasks", "select_by",
        "record_path", "arrays",
    )  # fmt: skip
    experiment = config["experiments"][plan.experiment]
    entry = next(e for e in experiment["methods"] if e["method"] == plan.method)
    protocol = experiment["protocol"]
    return {
        "paper": {"id": config["paper"]["id"]},
        "protocols": {protocol: {"kind": config["protocols"][protocol]["kind"]}},
        "methods": {plan.method: config["methods"][plan.method]},
        "experiments": {
            plan.experiment: {k: experiment[k] for k in used if k in experiment}
            | {"methods": [entry]}
        },
    }


def warm_compiled_code(class_names: list[str]) -> dict[str, float]:
    """Compile what the methods need, so that parallel jobs find it on disk.

    Parameters
    ----------
    class_names : list of str
        Configured classes.

    Returns
    -------
    dict of str to float
        Seconds that a first small fit of each took. A method that fails here is left
        to fail in its jobs, which say so.
    """
    import time
    import warnings

    import numpy as np

    from mtmkl.methods import resolve

    rng = np.random.default_rng(0)
    # One task a column, with the same rows: what methods that find graphs ask for.
    X, task = np.tile(rng.normal(size=(12, 3)), (3, 1)), np.repeat([0, 1, 2], 12)
    y = np.where(rng.random(36) < 0.5, -1.0, 1.0)
    seconds = {}
    for name in class_names:
        start = time.perf_counter()
        with warnings.catch_warnings(), contextlib.suppress(Exception):
            warnings.simplefilter("ignore")
            resolve(name)().fit(X, y, task=task)
        seconds[name] = time.perf_counter() - start
    return seconds


def run_fit(
    config: Mapping[str, Any],
    plan: FitJob,
    *,
    seed: int,
    splits: Path,
    scores: Path,
    arrays: Path,
    cache: Path,
    first_chunk: Path | None = None,
    progress: Callable[[str], None] = lambda message: None,
) -> None:
    """Run one fit job and write its scores and kept arrays.

    A method that cannot be run on the data, or that fails, leaves one row instead,
    metric "unsupported" or "failed", with the reason in the column of the parameters.
    Cells finished before a failure stay in the cache: a new run tries the rest again.

    Parameters
    ----------
    config : mapping
        The paper's configuration, or the part that :func:`job_config` gives.
    plan : FitJob
    seed : int
        The root seed.
    splits : Path
        Read; without splits (missing data) the outputs are empty tables.
    scores, arrays : Path
        Written: ``.csv.gz`` and ``.npz``.
    cache : Path
        Folder of finished cells.
    first_chunk : Path or None
        Scores of the chunk that chose what the method holds.
    progress : callable
        Told a line after each cell, and the traceback of a failure.
    """
    from threadpoolctl import threadpool_limits

    from mtmkl.datasets.splits import load_splits, train_unit
    from mtmkl.evaluation import cells
    from mtmkl.evaluation.cache import write_npz
    from mtmkl.evaluation.cells import Job
    from mtmkl.evaluation.failures import MethodFailedError
    from mtmkl.evaluation.metrics import metric
    from mtmkl.methods import resolve
    from mtmkl.papers.yousefi2015 import best_on_test

    spec: MethodSpec = method_specs(config, plan.experiment)[plan.method]
    spec = spec.with_design(seed)
    variant = find_variant(config, plan.dataset)
    experiment = config["experiments"][plan.experiment]
    job = Job(
        paper=config["paper"]["id"],
        plan=plan,
        spec=spec,
        method_class=resolve(spec.class_name),
        experiment=experiment,
        metrics={name: metric(name) for name in experiment["metrics"]},
        seed=seed,
        code_version=code_version(config["methods"][spec.id], experiment["metrics"]),
        cache=cache,
        held={},
        train_unit=train_unit(config["protocols"][experiment["protocol"]]["kind"]),
    )
    kept: dict[str, NDArray[Any]] = {}
    stored = load_splits(splits)
    try:
        reason = _unsupported(job, variant) if stored else None
        if reason is not None:
            table = _gap(job, UNSUPPORTED, reason)
        else:
            job = replace(job, held=_held(job, first_chunk))
            loop = best_on_test if spec.selection == "best_on_test" else cells
            # Parallelism comes from jobs; one thread also makes sums independent of
            # cores.
            with threadpool_limits(1):
                table, kept = loop.run_job(
                    job,
                    lambda repeat: load_variant(variant, seed, repeat=repeat),
                    stored,
                    progress=progress,
                )
    except MethodFailedError as error:
        progress(traceback.format_exc())
        table = _gap(job, FAILED, str(error))
    write_npz(arrays, kept)
    write_table(scores, table)


def _unsupported(job: "Job", variant: Variant) -> str | None:
    """Return why a method cannot be run on the data, if it says so."""
    from mtmkl.evaluation.failures import naming
    from mtmkl.methods.base import refusal_of_sparse
    from mtmkl.sparse import is_sparse

    cls, spec = job.method_class, job.spec
    if not hasattr(cls, "unsupported") and not hasattr(cls, "__sklearn_tags__"):
        return None
    data = load_variant(variant, job.seed, repeat=job.plan.repeats[0])
    with naming(f"method {job.plan.method!r} on {job.plan.dataset}"):
        reason: str | None = None
        if hasattr(cls, "unsupported"):
            reason = cls.unsupported(data)
        # The protocol of the published code is no estimator, and refuses by itself.
        if reason is None and is_sparse(data.X) and spec.selection != "authors_code":
            points = spec.grid_points() or [{}]
            reasons = (
                refusal_of_sparse(cls(**{**spec.params, **p}), data.X) for p in points
            )
            reason = next(filter(None, reasons), None)
    return reason


def _held(job: "Job", first_chunk: Path | None) -> dict[str, Any]:
    """Return what the first chunk of a method has chosen; its failure is everyone's."""
    from mtmkl.evaluation.cells import held_params
    from mtmkl.evaluation.failures import MethodFailedError

    if first_chunk is None:
        return {}
    chosen = read_table(first_chunk, keep_default_na=False)
    failed = chosen[chosen["metric"] == FAILED]
    if len(failed):
        raise MethodFailedError(json.loads(failed["params"].iloc[0])["reason"])
    return held_params(job.spec, chosen) if len(chosen) else {}


def _gap(job: "Job", metric: str, reason: str) -> "pd.DataFrame":
    """Return the one row that stands for a method without scores."""
    import pandas as pd

    from mtmkl.evaluation.cells import ALL, COLUMNS

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


def data_source(variant: Variant) -> str:
    """Return where a data set would come from, without reading it.

    One of "generated", "mirror", "cache" and "missing": a change makes the workflow
    look again.
    """
    from mtmkl.datasets import is_generator, locate

    if is_generator(variant.name):
        return "generated"
    return locate(variant.name) or "missing"


def needs_first_chunk(config: Mapping[str, Any], plan: FitJob) -> bool:
    """Tell whether a job holds what the first chunk of its method has chosen."""
    spec = method_specs(config, plan.experiment)[plan.method]
    return any(repeat not in plan.repeats for repeat in spec.hold.values())


def collect_scores(config: Mapping[str, Any], fits: Path, scores: Path) -> None:
    """Write one scores table of all fit jobs of a paper, in the order of its plan."""
    import pandas as pd

    tables = [
        read_table(fits / f"{job.stem}.csv.gz", keep_default_na=False, dtype=str)
        for job in fit_jobs(config)
    ]
    write_table(scores, complete_methods(pd.concat(tables, ignore_index=True)))


def complete_methods(scores: "pd.DataFrame") -> "pd.DataFrame":
    """Leave out the scores of methods that failed in another of their jobs.

    Fewer repeats than planned must not pass for all.

    Parameters
    ----------
    scores : DataFrame
        Of all fit jobs.

    Returns
    -------
    DataFrame
        Of a method that failed on a data set in an experiment it has only the rows
        that say so.
    """
    import pandas as pd

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


def discard_failures(config: Mapping[str, Any], fits: Path, scores: Path) -> None:
    """Delete the scores of fit jobs whose method failed, so that they run again.

    Parameters
    ----------
    config : mapping
        The paper's configuration.
    fits : Path
        Folder of the scores of its fit jobs.
    scores : Path
        The scores table of the paper, which stays.
    """
    failed = set(_failed_rows(scores)[_METHOD].itertuples(index=False, name=None))
    for job in fit_jobs(config):
        if (job.experiment, job.dataset, job.method) in failed:
            (fits / f"{job.stem}.csv.gz").unlink(missing_ok=True)


def _failed_rows(scores: Path) -> "pd.DataFrame":

    table = read_table(scores, keep_default_na=False, dtype=str)
    failed = table[table["metric"] == FAILED]
    return failed.drop_duplicates([*_METHOD, "params"])


def missing_data(data_infos: Iterable[Path]) -> list[str]:
    """Return why data sets are missing and what brings them, a line for each set.

    Parameters
    ----------
    data_infos : iterable of Path
        Files of :func:`write_data_info`.
    """
    infos = [read_json(path) for path in data_infos]
    return list(
        dict.fromkeys(info["reason"] for info in infos if info["status"] == "missing")
    )
