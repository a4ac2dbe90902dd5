"""Configuration: where it lives, how it is validated, how a tier is chosen."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from mtmkl.errors import unknown
from mtmkl_suite.config.expand import expand, resolve_tier
from mtmkl_suite.config.models import (
    TIERS,
    ArtefactsFile,
    ClaimsFile,
    ExperimentsFile,
    Paper,
    Run,
    Tier,
    claims_on,
)
from mtmkl_suite.config.names import check_experiments, check_names, naming_file
from mtmkl_suite.config.overlay import at, check_first_keys, nearest_keys, overlaid
from mtmkl_suite.data.loaders.own import is_file
from mtmkl_suite.documents import Model, config_dir, read_yaml, validated
from mtmkl_suite.errors import ConfigError

FILES: dict[str, type[Model]] = {
    "experiments": ExperimentsFile,
    "artefacts": ArtefactsFile,
    "claims": ClaimsFile,
}
"""Files of a paper's folder, of which it needs the first, and their models."""

_M = TypeVar("_M", bound=Model)


def load_run_config(overrides: Mapping[str, Any] | None = None) -> Run:
    """Return the configuration of a run, every default made explicit."""
    raw = read_yaml(config_dir() / "config.yaml") if overrides is None else overrides
    run = validated(Run, raw, source="config/config.yaml")
    is_paper = run.tier == "paper"
    on_missing_data = run.on_missing_data or ("fail" if is_paper else "report")
    found = {
        "download": run.download or ("all" if is_paper else "small"),
        # A record is compared as far as its data are here.
        "on_missing_data": "report" if run.against else on_missing_data,
    }
    return run.model_copy(update=found)


def load_paper(
    paper: str | Path, tier: Tier, settings: Mapping[str, Any] | None = None
) -> Paper:
    """Return a paper's configuration with the tier's values chosen.

    ``settings`` are other values of dotted keys.
    """
    folder = paper_folder(paper)
    # The other tier is read for its mistakes, and for what it alone has.
    tiers = sorted(TIERS, key=lambda each: each != tier)
    try:
        known = [_read_paper(folder, each, settings) for each in tiers]
    except ConfigError as error:
        if not settings:
            raise
        hint = nearest_keys(settings, _read_paper(folder, tier))
        raise ConfigError(f"{error}{hint}") from error
    usual = []
    if settings:
        # With other train sizes or numbers of tasks, the cells of a table that select
        # the usual ones are empty, not wrong.
        usual = [_read_paper(folder, each) for each in tiers]
    return _checked(known[0], [*known, *usual])


def load_tiers(paper: str | Path) -> dict[Tier, Paper]:
    """Return a paper's configuration for every tier."""
    folder = paper_folder(paper)
    known = {tier: _read_paper(folder, tier) for tier in TIERS}
    return {tier: _checked(known[tier], [*known.values()]) for tier in TIERS}


def _checked(config: Paper, known: Sequence[Paper]) -> Paper:
    with naming_file(config.folder.name):
        check_names(config, known)
    return _for_tier(config)


def _read_paper(
    folder: Path, tier: Tier, settings: Mapping[str, Any] | None = None
) -> Paper:
    check_first_keys(settings or {})
    parts: dict[str, Any] = {"artefacts": {}, "claims": []}
    for name, model in FILES.items():
        if name == "experiments" or (folder / f"{name}.yaml").is_file():
            part = read_part(folder, name, model, tier, settings)
            parts |= {key: each for key, each in part if key in Paper.model_fields}
    if settings:
        parts["changes"] = dict(settings)
    seconds = folder / "seconds.csv"
    config = Paper(
        **parts,
        tier=tier,
        published=folder / "published",
        seconds=read_measured(seconds, "experiment", "dataset", "method", "seconds"),
    )
    with naming_file(folder.name):
        check_experiments(config)
    return config


def read_part(
    folder: Path,
    name: str,
    model: type[_M],
    tier: Tier,
    settings: Mapping[str, Any] | None = None,
) -> _M:
    """Read a file of a paper's folder as an object of its model.

    The lists of ``experiments.yaml`` are for all files but that of claims.
    """
    source = f"{folder.name}/{name}.yaml"
    part, experiments = (
        resolve_tier(read_yaml(folder / f"{each}.yaml"), tier)
        for each in (name, "experiments")
    )
    lists = experiments.get("lists") if isinstance(experiments, Mapping) else None
    try:
        if model is not ClaimsFile:
            part = expand(part, lists if isinstance(lists, Mapping) else {})
    except ValueError as error:
        raise ConfigError(f"{source}: {error}") from error
    for key, value in (settings or {}).items():
        if key.partition(".")[0] in model.model_fields:
            part = overlaid(part, at(key, resolve_tier(value, tier)), source)
    return validated(model, part, source=source)


def read_measured(path: Path, *columns: str) -> dict[str, float]:
    """Return the last column of a table by the others; nothing if there is no table."""
    if not path.is_file():
        return {}
    *keys, value = columns
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return {
                "/".join(row[key] for key in keys): float(row[value])
                for row in csv.DictReader(file)
            }
    except (KeyError, TypeError, ValueError) as error:
        named = f"{', '.join(keys)} and {value}"
        raise ConfigError(f"{path}: not a table of {named}: {error}") from error


def paper_folder(paper: str | Path) -> Path:
    """Return the folder of a paper's configuration."""
    shipped = config_dir() / "papers"
    for folder in (shipped / paper, Path(paper)):
        if folder.is_dir():
            return folder.resolve()
    known = sorted(each.name for each in shipped.iterdir())
    raise ConfigError(
        f"{unknown('paper', str(paper), known)}; or give the path of a folder with "
        "experiments.yaml"
    )


def _for_tier(config: Paper) -> Paper:
    """Return a configuration with what its tier has, and files of one's own in place.

    These are named as in the folder of the paper.
    """
    experiments = {}
    for name, experiment in config.experiments.items():
        if config.tier not in experiment.tiers:
            continue
        datasets = experiment.datasets
        if is_file(datasets.name):
            path = str(config.folder / datasets.name)
            datasets = datasets.model_copy(update={"name": path})
        methods = [each for each in experiment.methods if config.tier in each.tiers]
        experiments[name] = experiment.model_copy(
            update={"datasets": datasets, "methods": methods}
        )
    artefacts = {
        name: artefact
        for name, artefact in config.artefacts.items()
        if not artefact.shown or any(e in experiments for e in artefact.shown)
    }
    claims = claims_on(config.claims, lambda s: s.args["experiment"] in experiments)
    return config.model_copy(
        update={"experiments": experiments, "artefacts": artefacts, "claims": claims}
    )
