"""Download the small sets that are missing: soon, or not at all."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from mtmkl_suite.data.entries import DataSetEntry, FileEntry
from mtmkl_suite.data.errors import DataCorruptError, DataNotAvailableError
from mtmkl_suite.data.fetch.obtaining import Places, obtain

MOST_BYTES = 5_000_000
"""Sets of fewer bytes are small."""

_MOST_BYTES_IN_ALL = 15_000_000
_SECONDS = 10.0  # for a set
_SECONDS_TO_ANSWER = 3.0  # for all hosts; without a network nothing else is spent
_AT_A_TIME = 4  # more would share a slow line, and none would arrive in time


def missing_small_sets(
    sets: Iterable[Iterable[DataSetEntry]], places: Places
) -> list[DataSetEntry]:
    """Return what is missing of the small ones of some sets, the smallest first.

    A set comes with the parts of others that it uses.
    """
    missing = {
        part.name: part
        for parts in map(list, sets)
        if sum(map(_size, parts)) < MOST_BYTES
        for part in parts
        if any(places.find(part, file) is None for file in part.files)
    }
    found: list[DataSetEntry] = []
    for part in sorted(missing.values(), key=_size):
        if sum(map(_size, [*found, part])) <= _MOST_BYTES_IN_ALL:
            found.append(part)
    return found


def fetch_quickly(entries: list[DataSetEntry], places: Places) -> dict[str, str]:
    """Download data sets, and return why those that are still missing are, by name.

    A host that answers nothing at first is not asked for any file.
    """
    # Here, since what it needs is slow to load.
    from mtmkl_suite.data.fetch.download import Patience, host_of, hosts_that_answer

    urls = [url for entry in entries for file in entry.files for url in _urls(file)]
    hosts = hosts_that_answer(urls, seconds=_SECONDS_TO_ANSWER)
    patience = Patience(attempts=1, seconds=_SECONDS, archive_bytes=MOST_BYTES)

    def at_hosts(file: FileEntry) -> FileEntry:
        urls = [url for url in file.urls if host_of(url) in hosts]
        archive = file.archive
        if archive is not None and host_of(archive.url) not in hosts:
            archive = None
        return file.model_copy(update={"urls": urls, "archive": archive})

    def fetch(entry: DataSetEntry) -> str | None:
        files = [at_hosts(file) for file in entry.files]
        if not all(map(_urls, files)):
            return "no server answers"
        entry = entry.model_copy(update={"files": files})
        try:
            obtain(entry, places, download=True, repair=False, patience=patience)
        except (DataNotAvailableError, DataCorruptError, OSError) as error:
            return str(error)
        return None

    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        reasons = zip(entries, pool.map(fetch, entries), strict=True)
        return {entry.name: reason for entry, reason in reasons if reason is not None}


def _size(entry: DataSetEntry) -> int:
    return sum(file.bytes for file in entry.files)


def _urls(file: FileEntry) -> list[str]:
    return file.urls + ([file.archive.url] if file.archive is not None else [])
