"""Tables of several classes, of which a draw becomes tasks of two.

Each table is read once per process.
"""

import gzip
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.tasks import draw_per_class, one_vs_one, one_vs_rest
from mtmkl_suite.data.errors import DataCorruptError, check_expected
from mtmkl_suite.data.loaders.text import fields, numbers
from mtmkl_suite.documents import Count, NotNegative, words

Rows = tuple[NDArray[Any], NDArray[np.str_]]
"""Features (m, d) and the class of each row (m,)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassTable:
    """A table of several classes, as it is published."""

    name: str
    files: tuple[str, ...]
    """Read as one table, in this order."""
    read: Callable[..., Rows]
    class_sizes: Mapping[str, int]
    """Known number of rows of each class."""
    features: Sequence[str]
    values: tuple[float, float] | None = None
    """Least and largest, where they are known."""
    scale: float = 1.0
    """By which all values are divided."""

    def load(
        self,
        files: Mapping[str, Path],
        *,
        n_per_class: Count | None = 200,
        tasks: Literal["one_vs_one", "one_vs_rest"] = "one_vs_one",
        seed: NotNegative = 0,
    ) -> MultiTaskData:
        """Draw ``n_per_class`` examples of each class, and make tasks of two classes.

        At most the size of the smallest class is drawn, which None stands for.
        """
        X, label = self.rows(files)
        drawn = draw_per_class(label, n_per_class, seed)
        divide: Callable[..., MultiTaskData]
        divide = one_vs_one if tasks == "one_vs_one" else one_vs_rest
        return divide(
            X[drawn] / self.scale,
            label[drawn],
            name=self.name,
            feature_names=self.features,
        )

    def rows(self, files: Mapping[str, Path]) -> Rows:
        """Return all rows as they are stored."""
        return _checked_rows(self, *(files[file] for file in self.files))


@lru_cache(maxsize=8)
def _checked_rows(table: ClassTable, *paths: Path) -> Rows:
    X, label = table.read(table, *paths)
    sizes = dict(Counter(label.tolist()))
    check_expected(table.name, "class sizes", sizes, table.class_sizes)
    if table.values is not None:
        check_expected(table.name, "range", (X.min(), X.max()), table.values)
    return X, label


def _text_rows(
    table: ClassTable, *paths: Path, separator: str | None = ",", skipped: int = 0
) -> Rows:
    """Read lines of features and class."""
    width = len(table.features) + 1
    rows = fields(table.name, paths, width, separator, skipped=skipped)
    X = numbers(table.name, [row[:-1] for row in rows])
    return X, np.array([row[-1] for row in rows])


def _pixels(height: int, width: int) -> tuple[str, ...]:
    places = ((row, column) for row in range(height) for column in range(width))
    return tuple(f"pixel {row + 1},{column + 1}" for row, column in places)


load_wall_following = ClassTable(
    name="wall_following",
    files=("sensor_readings_24.data",),
    read=_text_rows,
    class_sizes={
        "Move-Forward": 2205,
        "Sharp-Right-Turn": 2097,
        "Slight-Left-Turn": 328,
        "Slight-Right-Turn": 826,
    },
    features=[f"sensor {k + 1}" for k in range(24)],
).load


load_statlog_vehicle = ClassTable(
    name="statlog_vehicle",
    files=tuple(f"xa{letter}.dat" for letter in "abcdefghi"),
    read=partial(_text_rows, separator=None),
    class_sizes={"bus": 218, "opel": 212, "saab": 217, "van": 199},
    features=(
        "compactness", "circularity", "distance circularity", "radius ratio",
        "principal axis aspect ratio", "maximum length aspect ratio", "scatter ratio",
        "elongatedness", "principal axis rectangularity",
        "maximum length rectangularity", "scaled variance along the major axis",
        "scaled variance along the minor axis", "scaled radius of gyration",
        "skewness about the major axis", "skewness about the minor axis",
        "kurtosis about the minor axis", "kurtosis about the major axis",
        "hollows ratio",
    ),
).load  # fmt: skip


def _segmentation_rows(table: ClassTable, *paths: Path) -> Rows:
    """Read lines of class and features, after five of comments and names."""
    rows = fields(table.name, paths, len(table.features) + 1, skipped=5)
    X = numbers(table.name, [row[1:] for row in rows])
    return X, np.array([row[0].lower() for row in rows])


load_segmentation = ClassTable(
    name="segmentation",
    # segment.dat has the same rows in another order.
    files=("segmentation.data", "segmentation.test"),
    read=_segmentation_rows,
    class_sizes=dict.fromkeys(
        ("brickface", "cement", "foliage", "grass", "path", "sky", "window"), 330
    ),
    features=(
        "region centroid column", "region centroid row", "region pixel count",
        "short line density 5", "short line density 2", "vertical edge mean",
        "vertical edge sd", "horizontal edge mean", "horizontal edge sd",
        "intensity mean", "raw red mean", "raw blue mean", "raw green mean",
        "excess red mean", "excess blue mean", "excess green mean", "value mean",
        "saturation mean", "hue mean",
    ),
).load  # fmt: skip


load_pendigits = ClassTable(
    name="pendigits",
    files=("pendigits.tra", "pendigits.tes"),
    read=_text_rows,
    class_sizes={
        "0": 1143, "1": 1143, "2": 1144, "3": 1055, "4": 1144,
        "5": 1055, "6": 1056, "7": 1142, "8": 1055, "9": 1055,
    },
    # Coordinates of eight points of the pen's way.
    features=[f"{axis} {k}" for k in range(1, 9) for axis in "xy"],
    values=(0.0, 100.0),
).load  # fmt: skip


def _idx_rows(table: ClassTable, *paths: Path) -> Rows:
    """Read images for training and for testing, and the labels of both."""
    arrays = [_idx_array(path) for path in paths]
    shapes = [(60000, 28, 28), (10000, 28, 28), (60000,), (10000,)]
    check_expected(table.name, "shapes", [array.shape for array in arrays], shapes)
    images = np.concatenate(arrays[:2]).reshape(-1, len(table.features))
    return images, np.concatenate(arrays[2:]).astype(str)


def _idx_array(path: Path) -> NDArray[np.uint8]:
    """Read an array of bytes: two zeros, type, dimensions, sizes, values."""
    try:
        content = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise DataCorruptError(f"mnist: {path.name} is not gzip: {error}") from None
    if len(content) < 4 or content[:3] != b"\0\0\x08":
        raise DataCorruptError(f"mnist: {path.name} is not an idx file of bytes")
    start = 4 + 4 * content[3]
    shape = tuple(np.frombuffer(content[4:start], dtype=">u4").tolist())
    values = np.frombuffer(content, dtype=np.uint8, offset=start)
    check_expected("mnist", f"values in {path.name}", values.size, int(np.prod(shape)))
    return values.reshape(shape)


load_mnist = ClassTable(
    name="mnist",
    files=tuple(
        f"{part}-{kind}-ubyte.gz"
        for kind in ("images-idx3", "labels-idx1")
        for part in ("train", "t10k")
    ),
    read=_idx_rows,
    class_sizes={
        "0": 6903, "1": 7877, "2": 6990, "3": 7141, "4": 6824,
        "5": 6313, "6": 6876, "7": 7293, "8": 6825, "9": 6958,
    },
    features=_pixels(28, 28),
    scale=255.0,
).load  # fmt: skip


PAIRS = (
    ("c", "e"), ("g", "y"), ("m", "n"), ("a", "g"),
    ("i", "j"), ("a", "o"), ("f", "t"), ("h", "n"),
)  # fmt: skip
"""Letters of the eight tasks (Yousefi et al. 2015, section 5)."""


def _letter_rows(table: ClassTable, path: Path) -> Rows:
    """Read id, letter, next id, word, position, fold and pixels of each image."""
    lines = path.read_bytes().splitlines()
    check_expected(table.name, "number of rows", len(lines), 52152)
    n_pixels = len(table.features)
    letters, images = [], []
    for number, line in enumerate(lines, start=1):
        _, letter, *_, pixels = line.split(b"\t", 6)
        if len(pixels) != 2 * n_pixels:  # of each a digit and a tab
            raise DataCorruptError(
                f"{table.name}: row {number} does not end in {n_pixels} pixels"
            )
        if letter.decode("ascii") in table.class_sizes:
            letters.append(letter.decode("ascii"))
            images.append(pixels)
    digits = np.frombuffer(b"".join(images), dtype=np.uint8).reshape(len(images), -1)
    return digits[:, ::2] - float(ord("0")), np.array(letters)


OCR_LETTERS = ClassTable(
    name="ocr_letters",
    files=("letter.data",),
    read=_letter_rows,
    class_sizes={
        "a": 4034, "c": 2114, "e": 4955, "f": 921, "g": 2472, "h": 861, "i": 4913,
        "j": 189, "m": 1602, "n": 5024, "o": 3897, "t": 2136, "y": 1221,
    },
    features=_pixels(16, 8),
    values=(0.0, 1.0),
)  # fmt: skip


def load_ocr_letters(
    files: Mapping[str, Path], *, n_per_class: Count | None = 200, seed: NotNegative = 0
) -> MultiTaskData:
    """Read handwritten letters as eight one-vs-one tasks, ``PAIRS``.

    A letter with fewer than ``n_per_class`` images gives all it has ('j': 189). None is
    189 of each.
    """
    X, label = OCR_LETTERS.rows(files)
    drawn = draw_per_class(label, n_per_class, seed, equal=False)
    return one_vs_one(
        X[drawn],
        label[drawn],
        name=OCR_LETTERS.name,
        pairs=PAIRS,
        feature_names=OCR_LETTERS.features,
    )


def _bundled_rows(table: ClassTable) -> Rows:
    """Return the digits that come with scikit-learn, without constant pixels."""
    from sklearn.datasets import load_digits as load_bundled

    bunch = load_bundled()
    varying = np.ptp(bunch.data, axis=0) > 0
    check_expected(table.name, "pixels that vary", int(varying.sum()), 61)
    return bunch.data[:, varying] / 16.0, bunch.target.astype(str)


DIGITS = ClassTable(
    name="digits",
    files=(),
    read=_bundled_rows,
    class_sizes={
        "0": 178, "1": 182, "2": 177, "3": 183, "4": 181,
        "5": 182, "6": 181, "7": 179, "8": 174, "9": 180,
    },
    features=[name for k, name in enumerate(_pixels(8, 8)) if k not in (0, 32, 39)],
    values=(0.0, 1.0),
)  # fmt: skip

_SMALLEST = min(DIGITS.class_sizes.values())
_Images = Annotated[
    int, Field(ge=1, le=_SMALLEST), words(f"a whole number from 1 to {_SMALLEST}")
]
_Digits = Annotated[int, Field(ge=2, le=10), words("a whole number from 2 to 10")]


def load_digits(
    *, n_per_class: _Images | None = None, seed: NotNegative = 0
) -> MultiTaskData:
    """Read scikit-learn's handwritten digits as ten one-vs-rest tasks.

    Pixels that are constant over all 1797 images are left out, the others scaled from
    0-16 to 0-1; a bias column of ones is the last. By default all images are taken.
    """
    X, label = DIGITS.rows({})
    rows = np.arange(len(label))
    if n_per_class is not None:
        rows = np.sort(draw_per_class(label, n_per_class, seed))
    return one_vs_rest(
        np.column_stack([X[rows], np.ones(len(rows))]),
        label[rows],
        name="digits",
        feature_names=(*DIGITS.features, "bias"),
        origin="stand-in",
    )


def load_digits_pairs(
    *, n_classes: _Digits = 10, n_per_class: _Images = 30, seed: NotNegative = 0
) -> MultiTaskData:
    """Read the digits from 0 to ``n_classes`` − 1 of scikit-learn as one-vs-one tasks.

    The features are those of :func:`load_digits` without the bias.
    """
    X, label = DIGITS.rows({})
    rows = draw_per_class(label, n_per_class, seed)[: n_classes * n_per_class]
    return one_vs_one(
        X[rows],
        label[rows],
        name="digits_pairs",
        feature_names=DIGITS.features,
        origin="stand-in",
    )
