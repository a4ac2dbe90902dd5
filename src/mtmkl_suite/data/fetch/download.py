"""Content of files over HTTP, alone or as members of archives, held in memory.

Nothing is unpacked to the disk: a member is read by its name, up to its known size, and
written where the registry says.
"""

import gzip
import io
import math
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import requests
from requests.adapters import HTTPAdapter, Retry
from tqdm import tqdm

from mtmkl_suite.data.entries import Archive, FileEntry
from mtmkl_suite.data.fetch.integrity import problem_of, read_checksums
from mtmkl_suite.errors import DataCorruptError, DataNotAvailableError

_TIMEOUT = (10.0, 60.0)  # seconds to connect, and between two packets
_TIMEOUT_IN_A_HURRY = (2.0, 5.0)
_RETRY_BUSY = Retry(2, connect=0, status_forcelist=[429, 500, 502, 503, 504])
_MOST_ARCHIVE_BYTES = 256 * 2**20  # the size of an archive is not registered
_BROKEN = (
    OSError,
    EOFError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    RuntimeError,  # encrypted, or an unknown compression
)
"""Errors of archives."""


def download(
    file: FileEntry,
    archives: dict[str, bytes],
    *,
    checksums: Path | None = None,
    until: float = math.inf,
) -> bytes:
    """Return the content of a file from the first address that serves it.

    ``archives`` has the archives that were downloaded already, by address, and gets
    this one; ``checksums`` lists the hashes of the members of a tar file.

    If the time ``until``, of ``time.monotonic``, is finite, timeouts are short, nothing
    is tried again, and no bars are shown. The error names each address and its reason.
    """
    # With CRLF for every LF a text has at most twice the bytes.
    most_bytes = file.bytes if file.newline is None else 2 * file.bytes

    def content_of(source: str | Archive) -> bytes:
        if isinstance(source, str):
            return _received(source, most_bytes, until)
        if source.url not in archives:
            archives[source.url] = _received(source.url, _MOST_ARCHIVE_BYTES, until)
        archive = archives[source.url]
        if checksums is None:
            return _member(archive, source.member, most_bytes)
        if source.member is not None:
            archive = _member(archive, source.member, _MOST_ARCHIVE_BYTES)
        return _packed(archive, set(read_checksums(checksums)), most_bytes)

    failures = []
    kind: type[Exception] = DataNotAvailableError
    sources: list[str | Archive] = [*file.urls]
    if file.archive is not None:
        sources.append(file.archive)
    for source in sources:
        try:
            content = content_of(source)
            if (problem := problem_of(content, file, checksums)) is None:
                return content
            raise DataCorruptError(problem)
        except (DataCorruptError, DataNotAvailableError) as error:
            url = source.url if isinstance(source, Archive) else source
            failures.append(f"{url}: {error}")
            if isinstance(error, DataCorruptError):
                kind = DataCorruptError
    raise kind("; ".join(failures) or "no address is known that serves this file")


def _received(url: str, most_bytes: int, until: float) -> bytes:
    """Return what an address serves, with a bar where somebody looks at it."""
    is_hurried = until < math.inf
    timeout = _TIMEOUT_IN_A_HURRY if is_hurried else _TIMEOUT
    # Else Content-Length would not be the length of the file.
    headers = {"Accept-Encoding": "identity"}
    content = bytearray()
    try:
        with requests.Session() as session:
            if not is_hurried:
                for scheme in ("http://", "https://"):
                    session.mount(scheme, HTTPAdapter(max_retries=_RETRY_BUSY))
            response = session.get(url, stream=True, timeout=timeout, headers=headers)
            response.raise_for_status()
            length = response.headers.get("Content-Length", "")
            with tqdm(
                desc=url.rsplit("/", 1)[-1],
                total=int(length) if length.isdigit() else None,
                unit="B",
                unit_scale=True,
                disable=True if is_hurried else None,
            ) as bar:
                for part in response.iter_content(1 << 13):
                    content += part
                    bar.update(len(part))
                    if len(content) > most_bytes:
                        raise DataCorruptError(f"it has more than {most_bytes} bytes")
                    if time.monotonic() > until:
                        raise DataNotAvailableError("it did not arrive in time")
    except requests.HTTPError as error:
        status = error.response.status_code
        raise DataNotAvailableError(f"HTTP status {status}") from error
    except requests.RequestException as error:
        raise DataNotAvailableError(
            f"the connection failed ({type(error).__name__})"
        ) from error
    return bytes(content)


def _member(archive: bytes, wanted: str | None, most_bytes: int) -> bytes:
    """Return the one member with this path, or end of a path; None: of a gzip."""
    if wanted is None:
        return _read(partial(gzip.GzipFile, fileobj=io.BytesIO(archive)), most_bytes)
    members = _members(archive)
    paths = [path for path in members if f"/{path}".endswith(f"/{wanted}")]
    if wanted in members:
        paths = [wanted]
    if len(paths) != 1:
        raise DataCorruptError(f"it holds {len(paths) or 'no'} {wanted!r}")
    return _read(members[paths[0]], most_bytes)


def _packed(archive: bytes, listed: set[str], most_bytes: int) -> bytes:
    """Pack the listed members of an archive into a plain tar."""
    depth = next(iter(listed)).count("/") + 1
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path, member in _members(archive).items():
            info = tarfile.TarInfo("/".join(path.split("/")[-depth:]))
            if info.name in listed:
                content = _read(member, most_bytes)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def _members(archive: bytes) -> dict[str, Callable[[], Any]]:
    """Return functions that open the regular files of a zip or tar, by their paths."""
    stream = io.BytesIO(archive)
    try:
        if zipfile.is_zipfile(stream):
            opened = zipfile.ZipFile(stream)
            return {
                info.filename: partial(opened.open, info)
                for info in opened.infolist()
                if not info.is_dir()
            }
        stream.seek(0)
        tar = tarfile.open(fileobj=stream)  # noqa: SIM115
        return {
            info.name: partial(tar.extractfile, info) for info in tar if info.isfile()
        }
    except _BROKEN as error:
        raise DataCorruptError(f"it cannot be unpacked ({error})") from error


def _read(open_member: Callable[[], Any], most_bytes: int) -> bytes:
    try:
        with open_member() as file:
            content: bytes = file.read(most_bytes + 1)
    except _BROKEN as error:
        raise DataCorruptError(f"it cannot be unpacked ({error})") from error
    if len(content) > most_bytes:
        raise DataCorruptError(f"it unpacks to more than {most_bytes} bytes")
    return content
