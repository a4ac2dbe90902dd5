"""Find the files of data sets, check them, and download what is missing.

A file is looked for in the mirror, a folder with one folder per data set (environment
variable ``MTMKL_DATA_MIRROR``), then in the cache (``MTMKL_DATA_CACHE``, else the
user's cache folder), then on the network. It is checked before it is read.
"""

import math
import os
from pathlib import Path

import platformdirs

from mtmkl_suite.data.entries import DataSetEntry, FileEntry
from mtmkl_suite.data.fetch.integrity import find_problem
from mtmkl_suite.documents import config_dir
from mtmkl_suite.errors import DataCorruptError, DataNotAvailableError
from mtmkl_suite.files import write_bytes

MIRROR_VARIABLE = "MTMKL_DATA_MIRROR"
CACHE_VARIABLE = "MTMKL_DATA_CACHE"


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
    entry: DataSetEntry,
    places: Places,
    *,
    download: bool,
    repair: bool,
    until: float = math.inf,
) -> dict[str, tuple[str, Path]]:
    """Return kind of place and checked path of each file of a data set, by its name.

    Missing files are downloaded if wanted, and so are files that are damaged in the
    cache, if they are to be repaired. Downloads give up at the time ``until``.
    """
    # Lists of hashes first: other files are checked against them.
    lists = {file.members_sha256 for file in entry.files}
    found: dict[str, tuple[str, Path]] = {}
    archives: dict[str, bytes] = {}
    for file in sorted(entry.files, key=lambda file: file.path not in lists):
        checksums = places.checksums(entry, file)
        place = places.find(entry, file)
        if place is not None and _is_good(entry, file, place, checksums, repair):
            found[file.path] = place
            continue
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
        found[file.path] = ("downloaded", path)
    return found


def _is_good(
    entry: DataSetEntry,
    file: FileEntry,
    place: tuple[str, Path],
    checksums: Path | None,
    repair: bool,
) -> bool:
    """Tell whether a file is intact; damage that nothing repairs is an error."""
    kind, path = place
    problem = find_problem(path, file, checksums)
    if problem is None or (kind == "cache" and repair):
        return problem is None
    remedy = f"Put the registered file in its place ({kind})"
    if kind == "cache":
        remedy = f"`mtmkl datasets fetch {entry.name}` replaces it"
    raise DataCorruptError(
        f"data set {entry.name!r}: {path} is damaged: {problem}. {remedy}"
    )
