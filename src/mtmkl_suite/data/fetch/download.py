"""Fetch files over HTTP, alone or as members of archives. Nothing half-done is kept.

Everything is written to a temporary folder next to the destination, checked there,
and moved into place in one step. Pooch makes the attempts. Its own check of the hash
would ask again for wrong content, and its processors unpack archives of any size.
"""

import gzip
import io
import math
import tarfile
import tempfile
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import pooch
import requests
import tqdm

from mtmkl_suite.data.entries import Archive, FileEntry
from mtmkl_suite.data.errors import DataCorruptError, DataNotAvailableError
from mtmkl_suite.data.fetch.integrity import find_problem, read_checksums, with_lf

_BUSY = (429, 500, 502, 503, 504)  # HTTP statuses that may pass
_TIMEOUT = (10.0, 60.0)  # seconds to connect, and between two packets
_WINDOW = 90.0  # seconds, more than _TIMEOUT: a stall is retried, a trickle is not
_LEAST_RATE = 1024.0  # bytes per second over a window
_CHUNK = 1 << 13  # bytes; within a chunk nothing is known to have arrived
_TOO_LATE = "it did not arrive in time"

pooch.get_logger().setLevel("ERROR")  # it would name temporary files


@dataclass(frozen=True)
class Patience:
    """How much a download may take.

    Attributes
    ----------
    attempts : int
        For each address, as long as what goes wrong may pass.
    seconds : float
        For all files of a data set together. If it is finite, no bars are shown.
    archive_bytes : int
        The largest archive that is downloaded; its size is not registered.
    """

    attempts: int = 3
    seconds: float = math.inf
    archive_bytes: int = 256 * 2**20


class Downloads:
    """Downloads of one data set, with a temporary folder for as long as they last.

    An archive that several files come from is downloaded once.

    Parameters
    ----------
    folder : Path
        Where files go; the temporary folder is made in it.
    patience : Patience
        Counts from now.
    """

    def __init__(self, folder: Path, patience: Patience = Patience()) -> None:
        self._folder = folder
        self._patience = patience
        self._until = time.monotonic() + patience.seconds
        self._archives: dict[str, Path] = {}
        self._n_paths = 0

    def __enter__(self) -> "Downloads":
        self._folder.mkdir(parents=True, exist_ok=True)
        self._temporary = tempfile.TemporaryDirectory(
            dir=self._folder, prefix=".partial-"
        )
        return self

    def __exit__(self, *error: object) -> None:
        self._temporary.cleanup()
        with suppress(OSError):  # kept if there is anything in it
            self._folder.rmdir()

    def get(self, file: FileEntry, checksums: Path | None = None) -> Path:
        """Download a file from the first address that serves it, and return its path.

        Parameters
        ----------
        file : FileEntry
        checksums : Path, optional
            Hashes of its members, if it is a tar file of them.

        Raises
        ------
        DataNotAvailableError
            If no address delivers anything; names each and the reason.
        DataCorruptError
            Likewise, if one of them delivers something else, or an unsafe archive.
        """
        sources: list[str | Archive] = [*file.urls]
        if file.archive is not None:
            sources.append(file.archive)
        failures = []
        kind: type[Exception] = DataNotAvailableError
        for source in sources:
            try:
                path = (
                    self._member(file, source, checksums)
                    if isinstance(source, Archive)
                    else self._fetched(source, _most_bytes(file))
                )
                if file.newline == "lf":
                    path.write_bytes(with_lf(path.read_bytes()))
                problem = find_problem(path, file, checksums=checksums, remember=False)
                if problem is not None:
                    raise DataCorruptError(problem)
            except (DataCorruptError, DataNotAvailableError) as error:
                url = source.url if isinstance(source, Archive) else source
                failures.append(f"{url}: {error}")
                if isinstance(error, DataCorruptError):
                    kind = DataCorruptError
                continue
            target = self._folder / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            path.chmod(0o644)  # temporary files are for one user, a cache may be shared
            return path.replace(target)
        raise kind("; ".join(failures) or "no address is known that serves this file")

    def _member(
        self, file: FileEntry, archive: Archive, checksums: Path | None
    ) -> Path:
        """Download an archive once, and return the file that is to be its member."""
        url, member = archive.url, archive.member
        if url not in self._archives:
            self._archives[url] = self._fetched(url, self._patience.archive_bytes)
        path = self._archives[url]
        if checksums is None:
            return self._unpacked(path, member, _most_bytes(file))
        if member is not None:
            path = self._unpacked(path, member, self._patience.archive_bytes)
        return self._packed(path, checksums, file.bytes)

    def _unpacked(self, archive: Path, member: str | None, limit: int) -> Path:
        path = self._new_path()
        with _members(archive) as members:
            path.write_bytes(_only(members, member)(limit))
        return path

    def _packed(self, archive: Path, checksums: Path, limit: int) -> Path:
        """Pack the listed members of an archive into a plain tar."""
        listed = read_checksums(checksums)
        depths = {len(PurePosixPath(name).parts) for name in listed}
        path = self._new_path()
        with tarfile.open(path, "w") as tar, _members(archive) as members:
            for member, read in members.items():
                ends = ("/".join(PurePosixPath(member).parts[-k:]) for k in depths)
                name = next((end for end in ends if end in listed), None)
                if name is not None:
                    content = read(limit)
                    info = tarfile.TarInfo(name)
                    info.size = len(content)
                    tar.addfile(info, io.BytesIO(content))
        return path

    def _new_path(self) -> Path:
        self._n_paths += 1
        return Path(self._temporary.name) / str(self._n_paths)

    def _fetched(self, url: str, most_bytes: int) -> Path:
        """Download to the temporary folder; what may pass is tried again."""
        if time.monotonic() > self._until:
            raise DataNotAvailableError(_TOO_LATE)
        path = self._new_path()
        files = pooch.create(
            path.parent,
            base_url="",
            registry={path.name: None},
            urls={path.name: url},
            retry_if_failed=self._patience.attempts - 1,
        )
        try:
            files.fetch(path.name, downloader=_Transfer(most_bytes, self._until))
        except requests.RequestException as error:
            raise DataNotAvailableError(_reason(error)) from error
        return path


