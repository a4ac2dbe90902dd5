"""Handwritten letters of words, as eight pairs that are easily confused."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.errors import DataCorruptError, check_expected
from mtmkl.datasets.options import Count, NotNegative
from mtmkl.datasets.tasks import draw_per_class, one_vs_one
from mtmkl.typing import FloatArray

PAIRS = (
    ("c", "e"),
    ("g", "y"),
    ("m", "n"),
    ("a", "g"),
    ("i", "j"),
    ("a", "o"),
    ("f", "t"),
    ("h", "n"),
)
"""Letters of the eight tasks (Yousefi et al. 2015, section 5)."""

_N_ROWS, _HEIGHT, _WIDTH = 52152, 16, 8
_N_FIELDS_BEFORE = 6  # id, letter, next id, word, position, fold
_CLASS_SIZES = {
    "a": 4034, "c": 2114, "e": 4955, "f": 921, "g": 2472, "h": 861, "i": 4913,
    "j": 189, "m": 1602, "n": 5024, "o": 3897, "t": 2136, "y": 1221,
}  # fmt: skip


def load_ocr_letters(
    files: Mapping[str, Path], *, n_per_class: Count | None = 200, seed: NotNegative = 0
) -> MultiTaskData:
    """Read the letters as eight one-vs-one tasks, ``PAIRS``.

    Parameters
    ----------
    files : mapping of str to Path
        ``letter.data``.
    n_per_class : int or None
        Images of each of the 13 letters, drawn at random; a letter with fewer gives
        all it has ('j': 189). None for 189 of each.
    seed : int
        Of the draw.

    Returns
    -------
    MultiTaskData
        Eight tasks; 128 features, the pixels row by row, 0 or 1. Some are constant in
        a small draw.

    Raises
    ------
    DataCorruptError
        If a count or a pixel is not as known.
    ValueError
        If ``n_per_class`` is less than 1.
    """
    pixels, label = _letters(files["letter.data"])
    rows = draw_per_class(label, n_per_class, seed, equal=False)
    return one_vs_one(
        pixels[rows],
        label[rows],
        name="ocr_letters",
        pairs=PAIRS,
        feature_names=[
            f"pixel {row + 1},{column + 1}"
            for row in range(_HEIGHT)
            for column in range(_WIDTH)
        ],
    )


@lru_cache(maxsize=1)
def _letters(path: Path) -> tuple[FloatArray, NDArray[np.str_]]:
    """Return the images of the letters of ``PAIRS``; kept for the next draw."""
    lines = path.read_bytes().splitlines()
    check_expected("ocr_letters", "number of rows", len(lines), _N_ROWS)
    letters, images = [], []
    for number, line in enumerate(lines, start=1):
        fields = line.split(b"\t", _N_FIELDS_BEFORE)
        # Each pixel is one digit and a tab.
        if len(fields[-1]) != 2 * _HEIGHT * _WIDTH:
            raise DataCorruptError(
                f"ocr_letters: row {number} does not end in {_HEIGHT * _WIDTH} pixels"
            )
        letter = fields[1].decode("ascii")
        if letter in _CLASS_SIZES:
            letters.append(letter)
            images.append(fields[-1])
    label = np.array(letters)
    found, counts = np.unique(label, return_counts=True)
    sizes = dict(zip(found.tolist(), counts.tolist(), strict=True))
    check_expected("ocr_letters", "class sizes", sizes, _CLASS_SIZES)
    digits = np.frombuffer(b"".join(images), dtype=np.uint8).reshape(len(images), -1)
    values = np.unique(digits[:, ::2]).tolist()
    check_expected("ocr_letters", "pixels", values, [ord("0"), ord("1")])
    pixels = (digits[:, ::2] - ord("0")).astype(np.float64)
    for array in (pixels, label):
        array.setflags(write=False)
    return pixels, label
