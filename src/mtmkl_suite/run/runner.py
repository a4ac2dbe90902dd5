"""All steps of one paper in one call: the workflow's work without Snakemake."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtmkl.documents import ConfigError, read_yaml, unknown
from mtmkl_suite.config import against
from mtmkl_suite.config.changes import Change, of_paper, of_run, parse
from mtmkl_suite.config.load import TIERS, experiments_of, load_paper, load_run_config
from mtmkl_suite.config.models import Paper, Run
from mtmkl_suite.config.own_data import own_data_config
from mtmkl_suite.config.readings import load_papers
from mtmkl_suite.run import fits, pipeline
from mtmkl_suite.run.execution import fit_all, prepare
from mtmkl_suite.run.extras import require_suite
from mtmkl_suite.run.grouping import all_results
from mtmkl_suite.run.layout import PaperFolder, RunFolder, cache
from mtmkl_suite.run.plan import (
    fit_jobs,
    restricted_to_artefacts,
    with_method,
    with_repeats,
)
from mtmkl_suite.run.runs import lock_results, run_label


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
    warnings : list of str
        A line for each method and kind of warning; all of them are in the logs.
    """

    report: Path
    failures: list[str]
    missing: list[str]
    logs: Path
    warnings: list[str]


def run_paper(
    paper: str | Path,
    *,
    tier: str = "quick",
    experiments: Sequence[str] | None = None,
    artefacts: Sequence[str] | None = None,
    methods: Sequence[str] = (),
    grid: Mapping[str, list[Any]] | None = None,
    readings: bool | Sequence[str] = False,
    settings: Sequence[str] = (),
    repeats: int | None = None,
    cores: int = 1,
    results: Path = Path("results"),
) -> Finished:
    """Run experiments of a paper with their statistics, artefacts and report.

    The results go to a folder named by :func:`mtmkl_suite.run.runs.run_label`. Called
    again, it resumes where it left off.

    ``readings``: Run other readings of the protocol in place of the experiments: all,
    or those of some factors, see :mod:`mtmkl_suite.config.readings`.
    """
    require_suite()
    changes = [parse(setting) for setting in settings]
    run = _run_settings(paper, tier, changes, readings)
    whole = _load(paper, run, of_paper(changes))
    if artefacts is None:
        config = _restricted(whole, paper, experiments)
        parts = _chosen(config, whole)
    else:
        config = _with_artefacts(whole, paper, artefacts)
        parts = list(artefacts)
    return _run_all(
        config,
        run,
        parts,
        methods=methods,
        grid=grid,
        repeats=repeats,
        cores=cores,
        results=results,
    )


def run_own_data(
    data: str,
    *,
    options: Mapping[str, Any] | None = None,
    only: Sequence[str] = (),
    tier: str = "quick",
    methods: Sequence[str] = (),
    grid: Mapping[str, list[Any]] | None = None,
    settings: Sequence[str] = (),
    repeats: int | None = None,
    cores: int = 1,
    results: Path = Path("results"),
) -> Finished:
    """Run methods of the package on data of one's own."""
    require_suite()
    changes = [parse(setting) for setting in settings]
    config = own_data_config(
        data,
        options=options or {},
        tier=tier,
        methods=only,
        changes=of_paper(changes),
    )
    run = _run_settings(config["paper"]["id"], tier, changes)
    parts = [f"{key}={_joined_text(value)}" for key, value in (options or {}).items()]
    return _run_all(
        config,
        run,
        [*parts, *only],
        methods=methods,
        grid=grid,
        repeats=repeats,
        cores=cores,
        results=results,
    )


def run_against_record(
    paper: str,
    *,
    methods: Sequence[str],
    grid: Mapping[str, list[Any]] | None = None,
    experiments: Sequence[str] | None = None,
    settings: Sequence[str] = (),
    repeats: int | None = None,
    cores: int = 1,
    results: Path = Path("results"),
) -> Finished:
    """Fit methods on the splits of a published record, and compare them with it.

    Nothing of the record is computed again, see :mod:`mtmkl_suite.config.against`.
    Experiments whose data are missing are left out.
    """
    require_suite()
    from mtmkl_suite.report.pages.report import write_report

    changes = [parse(setting) for setting in settings]
    if of_paper(changes):
        raise ConfigError(
            f"--set {of_paper(changes)[0].key}: a record is compared with as it is; "
            "only keys of config/config.yaml can be set"
        )
    run = _run_settings(paper, "paper", changes)
    whole = load_paper(paper, "paper")
    against.published_folder(whole["paper"]["id"])
    config = against.compared_config(_restricted(whole, paper, experiments))
    if repeats is not None:
        config = against.fewer_repeats(config, repeats)
    config = _joined(config, methods, grid)
    own = against.joining_config(config)
    pipeline.check_names(own)
    parts = [*(experiments or []), *([f"repeats={repeats}"] if repeats else [])]
    label = run_label(run, experiments=parts, methods=methods, grid=grid)
    whole_run = RunFolder(results / f"{label}+against=published")
    folder = whole_run.paper(config["paper"]["id"])
    with lock_results(whole_run):
        prepare(own, run | {"on_missing_data": "report"}, folder)
        missing = _missing(own, folder)
        own, config = (against.available(each, folder) for each in (own, config))
        if not own["experiments"]:
            raise ConfigError("\n".join(["no experiment has its data here:", *missing]))
        against.check_record(own, folder, run)
        warnings = fit_all(own, run, folder, cores, cache(results))
        fits.collect_scores(own, folder)
        failures = fits.failures(folder.scores)
        against.write_merged(config, folder, run)
        note = against.note_on_record(config["paper"]["id"])
        write_report([config | {"record": note}], whole_run, tier="paper")
    return Finished(whole_run.report, failures, missing, folder.path / "logs", warnings)


