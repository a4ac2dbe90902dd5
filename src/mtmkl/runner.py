"""All steps of one paper in one call: the workflow's work without Snakemake."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtmkl import fits, pipeline
from mtmkl.changes import Change, of_paper, of_run, parse
from mtmkl.config import (
    TIERS,
    ConfigError,
    experiments_of,
    load_paper,
    load_run_config,
    read_yaml,
)
from mtmkl.evaluation.grouping import all_results, data_groups, fit_groups
from mtmkl.evaluation.plan import FitJob, fit_jobs, with_method, with_repeats
from mtmkl.extras import require_suite
from mtmkl.layout import PaperFolder, RunFolder, cache
from mtmkl.readings import load_papers
from mtmkl.runs import lock_results, run_label

if TYPE_CHECKING:
    import pandas as pd


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
    readings: bool | Sequence[str] = False,
    settings: Sequence[str] = (),
    repeats: int | None = None,
    cores: int = 1,
    results: Path = Path("results"),
) -> Finished:
    """Run experiments of a paper with their statistics, artefacts and report.

    The results go to a folder named by :func:`mtmkl.runs.run_label`. Called again, it
    resumes where it left off.

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
    readings : bool or sequence of str
        Run other readings of the protocol in place of the experiments: all, or those of
        some factors, see :mod:`mtmkl.readings`.
    settings : sequence of str
        ``key=value`` of the run's configuration or the paper's, the key dotted. A run
        with other settings of the paper is not judged.
    repeats : int or None
        Of every experiment; None is as configured.
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
    ImportError
        If the extra "suite" is not installed.
    """
    require_suite()
    changes = [parse(setting) for setting in settings]
    run = load_run_config(
        {
            **_run_file(),
            **of_run(changes),
            "tier": tier,
            "papers": [str(paper)],
            "readings": readings if isinstance(readings, bool) else list(readings),
        }
    )
    pipeline.use_mirror(run["mirror"])
    whole = _load(paper, run, of_paper(changes))
    config = _restricted(whole, paper, experiments)
    if repeats is not None:
        config = with_repeats(config, repeats)
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
        run,
        experiments=_chosen(config, whole),
        methods=methods,
        grid=grid,
        changes=config.get("changes"),
    )
    whole_run = RunFolder(results / label)
    folder = whole_run.paper(config["paper"]["id"])
    with lock_results(whole_run):
        _prepare(config, run, folder)
        _fit_all(config, run, folder, cores, cache(results))
        _report(config, run, whole_run)
    datasets = dict.fromkeys(job.dataset for job in fit_jobs(config))
    return Finished(
        whole_run.report,
        failures=fits.failures(folder.scores),
        missing=pipeline.missing_data(map(folder.data_info, datasets)),
        logs=folder.path / "logs",
    )


def _load(
    paper: str | Path, run: Mapping[str, Any], changes: Sequence[Change]
) -> dict[str, Any]:
    if not run["readings"]:
        return load_paper(paper, run["tier"], changes)
    if changes:
        raise ConfigError(
            f"--set {changes[0].key} changes the experiments, and --readings runs "
            "others in their place: take one of the two"
        )
    (readings,) = load_papers(run)
    return readings


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


def _prepare(
    config: Mapping[str, Any], run: Mapping[str, Any], folder: PaperFolder
) -> None:
    datasets = [each for group in data_groups(config) for each in group]
    pipeline.prepare_data(
        pipeline.data_needs(config, datasets),
        folder,
        seed=run["seed"],
        download=run["download"],
        on_missing=run["on_missing_data"],
    )


def _fit_all(
    config: Mapping[str, Any],
    run: Mapping[str, Any],
    folder: PaperFolder,
    cores: int,
    cells: Path,
) -> None:
    """Run all fits, each in any process, and write them by the groups of the plan."""
    from mtmkl.progress import ProgressLine

    jobs = list(fit_jobs(config))
    fits.warm_compiled_code(fits.classes_of(config, jobs))
    fit = partial(_fit_one, config, run, folder, cells)
    done: dict[str, fits.Fits] = {}
    later = [job for job in jobs if fits.needs_first_chunk(config, job)]
    first = [job for job in jobs if job not in later]
    with ProgressLine(len(jobs), "fits") as line:
        for batch in (first, later):
            calls = [(job, fits.first_chunk(config, job, done)) for job in batch]
            for result in _results(fit, calls, cores):
                done[result.plan.stem] = result
                line.update(len(done))
    for group in fit_groups(config):
        fits.write_fits(group, [done[job.stem] for job in group.jobs], folder)


def _results(
    fit: Callable[..., fits.Fits], calls: Sequence[tuple[Any, ...]], cores: int
) -> Iterator[fits.Fits]:
    """Yield what calls return, in the order in which they end."""
    if cores == 1:
        yield from (fit(*arguments) for arguments in calls)
        return
    with ProcessPoolExecutor(cores, initializer=_end_with_parent) as pool:
        running = [pool.submit(fit, *arguments) for arguments in calls]
        try:
            for finished in as_completed(running):
                yield finished.result()
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
    config: Mapping[str, Any],
    run: Mapping[str, Any],
    folder: PaperFolder,
    cells: Path,
    job: FitJob,
    chosen: "pd.DataFrame | None",
) -> fits.Fits:
    protocol = config["experiments"][job.experiment]["protocol"]
    log = folder.log(job.stem)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8", buffering=1) as lines:
        return fits.run_fit(
            config,
            job,
            seed=run["seed"],
            splits=folder.splits(protocol, job.dataset),
            cache=cells,
            chosen=chosen,
            progress=lambda line: print(line, file=lines),
        )


def _report(
    config: Mapping[str, Any], run: Mapping[str, Any], whole_run: RunFolder
) -> None:
    from mtmkl.reporting.build import write_results
    from mtmkl.reporting.report import write_report

    folder = whole_run.paper(config["paper"]["id"])
    write_results(all_results(config), config, folder, run)
    write_report([config], whole_run, tier=run["tier"])
