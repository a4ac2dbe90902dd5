"""Configuration: where it lives, how it is validated, how a tier is chosen."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from mtmkl.errors import unknown
from mtmkl_suite.config.changes import Change, changed, check_top, nearest_keys
from mtmkl_suite.config.expand import expand, resolve_tier
from mtmkl_suite.config.models import (
    TIERS,
    Artefact,
    ArtefactsFile,
    ClaimsFile,
    ExperimentsFile,
    MethodComparison,
    MethodTable,
    Paper,
    Run,
    Tier,
)
from mtmkl_suite.config.published import check_published
from mtmkl_suite.config.selectors import check_selectors, naming_file, require
from mtmkl_suite.data.loaders.own import is_file
from mtmkl_suite.documents import Model, config_dir, read_yaml, validated
from mtmkl_suite.errors import ConfigError

_FILES: dict[str, type[Model]] = {
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
        # Of a record, what has its data here is compared.
        "on_missing_data": "report" if run.against else on_missing_data,
    }
    return run.model_copy(update=found)


def load_paper(paper: str | Path, tier: Tier, changes: Sequence[Change] = ()) -> Paper:
    """Return a paper's configuration with the tier's values chosen.

    It is what ``experiments.yaml``, ``artefacts.yaml`` and ``claims.yaml`` in the
    paper's folder say together; the last two files may be absent.
    """
    folder = paper_folder(paper)

    # The other tier is read for its mistakes, and for what it alone has.
    tiers = sorted(TIERS, key=lambda each: each != tier)
    try:
        by_tier = {each: _read_paper(folder, each, changes) for each in tiers}
    except ConfigError as error:
        if not changes:
            raise
        hint = nearest_keys(changes, _read_paper(folder, tier, ()))
        raise ConfigError(f"{error}{hint}") from error
    config = by_tier[tier]
    # With other train sizes or numbers of tasks, the cells of a table that select the
    # usual ones are empty, not wrong.
    usual = [_read_paper(folder, each, ()) for each in tiers] if changes else []
    with naming_file(folder.name):
        _check_names(config)
        check_selectors(config, [*by_tier.values(), *usual])
        check_published(config)
    return _for_tier(config)


def _read_paper(folder: Path, tier: Tier, changes: Sequence[Change]) -> Paper:
    check_top(changes)
    parts: dict[str, Any] = {"artefacts": {}, "claims": []}
    for name, model in _FILES.items():
        if name == "experiments" or (folder / f"{name}.yaml").is_file():
            part = read_part(folder, name, model, tier, changes)
            parts |= {key: each for key, each in part if key in Paper.model_fields}
    if changes:
        parts["changes"] = {change.key: change.value for change in changes}
    seconds = folder / "seconds.csv"
    return Paper(
        **parts,
        tier=tier,
        published=folder / "published",
        seconds=read_measured(seconds, "experiment", "dataset", "method", "seconds"),
    )


def read_part(
    folder: Path, name: str, model: type[_M], tier: Tier, changes: Sequence[Change] = ()
) -> _M:
    """Read a file of a paper's folder as an object of its model.

    The lists of ``experiments.yaml`` are for all files.
    """
    source = f"{folder.name}/{name}.yaml"
    part, settings = (
        resolve_tier(read_yaml(folder / f"{each}.yaml"), tier)
        for each in (name, "experiments")
    )
    lists = settings.get("lists") if isinstance(settings, Mapping) else None
    try:
        part = expand(part, lists if isinstance(lists, Mapping) else {})
    except ValueError as error:
        raise ConfigError(f"{source}: {error}") from error
    if changes:
        part = changed(part, changes, name=name, tier=tier, source=source)
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


def _check_names(config: Paper) -> None:
    for name, experiment in config.experiments.items():
        key = f"experiments.{name}"
        require(f"{key}.protocol", "protocol", config.protocols, experiment.protocol)
        for position, entry in enumerate(experiment.methods):
            place = f"{key}.methods.{position}.method"
            require(place, "method", config.methods, entry.method)
    experiments = config.experiments
    for name, artefact in config.artefacts.items():
        key = f"artefacts.{name}"
        require(f"{key}.experiment", "experiment", experiments, *artefact.shown)
        if isinstance(artefact.comparison, MethodComparison):
            _check_comparison(key, artefact, artefact.comparison)
    seen = set()
    steps = {step for artefact in config.artefacts.values() for step in artefact.steps}
    for claim in config.claims:
        key = f"claims.{claim.id}"
        if claim.id in seen:
            raise ConfigError(f"key {key!r} comes twice")
        seen.add(claim.id)
        key = f"{key}.args"
        wanted = claim.args["experiment"]
        require(f"{key}.experiment", "experiment", experiments, wanted)
        other = claim.over_tasks.get("experiment", wanted)
        require(f"claims.{claim.id}.over_tasks", "experiment", experiments, other)
        for name, side in claim.args.items():
            if isinstance(side, dict) and "experiment" in side:
                place = f"{key}.{name}.experiment"
                require(place, "experiment", experiments, side["experiment"])
        if "step" in claim.args:
            require(
                f"{key}.step", "step of an artefact", sorted(steps), claim.args["step"]
            )


def _check_comparison(
    key: str, artefact: Artefact, comparison: MethodComparison
) -> None:
    """Check that an artefact without published numbers names what is compared."""
    columns, rows, blocks = comparison.columns, comparison.rows, comparison.blocks
    require(f"{key}.comparison.pairs", "column", columns, *comparison.pairs)
    require(f"{key}.comparison.control", "column", columns, comparison.control)
    require(f"{key}.comparison.main", "block", blocks, comparison.main)
    if isinstance(artefact, MethodTable):
        require(f"{key}.rivals", "column", columns, *artefact.rivals)
        require(f"{key}.proposed", "column", columns, *artefact.proposed)
        for entry in artefact.left_out:
            require(f"{key}.left_out.methods", "column", columns, *entry.methods)
            require(f"{key}.left_out.rows", "row", rows, *(entry.rows or []))
        for setting in artefact.settings:
            require(f"{key}.settings.block", "block", blocks, setting.block)


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
    claims = [c for c in config.claims if c.args["experiment"] in experiments]
    return config.model_copy(
        update={"experiments": experiments, "artefacts": artefacts, "claims": claims}
    )
