"""All steps of one paper in one call: the workflow's work without Snakemake."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtmkl import pipeline
from mtmkl.config import (
    TIERS,
    ConfigError,
    experiments_of,
    load_paper,
    load_run_config,
    read_yaml,
)
from mtmkl.evaluation.plan import FitJob, find_variant, fit_jobs, with_method
from mtmkl.files import write_json
from mtmkl.runs import lock_results, run_label


@dataclass(frozen=True)
class Layout:
    """Where the results of a paper in a run lie; the same as the workflow's.

    Attributes
    ----------
    results : Path
        The top folder, ``results``.
    label : str
        The run's folder in it, see :func:`mtmkl.runs.run_label`.
    paper : str
    """

    results: Path
    label: str
    paper: str

    @property
    def base(self) -> Path:
        """Folder of the paper."""
        return self.results / self.label / self.paper

    def data_info(self, dataset: str) -> Path:
        """File that describes a data set variant."""
        return self.base / "data" / f"{dataset}.json"

    def splits(self, protocol: str, dataset: str) -> Path:
        """File of a data set's splits under a protocol."""
        return self.base / "splits" / protocol / f"{dataset}.npz"

    def fit(self, job: FitJob, ending: str) -> Path:
        """File of a fit job's scores or arrays."""
        return self.base / "fits" / f"{job.stem}{ending}"

    def log(self, job: FitJob) -> Path:
        """File of the cells that a fit job finished, and of what went wrong."""
        return self.base / "logs" / f"{job.stem}.log"


@dataclass(frozen=True)
class Finished:
    """What a run has made, and what it could not.

    Attributes
    ----------
    report : Path
    failures : list of str
        A line for each method that failed; the others are in the report.
    missing : list of str
        A line for each data set that is missing, with the command that fetches it.
    logs : Path
        Folder of the logs of the fit jobs, with the tracebacks of failures.
    """

    report: Path
    failures: list[str]
    missing: list[str]
    logs: Path


def run_paper(
    paper: str | Path,
    *,
    tier: str = "quick",
    experiments: Sequence[str] | None = None,
    methods: Sequence[str] = (),
    grid: Mapping[str, list[Any]] | None = None,
    cores: int = 1,
    results: Path = Path("results"),
) -> Finished:
    """Run experiments of a paper with their statistics, artefacts and report.

    The results go to a folder named by :func:`mtmkl.runs.run_label`. Called again, it
    goes on where it was stopped.

    Parameters
    ----------
    paper : str or Path
        A folder in ``config/papers``, or a path.
    tier : {"quick", "paper"}
    experiments : sequence of str or None
        Which; None is all. Artefacts and claims on others are left out.
    methods : sequence of str
        Methods that join these experiments: configured ones, or
        ``package.module:Class``.
    grid : mapping of str to list or None
        Hyper-parameters of the joining methods, chosen by cross-validation; those of
        configured methods stand in their configuration.
    cores : int
        Processes.
    results : Path
        Top folder.

    Returns
    -------
    Finished

    Raises
    ------
    mtmkl.config.ConfigError
        If a name or a key is wrong, or the grid is nobody's, before any work is done.
    mtmkl.runs.ResultsInUseError
        If another process is writing the same results.
    """
    run = load_run_config({**_run_file(), "tier": tier, "papers": [str(paper)]})
    pipeline.use_mirror(run["mirror"])
    whole = load_paper(paper, tier)
    config = _restricted(whole, paper, experiments)
    if grid is not None and set(methods) <= set(config["methods"]):
        raise ConfigError(
            "--grid needs --method package.module:Class: configured methods have "
            "their grid in the paper's configuration"
        )
    for name in methods:
        for experiment in config["experiments"]:
            config = with_method(config, experiment, name, grid=grid)
    pipeline.check_names(config)
    label = run_label(
        run, experiments=_chosen(config, whole), methods=methods, grid=grid
    )
    layout = Layout(results, label, config["paper"]["id"])
    with lock_results(layout.base.parent):
        _prepare(config, run, layout)
        _fit_all(config, run, layout, cores)
        report = _report(config, run, layout)
    datasets = dict.fromkeys(job.dataset for job in fit_jobs(config))
    return Finished(
        report,
        failures=pipeline.failures(layout.base / "scores.csv.gz"),
        missing=pipeline.missing_data(map(layout.data_info, datasets)),
        logs=layout.base / "logs",
    )


def _run_file() -> dict[str, Any]:
    from mtmkl.config import config_dir

    content: dict[str, Any] = read_yaml(config_dir() / "config.yaml")
    return content


def _chosen(config: Mapping[str, Any], whole: Mapping[str, Any]) -> list[str]:
    """Return the experiments of a run in the paper's order, none if it is all."""
    if set(config["experiments"]) == set(whole["experiments"]):
        return []
    return [name for name in whole["experiments"] if name in config["experiments"]]


