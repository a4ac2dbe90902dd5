"""χ² distances between photographs: colour, gradients, shape and texture.

Every distance is Σ_b (h_b − h'_b)² / (h_b + h'_b) between histograms h of two images.
What an image's histogram counts does not depend on the other images of the set, nor on
labels: the words of shape and texture are learned from two photographs that come with
scikit-learn. So the same distances serve every split.
"""

import hashlib
import io
import json
import tarfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage
from skimage.color import rgb2hsv, rgb2lab
from skimage.feature import hog, local_binary_pattern
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_sample_images
from sklearn.metrics.pairwise import additive_chi2_kernel

from mtmkl.typing import FloatArray, IntArray
from mtmkl_suite.data.fetch.integrity import sha256_of
from mtmkl_suite.files import write_bytes

_SIDE = 160  # pixels of the central square to which images are brought
_N_WORDS = 128
_ORIENTATIONS = 9
_PHOTO_SIDES = (160, 240, 320, 427)  # at which sizes words are learned

# To be raised with every change of what is computed, so that nothing stored is used.
_VERSION = 1


@dataclass(frozen=True)
class Histogram:
    """A histogram of an image."""

    label: str
    words: str
    """Its bins: "hue", "lab", "binary patterns", "texture", "shape", or "gradients",
    which are no words but the values themselves."""
    levels: tuple[int, ...] = (1,)
    """The histogram is that of L × L parts of the image, for each L."""
    cell: int = 0
    """Pixels of a cell of gradients, for "shape" and "gradients"."""


SEVEN = (
    Histogram("colour", "hue"),
    Histogram("colour layout", "lab", (1, 2)),
    Histogram("gradients", "gradients", cell=20),
    Histogram("small shapes", "shape", (1, 2), cell=6),
    Histogram("large shapes", "shape", (1, 2), cell=12),
    Histogram("binary patterns", "binary patterns", (1, 2)),
    Histogram("texture", "texture", (1, 2)),
)
"""Two histograms of colour, three of shape and gradients, two of texture."""

TWELVE = (
    *SEVEN,
    Histogram("medium shapes", "shape", (1, 2), cell=8),
    Histogram("small shapes, fine layout", "shape", (4,), cell=6),
    Histogram("medium shapes, fine layout", "shape", (4,), cell=8),
    Histogram("large shapes, fine layout", "shape", (4,), cell=12),
    Histogram("texture, fine layout", "texture", (4,)),
)
"""Those, shapes of a third size, and finer layouts."""


def stored_distances(
    archive: Path, kinds: Sequence[Histogram], folder: Path
) -> dict[str, NDArray[np.float32]]:
    """Return distances between the images of an archive, by label, computed only once.

    The archive is a tar file of JPEG images; rows are in the order of their names. The
    float32 memory maps (m, m) are kept in ``folder``; damaged ones are computed anew.
    """
    recipe = json.dumps([_VERSION, _SIDE, _N_WORDS, [vars(kind) for kind in kinds]])
    key = hashlib.sha256((recipe + sha256_of(archive)).encode()).hexdigest()[:16]
    paths = {kind.label: folder / key / f"{n}.npy" for n, kind in enumerate(kinds)}
    if not all(map(_is_intact, paths.values())):
        start = time.perf_counter()
        histograms = image_histograms(images_of(archive), kinds)
        for label, path in paths.items():
            stream = io.BytesIO()
            np.save(stream, chi_squared_distances(histograms[label]))
            content = stream.getvalue()
            write_bytes(path, content + hashlib.sha256(content).digest())
            seconds = time.perf_counter() - start
            print(f"distances, {label}: {seconds:.0f} s since the start")
    return {label: np.load(path, mmap_mode="r") for label, path in paths.items()}


def _is_intact(path: Path) -> bool:
    """Tell whether a file is there and ends with the digest of what is before."""
    content = path.read_bytes() if path.is_file() else b""
    return hashlib.sha256(content[:-32]).digest() == content[-32:]


def image_histograms(
    images: Iterator[FloatArray], kinds: Sequence[Histogram]
) -> dict[str, NDArray[np.float32]]:
    """Return the histograms of images (side, side, 3) in 0 to 1, (m, b) by label."""
    rows: dict[str, list[NDArray[np.float32]]] = {kind.label: [] for kind in kinds}
    for count, rgb in enumerate(images, start=1):
        maps: dict[tuple[str, int], list[IntArray]] = {}
        for kind in kinds:
            if kind.words == "gradients":
                values = _gradients(_grey(rgb), kind.cell, 2).ravel()
            else:
                key = (kind.words, kind.cell)
                if key not in maps:
                    maps[key] = _word_maps(rgb, *key)
                values = _pyramid(maps[key], kind)
            rows[kind.label].append(values.astype(np.float32))
        if count % 200 == 0:
            print(f"{count} images described")
    return {label: np.array(values) for label, values in rows.items()}


def chi_squared_distances(histograms: NDArray[Any]) -> NDArray[np.float32]:
    """Return Σ_b (h_b − h'_b)² / (h_b + h'_b) of all pairs of rows, (m, m), float32."""
    distances = -additive_chi2_kernel(np.asarray(histograms, dtype=np.float32))
    # Sums of rounded terms may differ in their last digit.
    symmetric: NDArray[np.float32] = np.maximum(0.5 * (distances + distances.T), 0.0)
    return symmetric.astype(np.float32, copy=False)


