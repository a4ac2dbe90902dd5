"""Download small sets that are missing: soon, or not at all, and say so.

So a first report has real data. A run goes on without what fails, so failures are told
and not raised.
"""

import sys
import threading
import time
from collections.abc import Iterable

from mtmkl_suite.data.entries import DataSetEntry
from mtmkl_suite.data.fetch.obtaining import Places, obtain
from mtmkl_suite.data.registry import default_registry
from mtmkl_suite.errors import DataCorruptError, DataNotAvailableError

MOST_BYTES = 5_000_000
"""Sets of fewer bytes are small."""

_SECONDS = 15.0  # for all sets, which arrive side by side


def fetch_small(names: Iterable[str] | None = None) -> None:
    """Download the small data sets that are missing, all by default."""
    registry, places = default_registry(), Places()
    if names is None:  # but for sets that nothing reads yet
        names = [name for name in registry if registry[name].loader]
    missing = missing_small_sets(map(registry.parts, names), places)
    if not missing:
        return
    megabytes = sum(file.bytes for each in missing for file in each.files) / 1e6
    _say(
        f"Downloading small data sets: {', '.join(each.name for each in missing)} "
        f"({megabytes:.1f} MB); `download: never` in config/config.yaml prevents it"
    )
    reasons = fetch_quickly(missing, places)
    if reasons:
        names, first = ", ".join(reasons), next(iter(reasons.values()))
        _say(f"Going on without {names}: {first}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def missing_small_sets(
    sets: Iterable[Iterable[DataSetEntry]], places: Places
) -> list[DataSetEntry]:
    """Return what is missing of the small ones of some sets.

    A set comes with the parts of others that it uses.
    """
    missing = {
        part.name: part
        for parts in map(list, sets)
        if sum(file.bytes for part in parts for file in part.files) < MOST_BYTES
        for part in parts
        if any(places.find(part, file) is None for file in part.files)
    }
    return list(missing.values())


def fetch_quickly(entries: list[DataSetEntry], places: Places) -> dict[str, str]:
    """Download data sets, and return why those that are still missing are, by name."""
    until = time.monotonic() + _SECONDS
    reasons = {entry.name: "it did not arrive in time" for entry in entries}

    def fetch(entry: DataSetEntry) -> None:
        try:
            obtain(entry, places, download=True, until=until)
            del reasons[entry.name]
        except (DataNotAvailableError, DataCorruptError, OSError) as error:
            reasons[entry.name] = str(error)

    # A name that no server resolves can take longer than any timeout, so nobody waits
    # for threads that are late.
    threads = [
        threading.Thread(target=fetch, args=[entry], daemon=True) for entry in entries
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0.0))
    return dict(reasons)