def _restricted(
    config: dict[str, Any], paper: str | Path, experiments: Sequence[str] | None
) -> dict[str, Any]:
    if experiments is None:
        return config
    unknown = sorted(set(experiments) - set(config["experiments"]))
    if unknown:
        raise ConfigError(_no_experiment(unknown[0], config, paper))
    return {
        **config,
        "experiments": {e: config["experiments"][e] for e in experiments},
        "artefacts": {
            name: artefact
            for name, artefact in config["artefacts"].items()
            if set(experiments_of(artefact)) <= set(experiments)
        },
        "claims": [
            claim
            for claim in config["claims"]
            if claim["args"]["experiment"] in experiments
        ],
    }


def _no_experiment(name: str, config: Mapping[str, Any], paper: str | Path) -> str:
    for tier in TIERS:
        if name in load_paper(paper, tier)["experiments"]:
            return f"experiment {name!r} is only in tier {tier}: add --tier {tier}"
    return f"experiment {name!r} is unknown; known: {', '.join(config['experiments'])}"


def _prepare(config: Mapping[str, Any], run: Mapping[str, Any], layout: Layout) -> None:
    for name, dataset in {
        (config["experiments"][job.experiment]["protocol"], job.dataset): None
        for job in fit_jobs(config)
    }:
        variant = find_variant(config, dataset)
        pipeline.write_data_info(
            layout.data_info(dataset),
            variant,
            run["seed"],
            download=run["download"],
            on_missing=run["on_missing_data"],
        )
        pipeline.write_splits(
            layout.splits(name, dataset),
            layout.data_info(dataset),
            variant,
            {"id": name, **config["protocols"][name]},
            run["seed"],
        )


def _fit_all(
    config: Mapping[str, Any], run: Mapping[str, Any], layout: Layout, cores: int
) -> None:
    from mtmkl.progress import ProgressLine

    jobs = list(fit_jobs(config))
    first = [job for job in jobs if not pipeline.needs_first_chunk(config, job)]
    later = [job for job in jobs if pipeline.needs_first_chunk(config, job)]
    classes = sorted({method["class"] for method in config["methods"].values()})
    pipeline.warm_compiled_code(classes)
    done = 0
    with ProgressLine(len(jobs), "fits") as line:

        def advance() -> None:
            nonlocal done
            done += 1
            line.update(done)

        for batch in (first, later):
            _fit_batch(config, run, layout, batch, cores, advance)


def _fit_batch(
    config: Mapping[str, Any],
    run: Mapping[str, Any],
    layout: Layout,
    jobs: Sequence[FitJob],
    cores: int,
    advance: Callable[[], None],
) -> None:
    if cores == 1:
        for job in jobs:
            _fit_one(config, run, layout, job)
            advance()
        return
    with ProcessPoolExecutor(cores, initializer=_end_with_parent) as pool:
        running = [pool.submit(_fit_one, config, run, layout, job) for job in jobs]
        try:
            for finished in as_completed(running):
                finished.result()
                advance()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _end_with_parent() -> None:
    """Let a worker process end at Ctrl-C, and when the process that feeds it ends."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _fit_one(
    config: Mapping[str, Any], run: Mapping[str, Any], layout: Layout, job: FitJob
) -> None:
    held = pipeline.needs_first_chunk(config, job)
    first = FitJob(job.experiment, job.dataset, job.method, 0, ())
    protocol = config["experiments"][job.experiment]["protocol"]
    log = layout.log(job)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8", buffering=1) as lines:
        pipeline.run_fit(
            pipeline.job_config(config, job),
            job,
            seed=run["seed"],
            splits=layout.splits(protocol, job.dataset),
            scores=layout.fit(job, ".csv.gz"),
            arrays=layout.fit(job, ".npz"),
            cache=layout.results / "cache",
            first_chunk=layout.fit(first, ".csv.gz") if held else None,
            progress=lambda line: print(line, file=lines),
        )


def _report(config: Mapping[str, Any], run: Mapping[str, Any], layout: Layout) -> Path:
    from mtmkl.provenance import provenance
    from mtmkl.reporting.build import write_artefact
    from mtmkl.reporting.record import write_record, write_statistics
    from mtmkl.reporting.report import write_report

    base = layout.base
    pipeline.collect_scores(config, base / "fits", base / "scores.csv.gz")
    write_statistics(config, base, base / "statistics.csv", seed=run["seed"])
    write_record(
        config, base, verdicts=base / "verdicts.csv", claims=base / "claims.csv"
    )
    datasets = sorted({job.dataset for job in fit_jobs(config)})
    record = provenance(
        config,
        run,
        data_infos=[layout.data_info(dataset) for dataset in datasets],
        benchmarks=None,
    )
    write_json(base / "provenance.json", record)
    for name in config["artefacts"]:
        write_artefact(name, config, base)
    report = base.parent / "report.html"
    write_report([config], base.parent, report, tier=run["tier"])
    return report
