"""Values of a tier, and entries that stand for many: ``for_each`` over lists.

An entry of a mapping or an item of a list is repeated in its place, once for every
combination of the values of its ``for_each``, the first axis varying slowest::

    lists:
      rivals: [{id: stl, name: single-task MKL}, {id: cmtl, name: CMTL, margin: 0.01}]

    - for_each: {rival: rivals, size: [10, 50]}
      id: "beats_{rival.id}_{size}"
      claim: "Better than {rival.name} at {size} %."
      margin: "{rival.margin}"

- An axis takes the name of a list, or a list. Both may come from an earlier axis.
- ``{axis}`` and ``{axis.field}`` stand for a value and for a field of it, in the texts
  and keys of the entry, and nowhere else. A text that is one placeholder becomes the
  value itself: a number, a list, a mapping.
- A key whose value is one placeholder is left out where the item lacks that field, so
  that items may have settings of their own. A field that no item has is an error.
- An item of a list with nothing but ``for_each`` and ``entries`` gives way to these
  entries, which may have a ``for_each`` of their own.
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
    return _expand(document, _Scope(lists))


@dataclass(frozen=True)
class _Scope:
    """Where in the document we are, and what placeholders stand for there."""

    lists: Mapping[str, Sequence[Any]]
    path: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    items: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def at(self, step: object) -> "_Scope":
        return replace(self, path=(*self.path, str(step)))

    def error(self, text: str) -> ValueError:
        return ValueError(f"key {'.'.join(self.path)!r}: {text}")

    def combinations(self, axes: Any) -> Iterator["_Scope"]:
        if not isinstance(axes, Mapping) or not axes:
            raise self.error(f"for_each is {axes!r}, not a mapping of names to lists")
        (name, values), *rest = axes.items()
        if name in self.values:
            raise self.error(f"for_each has the name {name!r} of an outer one")
        items = self._items(name, values)
        for item in items:
            inner = replace(
                self,
                values={**self.values, name: item},
                items={**self.items, name: items},
            )
            if rest:
                yield from inner.combinations(dict(rest))
            else:
                yield inner

    def _items(self, name: str, values: Any) -> Sequence[Any]:
        if isinstance(values, str) and _PLACEHOLDER.fullmatch(values):
            values = self.filled(values)
        elif isinstance(values, str):
            if values not in self.lists:
                raise self.error(unknown("list", values, self.lists))
            values = self.lists[values]
        else:
            values = _expand(values, self)
        if not isinstance(values, list) or not values:
            raise self.error(f"for_each.{name} is {values!r}, not a list with items")
        return values

    def filled(self, text: str) -> Any:
        """Return what a text stands for, _ABSENT if that is a missing field."""
        whole = _PLACEHOLDER.fullmatch(text) if self.values else None
        return self._value(whole[1]) if whole else self.written(text)

    def written(self, text: str) -> str:
        """Return a text with every placeholder replaced."""
        if not self.values:
            return text

        def value(found: re.Match[str]) -> str:
            value = self._value(found[1])
            if value is _ABSENT:
                raise self.error(f"{found[0]}: this item has no such field")
            return str(value)

        return _PLACEHOLDER.sub(value, text)

    def _value(self, name: str) -> Any:
        axis, *fields = name.split(".")
        if axis not in self.values or not _has_field(self.items[axis], fields):
            known = [
                ".".join(each)
                for axis, items in self.items.items()
                for each in _names(axis, items)
            ]
            raise self.error(unknown("placeholder", name, known))
        value = self.values[axis]
        for each in fields:
            if not isinstance(value, Mapping) or each not in value:
                return _ABSENT
            value = value[each]
        return value


def _expand(node: Any, scope: _Scope) -> Any:
    if isinstance(node, str):
        value = scope.filled(node)
        return scope.written(node) if value is _ABSENT else value
    if isinstance(node, list):
        return [
            made
            for position, item in enumerate(node)
            for made in _expanded_item(item, scope.at(position))
        ]
    if isinstance(node, Mapping):
        return _expanded_mapping(node, scope)
    return node


def _expanded_item(item: Any, scope: _Scope) -> Iterator[Any]:
    if not _is_repeated(item):
        yield _expand(item, scope)
        return
    body = _body(item)
    for inner in scope.combinations(item["for_each"]):
        if list(body) == ["entries"] and isinstance(body["entries"], list):
            yield from _expand(body["entries"], inner)
        else:
            yield _expand(body, inner)


def _expanded_mapping(node: Mapping[Any, Any], scope: _Scope) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for key, value in node.items():
        here = scope.at(key)
        scopes: Iterator[_Scope] = iter([here])
        if _is_repeated(value):
            scopes, value = here.combinations(value["for_each"]), _body(value)
        for inner in scopes:
            if isinstance(value, str) and inner.filled(value) is _ABSENT:
                continue
            name = inner.written(key) if isinstance(key, str) else key
            if name in made:
                raise here.error(f"the key {name!r} is made twice")
            made[name] = _expand(value, inner)
    return made


def _is_repeated(node: Any) -> bool:
    return isinstance(node, Mapping) and "for_each" in node


def _body(node: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key != "for_each"}


def _has_field(items: Sequence[Any], fields: Sequence[str]) -> bool:
    found = list(items)
    for each in fields:
        found = [i[each] for i in found if isinstance(i, Mapping) and each in i]
    return bool(found)


def _names(axis: str, items: Sequence[Any]) -> list[tuple[str, ...]]:
    fields = dict.fromkeys(key for i in items if isinstance(i, Mapping) for key in i)
    return [(axis, key) for key in fields] or [(axis,)]
