"""Configuration: where it lives, and how it is read.

Of each file the values of a tier are chosen, and entries ``for_each`` of some lists are
repeated, the first axis slowest; ``docs/adding.md`` says what an entry may have. Then
other settings are laid over it, and it is validated.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from mtmkl.errors import unknown
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
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*(?:\.\w+)*)\}")
_ABSENT = object()


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
    """Return a paper's configuration for a tier, with other values of dotted keys."""
    return load_tiers(paper, settings, [tier])[tier]


def load_tiers(
    paper: str | Path,
    settings: Mapping[str, Any] | None = None,
    tiers: Sequence[Tier] = TIERS,
) -> dict[Tier, Paper]:
    """Return a paper's configuration for some tiers; all are read for their mistakes.

    Tables may select what only another tier has, or what ``settings`` have replaced:
    such cells are empty, not wrong.
    """
    folder = paper_folder(paper)
    known = usual = {tier: _read_paper(folder, tier) for tier in TIERS}
    if settings:
        try:
            known = {tier: _read_paper(folder, tier, settings) for tier in TIERS}
        except ConfigError as error:
            hint = nearest_keys(settings, usual[tiers[0]])
            raise ConfigError(f"{error}{hint}") from error
    for tier in tiers:
        with naming_file(folder.name):
            check_names(known[tier], [*known.values(), *usual.values()])
    return {tier: _for_tier(known[tier]) for tier in tiers}


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
    """Read a file of a paper's folder as an object of its model."""
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


def resolve_tier(document: Any, tier: Tier) -> Any:
    """Replace every mapping with exactly the keys *quick* and *paper* by one value."""
    if isinstance(document, Mapping):
        if set(document) == set(TIERS):
            return resolve_tier(document[tier], tier)
        return {key: resolve_tier(value, tier) for key, value in document.items()}
    if isinstance(document, list):
        return [resolve_tier(value, tier) for value in document]
    return document


def expand(document: Any, lists: Mapping[str, Sequence[Any]]) -> Any:
    """Return a document in which every ``for_each`` has been carried out."""
    return _Scope(lists).expand(document)


@dataclass(frozen=True)
class _Scope:
    """A place in the document, and what placeholders stand for there."""

    lists: Mapping[str, Sequence[Any]]
    path: tuple[str, ...] = ()
    axes: Mapping[str, tuple[Any, Sequence[Any]]] = field(default_factory=dict)
    """By name the value, and all items of the list that it is from."""

    def expand(self, node: Any) -> Any:
        """Return a node with its placeholders filled and its entries repeated."""
        if isinstance(node, str):
            if (value := self._filled(node)) is _ABSENT:
                raise self._error(f"{node}: this item has no such field")
            return value
        if isinstance(node, list):
            return [
                made
                for position, item in enumerate(node)
                for made in self._at(position)._items(item)
            ]
        return self._mapping(node) if isinstance(node, Mapping) else node

    def _items(self, item: Any) -> Iterator[Any]:
        for inner, body in self._repeated(item):
            is_group = body is not item and list(body) == ["entries"]
            if is_group and isinstance(body["entries"], list):
                yield from inner.expand(body["entries"])
            else:
                yield inner.expand(body)

    def _mapping(self, node: Mapping[Any, Any]) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        for key, value in node.items():
            here = self._at(key)
            for inner, body in here._repeated(value):
                if isinstance(body, str) and inner._filled(body) is _ABSENT:
                    continue
                name = str(inner.expand(key)) if isinstance(key, str) else key
                if name in made:
                    raise here._error(f"the key {name!r} is made twice")
                made[name] = inner.expand(body)
        return made

    def _repeated(self, node: Any) -> Iterator[tuple["_Scope", Any]]:
        """Yield a node once for every combination of the values of its axes."""
        if not isinstance(node, Mapping) or "for_each" not in node:
            yield self, node
            return
        axes = node["for_each"]
        if not isinstance(axes, Mapping) or not axes:
            raise self._error(f"for_each is {axes!r}, not a mapping of names to lists")
        scopes = [self]
        for name, values in axes.items():
            scopes = [inner for each in scopes for inner in each._along(name, values)]
        body = {key: value for key, value in node.items() if key != "for_each"}
        yield from ((scope, body) for scope in scopes)

    def _along(self, name: str, values: Any) -> Iterator["_Scope"]:
        if name in self.axes:
            raise self._error(f"for_each has the name {name!r} of an outer one")
        if isinstance(values, str) and not _PLACEHOLDER.fullmatch(values):
            if values not in self.lists:
                raise self._error(unknown("list", values, self.lists))
            values = self.lists[values]
        else:
            values = self.expand(values)
        if not isinstance(values, list) or not values:
            raise self._error(f"for_each.{name} is {values!r}, not a list with items")
        for item in values:
            yield replace(self, axes={**self.axes, name: (item, values)})

    def _at(self, step: object) -> "_Scope":
        return replace(self, path=(*self.path, str(step)))

    def _error(self, text: str) -> ValueError:
        return ValueError(f"key {'.'.join(self.path)!r}: {text}")

    def _filled(self, text: str) -> Any:
        """Return what a text stands for, _ABSENT if that is a missing field."""
        if not self.axes:
            return text
        if whole := _PLACEHOLDER.fullmatch(text):
            return self._value(whole[1])
        return _PLACEHOLDER.sub(lambda found: str(self.expand(found[0])), text)

    def _value(self, name: str) -> Any:
        """Return the value of a placeholder, _ABSENT if this item alone lacks it."""
        axis, *fields = name.split(".")
        value, items = self.axes.get(axis, (_ABSENT, []))
        if all(_field(item, fields) is _ABSENT for item in items):
            known = dict.fromkeys(
                f"{axis}.{key}" if key else axis
                for axis, (_, items) in self.axes.items()
                for item in items
                for key in (item if isinstance(item, Mapping) else [""])
            )
            raise self._error(unknown("placeholder", name, known))
        return _field(value, fields)


def _field(item: Any, fields: Sequence[str]) -> Any:
    for each in fields:
        if not isinstance(item, Mapping) or each not in item:
            return _ABSENT
        item = item[each]
    return item


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
    """Return what the tier has; files of one's own lie in the paper's folder."""
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


def published_folder(paper: str) -> Path:
    """Return the folder of a paper's published record, in a checkout."""
    figures = config_dir().parent / "figures"
    folder = figures / paper
    if (folder / "scores.csv.gz").is_file():
        return folder
    known = published_papers()
    if not known:
        raise ConfigError(
            f"{figures} does not exist: published records are in the repository and "
            "not in the package, so run this in a checkout"
        )
    raise ConfigError(
        f"paper {paper!r} has no published record; published: {', '.join(known)}"
    )


def published_papers() -> list[str]:
    """Return the ids of the papers with a published record, none outside a checkout."""
    found = (config_dir().parent / "figures").glob("*/scores.csv.gz")
    return sorted(path.parent.name for path in found)
