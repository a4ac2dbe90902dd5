"""Overlays: other values laid over a configuration, merged key by key.

A run's ``--set`` and ``--repeats``, methods that join, data of one's own and the
readings of a protocol are all overlays. Tiers are chosen before.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from mtmkl.errors import unknown
from mtmkl_suite.config.models import Paper
from mtmkl_suite.documents import Model, read_yaml_text, validated
from mtmkl_suite.errors import ConfigError

RUN = ("seed", "mirror", "download", "on_missing_data")
"""Keys of the run that ``--set`` takes."""
PAPER = ("paper", "protocols", "methods", "experiments", "artefacts")
"""First keys of a paper's configuration that ``--set`` takes."""

_OPTIONS = {"tier": "--tier", "papers": "--paper", "readings": "--readings"}
_NAMES = ("id", "method")  # what names an item of a list
_FEW = 3


@dataclass(frozen=True)
class Whole:
    """A value that replaces the one below it, even where both are mappings."""

    value: Any


def overlaid(base: Any, overlay: Any, source: str = "overlay", key: str = "") -> Any:
    """Return a value with an overlay merged in; models are validated anew.

    Mappings are merged key by key, and a null removes a key. A mapping over a list goes
    to its items by their number, id or method. Everything else replaces what is below.
    Nothing is changed in place.
    """
    if isinstance(overlay, Whole):
        return overlay.value
    if not isinstance(overlay, Mapping):
        return overlay
    if isinstance(base, Model):
        fields = {each.alias or n: n for n, each in type(base).model_fields.items()}
        given = {
            alias: getattr(base, name)
            for alias, name in fields.items()
            if name in base.model_fields_set or alias in overlay
        }
        merged = overlaid(given, overlay, source, key)
        return validated(type(base), merged, source=source)
    if not isinstance(base, Mapping | list):
        raise ConfigError(f"{source}: key {key!r} is {base!r} and has no keys")
    made: Any = dict(base) if isinstance(base, Mapping) else list(base)
    for step, value in overlay.items():
        place = f"{key}.{step}" if key else step
        if isinstance(base, list):
            position = _position(base, step, f"{source}: key {place!r}")
            made[position] = overlaid(base[position], value, source, place)
        elif value is None:
            made.pop(step, None)
        elif step not in base and isinstance(value, Mapping):
            text = unknown("key", step, list(base))
            raise ConfigError(f"{source}: key {place!r}: {text}")
        else:
            made[step] = overlaid(base.get(step), value, source, place)
    return made


def at(key: str, value: Any) -> dict[str, Any]:
    """Return the overlay that replaces the value at a dotted key."""
    made: Any = Whole(value)
    for step in reversed(key.split(".")):
        made = {step: made}
    return dict(made)


def _position(items: list[Any], step: str, place: str) -> int:
    """Return the place of an item of a list by its number, id or method."""
    if step.isdigit() and int(step) < len(items):
        return int(step)
    names = [_name_of(item) for item in items]
    if step in names:
        return names.index(step)
    known = [name for name in names if name] or map(str, range(len(items)))
    raise ConfigError(f"{place}: {unknown('item', step, list(known))}")


def _name_of(item: Any) -> str:
    """Return what names an item of a list, "" if nothing does."""
    found = item if isinstance(item, Mapping) else {}
    return next((str(found[name]) for name in _NAMES if name in found), "")


def settings_of(texts: Iterable[str]) -> dict[str, Any]:
    """Read texts ``key=value``, the key dotted and the value as in YAML."""
    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not all(key.split(".")):
            raise ConfigError(f"--set {text!r} is not KEY=VALUE, such as seed=7")
        first = key.partition(".")[0]
        if first in _OPTIONS:
            raise ConfigError(f"--set {text!r}: use {_OPTIONS[first]} for {first!r}")
        found[key] = read_yaml_text(value, source=f"--set {text!r}")
    return found


def of_run(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the run's own configuration."""
    return {k: v for k, v in settings.items() if k.partition(".")[0] in RUN}


def of_paper(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a paper's configuration."""
    return {k: v for k, v in settings.items() if k.partition(".")[0] not in RUN}


def check_first_keys(settings: Iterable[str]) -> None:
    """Check that keys begin with one of a paper's files."""
    for key in settings:
        first = key.partition(".")[0]
        if first not in PAPER:
            text = unknown("key of a configuration", first, [*RUN, *PAPER])
            raise ConfigError(f"--set {key}: {text}")


def settable(config: Paper) -> dict[str, Any]:
    """Return the values of a paper's configuration by their dotted keys."""
    document = config.given()
    return {k: v for name in PAPER for k, v in _leaves(document[name], name)}


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


def nearest_keys(settings: Iterable[str], config: Paper) -> str:
    """Return what to do about keys that a configuration does not have."""
    keys = [*RUN, *settable(config)]
    for wanted in settings:
        if any(f"{key}.".startswith(f"{wanted}.") for key in keys):
            continue
        last = {key: key.rpartition(".")[2] for key in keys}
        close = get_close_matches(wanted.rpartition(".")[2], {*last.values()})
        of_last = [key for key in keys if last[key] in close]
        named = ", ".join(get_close_matches(wanted, of_last, _FEW, cutoff=0.0))
        listed = "mtmkl show NAME lists the keys that can be set"
        return f"; nearest: {named}; {listed}" if named else f"; {listed}"
    return ""
