"""Read FASTA files."""

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_NO_LETTER = re.compile(r"[^A-Za-z*.-]")
_GZIP = b"\x1f\x8b"


class FastaRecord(NamedTuple):
    """A record of a FASTA file.

    Attributes
    ----------
    header : str
        What follows the ``>``, without space around it; may be empty.
    sequence : str
        The letters as in the file, its lines joined.
    line : int
        Of the header, counted from 1.
    """

    header: str
    sequence: str
    line: int


def read_fasta(path: str | Path) -> list[FastaRecord]:
    """Read all records of a FASTA file, plain or compressed with gzip.

    A record is a line that starts with ``>`` and the lines of its sequence. Lines that
    start with ``;`` are comments; these, blank lines, space around lines and how lines
    end do not matter. Letters A to Z in either case, ``*``, ``-`` and ``.`` are kept as
    they are. Records that are equal, or have equal headers, are all kept.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    list of FastaRecord
        In the order of the file, at least one.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is not of this form; names the file, the line and what is there.
    """
    path = Path(path)
    headers: list[tuple[str, int]] = []
    sequences: list[list[str]] = []
    for number, line in _lines(path):
        if line.startswith(">"):
            headers.append((line[1:].strip(), number))
            sequences.append([])
        elif not headers:
            raise ValueError(
                f"{path}, line {number}: a FASTA file starts with a header, a line "
                f"that begins with '>', got {line[:40]!r}"
            )
        elif odd := _NO_LETTER.search(line):
            raise ValueError(
                f"{path}, line {number}: {odd[0]!r} is no letter of a sequence"
            )
        else:
            sequences[-1].append(line)
    if not headers:
        raise ValueError(f"{path} has no records: it is empty, or has comments alone")
    records = []
    for (name, number), lines in zip(headers, sequences, strict=True):
        if not lines:
            raise ValueError(
                f"{path}, line {number}: the record {name[:40]!r} has no sequence"
            )
        records.append(FastaRecord(name, "".join(lines), number))
    return records


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and content of the lines that are neither blank nor comments."""
    content = path.read_bytes()
    if content.startswith(_GZIP):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} cannot be unpacked: {error}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}, line {line}: not text in UTF-8") from None
    for number, each in enumerate(text.splitlines(), start=1):
        stripped = each.strip()
        if stripped and not stripped.startswith(";"):
            yield number, stripped
