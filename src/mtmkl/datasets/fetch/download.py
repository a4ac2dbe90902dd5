"""Fetch files over HTTP, alone or as members of archives. Nothing half-done is kept.

Everything is written to a temporary folder next to the destination, checked there,
and moved into place in one step.
"""

import gzip
import hashlib
import io
import logging
import tarfile
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO

from mtmkl.datasets.fetch.integrity import read_checksums, with_lf

MAX_ARCHIVE_BYTES = 256 * 2**20
"""Largest archive that is downloaded; its size is not registered."""

_ATTEMPTS = 3
_BUSY = (429, 500, 502, 503, 504)  # HTTP statuses that may pass
_TIMEOUT = (10.0, 60.0)  # seconds to connect, and between two packets
_WINDOW = 90.0  # seconds, more than _TIMEOUT: a stall is retried, a trickle is not
_LEAST_RATE = 1024.0  # bytes per second over a window
_CHUNK = 1 << 13  # bytes; within a chunk nothing is known to have arrived


class TransferError(Exception):
    """A source did not deliver: no answer, an error status, a broken connection."""


class ContentError(Exception):
    """A source delivered something else: wrong size, hash, or an unsafe archive."""


class Downloads:
    """Downloads of one data set, with a temporary folder for as long as they last.

    An archive that several files come from is downloaded once.

    Parameters
    ----------
    folder : Path
        Folder of the destination; the temporary folder is made in it, so that moving
        a finished file is one step.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._archives: dict[str, Path] = {}
        self._n_paths = 0

    def __enter__(self) -> "Downloads":
        self._folder.mkdir(parents=True, exist_ok=True)
        self._temporary = tempfile.TemporaryDirectory(
            dir=self._folder, prefix=".partial-"
        )
        self._path = Path(self._temporary.name)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._temporary.cleanup()
        with suppress(OSError):  # kept if there is anything in it
            self._folder.rmdir()

    def file(
        self, url: str, target: Path, *, size: int, sha256: str, newline: str | None
    ) -> None:
        """Download one file to ``target``.

        Parameters
        ----------
        url : str
            Address of the file itself.
        target : Path
            Where it goes after the checks.
        size : int
            Its bytes.
        sha256 : str
            Its hash.
        newline : {None, "lf"}
            "lf": size and hash are those after replacing every CRLF by LF, which is
            how the file is stored.

        Raises
        ------
        TransferError, ContentError
        """
        downloaded = self._get(url, max_bytes=_limit(size, newline))
        self._store(downloaded.read_bytes(), target, size, sha256, newline)

    def member(
        self,
        url: str,
        member: str | None,
        target: Path,
        *,
        size: int,
        sha256: str,
        newline: str | None,
    ) -> None:
        """Download an archive and store one of its members at ``target``.

        Parameters
        ----------
        url : str
            Address of a zip, a tar (compressed or not) or a gzip of a single file.
        member : str or None
            Path in the archive, or the end of it if that is unique; None for the
            gzip of a single file.
        target, size, sha256, newline
            As for ``file``.

        Raises
        ------
        TransferError, ContentError
        """
        with _open_members(self._archive(url)) as members:
            content = _only_member(members, member)(_limit(size, newline))
        self._store(content, target, size, sha256, newline)

    def member_tar(
        self, url: str, inner: str | None, checksums: Path, target: Path, *, size: int
    ) -> None:
        """Download an archive and store a plain tar of its listed members.

        Parameters
        ----------
        url : str
            Address of the archive.
        inner : str or None
            Archive in the archive that holds the members.
        checksums : Path
            Hashes of the wanted members; all others are left out.
        target : Path
            Where the tar file goes.
        size : int
            No member is larger than this.

        Raises
        ------
        TransferError, ContentError
        """
        archive = self._archive(url)
        if inner is not None:
            with _open_members(archive) as members:
                content = _only_member(members, inner)(MAX_ARCHIVE_BYTES)
            archive = self._new_path()
            archive.write_bytes(content)
        expected = read_checksums(checksums)
        depths = {len(PurePosixPath(name).parts) for name in expected}
        packed, found = self._new_path(), set()
        with tarfile.open(packed, "w") as tar, _open_members(archive) as members:
            for path, read in members:
                if path is None:
                    raise ContentError("it is not an archive of several files")
                ends = ("/".join(PurePosixPath(path).parts[-k:]) for k in depths)
                name = next((end for end in ends if end in expected), None)
                if name is None:
                    continue
                content = read(size)
                if hashlib.sha256(content).hexdigest() != expected[name]:
                    raise ContentError(f"its member {path!r} has another sha256")
                if name in found:
                    raise ContentError(f"it holds {name!r} twice")
                found.add(name)
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
        missing = sorted(expected.keys() - found)
        if missing:
            raise ContentError(f"it holds no member {missing[0]!r}")
        _move(packed, target)

    def _store(
        self, content: bytes, target: Path, size: int, sha256: str, newline: str | None
    ) -> None:
        if newline == "lf":
            content = with_lf(content)
        if len(content) != size:
            raise ContentError(f"it has {len(content)} bytes, expected {size}")
        found = hashlib.sha256(content).hexdigest()
        if found != sha256:
            raise ContentError(f"its sha256 is {found}, expected {sha256}")
        path = self._new_path()
        path.write_bytes(content)
        _move(path, target)

    def _archive(self, url: str) -> Path:
        if url not in self._archives:
            self._archives[url] = self._get(url, max_bytes=MAX_ARCHIVE_BYTES)
        return self._archives[url]

    def _new_path(self) -> Path:
        self._n_paths += 1
        return self._path / str(self._n_paths)

    def _get(self, url: str, *, max_bytes: int) -> Path:
        import pooch
        import requests

        target = self._new_path()
        downloads = pooch.create(
            self._path,
            base_url="",
            registry={target.name: None},
            urls={target.name: url},
            retry_if_failed=_ATTEMPTS - 1,
        )
        try:
            with _silent(pooch.get_logger()):
                downloads.fetch(
                    target.name, downloader=partial(_download, max_bytes=max_bytes)
                )
        except requests.exceptions.RequestException as error:
            raise TransferError(_reason(error)) from error
        return target


class _Transfer:
    """What one attempt has received, and whether anybody still waits for it."""

    def __init__(self) -> None:
        self.received = 0
        self.is_wanted = True
        self.error: BaseException | None = None
        self.ended = threading.Event()


def _download(url: str, output_file: str, _: object, *, max_bytes: int) -> None:
    """Download for pooch, up to a size and no slower than a rate; pooch retries.

    A server that sends a byte now and then, of its headers or of the file, keeps every
    read within its timeout. So another thread reads, and this one watches what arrives.
    """
    transfer = _Transfer()

    def receive() -> None:
        try:
            _receive(url, output_file, transfer, max_bytes=max_bytes)
        except BaseException as error:
            transfer.error = error
        finally:
            transfer.ended.set()

    threading.Thread(target=receive, daemon=True).start()
    try:
        before = 0
        while not transfer.ended.wait(_WINDOW):
            recent = transfer.received - before
            if recent < _LEAST_RATE * _WINDOW:
                raise TransferError(
                    f"it sent {recent} bytes in {_WINDOW:g} s, fewer than "
                    f"{_LEAST_RATE:g} per second: try again later"
                )
            before += recent
    finally:
        transfer.is_wanted = False
    if transfer.error is not None:
        raise transfer.error


def _receive(
    url: str, output_file: str, transfer: _Transfer, *, max_bytes: int
) -> None:
    """Read the answer of a server into a file, with a bar, while it is wanted."""
    import requests
    from tqdm import tqdm

    # Compressed on the way, Content-Length would not be the length of the file.
    headers = {"Accept-Encoding": "identity"}
    with requests.get(url, stream=True, timeout=_TIMEOUT, headers=headers) as response:
        if not response.ok and response.status_code not in _BUSY:
            raise TransferError(f"HTTP status {response.status_code}")
        response.raise_for_status()
        length = response.headers.get("Content-Length", "")
        announced = int(length) if length.isdigit() else None
        if announced is not None and announced > max_bytes:
            raise ContentError(
                f"it has {announced} bytes, expected at most {max_bytes}"
            )
        with (
            open(output_file, "wb") as file,
            tqdm(
                total=announced,
                desc=url.rsplit("/", 1)[-1],
                unit="B",
                unit_scale=True,
                disable=None,  # no bar where nobody looks at it
            ) as bar,
        ):
            for chunk in response.iter_content(_CHUNK):
                if not transfer.is_wanted:
                    return
                transfer.received += len(chunk)
                if transfer.received > max_bytes:
                    raise ContentError(f"it has more than {max_bytes} bytes")
                file.write(chunk)
                bar.update(len(chunk))
        # urllib3 before version 2 does not notice by itself.
        is_encoded = "Content-Encoding" in response.headers
        received = transfer.received
        if announced is not None and not is_encoded and received != announced:
            raise requests.exceptions.ConnectionError(
                f"the connection broke after {received} of {announced} bytes"
            )


def _reason(error: BaseException) -> str:
    import requests

    if isinstance(error, requests.exceptions.HTTPError) and error.response is not None:
        return f"HTTP status {error.response.status_code}"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return f"the connection broke ({error})"
    cause = getattr(error.args[0] if error.args else None, "reason", None)
    if cause is not None:  # of urllib3, behind its report of how often it tried
        return f"no connection ({str(cause).rpartition('): ')[2]})"
    return str(error) or type(error).__name__


def _limit(size: int, newline: str | None) -> int:
    # With CRLF for every LF a text has at most twice the bytes.
    return size if newline is None else 2 * size


@contextmanager
def _silent(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    source.chmod(0o644)  # temporary files are for one user, a cache may be shared
    source.replace(target)


Reader = Callable[[int], bytes]
"""Reads a member of at most so many bytes."""

Members = Iterable[tuple[str | None, Reader]]
"""Path and content of each file in an archive; a gzip of one file has no path."""


@contextmanager
def _open_members(archive: Path) -> Iterator[Members]:
    """Give the regular files of an archive, once all of its paths are found safe."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                infos = opened.infolist()
                for info in infos:
                    _check_inside(info.filename)
                yield (
                    (info.filename, partial(_read_zipped, opened, info))
                    for info in infos
                    if not info.is_dir()
                )
        elif tarfile.is_tarfile(archive):
            with tarfile.open(archive) as tar:
                members = tar.getmembers()
                for member in members:
                    _check_inside(member.name)
                    if hasattr(tarfile, "data_filter"):  # Python 3.11.4 and later
                        tarfile.data_filter(member, str(archive.parent))
                yield (
                    (member.name, partial(_read_tarred, tar, member))
                    for member in members
                    if member.isfile()
                )
        elif _is_gzip(archive):
            with gzip.open(archive) as file:
                yield [(None, partial(_read_bounded, file))]
        else:
            raise ContentError("it is neither zip nor tar nor gzip")
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        gzip.BadGzipFile,
        zlib.error,
        EOFError,
        RuntimeError,  # encrypted, or an unknown compression
    ) as error:
        raise ContentError(f"it cannot be unpacked ({error})") from error


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _check_inside(path: str) -> None:
    """Refuse a path that would leave the folder it is unpacked in."""
    parts = path.replace("\\", "/").split("/")
    if parts[0] == "" or ":" in parts[0] or ".." in parts:
        raise ContentError(f"its member {path!r} leaves the folder of the archive")


def _only_member(members: Members, wanted: str | None) -> Reader:
    """Return the reader of the one member with this path, or end of a path."""
    found = [
        (path, read)
        for path, read in members
        if path == wanted
        or (path is not None and wanted is not None and path.endswith(f"/{wanted}"))
    ]
    exact = [read for path, read in found if path == wanted]
    if exact:
        return exact[0]
    if len(found) != 1:
        count = "no" if not found else f"{len(found)} members"
        raise ContentError(f"it holds {count} {wanted!r}")
    return found[0][1]


def _read_zipped(opened: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int) -> bytes:
    with opened.open(info) as file:
        return _read_bounded(file, limit)


def _read_tarred(tar: tarfile.TarFile, member: tarfile.TarInfo, limit: int) -> bytes:
    file = tar.extractfile(member)
    if file is None:
        raise ContentError(f"its member {member.name!r} is no file")
    with file:
        return _read_bounded(file, limit)


def _read_bounded(file: IO[bytes] | gzip.GzipFile, limit: int) -> bytes:
    content = file.read(limit + 1)
    if len(content) > limit:
        raise ContentError(f"it unpacks to more than {limit} bytes")
    return content
