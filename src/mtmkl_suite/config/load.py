"""Configuration: where it lives, how it is validated, how a tier is chosen."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtmkl.datasets.loaders.own import DATA_FILES
from mtmkl.documents import ConfigError, config_dir, read_yaml, validate
from mtmkl_suite.config.expand import expand

if TYPE_CHECKING:
    from mtmkl_suite.config.changes import Change

TIERS = ("quick", "paper")

_SELECTORS = ("rows", "columns", "extra_rows", "extra_columns")
"""Parts of a table's configuration that select scores."""


_FILES = {"experiments": True, "artefacts": False, "claims": False}
"""Files of a paper's folder, and whether a paper needs them."""


def resolve_tier(document: Any, tier: str) -> Any:
    """Replace every mapping with exactly the keys *quick* and *paper* by one value."""
    if tier not in TIERS:
        raise ConfigError(f"tier {tier!r} is unknown: choose one of {', '.join(TIERS)}")
    if isinstance(document, Mapping):
        if set(document) == set(TIERS):
            return resolve_tier(document[tier], tier)
        return {key: resolve_tier(value, tier) for key, value in document.items()}
    if isinstance(document, list):
        return [resolve_tier(value, tier) for value in document]
    return document


def load_run_config(overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the validated run configuration with every default made explicit."""
    raw = read_yaml(config_dir() / "config.yaml") if overrides is None else overrides
    validate(raw, "config", source="config/config.yaml")
    paper_tier = raw["tier"] == "paper"
    return {
        **raw,
        "download": paper_tier if raw["download"] is None else raw["download"],
        "readings": raw.get("readings", False),
        "on_missing_data": raw["on_missing_data"]
        or ("fail" if paper_tier else "report"),
    }


def load_paper(
    paper: str | Path, tier: str, changes: "Sequence[Change]" = ()
) -> dict[str, Any]:
    """Return a paper's validated configuration with the tier's values chosen.

    It is what ``experiments.yaml``, ``artefacts.yaml`` and ``claims.yaml`` in the
    paper's folder say together; the last two files may be absent. ``tier`` in it is the
    tier, ``published`` the folder of the printed numbers, and ``seconds`` what a repeat
    of ``experiment/data set/method`` was once measured to take, from ``seconds.csv``.
    With changes there is also ``changes``, their keys and values.
    """
    folder = paper_folder(paper)
    from mtmkl_suite.config.published import check_published
    from mtmkl_suite.config.selectors import check_selectors

    # The other tier is read for its mistakes, and for what it alone has.
    tiers = sorted(TIERS, key=lambda each: each != tier)
    try:
        by_tier = {each: _read_paper(folder, each, changes) for each in tiers}
    except ConfigError as error:
        if not changes:
            raise
        from mtmkl_suite.config.changes import nearest_keys

        hint = nearest_keys(changes, _read_paper(folder, tier, ()))
        raise ConfigError(f"{error}{hint}") from error
    config = by_tier[tier]
    _check_names(config, folder.name)
    # With other train sizes or numbers of tasks, the cells of a table that select the
    # usual ones are empty, not wrong.
    usual = [_read_paper(folder, each, ()) for each in tiers] if changes else []
    check_selectors(config, [*by_tier.values(), *usual], folder.name)
    check_published(config, folder / "published")
    _place_files(config, folder)
    config["tier"] = tier
    if changes:
        config["changes"] = {change.key: change.value for change in changes}
    config["published"] = str(folder / "published")
    config["seconds"] = _measured_seconds(folder / "seconds.csv")
    return _drop_other_tiers(config, tier)


def _read_paper(folder: Path, tier: str, changes: "Sequence[Change]") -> dict[str, Any]:
    if changes:
        from mtmkl_suite.config.changes import check_top

        check_top(changes)
    config: dict[str, Any] = {"artefacts": {}, "claims": []}
    lists: Mapping[str, Any] = {}
    for name, is_needed in _FILES.items():
        path = folder / f"{name}.yaml"
        if not is_needed and not path.is_file():
            continue
        part, lists = read_part(path, tier, lists, changes)
        config |= part
    config.pop("lists", None)
    return config


def read_part(
    path: Path,
    tier: str,
    lists: Mapping[str, Any],
    changes: "Sequence[Change]" = (),
) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """Read a file of a paper's folder, and check it against the schema of its name."""
    source = f"{path.parent.name}/{path.name}"
    part = resolve_tier(read_yaml(path), tier)
    if isinstance(part, Mapping) and isinstance(part.get("lists"), Mapping):
        lists = part["lists"]
    try:
        part = expand(part, lists)
    except ValueError as error:
        raise ConfigError(f"{source}: {error}") from error
    if changes:
        from mtmkl_suite.config.changes import changed

        part = changed(part, changes, name=path.stem, tier=tier, source=source)
    validate(part, path.stem, source=source)
    return part, lists


def _measured_seconds(path: Path) -> dict[str, float]:
    import csv

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


def _place_files(config: Mapping[str, Any], folder: Path) -> None:
    """Take files of one's own, in place of data sets, from the folder of the paper."""
    for experiment in config["experiments"].values():
        datasets = experiment["datasets"]
        if datasets["name"].endswith(DATA_FILES):
            datasets["name"] = str(folder / datasets["name"])


def _check_names(config: Mapping[str, Any], folder: str) -> None:
    def require(kind: str, name: str, key: str) -> None:
        if name not in config[kind]:
            known = ", ".join(sorted(config[kind]))
            file = f"{folder}/{key.partition('.')[0]}.yaml"
            raise ConfigError(
                f"{file}: key {key!r}: {name!r} is not one of the {kind}: {known}"
            )

    for name, experiment in config["experiments"].items():
        key = f"experiments.{name}"
        require("protocols", experiment["protocol"], f"{key}.protocol")
        for position, entry in enumerate(experiment["methods"]):
            require("methods", entry["method"], f"{key}.methods.{position}.method")
    for name, artefact in config["artefacts"].items():
        for experiment in experiments_of(artefact):
            require("experiments", experiment, f"artefacts.{name}.experiment")
        _check_comparison(folder, name, artefact)
    seen = set()
    steps = {s for a in config["artefacts"].values() for s in a.get("steps", ())}
    for claim in config["claims"]:
        key = f"claims.{claim['id']}"
        if claim["id"] in seen:
            raise ConfigError(f"{folder}/claims.yaml: key {key!r} comes twice")
        seen.add(claim["id"])
        require("experiments", claim["args"]["experiment"], f"{key}.args.experiment")
        for name, side in claim["args"].items():
            if isinstance(side, dict) and "experiment" in side:
                where = f"{key}.args.{name}.experiment"
                require("experiments", side["experiment"], where)
        if "step" in claim["args"] and claim["args"]["step"] not in steps:
            raise ConfigError(
                f"{folder}/claims.yaml: key '{key}.args.step': no artefact has the "
                f"step {claim['args']['step']!r}; known: {', '.join(sorted(steps))}"
            )


def _check_comparison(folder: str, name: str, artefact: Mapping[str, Any]) -> None:
    """Check that an artefact without published numbers names what is compared."""
    comparison = artefact.get("comparison", {})
    if "pairs" not in comparison:
        return
    named = [
        ("columns", "comparison.pairs", comparison["pairs"]),
        ("columns", "comparison.control", [comparison["control"]]),
        ("blocks", "comparison.main", [comparison["main"]]),
    ]
    for entry in artefact.get("left_out", ()):
        named.append(("columns", "left_out.methods", entry["methods"]))
        named.append(("rows", "left_out.rows", entry.get("rows", ())))
    for entry in artefact.get("settings", ()):
        named.append(("blocks", "settings.block", [entry["block"]]))
    for kind, key, names in named:
        for each in names:
            if each not in comparison[kind]:
                known = ", ".join(comparison[kind])
                raise ConfigError(
                    f"{folder}/artefacts.yaml: key 'artefacts.{name}.{key}': {each!r} "
                    f"is not one of the {kind}: {known}"
                )


def _drop_other_tiers(config: dict[str, Any], tier: str) -> dict[str, Any]:
    experiments = {
        name: {
            **experiment,
            "methods": [
                entry
                for entry in experiment["methods"]
                if tier in entry.get("tiers", TIERS)
            ],
        }
        for name, experiment in config["experiments"].items()
        if tier in experiment.get("tiers", TIERS)
    }
    claims = [c for c in config["claims"] if c["args"]["experiment"] in experiments]
    artefacts = {
        name: artefact
        for name, artefact in config["artefacts"].items()
        if not experiments_of(artefact)
        or any(e in experiments for e in experiments_of(artefact))
    }
    return {
        **config,
        "experiments": experiments,
        "artefacts": artefacts,
        "claims": claims,
    }


def experiments_of(artefact: Mapping[str, Any]) -> list[str]:
    """Return the experiments that an artefact shows; none for one from equations."""
    if "experiments" in artefact:
        return list(artefact["experiments"])
    if "comparison" in artefact:
        selectors = artefact["comparison"]["rows"].values()
        return list(dict.fromkeys(row["experiment"] for row in selectors))
    own = [s for part in _SELECTORS for s in artefact.get(part, {}).values()]
    named = [s["experiment"] for s in own if "experiment" in s]
    return list(dict.fromkeys([artefact["experiment"], *named]))
