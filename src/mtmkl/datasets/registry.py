"""The registry of data sets: what they are, where they are, and how to read them.

A file is looked for in the mirror (argument ``mirror``, else the environment variable
``MTMKL_DATA_MIRROR``), then in the cache (``MTMKL_DATA_CACHE``, else the user's cache
folder), then on the network. Wherever it is found, it is checked before it is read.
"""

import difflib
import importlib
import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from mtmkl.config import ConfigError, config_dir, read_yaml, validate
from mtmkl.datasets.container import MultiTaskData, Origin
from mtmkl.datasets.errors import DataCorruptError, DataNotAvailableError
from mtmkl.datasets.integrity import find_problem

Place = Literal["mirror", "cache", "built-in"]

MIRROR_VARIABLE = "MTMKL_DATA_MIRROR"
CACHE_VARIABLE = "MTMKL_DATA_CACHE"


@dataclass(frozen=True, kw_only=True)
class FileEntry:
    """One file of a data set.

    Attributes
    ----------
    path : str
        Below the folder of the data set, in a mirror as in the cache.
    size : int
        Bytes.
    sha256 : str
        Hexadecimal.
    urls : tuple of str
        Addresses of the file itself, in the order in which they are asked.
    archive_url, archive_member : str or None
        Archive that holds the file, asked last, and where in it; for a file with
        ``members_sha256``, the archive of those members and the archive in it, if any.
    newline : {None, "lf"}
        "lf": size and hash are those after replacing every CRLF by LF.
    members_sha256 : str or None
        File of the same data set that lists the hash of each member of this tar file.
    shipped : str or None
        Path below ``config/`` of a copy that comes with the package.
    """

    path: str
    size: int
    sha256: str
    urls: tuple[str, ...] = ()
    archive_url: str | None = None
    archive_member: str | None = None
    newline: str | None = None
    members_sha256: str | None = None
    shipped: str | None = None


@dataclass(frozen=True, kw_only=True)
class DataSetEntry:
    """One data set of ``config/datasets.yaml``.

    Attributes
    ----------
    name, title, licence, citation : str
    origin : {"original", "stand-in", "synthetic"}
        As in ``MultiTaskData``.
    original_url, notes : tuple of str
        Where the authors or an archive publish it; what its readers should know.
    tried : bool
        Whether the addresses were seen to serve these files.
    loader : str or None
        "package.module:function"; None for a set that no code reads yet.
    drawn : bool
        Whether every repeat of an experiment has a draw of its own, by the loader's
        option ``seed``.
    outputs : {"labels", "numbers"}
        Whether the outputs are labels −1 and +1, or real numbers.
    truth : tuple of str
        What metrics may find in the ground truth of the data.
    files : tuple of FileEntry
        None for what is generated or comes with an installed package.
    """

    name: str
    title: str
    origin: Origin
    licence: str
    citation: str
    original_url: tuple[str, ...]
    notes: tuple[str, ...]
    tried: bool
    loader: str | None
    drawn: bool
    outputs: Literal["labels", "numbers"]
    truth: tuple[str, ...]
    files: tuple[FileEntry, ...]

    def file(self, path: str) -> FileEntry:
        """Return the entry of a file by its path."""
        return next(file for file in self.files if file.path == path)


