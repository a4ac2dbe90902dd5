"""Errors that every room raises; loads nothing, so that the command starts at once."""

import difflib
from collections.abc import Collection


class ConfigError(ValueError):
    """A configuration file has an unknown key, a wrong value or a missing name."""


def unknown(kind: str, name: object, known: Collection[str]) -> str:
    """Return that a name is not known, the nearest known ones, and all of them."""
    begun = [each for each in known if name and each.startswith(str(name))]
    near = begun[:3] or difflib.get_close_matches(str(name), known, n=1)
    meant = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    return f"unknown {kind} {name!r}{meant} (known: {', '.join(known) or 'none'})"