def images_of(archive: Path) -> Iterator[FloatArray]:
    """Yield the images of a tar file in the order of their names.

    Each is brought to a shorter side of 160 pixels, and its central square is taken.
    """
    with tarfile.open(archive) as tar:
        members = [m for m in tar.getmembers() if m.name.endswith(".jpg")]
        for member in sorted(members, key=lambda m: m.name):
            stored = tar.extractfile(member)
            assert stored is not None
            with Image.open(io.BytesIO(stored.read())) as image:
                square = _resized(np.asarray(image.convert("RGB")), _SIDE)
            top, left = ((length - _SIDE) // 2 for length in square.shape[:2])
            yield square[top : top + _SIDE, left : left + _SIDE]


def _resized(image: NDArray[np.uint8], side: int) -> FloatArray:
    """Return an image with this shorter side, its values in 0 to 1."""
    height, width = image.shape[:2]
    scale = side / min(height, width)
    size = round(width * scale), round(height * scale)
    smaller = Image.fromarray(image).resize(size, Image.Resampling.BILINEAR)
    return np.asarray(smaller, dtype=np.float64) / 255.0


def _grey(rgb: FloatArray) -> FloatArray:
    return rgb @ np.array([0.299, 0.587, 0.114])


def _gradients(grey: FloatArray, cell: int, block: int) -> FloatArray:
    """Return histograms of oriented gradients, (rows, columns, values)."""
    values = hog(
        grey,
        orientations=_ORIENTATIONS,
        pixels_per_cell=(cell, cell),
        cells_per_block=(block, block),
        feature_vector=False,
    )
    return values.reshape(*values.shape[:2], -1)


def _responses(grey: FloatArray) -> FloatArray:
    """Return the responses of filters of three sizes, over their mean in the image.

    The strength of the gradient, the Laplacian, and the difference of the second
    derivatives along rows and columns, (height, width, 9).
    """
    answers = []
    for size in (1, 2, 4):
        along, across = (
            ndimage.gaussian_filter(grey, size, order) for order in ((0, 2), (2, 0))
        )
        answers += [
            ndimage.gaussian_gradient_magnitude(grey, size) * size,
            ndimage.gaussian_laplace(grey, size) * size**2,
            (along - across) * size**2,
        ]
    stacked = np.stack(answers, axis=-1)[::2, ::2]
    mean = np.abs(stacked).mean(axis=(0, 1))
    return np.tanh(stacked / np.where(mean > 0, mean, 1.0))


def _descriptors(grey: FloatArray, words: str, cell: int) -> FloatArray:
    if words == "shape":
        return np.sqrt(_gradients(grey, cell, 2))
    return _responses(grey)


def _word_maps(rgb: FloatArray, words: str, cell: int) -> list[IntArray]:
    """Return for each pixel or cell the number of its word; one map per vocabulary."""
    if words in _COLOURS:
        convert, least, spans, bins = _COLOURS[words]
        scaled = (convert(rgb) - least) / spans * bins
        codes = np.clip(scaled.astype(np.intp), 0, np.subtract(bins, 1))
        return [np.ravel_multi_index(tuple(np.moveaxis(codes, -1, 0)), bins)]
    if words == "binary patterns":
        grey = (_grey(rgb) * 255).astype(np.uint8)
        return [
            local_binary_pattern(grey, points, radius, "uniform").astype(np.intp)
            for points, radius in _PATTERNS
        ]
    found = _descriptors(_grey(rgb), words, cell)
    nearest = _vocabulary(words, cell).predict(found.reshape(-1, found.shape[-1]))
    return [nearest.reshape(found.shape[:2]).astype(np.intp)]


_PATTERNS = ((8, 1), (8, 2), (16, 4))  # neighbours and radius of binary patterns
_COLOURS: dict[str, tuple[Any, ...]] = {  # least values, ranges and numbers of bins
    "hue": (rgb2hsv, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (16, 4, 4)),
    "lab": (rgb2lab, (0.0, -60.0, -60.0), (100.0, 120.0, 120.0), (4, 8, 8)),
}


def _pyramid(maps: Sequence[IntArray], kind: Histogram) -> FloatArray:
    """Return the histograms of all parts of the image, which sum to one."""
    parts = []
    for number, words in enumerate(maps):
        n = 256 if kind.words in _COLOURS else _N_WORDS
        if kind.words == "binary patterns":
            n = _PATTERNS[number][0] + 2
        height, width = words.shape
        for level in kind.levels:
            for i in range(level):
                for j in range(level):
                    part = words[
                        i * height // level : (i + 1) * height // level,
                        j * width // level : (j + 1) * width // level,
                    ]
                    counts = np.bincount(part.ravel(), minlength=n)
                    parts.append(counts / part.size)
    return np.concatenate(parts) / len(parts)


@lru_cache(maxsize=8)
def _vocabulary(words: str, cell: int) -> Any:
    """Learn words from scikit-learn's two photographs, at several sizes."""
    found = []
    for photo in load_sample_images().images:
        for side in _PHOTO_SIDES:
            grey = _grey(_resized(photo, side))
            # Cells begin at several pixels, as objects do.
            for shift in range(0, max(cell, 1), max(1, cell // 4)):
                part = _descriptors(grey[shift:, shift:], words, cell)
                found.append(part.reshape(-1, part.shape[-1]))
    means = MiniBatchKMeans(_N_WORDS, random_state=0, n_init=1, batch_size=4096)
    return means.fit(np.concatenate(found))
