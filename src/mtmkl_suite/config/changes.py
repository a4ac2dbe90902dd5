"""Single keys of a configuration, set to other values: ``seed=7``."""

import copy
import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mtmkl.errors import unknown
from mtmkl_suite.config.expand import resolve_tier
from mtmkl_suite.config.models import Paper, Tier
from mtmkl_suite.documents import read_yaml_text
from mtmkl_suite.errors import ConfigError

PARTS = {
    "experiments": ("paper", "protocols", "methods", "experiments"),
    "artefacts": ("artefacts",),
    "claims": ("claims",),
}
"""Files of a paper's folder, and the keys at their top that can be changed."""

_RUN = ("seed", "mirror", "download", "on_missing_data")
_OPTIONS = {"tier": "--tier", "papers": "--paper", "readings": "--readings"}
_NAMES = ("id", "method")  # what names an item of a list
_FEW = 3
_ALIKE = 1.2  # of 2: of the whole key, and of its last part


@dataclass(frozen=True)
class Change:
    """A key of a configuration and its new value."""

    path: tuple[str, ...]
    """The key, from the top."""
    value: Any

    @property
    def key(self) -> str:
        """The key, its parts joined by dots."""
        return ".".join(self.path)


def parse(text: str) -> Change:
    """Read ``key=value``, the key dotted and the value as in YAML."""
    key, equals, value = text.partition("=")
    path = tuple(key.strip().split("."))
    if not equals or not all(path):
        raise ConfigError(f"--set {text!r} is not KEY=VALUE, such as seed=7")
    first = path[0]
    if first in _OPTIONS:
        raise ConfigError(f"--set {text!r}: use {_OPTIONS[first]} for {first!r}")
    return Change(path, read_yaml_text(value, source=f"--set {text!r}"))


def of_run(changes: Iterable[Change]) -> dict[str, Any]:
    """Return the changes of the run's own configuration, by their key."""
    return {change.key: change.value for change in changes if change.path[0] in _RUN}


def of_paper(changes: Iterable[Change]) -> list[Change]:
    """Return the changes of a paper's configuration."""
    return [change for change in changes if change.path[0] not in _RUN]


def check_top(changes: Iterable[Change]) -> None:
    """Check that keys begin with one of the run's or of a paper's files."""
    known = [*_RUN, *(name for names in PARTS.values() for name in names)]
    for change in changes:
        if change.path[0] not in known:
            raise ConfigError(
                f"--set {change.key}: "
                f"{unknown('key of a configuration', change.path[0], known)}"
            )


def settable(config: Paper) -> dict[str, Any]:
    """Return the values of a paper's configuration by their dotted keys."""
    document = config.given()
    return {
        key: value
        for names in PARTS.values()
        for name in names
        for key, value in _leaves(document[name], name)
    }


def _leaves(value: Any, key: str) -> Iterator[tuple[str, Any]]:
    names = [_name_of(item) for item in value] if isinstance(value, list) else []
    items = value if isinstance(value, dict) else {}
    if names and all(names):
        items = {
            name: {k: v for k, v in item.items() if k not in _NAMES}
            for name, item in zip(names, value, strict=True)
        }
    elif not items:
        yield key, value
    for name, item in items.items():
        if item != {} or not names:
            yield from _leaves(item, f"{key}.{name}")


def nearest_keys(changes: Iterable[Change], config: Paper) -> str:
    """Return what to do about keys that a configuration does not have."""
    keys = [*_RUN, *settable(config)]
    for change in changes:
        if any(f"{key}.".startswith(f"{change.key}.") for key in keys):
            continue
        last = change.path[-1]
        alike = {
            key: _likeness(change.key, key) + _likeness(last, key.rpartition(".")[2])
            for key in keys
        }
        near = sorted(keys, key=lambda key: -alike[key])[:_FEW]
        named = ", ".join(key for key in near if alike[key] > _ALIKE)
        listed = "mtmkl show EXPERIMENT lists the keys that can be set"
        return f"; nearest: {named}; {listed}" if named else f"; {listed}"
    return ""


def _likeness(first: str, second: str) -> float:
    return difflib.SequenceMatcher(None, first, second).ratio()


def changed(
    document: Mapping[str, Any],
    changes: Sequence[Change],
    *,
    name: str,
    tier: Tier,
    source: str,
) -> dict[str, Any]:
    """Return a part of a paper's configuration with other values."""
    made: dict[str, Any] = copy.deepcopy(dict(document))
    for change in changes:
        if change.path[0] not in PARTS.get(name, ()):
            continue
        place: Any = made
        for depth, step in enumerate(change.path[:-1]):
            place = _entry(place, step, change.path[: depth + 1], source)
        last = change.path[-1]
        value = resolve_tier(change.value, tier)
        if isinstance(place, list):
            place[_position(place, last, change.path, source)] = value
        elif isinstance(place, dict):
            place[last] = value
        else:
            raise ConfigError(
                f"{source}: key {change.key!r}: {'.'.join(change.path[:-1])} is "
                f"{place!r} and has no keys"
            )
    return made


def _entry(place: Any, step: str, path: Sequence[str], source: str) -> Any:
    if isinstance(place, list):
        return place[_position(place, step, path, source)]
    if isinstance(place, dict) and step in place:
        return place[step]
    known = list(place) if isinstance(place, dict) else []
    raise ConfigError(
        f"{source}: key {'.'.join(path)!r}: {unknown('key', step, known)}"
    )


def _position(items: list[Any], step: str, path: Sequence[str], source: str) -> int:
    """Return the place of an item of a list by its number, id or method."""
    if step.isdigit() and int(step) < len(items):
        return int(step)
    names = [_name_of(item) for item in items]
    if step in names:
        return names.index(step)
    known = [str(name) for name in names if name is not None]
    known = known or [str(position) for position in range(len(items))]
    raise ConfigError(
        f"{source}: key {'.'.join(path)!r}: {unknown('item', step, known)}"
    )


def _name_of(item: Any) -> Any:
    """Return what names an item of a list, None if nothing does."""
    if not isinstance(item, dict):
        return None
    return next((item[name] for name in _NAMES if name in item), None)
