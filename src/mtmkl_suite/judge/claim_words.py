"""Labels and words in the notes of claims, in place of identifiers."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from mtmkl_suite.judge.observations import name_of

_OPTIONS = re.compile(r"(\w+)\[(.*)\]$")
_COUNTED = {"n_tasks": "tasks"}
_NAMED = {
    "train_size": "training size",
    "dataset": "data set",
}
_PLAIN = ("solver", "axis")
"""Keys whose values say enough."""


def in_words(
    note: str, sides: Iterable[Mapping[str, Any]], labels: Mapping[str, str]
) -> str:
    """Return a note in which sides are named by labels and words."""
    names = {}
    for side in sides:
        words = side_in_words(side, labels)
        if "method" in side:
            names[name_of(side)] = words
        else:
            # Tests of the numbers of a step write every key.
            names[", ".join(f"{key} {value}" for key, value in side.items())] = words
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    if not longest_first:
        return note
    either = "|".join(map(re.escape, longest_first))
    return re.sub(rf"(?<!\w)(?:{either})(?!\w)", lambda m: names[m.group()], note)


def side_in_words(side: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    """Return what a side selects in words, such as "MTL, 200 tasks"."""
    parts = [
        str(labels.get(value, value)) if key == "method" else _in_words(key, value)
        for key, value in side.items()
    ]
    return ", ".join(part for part in parts if part) or "all"


def _in_words(key: str, value: Any) -> str:
    if key == "setting":
        settings = json.loads(value) if value else {}
        return ", ".join(f"{_plain(k)} = {_number(v)}" for k, v in settings.items())
    if key == "repeat" and isinstance(value, list):
        return f"repeats {value[0]} to {value[-1]}"
    if key == "metric" and isinstance(value, list):
        parts = [each.rpartition("_") for each in value]
        stems, numbers = {stem for stem, _, _ in parts}, [n for _, _, n in parts]
        if len(stems) == 1:
            return f"{_plain(*stems)}s {', '.join(numbers)}"
    if key in _COUNTED:
        return f"{value} {_COUNTED[key]}"
    name = _NAMED.get(key, _plain(key))
    if isinstance(value, str):
        found = _OPTIONS.match(value)
        if found:
            stem, options = found.groups()
            value = f"{stem} ({options.replace('=', ' = ')})"
        value = _plain(value)
    return str(value) if key in _PLAIN else f"{name} {value}"


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)


def _plain(text: str) -> str:
    return text.replace("_", " ")
