"""Find the files of data sets, check them, and download what is missing.

A file is looked for in the mirror, a folder with one folder per data set (environment
variable ``MTMKL_DATA_MIRROR``), then in the cache (``MTMKL_DATA_CACHE``, else the
user's cache folder), then on the network. It is checked before it is read.
"""

import math
import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from mtmkl_suite.data.entries import DataSetEntry, FileEntry
from mtmkl_suite.data.fetch.integrity import problem_of
from mtmkl_suite.documents import config_dir
from mtmkl_suite.errors import DataCorruptError, DataNotAvailableError
from mtmkl_suite.files import write_bytes

MIRROR_VARIABLE = "MTMKL_DATA_MIRROR"
CACHE_VARIABLE = "MTMKL_DATA_CACHE"


@dataclass(frozen=True)
class Found:
    """A file that exists."""

    kind: str
    """Of its place: "mirror", "cache" or "shipped"; "downloaded" if it just was."""
    path: Path
    problem: str | None = None
    """Words about damage, None for a file that is whole."""


class Places:
    """Places of files: the mirror, the cache, and copies that come with the package."""

    def __init__(self) -> None:
        given = os.environ.get(MIRROR_VARIABLE)
        self.mirror = Path(given) if given else None
        if self.mirror is not None and not self.mirror.is_dir():
            raise DataNotAvailableError(
                f"the data mirror {self.mirror} ({MIRROR_VARIABLE}) is not a folder"
            )
        self.cache = Path(os.environ.get(CACHE_VARIABLE) or _users_cache())

    def find(self, entry: DataSetEntry, file: FileEntry) -> tuple[str, Path] | None:
        """Return the kind of place and the path of a file that exists."""
        candidates = [("cache", self.cache / entry.name / file.path)]
        if self.mirror is not None:
            candidates.insert(0, ("mirror", self.mirror / entry.name / file.path))
        if file.shipped is not None:
            candidates.append(("shipped", config_dir() / file.shipped))
        # What may not be looked into is not there: Path.is_file() raises.
        return next((each for each in candidates if os.path.isfile(each[1])), None)

    def check(self, entry: DataSetEntry, file: FileEntry) -> Found | None:
        """Return a file that exists, compared with its entry."""
        if (place := self.find(entry, file)) is None:
            return None
        content = place[1].read_bytes()
        return Found(*place, problem_of(content, file, self.checksums(entry, file)))

    def checksums(self, entry: DataSetEntry, file: FileEntry) -> Path | None:
        """Return the list of the hashes of a file's members, if there is one."""
        if file.members_sha256 is None:
            return None
        listed = self.find(entry, entry.file(file.members_sha256))
        return None if listed is None else listed[1]


def _users_cache() -> str:
    folder = platformdirs.user_cache_dir("mtmkl")
    # Without a home it begins with "~": then nothing is there, and nothing can be.
    return os.path.join(os.devnull, "no home") if folder.startswith("~") else folder


def obtain(
    entry: DataSetEntry, places: Places, *, download: bool, until: float = math.inf
) -> dict[str, Found]:
    """Return the files of a data set, checked, by their paths in it.

    Files that are missing, or damaged in the cache, are downloaded if wanted. Downloads
    give up at the time ``until``.
    """
    # Lists of hashes first: other files are checked against them.
    lists = {file.members_sha256 for file in entry.files}
    obtained: dict[str, Found] = {}
    archives: dict[str, bytes] = {}
    for file in sorted(entry.files, key=lambda file: file.path not in lists):
        found = places.check(entry, file)
        if found is not None and found.problem is None:
            obtained[file.path] = found
            continue
        if found is not None and not (download and found.kind == "cache"):
            remedy = f"Put the registered file in its place ({found.kind})"
            if found.kind == "cache":
                remedy = f"`mtmkl datasets fetch {entry.name}` replaces it"
            raise DataCorruptError(
                f"data set {entry.name!r}: {found.path} is damaged: {found.problem}. "
                f"{remedy}"
            )
        named = f"{MIRROR_VARIABLE} to a folder that holds {entry.name}/{file.path}"
        if not download:
            mirror = places.mirror or f"no mirror ({MIRROR_VARIABLE} is not set)"
            raise DataNotAvailableError(
                f"data set {entry.name!r} is not available: {file.path} is missing "
                f"(looked in {mirror} and in the cache {places.cache}). "
                f"Set {named}, or run `mtmkl datasets fetch {entry.name}`"
            )
        # Here, since what it needs is slow to load.
        from mtmkl_suite.data.fetch.download import download as download_file

        try:
            checksums = places.checksums(entry, file)
            content = download_file(file, archives, checksums=checksums, until=until)
        except (DataCorruptError, DataNotAvailableError) as error:
            raise type(error)(
                f"data set {entry.name!r}: {file.path} could not be downloaded; "
                f"nothing was kept. {error}. Set {named}"
            ) from error
        path = places.cache / entry.name / file.path
        try:
            write_bytes(path, content)
        except OSError as error:
            raise DataNotAvailableError(
                f"the cache {places.cache} cannot be written ({error.strerror}): set "
                f"{CACHE_VARIABLE} to a folder that can"
            ) from error
        obtained[file.path] = Found("downloaded", path)
    return obtained
