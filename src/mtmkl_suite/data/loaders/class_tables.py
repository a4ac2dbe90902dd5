"""Tables of several classes, of which a draw becomes tasks of two.

Each table is read once per process.
"""

import gzip
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
from mtmkl_suite.documents import Count, NotNegative

Rows = tuple[NDArray[Any], NDArray[np.str_]]
"""Features (m, d) and the class of each row (m,)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassTable:
    """A table of several classes, as it is published."""

    name: str
    files: tuple[str, ...]
    """Read as one table, in this order."""
    read: Callable[..., Rows]
    features: Sequence[str]
    scale: float = 1.0
    """By which all values are divided."""
    pairs: Sequence[tuple[str, str]] = ()
    """Of the tasks, by default all. A class with too few samples then gives all."""

    def load(
        self,
        files: Mapping[str, Path],
        *,
        n_per_class: Count | None = 200,
        tasks: Literal["one_vs_one", "one_vs_rest"] = "one_vs_one",
        seed: NotNegative = 0,
    ) -> MultiTaskData:
        """Draw ``n_per_class`` samples of each class, and make tasks of two classes.

        At most the size of the smallest class is drawn, which None stands for.
        """
        X, label = self.rows(files)
        drawn = draw_per_class(label, n_per_class, seed, equal=not self.pairs)
        X, label = X[drawn] / self.scale, label[drawn]
        named: dict[str, Any] = {"name": self.name, "feature_names": self.features}
        if tasks == "one_vs_rest":
            return one_vs_rest(X, label, **named)
        return one_vs_one(X, label, pairs=self.pairs, **named)

    def rows(self, files: Mapping[str, Path]) -> Rows:
        """Return all rows as they are stored."""
        return _rows(self.read, *(files[file] for file in self.files))


@lru_cache(maxsize=8)
def _rows(read: Callable[..., Rows], *paths: Path) -> Rows:
    return read(*paths)


def _text_rows(*paths: Path, separator: str | None = ",") -> Rows:
    """Read lines of features and class."""
    rows = _cells(paths, separator)
    return rows[:, :-1].astype(float), rows[:, -1]


def _cells(
    paths: Sequence[Path], separator: str | None = ",", skipped: int = 0
) -> NDArray[np.str_]:
    parts = [
        np.loadtxt(path, dtype=str, delimiter=separator, skiprows=skipped)
        for path in paths
    ]
    return np.char.strip(np.concatenate(parts))


def _pixels(height: int, width: int) -> tuple[str, ...]:
    places = ((row, column) for row in range(height) for column in range(width))
    return tuple(f"pixel {row + 1},{column + 1}" for row, column in places)


load_wall_following = ClassTable(
    name="wall_following",
    files=("sensor_readings_24.data",),
    read=_text_rows,
    features=[f"sensor {k + 1}" for k in range(24)],
).load


load_statlog_vehicle = ClassTable(
    name="statlog_vehicle",
    files=tuple(f"xa{letter}.dat" for letter in "abcdefghi"),
    read=partial(_text_rows, separator=None),
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


def _segmentation_rows(*paths: Path) -> Rows:
    """Read lines of class and features, after five of comments and names."""
    rows = _cells(paths, skipped=5)
    return rows[:, 1:].astype(float), np.char.lower(rows[:, 0])


load_segmentation = ClassTable(
    name="segmentation",
    # segment.dat has the same rows in another order.
    files=("segmentation.data", "segmentation.test"),
    read=_segmentation_rows,
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
    # Coordinates of eight points of the pen's way.
    features=[f"{axis} {k}" for k in range(1, 9) for axis in "xy"],
).load  # fmt: skip


def _idx_rows(*paths: Path) -> Rows:
    """Read images for training and for testing, and the labels of both."""
    arrays = [_idx_array(path) for path in paths]
    images = np.concatenate(arrays[:2]).reshape(70000, -1)
    return images, np.concatenate(arrays[2:]).astype(str)


def _idx_array(path: Path) -> NDArray[np.uint8]:
    """Read an array of bytes: two zeros, type, dimensions, sizes, values."""
    content = gzip.decompress(path.read_bytes())
    start = 4 + 4 * content[3]
    shape = tuple(np.frombuffer(content[4:start], dtype=">u4").tolist())
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)


load_mnist = ClassTable(
    name="mnist",
    files=tuple(
        f"{part}-{kind}-ubyte.gz"
        for kind in ("images-idx3", "labels-idx1")
        for part in ("train", "t10k")
    ),
    read=_idx_rows,
    features=_pixels(28, 28),
    scale=255.0,
).load  # fmt: skip


PAIRS = (
    ("c", "e"), ("g", "y"), ("m", "n"), ("a", "g"),
    ("i", "j"), ("a", "o"), ("f", "t"), ("h", "n"),
)  # fmt: skip
"""Letters of the eight tasks (Yousefi et al. 2015, section 5)."""


def _letter_rows(path: Path) -> Rows:
    """Read id, letter, next id, word, position, fold and pixels of each image."""
    wanted = {letter for pair in PAIRS for letter in pair}
    letters, images = [], []
    for line in path.read_bytes().splitlines():
        _, letter, *_, pixels = line.split(b"\t", 6)
        if letter.decode("ascii") in wanted:
            letters.append(letter.decode("ascii"))
            images.append(pixels)  # of each a digit and a tab
    digits = np.frombuffer(b"".join(images), dtype=np.uint8).reshape(len(images), -1)
    return digits[:, ::2] - float(ord("0")), np.array(letters)


load_ocr_letters = ClassTable(
    name="ocr_letters",
    files=("letter.data",),
    read=_letter_rows,
    features=_pixels(16, 8),
    pairs=PAIRS,
).load


def _bundled_rows() -> Rows:
    """Return the digits that come with scikit-learn, without constant pixels."""
    from sklearn.datasets import load_digits as load_bundled

    bunch = load_bundled()
    varying = np.ptp(bunch.data, axis=0) > 0
    return bunch.data[:, varying] / 16.0, bunch.target.astype(str)


DIGITS = ClassTable(
    name="digits",
    files=(),
    read=_bundled_rows,
    features=[name for k, name in enumerate(_pixels(8, 8)) if k not in (0, 32, 39)],
)  # fmt: skip

_SMALLEST = 174  # images of a digit, of the 8
_Images = Annotated[int, Field(ge=1, le=_SMALLEST)]
_Digits = Annotated[int, Field(ge=2, le=10)]


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
