"""Words that messages share."""

import difflib
from collections.abc import Collection, Iterable

_LISTED = 20
"""Known names that are listed beside near ones."""


def some(names: Iterable[object], count: int = 5) -> str:
    """List a few names, and say how many more there are."""
    listed = list(map(str, names))
    shown, more = ", ".join(listed[:count]), len(listed) - count
    return f"{shown} and {more} more" if more > 0 else shown


def unknown(kind: str, name: object, known: Collection[str]) -> str:
    """Return that a name is not known, the nearest known ones, and the others."""
    begun = [each for each in known if name and each.startswith(str(name))]
    near = begun[:3] or difflib.get_close_matches(str(name), known, n=1)
    meant = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    listed = some(known, _LISTED if near else len(known)) or "none"
    return f"unknown {kind} {name!r}{meant} (known: {listed})"
