"""Single keys of a configuration, set to other values: ``seed=7``."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mtmkl.config import ConfigError, read_yaml_text, resolve_tier
from mtmkl.schema_errors import unknown

PARTS = {
    "experiments": ("paper", "protocols", "methods", "experiments"),
    "artefacts": ("artefacts",),
    "claims": ("claims",),
}
"""Files of a paper's folder, and the keys at their top that can be changed."""

_RUN = ("seed", "mirror", "download", "on_missing_data")
_OPTIONS = {"tier": "--tier", "papers": "--paper", "readings": "--readings"}
_NAMES = ("id", "method")  # what names an item of a list


@dataclass(frozen=True)
class Change:
    """A key of a configuration and its new value.

    Attributes
    ----------
    path : tuple of str
        The key, from the top.
    value : object
    """

    path: tuple[str, ...]
    value: Any

    @property
    def key(self) -> str:
        """The key, its parts joined by dots."""
        return ".".join(self.path)


def parse(text: str) -> Change:
    """Read ``key=value``, the key dotted and the value as in YAML.

    Raises
    ------
    ConfigError
        If it is not of that form, the value is no YAML, or no file has such a key.
    """
    key, equals, value = text.partition("=")
    path = tuple(key.strip().split("."))
    if not equals or not all(path):
        raise ConfigError(f"--set {text!r} is not KEY=VALUE, such as seed=7")
    first = path[0]
    if first in _OPTIONS:
        raise ConfigError(f"--set {text!r}: use {_OPTIONS[first]} for {first!r}")
    known = [*_RUN, *(name for names in PARTS.values() for name in names)]
    if first not in known:
        raise ConfigError(
            f"--set {text!r}: {unknown('key of a configuration', first, known)}"
        )
    return Change(path, read_yaml_text(value, source=f"--set {text!r}"))


def of_run(changes: Iterable[Change]) -> dict[str, Any]:
    """Return the changes of the run's own configuration, by their key."""
    return {change.key: change.value for change in changes if change.path[0] in _RUN}


def of_paper(changes: Iterable[Change]) -> list[Change]:
    """Return the changes of a paper's configuration."""
    return [change for change in changes if change.path[0] not in _RUN]


def changed(
    part: Mapping[str, Any],
    changes: Sequence[Change],
    *,
    name: str,
    tier: str,
    source: str,
) -> dict[str, Any]:
    """Return a part of a paper's configuration with other values.

    Parameters
    ----------
    part : mapping
        What a file holds, its tier resolved and its entries generated.
    changes : sequence of Change
        Those of other files are left alone.
    name : str
        Of the file, a key of :data:`PARTS`.
    tier : {"quick", "paper"}
        Whose values are meant where a new value has one per tier.
    source : str
        Of the file, for messages.

    Raises
    ------
    ConfigError
        If a key leads nowhere: names the file, the key and what there is. The last
        part of a key may be new; whether it is allowed is the schema's to say.
    """
    document: dict[str, Any] = copy.deepcopy(dict(part))
    for change in changes:
        if change.path[0] not in PARTS.get(name, ()):
            continue
        place: Any = document
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
    return document


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
    names = [
        next((item[n] for n in _NAMES if n in item), None)
        if isinstance(item, dict)
        else None
        for item in items
    ]
    if step in names:
        return names.index(step)
    known = [str(name) for name in names if name is not None]
    known = known or [str(position) for position in range(len(items))]
    raise ConfigError(
        f"{source}: key {'.'.join(path)!r}: {unknown('item', step, known)}"
    )
