"""Tables of numbers in text files."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from mtmkl.typing import FloatArray


def fields(
    paths: Iterable[Path], separator: str | None = ",", *, skipped: int = 0
) -> list[list[str]]:
    """Return the fields of all lines that are not blank.

    A ``separator`` of None stands for blanks; ``skipped`` lines are left out at the
    beginning of each file.
    """
    return [
        [field.strip() for field in line.split(separator)]
        for path in paths
        for line in path.read_text(encoding="ascii").splitlines()[skipped:]
        if line.strip()
    ]


def numbers(rows: Sequence[Sequence[str]]) -> FloatArray:
    """Return rows as numbers, an unknown one ("?") as nan."""
    return np.array(
        [[np.nan if text == "?" else float(text) for text in row] for row in rows]
    )
