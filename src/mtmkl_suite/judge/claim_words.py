"""Settings of claims in words."""

import json
import re
from collections.abc import Mapping
from typing import Any

from mtmkl_suite.config.models import ClaimSetting

_OPTIONS = re.compile(r"(\w+)\[(.*)\]$")
_NAMED = {
    "train_size": "training size",
    "dataset": "data set",
    "low": "at least",
    "high": "at most",
}


def setting_in_words(setting: ClaimSetting, labels: Mapping[str, str]) -> str:
    """Return what a setting has of its own, such as "MTL, 200 tasks"."""
    parts = [
        _in_words(path.rpartition(".")[2], value, labels)
        for path, value in setting.varied.items()
        if not path.startswith("over_tasks")
    ]
    return ", ".join(filter(None, parts))


def _in_words(key: str, value: Any, labels: Mapping[str, str]) -> str:
    if isinstance(value, Mapping):
        return ", ".join(_in_words(k, each, labels) for k, each in value.items())
    if isinstance(value, list):
        return ""
    if key == "method":
        return labels.get(value, str(value))
    if key == "setting":
        settings = json.loads(value) if value else {}
        return ", ".join(f"{_plain(k)} = {_number(v)}" for k, v in settings.items())
    if key == "n_tasks":
        return f"{value} tasks"
    if key in ("experiment", "metric", "data", "of"):
        return _plain(str(value))
    if isinstance(value, str) and (found := _OPTIONS.match(value)):
        stem, options = found.groups()
        value = _plain(f"{stem} ({options.replace('=', ' = ')})")
    return f"{_NAMED.get(key, _plain(key))} {value}"


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)


def _plain(text: str) -> str:
    return text.replace("_", " ")
