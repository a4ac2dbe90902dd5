"""A store of finished pieces of work, so that a killed run loses one of them.

An entry is one ``.npz`` file named by the hash of everything it depends on, written
next to its final name and renamed, so that it exists completely or not at all.
"""

import hashlib
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Entry = tuple[Any, dict[str, NDArray[Any]]]


def content_key(**parts: Any) -> str:
    """Return the hash of JSON-able parts; equal parts give equal keys."""
    text = json.dumps(parts, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def get_or_compute(
    folder: Path, key: str, compute: Callable[[], tuple[Any, Mapping[str, Any]]]
) -> Entry:
    """Return the entry of a key, computing and storing it if it is not there.

    Parameters
    ----------
    folder : Path
        Where entries are kept; made if missing.
    key : str
        From :func:`content_key`.
    compute : callable
        Returns ``(document, arrays)``: something JSON can hold, and named arrays.

    Returns
    -------
    document, arrays
        As they are read back from the file, so that a first and a later run see the
        same.
    """
    path = folder / key[:2] / f"{key}.npz"
    if not path.is_file():
        document, arrays = compute()
        write_npz(
            path, {**arrays, "document": np.array(json.dumps(document, default=_plain))}
        )
    try:
        with np.load(path) as stored:
            arrays = {name: stored[name] for name in stored.files}
            document = json.loads(str(arrays.pop("document")))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, LookupError, ValueError):
        path.unlink()
        return get_or_compute(folder, key, compute)
    return document, arrays


def write_npz(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays in one step; a reader sees the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w") as archive:
            for name in sorted(arrays):
                # A fixed date: equal content gives equal bytes.
                info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
                info.compress_type = zipfile.ZIP_DEFLATED
                with archive.open(info, "w", force_zip64=True) as member:
                    np.lib.format.write_array(
                        member, np.asanyarray(arrays[name]), allow_pickle=False
                    )
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be stored as JSON")