def _run_all(
    config: Paper,
    run: Run,
    parts: Sequence[str],
    *,
    methods: Sequence[str],
    grid: Mapping[str, list[Any]] | None,
    repeats: int | None,
    cores: int,
    results: Path,
) -> Finished:
    """Run what a configuration and joining methods say; ``parts`` name it."""
    if repeats is not None:
        config = with_repeats(config, repeats)
    config = _joined(config, methods, grid)
    pipeline.check_names(config)
    label = run_label(
        run,
        experiments=parts,
        methods=methods,
        grid=grid,
        changes=config.get("changes"),
    )
    whole_run = RunFolder(results / label)
    folder = whole_run.paper(config["paper"]["id"])
    with lock_results(whole_run):
        prepare(config, run, folder)
        warnings = fit_all(config, run, folder, cores, cache(results))
        _report(config, run, whole_run)
    return Finished(
        whole_run.report,
        failures=fits.failures(folder.scores),
        missing=_missing(config, folder),
        logs=folder.path / "logs",
        warnings=warnings,
    )


def _missing(config: Paper, folder: PaperFolder) -> list[str]:
    datasets = dict.fromkeys(job.dataset for job in fit_jobs(config))
    return pipeline.missing_data(map(folder.data_info, datasets))


def _joined_text(value: Any) -> str:
    is_list = isinstance(value, list | tuple)
    return ",".join(map(str, value)) if is_list else str(value)


def _joined(
    config: Paper,
    methods: Sequence[str],
    grid: Mapping[str, list[Any]] | None,
) -> Paper:
    """Return a configuration in which methods join every experiment."""
    if grid is not None and set(methods) <= set(config["methods"]):
        raise ConfigError(
            "--grid needs --method package.module:Class: configured methods have "
            "their grid in the paper's configuration"
        )
    for name in methods:
        for experiment in config["experiments"]:
            config = with_method(config, experiment, name, grid=grid)
    return config


def _run_settings(
    paper: str | Path,
    tier: str,
    changes: Sequence[Change],
    readings: bool | Sequence[str] = False,
) -> Run:
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
    return run


def _load(paper: str | Path, run: Run, changes: Sequence[Change]) -> Paper:
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
    from mtmkl.documents import config_dir

    content: dict[str, Any] = read_yaml(config_dir() / "config.yaml")
    return content


def _chosen(config: Paper, whole: Paper) -> list[str]:
    """Return the experiments of a run in the paper's order, none if it is all."""
    if set(config["experiments"]) == set(whole["experiments"]):
        return []
    return [name for name in whole["experiments"] if name in config["experiments"]]


def _restricted(
    config: Paper, paper: str | Path, experiments: Sequence[str] | None
) -> Paper:
    if experiments is None:
        return config
    missing = sorted(set(experiments) - set(config["experiments"]))
    if missing:
        raise ConfigError(_no_such("experiment", missing[0], config, paper))
    return config | {
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


def _with_artefacts(config: Paper, paper: str | Path, names: Sequence[str]) -> Paper:
    for name in names:
        if name not in config["artefacts"]:
            raise ConfigError(_no_such("artefact", name, config, paper))
    return restricted_to_artefacts(config, names)


def _no_such(kind: str, name: str, config: Paper, paper: str | Path) -> str:
    """Say that an experiment or artefact is of the other tier, or unknown."""
    for tier in TIERS:
        if name in load_paper(paper, tier)[f"{kind}s"]:
            return f"{kind} {name!r} is only in tier {tier}: add --tier {tier}"
    return unknown(kind, name, config[f"{kind}s"])


def _report(config: Paper, run: Run, whole_run: RunFolder) -> None:
    from mtmkl_suite.report.pages.build import write_results
    from mtmkl_suite.report.pages.report import write_report

    folder = whole_run.paper(config["paper"]["id"])
    write_results(all_results(config), config, folder, run)
    write_report([config], whole_run, tier=run["tier"])
