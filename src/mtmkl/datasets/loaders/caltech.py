"""Caltech-101: objects of 102 categories, by distances between their photographs."""

import tarfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.errors import check_expected
from mtmkl.datasets.fetch.obtaining import Places
from mtmkl.datasets.loaders.images import TWELVE, stored_distances
from mtmkl.datasets.tasks import one_vs_rest

_N_CATEGORIES, _N_IMAGES = 102, 30


def load_caltech101(files: Mapping[str, Path]) -> MultiTaskData:
    """Read Caltech-101 as 102 one-vs-rest tasks, with own distances between images.

    The 25 kernels that were published with a choice of images are not available; these
    are our own, see :mod:`mtmkl.datasets.loaders.images`, on the first 30 images of
    each category. The first call computes them, in about fifteen minutes, and keeps
    them in the data cache.

    Parameters
    ----------
    files : mapping of str to Path
        ``caltech101_30.tar``.

    Returns
    -------
    MultiTaskData
        102 tasks of the same 3,060 images, 30 of each category, which are in sorted
        order, ``BACKGROUND_Google`` among them; X is the row of the image in the twelve
        ``matrices``.

    Raises
    ------
    DataCorruptError
        If a count is not the known one.
    ImportError
        If scikit-image is not installed.
    """
    archive = files["caltech101_30.tar"]
    with tarfile.open(archive) as tar:
        names = sorted(name for name in tar.getnames() if name.endswith(".jpg"))
    category = np.array([Path(name).parent.name for name in names])
    known, sizes = np.unique(category, return_counts=True)
    check_expected("caltech101", "number of categories", len(known), _N_CATEGORIES)
    check_expected(
        "caltech101", "images of each", np.unique(sizes).tolist(), [_N_IMAGES]
    )
    distances = stored_distances(archive, TWELVE, Places(None).cache / "caltech101")
    return one_vs_rest(
        np.arange(len(names), dtype=np.float64)[:, None],
        category,
        name="caltech101",
        class_names=[name.replace("_", " ") for name in known],
        feature_names=["image"],
        origin="own kernels",
        matrices=distances,
    )
