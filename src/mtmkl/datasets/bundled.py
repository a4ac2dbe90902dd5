"""Data that come with scikit-learn, cut into tasks: stand-ins that need no download."""

import numpy as np

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.errors import check_expected
from mtmkl.datasets.tasks import one_vs_rest


def load_digits(*, n_per_class: int | None = None, seed: int = 0) -> MultiTaskData:
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
    from sklearn.datasets import load_digits as load_bundled

    bunch = load_bundled()
    pixels, label = bunch.data / 16.0, bunch.target
    check_expected("digits", "shape", pixels.shape, (1797, 64))
    varies = np.ptp(pixels, axis=0) > 0
    check_expected("digits", "number of pixels that vary", int(varies.sum()), 61)

    rows = np.arange(len(label))
    if n_per_class is not None:
        smallest = int(np.bincount(label).min())
        if not 1 <= n_per_class <= smallest:
            raise ValueError(f"n_per_class is {n_per_class}, wanted 1 to {smallest}")
        rng = np.random.default_rng(seed)
        drawn = [
            rng.permutation(np.flatnonzero(label == digit))[:n_per_class]
            for digit in range(10)
        ]
        rows = np.sort(np.concatenate(drawn))
    X = np.column_stack(
        [pixels[np.ix_(rows, np.flatnonzero(varies))], np.ones(len(rows))]
    )
    return one_vs_rest(
        X,
        label[rows],
        name="digits",
        feature_names=(
            *(f"pixel {p // 8 + 1},{p % 8 + 1}" for p in np.flatnonzero(varies)),
            "bias",
        ),
        origin="stand-in",
    )
