"""Packages of the extra ``baselines``."""

from importlib.util import find_spec


def not_installed(package: str) -> str | None:
    """Return that a package is missing and how to get it, None if it is there."""
    if find_spec(package) is not None:
        return None
    return f'{package} is not installed: pip install "mtmkl[baselines]"'
