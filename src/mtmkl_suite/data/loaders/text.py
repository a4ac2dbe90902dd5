"""Tables of numbers in text files."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from mtmkl.typing import FloatArray
from mtmkl_suite.data.errors import DataCorruptError, check_expected


def fields(
    name: str,
    paths: Iterable[Path],
    width: int,
    separator: str | None = ",",
    *,
    skipped: int = 0,
) -> list[list[str]]:
    """Return the fields of all lines that are not blank, ``width`` in each.

    ``name`` is that of the data set, for messages. A ``separator`` of None stands for
    blanks; ``skipped`` lines are left out at the beginning of each file.
    """
    rows = [
        [field.strip() for field in line.split(separator)]
        for path in paths
        for line in path.read_text(encoding="ascii").splitlines()[skipped:]
        if line.strip()
    ]
    check_expected(name, "fields of a row", sorted({len(r) for r in rows}), [width])
    return rows


def numbers(name: str, rows: Sequence[Sequence[str]]) -> FloatArray:
    """Return the rows of a data set as numbers, an unknown one ("?") as nan."""
    try:
        return np.array(
            [[np.nan if text == "?" else float(text) for text in row] for row in rows]
        )
    except ValueError as error:
        raise DataCorruptError(f"{name}: not a table of numbers: {error}") from None
