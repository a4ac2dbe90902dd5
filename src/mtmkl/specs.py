"""Specifications: a name, or a mapping of ``name`` and parameters."""

from collections.abc import Callable, Collection, Mapping
from inspect import signature
from typing import Any

from mtmkl.errors import unknown


def read_spec(
    kind: str,
    spec: Any,
    known: Mapping[str, Callable[..., Any]],
    *,
    more: Collection[str] = (),
    hidden: Collection[str] = (),
) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of a specification of some kind.

    Parameters are those of the known callable of this name, but for the hidden ones,
    and some more. Raises ValueError if the name or a parameter is another.
    """
    if not isinstance(spec, str | Mapping):
        raise ValueError(f"not a specification of a {kind}: {spec!r}")
    values: dict[str, Any] = {"name": spec} if isinstance(spec, str) else dict(spec)
    name = values.pop("name", None)
    if name not in known:
        raise ValueError(unknown(kind, name, sorted(known)))
    taken = [key for key in signature(known[name]).parameters if key not in hidden]
    if wrong := [key for key in values if key not in (*taken, *more)]:
        raise ValueError(
            f"{kind} {name!r} has no {', '.join(map(repr, wrong))}; its parameters: "
            f"{', '.join((*taken, *more))}"
        )
    return str(name), values
