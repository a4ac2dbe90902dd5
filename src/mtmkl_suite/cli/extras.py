"""Packages that an installation of the library alone lacks."""

import re
from importlib import metadata

from mtmkl.errors import some


def require_suite() -> None:
    """Check that all packages of the suite are here, before any work is done."""
    missing = [name for name in _packages("suite") if not _is_installed(name)]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise ImportError(
            f"{some(missing)} {verb} not installed: the command needs "
            'pip install "mtmkl[suite]"'
        )


def _packages(extra: str) -> list[str]:
    """Return the packages that an extra of the project adds, as it is installed."""
    declared = metadata.requires("mtmkl") or ()
    of_extra = re.compile(rf"""([\w.-]+).*;.*extra == ["']{extra}["']""")
    return [found[1] for line in declared if (found := of_extra.match(line))]


def _is_installed(package: str) -> bool:
    try:
        metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return False
    return True
