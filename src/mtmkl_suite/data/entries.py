"""Models of ``config/datasets.yaml``, the entries of the registry."""

import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote

from pydantic import AfterValidator, Field, PrivateAttr, model_validator

from mtmkl.datasets.container import MultiTaskData, Origin
from mtmkl_suite.data.loaders.own import is_file, load_file
from mtmkl_suite.documents import (
    Count,
    Model,
    read_yaml,
    validated,
    without_repeats,
    wrong,
)

Text = Annotated[str, Field(min_length=1)]
Texts = Annotated[list[Text], AfterValidator(without_repeats)]
Url = Annotated[str, Field(pattern=r"^https?://[^\s<>]+$")]
Urls = Annotated[list[Url], AfterValidator(without_repeats)]
UrlBase = Annotated[str, Field(pattern=r"^https?://[^\s<>]+/$")]
RelativePath = Annotated[str, Field(pattern=r"^(?!.*(^|/)\.\.(/|$))[^/\\:][^\\:]*$")]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
OtherFile = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*/.+$")]
Pool = Annotated[
    dict[str, Annotated[dict[str, Count], Field(min_length=1)]],
    Field(min_length=1, max_length=1),
]
Share = Annotated[float, Field(gt=0, le=1)]


class Archive(Model):
    """An archive that holds a file.

    ``member`` is the path of the file in it, or the end of its path; None is the gzip
    of a file. Of a file with ``members_sha256`` it is the archive in this one that has
    those members, None if this one has them.
    """

    url: Url
    member: RelativePath | None = None


class FileEntry(Model):
    """A file of a data set."""

    path: RelativePath
    """Below the folder of the data set, in a mirror as in the cache."""
    bytes: Count
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    urls: Urls = []
    """Addresses of the file itself, in the order in which they are asked."""
    archive: Archive | None = None
    """Asked last."""
    newline: Literal["lf"] | None = None
    """"lf": size and hash are those after replacing every CRLF by LF."""
    members_sha256: RelativePath | None = None
    """File of the same data set that lists the hash of each member of this tar file."""
    shipped: RelativePath | None = None
    """Path below ``config/`` of a copy that comes with the package."""


class DataSetEntry(Model):
    """A data set: what it is, where it comes from, and what its files must be."""

    title: Text
    origin: Origin
    """As in ``MultiTaskData``."""
    licence: Text
    citation: Text
    original_url: Texts
    """Addresses where the authors or an archive publish it."""
    notes: list[Text]
    """Remarks for its readers."""
    loader: Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")] | None
    """As "package.module:function"; None for a set that no code reads yet."""
    drawn: bool = Field(default_factory=lambda known: known["origin"] == "synthetic")
    """Every repeat has a draw of its own, by the loader's option ``seed``."""
    pool: Pool | Share = {}
    """Samples that draws from published data are taken from.

    By the option that says how many samples of each class or task a draw has: how many
    there are. Or the share of them that a draw takes.
    """
    outputs: Literal["labels", "numbers"] = "numbers"
    """Labels −1 and +1, or numbers; "unknown" before data of one's own are read."""
    sample_of: Text | None = None
    """Kind of which tasks are a sample ("fields"), if they share no samples."""
    truth: Texts = []
    """Names that metrics may find in the ground truth of the data."""
    own_files: bool = False
    """The loader reads files of the user's own, named by its options."""
    uses: Annotated[list[OtherFile], AfterValidator(without_repeats)] = []
    """Files of other sets, as "name/path", which the loader gets too."""
    tried: bool | None = None
    """The addresses were seen to serve these bytes."""
    url_bases: Annotated[list[UrlBase], AfterValidator(without_repeats)] = []
    """Folders that have every file under its path; asked after its own addresses."""
    archive_url: Url | None = None
    """An archive that has every file under its path, or at the end of one."""
    files: list[FileEntry]
    """None for what is generated or comes with an installed package."""

    _name: str = PrivateAttr("")

    @property
    def name(self) -> str:
        """The name that it is registered by."""
        return self._name

    @model_validator(mode="after")
    def _check_files(self) -> Self:
        paths = [file.path for file in self.files]
        for position, file in enumerate(self.files):
            key = f"files.{position}"
            if paths.index(file.path) != position:
                raise wrong(f"{key}.path", f"{file.path!r} comes twice")
            if file.members_sha256 not in (None, *paths):
                text = f"{file.members_sha256!r} is not a file of this data set"
                raise wrong(f"{key}.members_sha256", text)
        return self

    def file(self, path: str) -> FileEntry:
        """Return the entry of a file by its path."""
        return next(file for file in self.files if file.path == path)

    def describe(self) -> dict[str, Any]:
        """Return title, origin, licence, citation and lists of URLs and notes."""
        told = ("title", "origin", "licence", "citation", "original_url", "notes")
        return {key: getattr(self, key) for key in told}

    def find_loader(self) -> Callable[..., MultiTaskData]:
        """Return the function that reads the data set."""
        if self.loader is None:
            raise ValueError(
                f"data set {self.name!r} has files but no loader: nothing reads it yet"
            )
        if is_file(self.loader):
            return partial(load_file, Path(self.loader))
        module, _, function = self.loader.partition(":")
        try:
            found = getattr(importlib.import_module(module), function, None)
        except ImportError as error:
            raise ValueError(
                f"data set {self.name!r}: {error}; a module of your own must be in a "
                "folder on PYTHONPATH (PYTHONPATH=. mtmkl … for the working folder)"
            ) from error
        if not callable(found):
            raise ValueError(
                f"data set {self.name!r}: {module} has no function {function}"
            )
        loader: Callable[..., MultiTaskData] = found
        return loader


class DataSets(Model):
    """All of ``config/datasets.yaml``."""

    datasets: Annotated[dict[Name, DataSetEntry], Field(min_length=1)]

    @model_validator(mode="after")
    def _check_uses(self) -> Self:
        for name, entry in self.datasets.items():
            for position, use in enumerate(entry.uses):
                other, _, path = use.partition("/")
                files = self.datasets[other].files if other in self.datasets else []
                if other == name or path not in [file.path for file in files]:
                    text = f"{use!r} is not the path of a file of another data set"
                    raise wrong(f"datasets.{name}.uses.{position}", text)
        return self


def read_entries(path: Path) -> dict[str, DataSetEntry]:
    """Read a registry file, and return its entries by name."""
    document = validated(DataSets, read_yaml(path), source=path.name)
    return {name: _complete(name, entry) for name, entry in document.datasets.items()}


def _complete(name: str, entry: DataSetEntry) -> DataSetEntry:
    """Return an entry with its name, and with all addresses at its files."""
    files = []
    for file in entry.files:
        urls = [*file.urls, *(base + quote(file.path) for base in entry.url_bases)]
        archive = file.archive
        if archive is None and entry.archive_url is not None:
            archive = Archive(url=entry.archive_url, member=file.path)
        files.append(file.model_copy(update={"urls": urls, "archive": archive}))
    complete = entry.model_copy(update={"files": files})
    complete._name = name
    return complete


def own_entry(loader: str) -> DataSetEntry:
    """Return what stands for a file or a function of one's own, in place of an entry.

    Its outputs are unknown before it is read.
    """
    name = Path(loader).name if is_file(loader) else loader
    entry = DataSetEntry.model_construct(
        title=name,
        origin="original",
        licence="yours",
        citation="",
        original_url=[],
        notes=[],
        loader=loader,
        drawn=False,
        outputs="unknown",
        own_files=True,
        files=[],
    )
    entry._name = name
    return entry