class Registry:
    """Data sets by name.

    Parameters
    ----------
    entries : iterable of DataSetEntry
    """

    def __init__(self, entries: Iterable[DataSetEntry]) -> None:
        self._entries = {entry.name: entry for entry in entries}

    @classmethod
    def from_config(cls, path: str | Path | None = None) -> "Registry":
        """Read a registry, ``config/datasets.yaml`` unless another is named.

        Raises
        ------
        mtmkl.config.ConfigError
            If the file is not as its schema says; names the key.
        """
        path = config_dir() / "datasets.yaml" if path is None else Path(path)
        document = read_yaml(path)
        validate(document, "dataset", source=path.name)
        return cls(
            _entry(name, spec, path.name) for name, spec in document["datasets"].items()
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __getitem__(self, name: str) -> DataSetEntry:
        if name not in self._entries:
            near = difflib.get_close_matches(name, self._entries, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(
                f"unknown data set {name!r}.{hint} Known: "
                f"{', '.join(sorted(self._entries))}"
            )
        return self._entries[name]

    def load(
        self,
        name: str,
        *,
        mirror: str | Path | None = None,
        download: bool = True,
        **options: Any,
    ) -> MultiTaskData:
        """Obtain, check and read a data set.

        Parameters
        ----------
        name : str
            A registered name.
        mirror : str or Path, optional
            Folder with one folder per data set; by default ``MTMKL_DATA_MIRROR``.
        download : bool
            Ask the network for files that are neither in the mirror nor cached.
        **options
            Options of the set's loader, such as ``bias`` or ``n_irrelevant``.

        Raises
        ------
        ValueError
            If the name or an option is unknown, or the set has no loader.
        DataNotAvailableError
            If a file cannot be had; says where it was looked for, and the remedy.
        DataCorruptError
            If a file, or what was read from it, is not as expected.
        """
        entry, loader = self[name], self.check_options(name, options)
        if not entry.files:
            data = loader(**options)
        else:
            places = _Places(mirror)
            found = _obtain(entry, places, download=download, repair=False)
            data = loader({path: place[1] for path, place in found.items()}, **options)
        if data.name != name:
            raise ValueError(f"loader {entry.loader} calls {name!r} {data.name!r}")
        return data

    def check_options(
        self, name: str, options: Iterable[str]
    ) -> Callable[..., MultiTaskData]:
        """Check the names of a data set and of its options, and return its loader.

        Raises
        ------
        ValueError
            If the name or an option is unknown, or the set has no loader.
        """
        entry = self[name]
        loader = _loader(entry)
        known = [
            parameter.name
            for parameter in inspect.signature(loader).parameters.values()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        ]
        for option in options:
            if option not in known:
                raise ValueError(
                    f"data set {entry.name!r} has no option {option!r}; it has "
                    f"{', '.join(known) or 'none'}"
                )
        return loader

    def locate(self, name: str, *, mirror: str | Path | None = None) -> Place | None:
        """Tell where a data set is, from the names of its files alone.

        Returns
        -------
        {"mirror", "cache", "built-in", None}
            "mirror" if all files are there, "cache" if some or all are there
            instead, "built-in" if no files are needed, None if one is missing.
        """
        entry, places = self[name], _Places(mirror)
        if not entry.files:
            return "built-in"
        found = {places.find(entry, file) for file in entry.files}
        kinds = {None if place is None else place[0] for place in found}
        if None in kinds:
            return None
        return "cache" if "cache" in kinds else "mirror"

    def fetch(
        self, names: str | Iterable[str], *, mirror: str | Path | None = None
    ) -> list[dict[str, Any]]:
        """Make sure that data sets are here, downloading what is missing.

        A damaged file in the cache is replaced, one in the mirror is an error.

        Parameters
        ----------
        names : str or iterable of str
        mirror : str or Path, optional
            As for ``load``.

        Returns
        -------
        list of dict
            A row a file: dataset, file, bytes, source ("mirror", "cache", "shipped"
            or "downloaded") and path.

        Raises
        ------
        ValueError, DataNotAvailableError, DataCorruptError
            As for ``load``; files that were complete before stay.
        """
        places = _Places(mirror)
        entries = [self[name] for name in _as_names(names)]
        rows = []
        for entry in entries:
            found = _obtain(entry, places, download=True, repair=True)
            for file in entry.files:
                source, path = found[file.path]
                rows.append(
                    {
                        "dataset": entry.name,
                        "file": file.path,
                        "bytes": file.size,
                        "source": source,
                        "path": str(path),
                    }
                )
        return rows

    def verify(
        self,
        names: str | Iterable[str] | None = None,
        *,
        mirror: str | Path | None = None,
    ) -> list[dict[str, Any]]:
        """Check the files of data sets against their hashes, without downloading.

        Parameters
        ----------
        names : str or iterable of str, optional
            By default every data set.
        mirror : str or Path, optional
            As for ``load``.

        Returns
        -------
        list of dict
            A row a file: dataset, file, status ("ok", "corrupt" or "missing"), source
            ("mirror", "cache", "shipped" or ""), path and detail, which says what is
            wrong.
        """
        places = _Places(mirror)
        chosen = list(self) if names is None else _as_names(names)
        rows = []
        for entry in [self[name] for name in chosen]:
            for file in entry.files:
                place = places.find(entry, file)
                problem = None
                if place is not None:
                    problem = _problem(entry, file, place[1], places, remember=False)
                status = "missing" if place is None else "corrupt" if problem else "ok"
                rows.append(
                    {
                        "dataset": entry.name,
                        "file": file.path,
                        "status": status,
                        "source": place[0] if place else "",
                        "path": str(place[1]) if place else "",
                        "detail": problem or "",
                    }
                )
        return rows

    def describe(self, name: str) -> dict[str, Any]:
        """Return what the registry says of a data set, for reports.

        Returns
        -------
        dict
            title, origin, licence, citation, original_url (list), notes (list).
        """
        entry = self[name]
        return {
            "title": entry.title,
            "origin": entry.origin,
            "licence": entry.licence,
            "citation": entry.citation,
            "original_url": list(entry.original_url),
            "notes": list(entry.notes),
        }

    def describe_all(self, *, mirror: str | Path | None = None) -> list[dict[str, Any]]:
        """Return one row per data set, for a listing.

        Returns
        -------
        list of dict
            name, title, origin, where (as ``locate`` says), n_files, bytes,
            has_loader, urls_tried (None without files) and licence.
        """
        return [
            {
                "name": name,
                "title": entry.title,
                "origin": entry.origin,
                "where": self.locate(name, mirror=mirror),
                "n_files": len(entry.files),
                "bytes": sum(file.size for file in entry.files),
                "has_loader": entry.loader is not None,
                "urls_tried": entry.tried if entry.files else None,
                "licence": entry.licence,
            }
            for name, entry in self._entries.items()
        ]

    def is_generator(self, name: str) -> bool:
        """Tell whether a data set is generated, from its options alone."""
        return self[name].origin == "synthetic"

    def is_drawn(self, name: str) -> bool:
        """Return whether every repeat of an experiment has a draw of its own."""
        return self[name].drawn


class _Places:
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


def _obtain(
    entry: DataSetEntry, places: _Places, *, download: bool, repair: bool
) -> dict[str, tuple[str, Path]]:
    """Return source and checked path of each file of a data set, by its name."""
    from mtmkl.datasets.download import Downloads

    # Lists of hashes first: other files are checked against them.
    lists = {file.members_sha256 for file in entry.files}
    found: dict[str, tuple[str, Path]] = {}
    with ExitStack() as stack:
        downloads: Downloads | None = None
        for file in sorted(entry.files, key=lambda file: file.path not in lists):
            place = places.find(entry, file)
            if place is not None:
                problem = _problem(entry, file, place[1], places)
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


def _damage_remedy(entry: DataSetEntry, kind: str) -> str:
    if kind == "cache":
        return f" `mtmkl datasets fetch {entry.name}` replaces it"
    return f" Put the registered file in its place ({kind})"


def _problem(
    entry: DataSetEntry,
    file: FileEntry,
    path: Path,
    places: _Places,
    *,
    remember: bool = True,
) -> str | None:
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
    places: _Places,
    downloads: Any,
) -> None:
    """Ask each address of a file until one serves it."""
    from mtmkl.datasets.download import ContentError, TransferError

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


def _entry(name: str, spec: Mapping[str, Any], source: str) -> DataSetEntry:
    files = tuple(_file_entry(file, spec) for file in spec["files"])
    paths = [file.path for file in files]
    for position, file in enumerate(files):
        key = f"datasets.{name}.files.{position}"
        if paths.index(file.path) != position:
            raise ConfigError(f"{source}: key '{key}.path': {file.path!r} comes twice")
        if file.members_sha256 not in (None, *paths):
            raise ConfigError(
                f"{source}: key '{key}.members_sha256': {file.members_sha256!r} is not "
                f"a file of {name!r}"
            )
    return DataSetEntry(
        name=name,
        title=spec["title"],
        origin=spec["origin"],
        licence=spec["licence"],
        citation=spec["citation"],
        original_url=tuple(spec["original_url"]),
        notes=tuple(spec["notes"]),
        tried=spec.get("tried", False),
        loader=spec["loader"],
        drawn=spec.get("drawn", spec["origin"] == "synthetic"),
        outputs=spec.get("outputs", "numbers"),
        truth=tuple(spec.get("truth", ())),
        files=files,
    )


def _file_entry(file: Mapping[str, Any], spec: Mapping[str, Any]) -> FileEntry:
    archive = file.get("archive")
    if archive is None and "archive_url" in spec:
        archive = {"url": spec["archive_url"], "member": file["path"]}
    archive = archive or {}
    return FileEntry(
        path=file["path"],
        size=file["bytes"],
        sha256=file["sha256"],
        urls=(
            *file.get("urls", ()),
            *(base + quote(file["path"]) for base in spec.get("url_bases", ())),
        ),
        archive_url=archive.get("url"),
        archive_member=archive.get("member"),
        newline=file.get("newline"),
        members_sha256=file.get("members_sha256"),
        shipped=file.get("shipped"),
    )


def _loader(entry: DataSetEntry) -> Callable[..., MultiTaskData]:
    if entry.loader is None:
        raise ValueError(
            f"data set {entry.name!r} has files but no loader: nothing reads it yet"
        )
    module, _, function = entry.loader.partition(":")
    loader: Callable[..., MultiTaskData] = getattr(
        importlib.import_module(module), function
    )
    return loader


def _as_names(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


@lru_cache(maxsize=1)
def default_registry() -> Registry:
    """Return the registry of ``config/datasets.yaml``, read once per process."""
    return Registry.from_config()


def load(
    name: str,
    *,
    mirror: str | Path | None = None,
    download: bool = True,
    **options: Any,
) -> MultiTaskData:
    """Obtain, check and read a registered data set; see ``Registry.load``."""
    return default_registry().load(name, mirror=mirror, download=download, **options)


def check_options(name: str, options: Iterable[str]) -> Callable[..., MultiTaskData]:
    """Check the names of a data set and its options; see ``Registry.check_options``."""
    return default_registry().check_options(name, options)


def locate(name: str, *, mirror: str | Path | None = None) -> Place | None:
    """Tell where a registered data set is; see ``Registry.locate``."""
    return default_registry().locate(name, mirror=mirror)


def fetch(
    names: str | Iterable[str], *, mirror: str | Path | None = None
) -> list[dict[str, Any]]:
    """Download what is missing of data sets; see ``Registry.fetch``."""
    return default_registry().fetch(names, mirror=mirror)


def verify(
    names: str | Iterable[str] | None = None, *, mirror: str | Path | None = None
) -> list[dict[str, Any]]:
    """Check the files of data sets; see ``Registry.verify``."""
    return default_registry().verify(names, mirror=mirror)


def describe(name: str) -> dict[str, Any]:
    """Return what the registry says of a data set; see ``Registry.describe``."""
    return default_registry().describe(name)


def describe_all(*, mirror: str | Path | None = None) -> list[dict[str, Any]]:
    """Return a row a registered data set; see ``Registry.describe_all``."""
    return default_registry().describe_all(mirror=mirror)


def is_generator(name: str) -> bool:
    """Tell whether a data set is generated; see ``Registry.is_generator``."""
    return default_registry().is_generator(name)


def is_drawn(name: str) -> bool:
    """Return whether every repeat has a draw of its own; see ``Registry.is_drawn``."""
    return default_registry().is_drawn(name)
