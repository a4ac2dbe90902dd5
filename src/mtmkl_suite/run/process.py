"""Streams, folders and a user's name for a process on a machine that lacks them."""

import getpass
import io
import os
import sys
import tempfile

from mtmkl_suite.errors import ConfigError

_kept: list[tempfile.TemporaryDirectory[str]] = []
"""Deleted at the end of the process."""


def print_any_text() -> None:
    """Print question marks for letters that the terminal cannot show."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def provide_folders() -> None:
    """Give a process in a container a user's name, and a cache that it can write."""
    try:
        tempfile.gettempdir()
    except FileNotFoundError as error:
        raise ConfigError(f"{error.strerror}: set TMPDIR to one") from error
    try:
        getpass.getuser()
    except (KeyError, OSError):
        os.environ["USER"] = str(os.getuid())
    if os.path.expanduser("~") == "~":
        os.environ["HOME"] = _temporary("there is no home", "HOME")
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    try:
        os.makedirs(cache, exist_ok=True)
        tempfile.TemporaryFile(dir=cache).close()
    except OSError:
        folder = _temporary(f"{cache} cannot be written", "XDG_CACHE_HOME")
        os.environ |= {"XDG_CACHE_HOME": folder, "MPLCONFIGDIR": folder}
        if os.path.isdir(f"{cache}/mtmkl"):  # with data that were fetched before
            os.environ.setdefault("MTMKL_DATA_CACHE", f"{cache}/mtmkl")


def _temporary(reason: str, variable: str) -> str:
    _kept.append(tempfile.TemporaryDirectory(prefix="mtmkl-"))
    print(
        f"mtmkl: note: {reason}, so that caches of this run are in a temporary folder. "
        f"Set {variable} to one that lasts",
        file=sys.stderr,
    )
    return _kept[-1].name
