"""Values of a tier, and entries that stand for many: ``for_each`` over lists.

``docs/adding.md`` says what an entry may have. The first axis varies slowest.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mtmkl.errors import unknown
from mtmkl_suite.config.models import TIERS, Tier

_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*(?:\.\w+)*)\}")
_ABSENT = object()


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
            value = self._filled(node)
            if value is _ABSENT:
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
                name = inner._written(key) if isinstance(key, str) else key
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
        whole = _PLACEHOLDER.fullmatch(text) if self.axes else None
        return self._value(whole[1]) if whole else self._written(text)

    def _written(self, text: str) -> str:
        """Return a text with every placeholder replaced."""

        def value(found: re.Match[str]) -> str:
            value = self._value(found[1])
            if value is _ABSENT:
                raise self._error(f"{found[0]}: this item has no such field")
            return str(value)

        return _PLACEHOLDER.sub(value, text) if self.axes else text

    def _value(self, name: str) -> Any:
        """Return the value of a placeholder, _ABSENT if this item alone lacks it."""
        axis, *fields = name.split(".")
        value, items = self.axes.get(axis, (_ABSENT, []))
        if all(_field(item, fields) is _ABSENT for item in items):
            known = [
                f"{axis}.{key}" if key else axis
                for axis, (_, items) in self.axes.items()
                for key in _keys(items) or [""]
            ]
            raise self._error(unknown("placeholder", name, known))
        return _field(value, fields)


def _field(item: Any, fields: Sequence[str]) -> Any:
    for each in fields:
        if not isinstance(item, Mapping) or each not in item:
            return _ABSENT
        item = item[each]
    return item


def _keys(items: Sequence[Any]) -> list[str]:
    mappings = [item for item in items if isinstance(item, Mapping)]
    return list(dict.fromkeys(key for item in mappings for key in item))