class _Transfer:
    """A downloader for pooch, up to a size, a time and no slower than a rate.

    A server that sends a byte now and then, of its headers or of the file, keeps every
    read within its timeout. So another thread reads, and this one watches what arrives.
    """

    def __init__(self, most_bytes: int, until: float) -> None:
        self._most_bytes, self._until = most_bytes, until

    def __call__(self, url: str, output_file: str, _: object) -> None:
        self._received, self._is_wanted = 0, True
        self._error: BaseException | None = None
        reader = threading.Thread(target=self._read, args=(url, output_file))
        reader.daemon = True
        reader.start()
        try:
            before = 0
            while True:
                left = self._until - time.monotonic()
                reader.join(min(_WINDOW, max(left, 0.0)))
                if not reader.is_alive():
                    break
                if left <= _WINDOW:
                    raise DataNotAvailableError(_TOO_LATE)
                recent = self._received - before
                if recent < _LEAST_RATE * _WINDOW:
                    raise DataNotAvailableError(
                        f"it sent {recent} bytes in {_WINDOW:g} s, fewer than "
                        f"{_LEAST_RATE:g} per second: try again later"
                    )
                before += recent
        finally:
            self._is_wanted = False
        if self._error is not None:
            raise self._error

    def _read(self, url: str, output_file: str) -> None:
        # Compressed on the way, Content-Length would not be the length of the file.
        headers = {"Accept-Encoding": "identity"}
        try:
            with (
                requests.get(
                    url, stream=True, timeout=_TIMEOUT, headers=headers
                ) as response,
                open(output_file, "wb") as file,
            ):
                self._receive(response, file, url.rsplit("/", 1)[-1])
        except BaseException as error:
            self._error = error

    def _receive(self, response: requests.Response, file: Any, name: str) -> None:
        """Read the answer of a server into a file, with a bar, while it is wanted."""
        if not response.ok:
            may_pass = response.status_code in _BUSY
            kind = requests.ConnectionError if may_pass else DataNotAvailableError
            raise kind(f"HTTP status {response.status_code}")
        length = response.headers.get("Content-Length", "")
        announced = int(length) if length.isdigit() else None
        if announced is not None and announced > self._most_bytes:
            raise DataCorruptError(
                f"it has {announced} bytes, expected at most {self._most_bytes}"
            )
        with tqdm.tqdm(
            total=announced,
            desc=name,
            unit="B",
            unit_scale=True,
            # No bar where nobody looks at it, or for a moment.
            disable=None if self._until == math.inf else True,
        ) as bar:
            for chunk in response.iter_content(_CHUNK):
                self._received += len(chunk)
                if not self._is_wanted:
                    return
                if self._received > self._most_bytes:
                    raise DataCorruptError(f"it has more than {self._most_bytes} bytes")
                file.write(chunk)
                bar.update(len(chunk))


