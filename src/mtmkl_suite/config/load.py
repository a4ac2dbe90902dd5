"""Configuration: where it lives, how it is validated, how a tier is chosen."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from mtmkl.datasets.loaders.own import DATA_FILES
from mtmkl.documents import ConfigError, Model, config_dir, read_yaml, validated
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
from mtmkl_suite.config.selectors import check_selectors

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
        "download": is_paper if run.download is None else run.download,
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
    _check_names(config, folder.name)
    # With other train sizes or numbers of tasks, the cells of a table that select the
    # usual ones are empty, not wrong.
    usual = [_read_paper(folder, each, ()) for each in tiers] if changes else []
    check_selectors(config, [*by_tier.values(), *usual], folder.name)
    check_published(config, folder / "published")
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
    return Paper(
        **parts,
        tier=tier,
        published=folder / "published",
        seconds=_measured_seconds(folder / "seconds.csv"),
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


def _measured_seconds(path: Path) -> dict[str, float]:
    if not path.is_file():
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return {
                f"{row['experiment']}/{row['dataset']}/{row['method']}": float(
                    row["seconds"]
                )
                for row in csv.DictReader(file)
            }
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(
            f"{path}: not a table of experiment, dataset, method and seconds: {error}"
        ) from error


def paper_folder(paper: str | Path) -> Path:
    """Return the folder of a paper's configuration."""
    shipped = config_dir() / "papers"
    for folder in (shipped / paper, Path(paper)):
        if folder.is_dir():
            return folder.resolve()
    known = ", ".join(sorted(each.name for each in shipped.iterdir()))
    raise ConfigError(
        f"paper {str(paper)!r} is unknown; known: {known}; or give the path of a "
        "folder with experiments.yaml"
    )


def _check_names(config: Paper, folder: str) -> None:
    known: dict[str, Mapping[str, Any]] = {
        "protocols": config.protocols,
        "methods": config.methods,
        "experiments": config.experiments,
    }

    def require(kind: str, name: str, key: str) -> None:
        if name not in known[kind]:
            file = f"{folder}/{key.partition('.')[0]}.yaml"
            raise ConfigError(
                f"{file}: key {key!r}: {name!r} is not one of the {kind}: "
                f"{', '.join(sorted(known[kind]))}"
            )

    for name, experiment in config.experiments.items():
        key = f"experiments.{name}"
        require("protocols", experiment.protocol, f"{key}.protocol")
        for position, entry in enumerate(experiment.methods):
            require("methods", entry.method, f"{key}.methods.{position}.method")
    for name, artefact in config.artefacts.items():
        for shown in artefact.shown:
            require("experiments", shown, f"artefacts.{name}.experiment")
        _check_comparison(folder, name, artefact)
    seen = set()
    steps = {step for artefact in config.artefacts.values() for step in artefact.steps}
    for claim in config.claims:
        key = f"claims.{claim.id}"
        if claim.id in seen:
            raise ConfigError(f"{folder}/claims.yaml: key {key!r} comes twice")
        seen.add(claim.id)
        require("experiments", claim.args["experiment"], f"{key}.args.experiment")
        for name, side in claim.args.items():
            if isinstance(side, dict) and "experiment" in side:
                where = f"{key}.args.{name}.experiment"
                require("experiments", side["experiment"], where)
        if "step" in claim.args and claim.args["step"] not in steps:
            raise ConfigError(
                f"{folder}/claims.yaml: key '{key}.args.step': no artefact has the "
                f"step {claim.args['step']!r}; known: {', '.join(sorted(steps))}"
            )


def _check_comparison(folder: str, name: str, artefact: Artefact) -> None:
    """Check that an artefact without published numbers names what is compared."""
    comparison = artefact.comparison
    if not isinstance(comparison, MethodComparison):
        return
    known: dict[str, Mapping[str, Any]] = {
        "blocks": comparison.blocks,
        "columns": comparison.columns,
        "rows": comparison.rows,
    }
    named: list[tuple[str, str, list[str]]] = [
        ("columns", "comparison.pairs", comparison.pairs),
        ("columns", "comparison.control", [comparison.control]),
        ("blocks", "comparison.main", [comparison.main]),
    ]
    if isinstance(artefact, MethodTable):
        for entry in artefact.left_out:
            named.append(("columns", "left_out.methods", entry.methods))
            named.append(("rows", "left_out.rows", entry.rows or []))
        for setting in artefact.settings:
            named.append(("blocks", "settings.block", [setting.block]))
    for kind, key, names in named:
        for each in names:
            if each not in known[kind]:
                raise ConfigError(
                    f"{folder}/artefacts.yaml: key 'artefacts.{name}.{key}': {each!r} "
                    f"is not one of the {kind}: {', '.join(known[kind])}"
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
        if datasets.name.endswith(DATA_FILES):
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
