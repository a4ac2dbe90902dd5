"""MNIST: handwritten digits of 28 by 28 pixels, in files of the idx format."""

import gzip
import zlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.errors import DataCorruptError, check_expected
from mtmkl.datasets.options import Count, NotNegative, TaskKind
from mtmkl.datasets.tasks import ONE_VS_ONE, draw_per_class, of_classes

_SIDE = 28
_CLASS_SIZES = [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]
_PARTS = (("train", 60000), ("t10k", 10000))
_UNSIGNED_BYTE = 8  # type code of the idx format


def load_mnist(
    files: Mapping[str, Path],
    *,
    n_per_class: Count | None = 200,
    tasks: TaskKind = ONE_VS_ONE,
    seed: NotNegative = 0,
) -> MultiTaskData:
    """Read MNIST as 45 one-vs-one tasks.

    Parameters
    ----------
    files : mapping of str to Path
        The four ``…-ubyte.gz`` files; training and test images are read as one table.
    n_per_class : int or None
        Images of each digit, drawn at random, at most 6313, the size of the smallest
        class, which None and every larger number stand for.
    tasks : {"one_vs_one", "one_vs_rest"}
        Pairs of digits, or each digit against all others.
    seed : int
        Of the draw.

    Returns
    -------
    MultiTaskData
        45 tasks of ``2 * n_per_class`` images; 784 features, the pixels row by row,
        scaled from 0-255 to 0-1. Many are constant in a small draw.

    Raises
    ------
    DataCorruptError
        If a file is not of the idx format, or a count is not the known one.
    ValueError
        If ``n_per_class`` is less than 1, or ``tasks`` is unknown.
    """
    images, label = _images(
        *(files[f"{part}-images-idx3-ubyte.gz"] for part, _ in _PARTS),
        *(files[f"{part}-labels-idx1-ubyte.gz"] for part, _ in _PARTS),
    )
    rows = draw_per_class(label, n_per_class, seed)
    return of_classes(
        images[rows] / 255.0,
        label[rows],
        tasks,
        name="mnist",
        feature_names=[
            f"pixel {row + 1},{column + 1}"
            for row in range(_SIDE)
            for column in range(_SIDE)
        ],
    )


@lru_cache(maxsize=1)
def _images(*paths: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return all images, one per row, and their digits; cached for the next draw."""
    sizes = [size for _, size in _PARTS]
    arrays = [_read_idx(path) for path in paths]
    expected = [(size, _SIDE, _SIDE) for size in sizes] + [(size,) for size in sizes]
    check_expected("mnist", "shapes", [array.shape for array in arrays], expected)
    images = np.concatenate(arrays[:2]).reshape(-1, _SIDE**2)
    label = np.concatenate(arrays[2:])
    check_expected("mnist", "class sizes", np.bincount(label).tolist(), _CLASS_SIZES)
    for array in (images, label):
        array.setflags(write=False)
    return images, label


def _read_idx(path: Path) -> NDArray[np.uint8]:
    """Read an array of bytes: two zeros, type, dimensions, sizes, values."""
    try:
        content = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise DataCorruptError(f"mnist: {path.name} is not gzip: {error}") from None
    if len(content) < 4 or content[:3] != bytes((0, 0, _UNSIGNED_BYTE)):
        raise DataCorruptError(f"mnist: {path.name} is not an idx file of bytes")
    n_dimensions = content[3]
    start = 4 + 4 * n_dimensions
    shape = tuple(np.frombuffer(content[4:start], dtype=">u4").tolist())
    values = np.frombuffer(content, dtype=np.uint8, offset=start)
    check_expected("mnist", f"values in {path.name}", values.size, int(np.prod(shape)))
    return values.reshape(shape)
