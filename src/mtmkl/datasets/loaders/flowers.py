"""Oxford flowers: 17 kinds of flowers, by distances between their photographs."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.errors import check_expected
from mtmkl.datasets.fetch.obtaining import Places
from mtmkl.datasets.loaders.images import SEVEN, stored_distances
from mtmkl.datasets.tasks import one_vs_rest
from mtmkl.typing import IntArray

_N_CLASSES, _N_IMAGES, _N_SPLITS = 17, 80, 3
_ROLES = {"trn": 40, "val": 20, "tst": 20}
_NAMES = (
    "daffodil", "snowdrop", "lily of the valley", "bluebell", "crocus", "iris",
    "tiger lily", "tulip", "fritillary", "sunflower", "daisy", "colt's foot",
    "dandelion", "cowslip", "buttercup", "windflower", "pansy",
)  # fmt: skip


def load_flowers17(files: Mapping[str, Path]) -> MultiTaskData:
    """Read the flowers as 17 one-vs-rest tasks, with own distances between images.

    The seven distance matrices that were published with the images are not available;
    these are our own, see :mod:`mtmkl.datasets.loaders.images`. The first call computes
    them, in about three minutes, and keeps them in the data cache.

    Parameters
    ----------
    files : mapping of str to Path
        ``jpg.tar`` and ``datasplits.mat``.

    Returns
    -------
    MultiTaskData
        17 tasks of the same 1,360 images, 80 of each kind; X is the row of the image in
        the seven ``matrices``. ``truth["train_1"]``, ``truth["test_1"]`` … mark the
        680 and 340 images of the three published splits, whose 340 images for
        validation have no role.

    Raises
    ------
    DataCorruptError
        If a count is not the known one.
    ImportError
        If scikit-image is not installed.
    """
    from scipy.io import loadmat

    n = _N_CLASSES * _N_IMAGES
    stored = loadmat(files["datasplits.mat"])
    marks = {}
    for split in range(1, _N_SPLITS + 1):
        rows = {role: _rows(stored[f"{role}{split}"]) for role in _ROLES}
        everyone = np.sort(np.concatenate(list(rows.values()))).tolist()
        check_expected(
            "flowers17", f"images of split {split}", everyone, list(range(n))
        )
        for role, count in _ROLES.items():
            kinds = np.bincount(rows[role] // _N_IMAGES, minlength=_N_CLASSES)
            check_expected(
                "flowers17", f"{role}{split}", kinds.tolist(), [count] * _N_CLASSES
            )
        for role, name in (("trn", "train"), ("tst", "test")):
            mark = np.zeros(n, dtype=bool)
            mark[rows[role]] = True
            marks[f"{name}_{split}"] = np.tile(mark, _N_CLASSES)
    distances = stored_distances(
        files["jpg.tar"], SEVEN, Places(None).cache / "flowers17"
    )
    for label, matrix in distances.items():
        check_expected("flowers17", f"images of {label}", len(matrix), n)
    return one_vs_rest(
        np.arange(n, dtype=np.float64)[:, None],
        np.arange(n) // _N_IMAGES,
        name="flowers17",
        class_names=_NAMES,
        feature_names=["image"],
        origin="own kernels",
        truth=marks,
        matrices=distances,
    )


def _rows(numbers: IntArray) -> IntArray:
    """Return rows from 0 of images that are numbered from 1."""
    return np.asarray(numbers, dtype=np.intp).ravel() - 1
