"""What is known of each data set: the entries of ``config/datasets.yaml``."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from mtmkl.datasets.container import MultiTaskData, Origin
from mtmkl.datasets.document import Archive, DataFile, DataSet, DataSets
from mtmkl.documents import ConfigError, config_dir, read_yaml, validated


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
    origin : {"original", "own kernels", "stand-in", "synthetic"}
        As in ``MultiTaskData``.
    original_url, notes : tuple of str
        Where the authors or an archive publish it; what its readers should know.
    loader : str or None
        "package.module:function"; None for a set that no code reads yet.
    drawn : bool
        Whether every repeat of an experiment has a draw of its own, by the loader's
        option ``seed``.
    pool : mapping of str to mapping of str to int, or float
        By the option that says how many examples of each class or task a draw has: how
        many there are to draw from. Or the share of them that a draw takes. Empty
        unless draws are from published data.
    outputs : {"labels", "numbers", "unknown"}
        Whether the outputs are labels −1 and +1, or real numbers; unknown before data
        of one's own are read.
    truth : tuple of str
        What metrics may find in the ground truth of the data.
    uses : tuple of (str, str)
        Name of another data set and path of a file of it, which the loader gets too,
        under "name/path".
    own_files : bool
        Whether the loader reads files of the user's own, named by its options.
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
    loader: str | None
    drawn: bool
    pool: Mapping[str, Mapping[str, int]] | float
    outputs: Literal["labels", "numbers", "unknown"]
    truth: tuple[str, ...]
    uses: tuple[tuple[str, str], ...] = ()
    own_files: bool = False
    files: tuple[FileEntry, ...]

    def file(self, path: str) -> FileEntry:
        """Return the entry of a file by its path."""
        return next(file for file in self.files if file.path == path)

    def describe(self) -> dict[str, Any]:
        """Return title, origin, licence, citation and lists of URLs and notes."""
        return {
            "title": self.title,
            "origin": self.origin,
            "licence": self.licence,
            "citation": self.citation,
            "original_url": list(self.original_url),
            "notes": list(self.notes),
        }

    def find_loader(self) -> Callable[..., MultiTaskData]:
        """Return the function that reads the data set.

        Raises
        ------
        ValueError
            If it has none.
        """
        if self.loader is None:
            raise ValueError(
                f"data set {self.name!r} has files but no loader: nothing reads it yet"
            )
        module, _, function = self.loader.partition(":")
        loader: Callable[..., MultiTaskData] = getattr(
            importlib.import_module(module), function
        )
        return loader


def read_entries(path: Path) -> dict[str, DataSetEntry]:
    """Read a registry file.

    Returns
    -------
    dict of str to DataSetEntry
        By name.

    Raises
    ------
    mtmkl.documents.ConfigError
        If the file is not as its schema says; names the key.
    """
    document = validated(DataSets, read_yaml(path), source=path.name)
    entries = {
        name: _entry(name, spec, path.name) for name, spec in document.datasets.items()
    }
    for name, entry in entries.items():
        for position, (other, file) in enumerate(entry.uses):
            paths = (
                [each.path for each in entries[other].files] if other in entries else []
            )
            if other == name or file not in paths:
                raise ConfigError(
                    f"{path.name}: key 'datasets.{name}.uses.{position}': "
                    f"{f'{other}/{file}'!r} is no file of another data set"
                )
    return entries


def _entry(name: str, spec: DataSet, source: str) -> DataSetEntry:
    files = tuple(_file_entry(file, spec) for file in spec.files)
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
        if file.shipped is not None and not (config_dir() / file.shipped).is_file():
            raise ConfigError(
                f"{source}: key '{key}.shipped': config/{file.shipped} does not exist"
            )
    return DataSetEntry(
        name=name,
        title=spec.title,
        origin=spec.origin,
        licence=spec.licence,
        citation=spec.citation,
        original_url=tuple(spec.original_url),
        notes=tuple(spec.notes),
        loader=spec.loader,
        drawn=spec.origin == "synthetic" if spec.drawn is None else spec.drawn,
        pool=spec.pool,
        outputs=spec.outputs,
        truth=tuple(spec.truth),
        uses=tuple(_other_file(use) for use in spec.uses),
        own_files=spec.own_files,
        files=files,
    )


def _other_file(use: str) -> tuple[str, str]:
    name, _, path = use.partition("/")
    return name, path


def _file_entry(file: DataFile, spec: DataSet) -> FileEntry:
    archive = file.archive
    if archive is None and spec.archive_url is not None:
        archive = Archive(url=spec.archive_url, member=file.path)
    return FileEntry(
        path=file.path,
        size=file.bytes,
        sha256=file.sha256,
        urls=(*file.urls, *(base + quote(file.path) for base in spec.url_bases)),
        archive_url=archive.url if archive else None,
        archive_member=archive.member if archive else None,
        newline=file.newline,
        members_sha256=file.members_sha256,
        shipped=file.shipped,
    )
