"""Writing files so that a reader sees the old one or the new one, never a part."""

import gzip
import io
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def write_table(path: Path, table: "pd.DataFrame") -> None:
    """Write a table as csv (gzip by its ending) with bytes that depend on it alone."""
    text = table.to_csv(index=False, lineterminator="\n").encode()
    if path.suffix == ".gz":
        buffer = io.BytesIO()
        with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
            file.write(text)
        text = buffer.getvalue()
    write_bytes(path, text)


def write_json(path: Path, document: Any) -> None:
    """Write a document as JSON with sorted keys, in one step."""
    write_text(path, json.dumps(document, indent=1, sort_keys=True) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file in one step; a reader sees the old one or the new one."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file in one step; a reader sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
