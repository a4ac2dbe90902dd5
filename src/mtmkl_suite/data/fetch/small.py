"""Download the small sets that are missing: soon, or not at all."""

import threading
import time
from collections.abc import Iterable

from mtmkl_suite.data.entries import DataSetEntry
from mtmkl_suite.data.errors import DataCorruptError, DataNotAvailableError
from mtmkl_suite.data.fetch.obtaining import Places, obtain

MOST_BYTES = 5_000_000
"""Sets of fewer bytes are small."""

_SECONDS = 15.0  # for all sets, which arrive side by side


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
            obtain(entry, places, download=True, repair=False, until=until)
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
