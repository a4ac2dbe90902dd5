"""Data that come with scikit-learn, cut into tasks: stand-ins that need no download."""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.errors import check_expected
from mtmkl.datasets.options import NotNegative, Range
from mtmkl.datasets.tasks import draw_per_class, one_vs_one, one_vs_rest
from mtmkl.typing import FloatArray, IntArray

_SMALLEST_CLASS = 174
_Images = Annotated[int, Range(1, _SMALLEST_CLASS)]


def load_digits(
    *, n_per_class: _Images | None = None, seed: NotNegative = 0
) -> MultiTaskData:
    """Read scikit-learn's handwritten digits as ten one-vs-rest tasks.

    Parameters
    ----------
    n_per_class : int, optional
        Images of each digit, drawn at random; by default all (174 to 183 a digit).
    seed : int
        Of that draw.

    Returns
    -------
    MultiTaskData
        Ten tasks of the same images, 1797 of them or ``10 * n_per_class``; 62
        features: the pixels that are not constant over all 1797 images, scaled from
        0-16 to 0-1, and a bias column of ones, the last.

    Raises
    ------
    ValueError
        If ``n_per_class`` is not between 1 and the size of the smallest class.
    """
    pixels, label, names = _varying_pixels()
    rows = np.arange(len(label))
    if n_per_class is not None:
        rows = np.sort(_draw(label, n_per_class, seed))
    return one_vs_rest(
        np.column_stack([pixels[rows], np.ones(len(rows))]),
        label[rows],
        name="digits",
        feature_names=(*names, "bias"),
        origin="stand-in",
    )


def load_digits_pairs(
    *,
    n_classes: Annotated[int, Range(2, 10)] = 10,
    n_per_class: _Images = 30,
    seed: NotNegative = 0,
) -> MultiTaskData:
    """Read scikit-learn's handwritten digits as one-vs-one tasks.

    Parameters
    ----------
    n_classes : int
        Number of digits used, from 0 on, 2 to 10.
    n_per_class : int
        Images of each digit, drawn at random, 1 to 174.
    seed : int
        Of that draw.

    Returns
    -------
    MultiTaskData
        ``n_classes * (n_classes - 1) / 2`` tasks, 45 by default, of ``2 *
        n_per_class`` images each; 61 features: the pixels that are not constant over
        all 1797 images, scaled from 0-16 to 0-1.

    Raises
    ------
    ValueError
        If ``n_classes`` is not between 2 and 10, or ``n_per_class`` not between 1 and
        the size of the smallest class.
    """
    if not 2 <= n_classes <= 10:
        raise ValueError(f"n_classes is {n_classes}, wanted 2 to 10")
    pixels, label, names = _varying_pixels()
    rows = _draw(label, n_per_class, seed)[: n_classes * n_per_class]
    return one_vs_one(
        pixels[rows],
        label[rows],
        name="digits_pairs",
        feature_names=names,
        origin="stand-in",
    )


def _varying_pixels() -> tuple[FloatArray, NDArray[Any], tuple[str, ...]]:
    """Return the pixels that vary, scaled to [0, 1], the digits, and pixel names."""
    from sklearn.datasets import load_digits as load_bundled

    bunch = load_bundled()
    pixels, label = bunch.data / 16.0, bunch.target
    check_expected("digits", "shape", pixels.shape, (1797, 64))
    varying = np.flatnonzero(np.ptp(pixels, axis=0) > 0)
    check_expected("digits", "number of pixels that vary", varying.size, 61)
    smallest = int(np.bincount(label).min())
    check_expected("digits", "size of the smallest class", smallest, _SMALLEST_CLASS)
    names = tuple(f"pixel {p // 8 + 1},{p % 8 + 1}" for p in varying)
    return pixels[:, varying], label, names


def _draw(label: NDArray[Any], n_per_class: int, seed: int) -> IntArray:
    if not 1 <= n_per_class <= _SMALLEST_CLASS:
        raise ValueError(f"n_per_class is {n_per_class}, wanted 1 to {_SMALLEST_CLASS}")
    return draw_per_class(label, n_per_class, seed)
