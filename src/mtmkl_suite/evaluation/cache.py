"""A store of finished pieces of work, so that a killed run loses one of them.

An entry is one ``.npz`` file named by the hash of everything it depends on, written
next to its final name and renamed, so that it exists completely or not at all. Its last
bytes are the digest of all before them: a zip archive checks what its members hold, but
not which array bears which name.
"""

import hashlib
import io
import json
import logging
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtmkl_suite.files import write_bytes

_DIGEST_BYTES = hashlib.sha256().digest_size
_log = logging.getLogger(__name__)

Entry = tuple[Any, dict[str, NDArray[Any]]]


def content_key(**parts: Any) -> str:
    """Return the hash of JSON-able parts; equal parts give equal keys."""
    text = json.dumps(parts, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def get_or_compute(
    folder: Path, key: str, compute: Callable[[], tuple[Any, Mapping[str, Any]]]
) -> Entry:
    """Return the entry of a key, computing and storing it if it is not there.

    A damaged entry is computed again, and a warning logged.
    """
    path = folder / key[:2] / f"{key}.npz"
    content = _intact_content(path)
    if content is None:
        document, arrays = compute()
        text = np.array(json.dumps(document, default=_plain))
        content = _packed({**arrays, "document": text})
        # Without fsync, of which there would be thousands: the digest tells.
        write_bytes(path, content + hashlib.sha256(content).digest(), sync=False)
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    return json.loads(str(arrays.pop("document"))), arrays


def _intact_content(path: Path) -> bytes | None:
    """Return what is stored in an entry; None if there is none, or no longer."""
    try:
        stored = path.read_bytes()
        content, digest = stored[:-_DIGEST_BYTES], stored[-_DIGEST_BYTES:]
        if hashlib.sha256(content).digest() == digest:
            return content
        problem = "its digest is another"
    except FileNotFoundError:
        return None
    except OSError as error:
        problem = str(error)
    _log.warning("%s is damaged (%s): computed again", path, problem)
    path.unlink(missing_ok=True)
    return None


def write_npz(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays in one step; a reader sees the old file or the new one."""
    write_bytes(path, _packed(arrays))


def _packed(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in sorted(arrays):
            # A fixed date: equal content gives equal bytes.
            info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as member:
                np.lib.format.write_array(
                    member, np.asanyarray(arrays[name]), allow_pickle=False
                )
    return stream.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be stored as JSON")
