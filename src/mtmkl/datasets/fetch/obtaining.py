"""Find the files of data sets, check them, and download what is missing.

A file is looked for in the mirror (argument ``mirror``, else the environment variable
``MTMKL_DATA_MIRROR``), then in the cache (``MTMKL_DATA_CACHE``, else the user's cache
folder), then on the network. Wherever it is found, it is checked before it is read.
"""

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from mtmkl.datasets.entries import DataSetEntry, FileEntry
from mtmkl.datasets.errors import DataCorruptError, DataNotAvailableError
from mtmkl.datasets.fetch.integrity import find_problem
from mtmkl.documents import config_dir

MIRROR_VARIABLE = "MTMKL_DATA_MIRROR"
CACHE_VARIABLE = "MTMKL_DATA_CACHE"


class Places:
    """Where files may be: what comes with the package, the mirror, the cache."""

    def __init__(self, mirror: str | Path | None) -> None:
        given = os.environ.get(MIRROR_VARIABLE) if mirror is None else mirror
        self.mirror = Path(given) if given else None
        if self.mirror is not None and not self.mirror.is_dir():
            source = MIRROR_VARIABLE if mirror is None else "mirror"
            raise DataNotAvailableError(
                f"the data mirror {self.mirror} ({source}) is not a folder"
            )
        cache = os.environ.get(CACHE_VARIABLE)
        if not cache:
            import pooch

            cache = pooch.os_cache("mtmkl")
        self.cache = Path(cache)

    def find(self, entry: DataSetEntry, file: FileEntry) -> tuple[str, Path] | None:
        """Return the kind of place and the path of a file that exists."""
        candidates = [("cache", self.cached(entry, file))]
        if self.mirror is not None:
            candidates.insert(0, ("mirror", self.mirror / entry.name / file.path))
        if file.shipped is not None:
            candidates.append(("shipped", config_dir() / file.shipped))
        return next((place for place in candidates if place[1].is_file()), None)

    def cached(self, entry: DataSetEntry, file: FileEntry) -> Path:
        """Return the path of a file in the cache, whether it is there or not."""
        return self.cache / entry.name / file.path

    def searched(self) -> str:
        """Say where files were looked for."""
        mirror = self.mirror or f"no mirror ({MIRROR_VARIABLE} is not set)"
        return f"looked in {mirror} and in the cache {self.cache}"


def obtain(
    entry: DataSetEntry, places: Places, *, download: bool, repair: bool
) -> dict[str, tuple[str, Path]]:
    """Return source and checked path of each file of a data set, by its name."""
    from mtmkl.datasets.fetch.download import Downloads

    # Lists of hashes first: other files are checked against them.
    lists = {file.members_sha256 for file in entry.files}
    found: dict[str, tuple[str, Path]] = {}
    with ExitStack() as stack:
        downloads: Downloads | None = None
        for file in sorted(entry.files, key=lambda file: file.path not in lists):
            place = places.find(entry, file)
            if place is not None:
                problem = damage(entry, file, place[1], places)
                if problem is None:
                    found[file.path] = place
                    continue
                if place[0] != "cache" or not repair:
                    raise DataCorruptError(
                        f"data set {entry.name!r}: {place[1]} is damaged: {problem}."
                        + _damage_remedy(entry, place[0])
                    )
            if not download:
                raise DataNotAvailableError(
                    f"data set {entry.name!r} is not available: {file.path} is "
                    f"missing ({places.searched()}). "
                    f"Set {MIRROR_VARIABLE} to a folder that holds "
                    f"{entry.name}/{file.path}, or run `mtmkl datasets fetch "
                    f"{entry.name}`"
                )
            if downloads is None:
                downloads = stack.enter_context(Downloads(places.cache / entry.name))
            target = places.cached(entry, file)
            _download(entry, file, target, places, downloads)
            found[file.path] = ("downloaded", target)
    return found


def damage(
    entry: DataSetEntry,
    file: FileEntry,
    path: Path,
    places: Places,
    *,
    remember: bool = True,
) -> str | None:
    """Return what is wrong with a file, if anything; ``remember`` earlier findings."""
    checksums = None
    if file.members_sha256 is not None:
        listed = places.find(entry, entry.file(file.members_sha256))
        checksums = None if listed is None else listed[1]
    return find_problem(
        path,
        size=file.size,
        sha256=file.sha256,
        newline=file.newline,
        checksums=checksums,
        remember=remember,
    )


def _download(
    entry: DataSetEntry,
    file: FileEntry,
    target: Path,
    places: Places,
    downloads: Any,
) -> None:
    """Ask each address of a file until one serves it."""
    from mtmkl.datasets.fetch.download import ContentError, TransferError

    expected = {"size": file.size, "sha256": file.sha256, "newline": file.newline}
    attempts: list[tuple[str, Callable[[], None]]] = [
        (url, lambda url=url: downloads.file(url, target, **expected))  # type: ignore[misc]
        for url in file.urls
    ]
    url, member = file.archive_url, file.archive_member
    if url is not None and file.members_sha256 is None:
        attempts.append(
            (url, lambda: downloads.member(url, member, target, **expected))
        )
    elif url is not None and file.members_sha256 is not None:
        listed = places.find(entry, entry.file(file.members_sha256))
        if listed is not None:
            attempts.append(
                (
                    url,
                    lambda: downloads.member_tar(
                        url, member, listed[1], target, size=file.size
                    ),
                )
            )
    failures, is_corrupt = [], False
    for address, attempt in attempts:
        try:
            attempt()
            return
        except (ContentError, TransferError) as error:
            is_corrupt = is_corrupt or isinstance(error, ContentError)
            failures.append(f"{address}: {error}")
    if not failures:
        failures = ["no address is known that serves this file"]
    message = (
        f"data set {entry.name!r}: {file.path} could not be downloaded; nothing was "
        f"kept. {'; '.join(failures)}. Set {MIRROR_VARIABLE} to a folder that holds "
        f"{entry.name}/{file.path}"
    )
    raise (DataCorruptError if is_corrupt else DataNotAvailableError)(message)


def _damage_remedy(entry: DataSetEntry, kind: str) -> str:
    if kind == "cache":
        return f" `mtmkl datasets fetch {entry.name}` replaces it"
    return f" Put the registered file in its place ({kind})"
