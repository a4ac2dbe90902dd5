"""Models of ``config/datasets.yaml``."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from mtmkl.datasets.container import Origin
from mtmkl.documents import Count, Model, missing, without_repeats, words, wrong

Text = Annotated[str, Field(min_length=1)]
Url = Annotated[
    str,
    Field(pattern=r"^https?://[^\s<>]+$"),
    words("an address that starts with http:// or https://"),
]
FolderUrl = Annotated[
    str,
    Field(pattern=r"^https?://[^\s<>]+/$"),
    words("an address that starts with http:// or https:// and ends with /"),
]
RelativePath = Annotated[
    str,
    Field(pattern=r"^(?!.*(^|/)\.\.(/|$))[^/\\:][^\\:]*$"),
    words("a relative path with / and without .."),
]
DataSetName = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z0-9_]*$"),
    words("a name of lower-case letters, digits and _"),
]
Loader = Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")]
OtherFile = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z0-9_]*/.+$"),
    words("the name of a data set, / and the path of a file of it"),
]
Share = Annotated[float, Field(gt=0, le=1)]
Pool = Annotated[
    dict[str, Annotated[dict[str, Count], Field(min_length=1)]],
    Field(min_length=1, max_length=1),
]


class Archive(Model):
    """An archive that holds a file."""

    url: Url
    member: RelativePath | None = None
    """Path of the file in it, or the end of its path; none for a gzip of the file."""


class DataFile(Model):
    """A file of a data set."""

    path: RelativePath
    bytes: Count
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    urls: Annotated[list[Url], AfterValidator(without_repeats)] = []
    archive: Archive | None = None
    newline: Literal["lf"] | None = None
    """Size and hash are those after replacing CRLF by LF."""
    members_sha256: RelativePath | None = None
    """File of this set with the hash of each member of this tar file."""
    shipped: RelativePath | None = None
    """Path below config/ of a copy that comes with the package."""


class DataSet(Model):
    """A data set: what it is, where it comes from, what its files must be."""

    title: Text
    origin: Origin
    licence: Text
    citation: Text
    original_url: Annotated[list[Text], AfterValidator(without_repeats)]
    notes: list[Text]
    loader: Loader | None
    drawn: bool | None = None
    """Whether every repeat of an experiment has a draw of its own."""
    pool: Annotated[
        Pool | Share,
        words("a mapping of one option to the counts of its classes, or a share"),
    ] = {}
    outputs: Literal["labels", "numbers"] = "numbers"
    truth: Annotated[list[Text], AfterValidator(without_repeats)] = []
    own_files: bool = False
    uses: Annotated[list[OtherFile], AfterValidator(without_repeats)] = []
    tried: bool | None = None
    """Whether the urls were seen to serve these bytes."""
    url_bases: Annotated[list[FolderUrl], AfterValidator(without_repeats)] = []
    archive_url: Url | None = None
    files: list[DataFile]

    @model_validator(mode="after")
    def _check_addresses(self) -> Self:
        if self.files:
            if self.tried is None:
                raise missing("tried", "it must be true or false")
            return self
        if self.loader is None:
            raise wrong("loader", "null is not text: a set without files has a loader")
        for key in ("tried", "url_bases", "archive_url"):
            if key in self.model_fields_set:
                raise wrong(key, "it cannot stand here: the set has no files")
        return self


class DataSets(Model):
    """All of ``config/datasets.yaml``."""

    datasets: Annotated[dict[DataSetName, DataSet], Field(min_length=1)]