def hosts_that_answer(urls: Iterable[str], *, seconds: float) -> set[str]:
    """Return the hosts of addresses that answer anything within some seconds.

    Each is asked once, all at the same time. A name that no server resolves can take
    longer than any timeout, so nobody waits for the threads that ask.
    """
    found: set[str] = set()

    def ask(host: str, url: str) -> None:
        with suppress(requests.RequestException):
            requests.head(url, timeout=seconds)
            found.add(host)

    asking = [
        threading.Thread(target=ask, args=item, daemon=True)
        for item in {host_of(url): url for url in urls}.items()
    ]
    until = time.monotonic() + seconds
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join(max(until - time.monotonic(), 0.0))
    return set(found)


def host_of(url: str) -> str:
    """Return the host of an address, with its port."""
    return urlsplit(url).netloc


def _reason(error: requests.RequestException) -> str:
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return f"the connection broke ({error})"
    cause = getattr(error.args[0] if error.args else None, "reason", None)
    if cause is not None:  # of urllib3, behind its report of how often it tried
        return f"no connection ({str(cause).rpartition('): ')[2]})"
    return str(error) or type(error).__name__


def _most_bytes(file: FileEntry) -> int:
    # With CRLF for every LF a text has at most twice the bytes.
    return file.bytes if file.newline is None else 2 * file.bytes


Reader = Callable[[int], bytes]
"""Reads a file of at most so many bytes."""


@contextmanager
def _members(archive: Path) -> Iterator[dict[str, Reader]]:
    """Give the regular files of a zip, tar or gzip, once all paths are found safe.

    They are known by their paths; the one file of a gzip has none.
    """
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                infos = opened.infolist()
                _check_inside(info.filename for info in infos)
                yield {
                    info.filename: partial(_read, opened.open, info)
                    for info in infos
                    if not info.is_dir()
                }
        elif tarfile.is_tarfile(archive):
            with tarfile.open(archive) as tar:
                files = tar.getmembers()
                _check_inside(file.name for file in files)
                if hasattr(tarfile, "data_filter"):  # Python 3.11.4 and later
                    for file in files:
                        tarfile.data_filter(file, str(archive.parent))
                yield {
                    file.name: partial(_read, tar.extractfile, file)
                    for file in files
                    if file.isfile()
                }
        elif archive.read_bytes()[:2] == b"\x1f\x8b":
            yield {"": partial(_read, gzip.open, archive)}
        else:
            raise DataCorruptError("it is neither zip nor tar nor gzip")
    except DataCorruptError:
        raise
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        gzip.BadGzipFile,
        zlib.error,
        EOFError,
        RuntimeError,  # encrypted, or an unknown compression
    ) as error:
        raise DataCorruptError(f"it cannot be unpacked ({error})") from error


def _check_inside(paths: Iterable[str]) -> None:
    """Refuse paths that would leave the folder they are unpacked in."""
    for path in paths:
        parts = path.replace("\\", "/").split("/")
        if parts[0] == "" or ":" in parts[0] or ".." in parts:
            raise DataCorruptError(
                f"its member {path!r} leaves the folder of the archive"
            )


def _only(members: dict[str, Reader], wanted: str | None) -> Reader:
    """Return the reader of the one member with this path, or end of a path."""
    if (wanted or "") in members:
        return members[wanted or ""]
    found = [path for path in members if path.endswith(f"/{wanted}")]
    if len(found) != 1:
        count = "no" if not found else f"{len(found)} members"
        raise DataCorruptError(f"it holds {count} {wanted!r}")
    return members[found[0]]


def _read(open_member: Callable[[Any], Any], member: Any, limit: int) -> bytes:
    with open_member(member) as file:
        content: bytes = file.read(limit + 1)
    if len(content) > limit:
        raise DataCorruptError(f"it unpacks to more than {limit} bytes")
    return content
