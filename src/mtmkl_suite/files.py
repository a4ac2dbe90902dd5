"""Files of results: written whole or not at all, and named where they are damaged."""

import errno
import gzip
import io
import json
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


_OF_THE_DISK = {
    errno.ENOSPC: "make room",
    errno.EDQUOT: "make room",
    errno.EROFS: "make it writable or take another folder",
    errno.EACCES: "make it writable or take another folder",
    errno.EPERM: "make it writable or take another folder",
    errno.ENOTDIR: "take another folder",
    errno.ELOOP: "take another folder",
    errno.ENAMETOOLONG: "take a shorter name",
}


class DamagedFileError(ValueError):
    """Raised for a file of results that was cut off, overwritten or changed."""


def disk_problem(error: OSError) -> str | None:
    """Return file, reason and remedy of a failed write; None for another error."""
    remedy = _OF_THE_DISK.get(error.errno or 0)
    if remedy is None:
        return None
    where = f" ({error.filename})" if error.filename else ""
    kept = "" if error.errno == errno.ENOTDIR else "; finished cells are kept"
    return f"{error.strerror}{where}: {remedy}, and start again{kept}"


def name_of(path: Path) -> str:
    """Return the name of a file of data without the endings of its format."""
    formats = r"(\.(csv|tsv|txt|parquet|npz))?(\.(gz|bz2|xz|zip|zst))?$"
    return re.sub(formats, "", path.name, flags=re.IGNORECASE) or path.name


@contextmanager
def intact(path: Path) -> Iterator[None]:
    """Name the file in the error if reading it fails.

    A file that is not there remains a FileNotFoundError.
    """
    try:
        yield
    except (FileNotFoundError, DamagedFileError):
        raise
    except (
        AttributeError,  # an array file without an archive around it
        EOFError,
        KeyError,
        OSError,
        RuntimeError,  # a bit says that it is encrypted, or packed in another way
        TypeError,
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise DamagedFileError(
            f"{path} is damaged ({error}). Delete it and start the run again: it is "
            "made again, and finished cells are kept"
        ) from error


def read_table(path: Path, **options: Any) -> "pd.DataFrame":
    """Read a table of results as csv, with the options of ``pandas.read_csv``."""
    import pandas as pd

    with intact(path):
        table: pd.DataFrame = pd.read_csv(path, **options)
    return table


def read_json(path: Path) -> Any:
    """Read a JSON file of results."""
    with intact(path):
        return json.loads(path.read_text(encoding="utf-8"))


def write_table(
    path: Path, table: "pd.DataFrame", *, digits: int | None = None
) -> None:
    """Write a table as csv (gzip by its ending) with bytes that depend on it alone.

    What is computed from other numbers has so many significant ``digits`` that they are
    the same on any machine.
    """
    if digits is not None:
        table = table.map(
            lambda value: (
                float(f"{value:.{digits}g}") if isinstance(value, float) else value
            )
        )
    text = table.to_csv(index=False, lineterminator="\n").encode()
    if path.suffix == ".gz":
        buffer = io.BytesIO()
        with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
            file.write(text)
        text = buffer.getvalue()
    write_bytes(path, text)


def write_npz(path: Path, arrays: "Mapping[str, np.ndarray]") -> None:
    """Write named arrays in one step; equal arrays give equal bytes."""
    write_bytes(path, npz_bytes(arrays))


def npz_bytes(arrays: "Mapping[str, np.ndarray]") -> bytes:
    """Return the content of an ``.npz`` file that depends on its arrays alone."""
    import numpy as np

    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in sorted(arrays):
            info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as member:
                np.lib.format.write_array(
                    member, np.asanyarray(arrays[name]), allow_pickle=False
                )
    return stream.getvalue()


def write_json(path: Path, document: Any) -> None:
    """Write a document as JSON with sorted keys, in one step."""
    write_text(path, json.dumps(document, indent=1, sort_keys=True) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file in one step; a reader sees the old one or the new one."""
    write_bytes(path, text.encode())


def make_folder(path: Path) -> None:
    """Make a folder and those above; an error that says so where there can be none."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, FileNotFoundError):
        raise NotADirectoryError(errno.ENOTDIR, "Not a folder", str(path)) from None


def write_bytes(path: Path, content: bytes, *, sync: bool = True) -> None:
    """Write a file in one step; a reader sees the old one or the new one.

    ``sync``: Not even a power loss leaves the new name with nothing behind it.
    """
    make_folder(path.parent)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)
        raise
