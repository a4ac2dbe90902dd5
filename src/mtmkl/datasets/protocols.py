"""Protocols, as the configuration states them: their kinds, keys and train sizes.

:mod:`mtmkl.datasets.splits` does the splitting.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

AS_PUBLISHED = 0
"""Train size of splits whose sizes the data set itself decides."""

WITH_FOLDS = ("published", "first_rows", "random", "per_task", "per_class", "given")
"""Kinds of protocols whose training rows are dealt to folds."""

_DRAWN_ROLES = ("halves", "thirds", "fractions")
WITH_VALIDATION = (*_DRAWN_ROLES, "given_roles")
"""Kinds of protocols whose splits have validation rows in place of folds."""

_LARGEST_PERCENT = 98
_SIZES = {
    "first_rows": ("train_sizes", "examples per task"),
    "halves": ("train_sizes", "examples per task"),
    "random": ("train_samples", "examples"),
    "per_task": ("train_sizes", "examples per task"),
    "per_class": ("train_sizes", "examples per class"),
    "fractions": ("train_percent", "%"),
}
"""Key of a protocol's train sizes, and what they count."""


def check_protocol(protocol: Mapping[str, Any]) -> dict[str, Any]:
    """Return id, kind, repeats, folds, stratified, shared, and sizes.

    Raises
    ------
    ValueError
        If the protocol is not as :func:`mtmkl.datasets.splits.make_splits` says; names
        it, the key and the value.
    """
    name = protocol.get("id", "?")
    kind = protocol.get("kind")
    if kind not in (*WITH_FOLDS, *WITH_VALIDATION):
        raise ValueError(
            f"protocol {name!r}: kind is {kind!r}, not one of "
            f"{sorted([*WITH_FOLDS, *WITH_VALIDATION])}"
        )
    allowed = {"id", "kind", "repeats", _SIZES[kind][0] if kind in _SIZES else "id"}
    allowed |= {"stratified"} if kind in _DRAWN_ROLES else set()
    allowed |= {"shared"} if kind == "fractions" else set()
    allowed |= set() if kind in WITH_VALIDATION else {"folds"}
    for key in protocol:
        if key not in allowed:
            raise ValueError(
                f"protocol {name!r}: {key!r} is not a key of kind {kind!r}, "
                f"which has {sorted(allowed)}"
            )
    if not isinstance(protocol.get("id"), str) or not protocol["id"]:
        raise ValueError(f"protocol of kind {kind!r}: id must be a name")
    sizes: list[Any] = [AS_PUBLISHED]
    if kind in _SIZES:
        key, _ = _SIZES[kind]
        given = protocol.get(key, 8 if kind == "first_rows" else None)
        sizes = list(given) if isinstance(given, list | tuple) else [given]
        for size in sizes:
            _check_count(name, key, size, 1)
            if kind == "fractions" and size > _LARGEST_PERCENT:
                raise ValueError(
                    f"protocol {name!r}: {key} is {size}, wanted at most "
                    f"{_LARGEST_PERCENT}"
                )
        if not sizes or len(set(sizes)) != len(sizes):
            raise ValueError(f"protocol {name!r}: {key} is {given!r}, wanted distinct")
    _check_count(name, "repeats", protocol.get("repeats"), 1)
    if "folds" in allowed:
        _check_count(name, "folds", protocol.get("folds"), 2)
        if kind == "random" and protocol["folds"] > min(sizes):
            raise ValueError(
                f"protocol {name!r}: folds is {protocol['folds']}, more than the "
                f"{min(sizes)} examples of train_samples; take fewer"
            )
    stratified = protocol.get("stratified", True)
    if not isinstance(stratified, bool):
        raise ValueError(
            f"protocol {name!r}: stratified is {stratified!r}, wanted true or false"
        )
    shared = protocol.get("shared", True)
    if not isinstance(shared, bool):
        raise ValueError(
            f"protocol {name!r}: shared is {shared!r}, wanted true or false"
        )
    return {
        "id": protocol["id"],
        "kind": kind,
        "repeats": protocol["repeats"],
        "folds": protocol.get("folds"),
        "stratified": stratified,
        "shared": shared,
        "sizes": sizes,
    }


def train_unit(kind: str) -> str:
    """Return what the train sizes of a kind of protocol count, "" if it has none.

    Parameters
    ----------
    kind : str
        As in :func:`mtmkl.datasets.splits.make_splits`.

    Returns
    -------
    {"examples per task", "examples per class", "examples", "%", ""}
    """
    return _SIZES[kind][1] if kind in _SIZES else ""


def _check_count(name: str, key: str, value: Any, least: int) -> None:
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_integer or value < least:
        raise ValueError(
            f"protocol {name!r}: {key} is {value!r}, wanted an integer of at least "
            f"{least}"
        )
