"""Photographs in classes, known by the distances between them: flowers, Caltech-101.

The matrices that were published with them are not available. Those used here are our
own, see :mod:`mtmkl_suite.data.loaders.images`. The first call computes them and keeps
them in the data cache.
"""

import tarfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.tasks import one_vs_rest
from mtmkl_suite.data.fetch.obtaining import Places

_FLOWERS = (
    "daffodil", "snowdrop", "lily of the valley", "bluebell", "crocus", "iris",
    "tiger lily", "tulip", "fritillary", "sunflower", "daisy", "colt's foot",
    "dandelion", "cowslip", "buttercup", "windflower", "pansy",
)  # fmt: skip


def load_flowers17(files: Mapping[str, Path]) -> MultiTaskData:
    """Read 17 kinds of Oxford flowers as one-vs-rest tasks.

    The 1,360 images, 80 of each kind, are in all tasks; X is the row of the image in
    the seven ``matrices``, which take about three minutes. ``truth["train_1"]``,
    ``truth["test_1"]`` … mark the 680 and 340 images of the three published splits,
    whose 340 for validation have no role.
    """
    kind = np.repeat(np.arange(17), 80)
    stored = loadmat(files["datasplits.mat"])
    marks = {}
    for split in (1, 2, 3):
        for role, name in (("trn", "train"), ("tst", "test")):
            # Images are numbered from 1.
            mark = np.isin(np.arange(1, kind.size + 1), stored[f"{role}{split}"])
            marks[f"{name}_{split}"] = np.tile(mark, 17)
    return one_vs_rest(
        np.arange(kind.size, dtype=np.float64)[:, None],
        kind,
        name="flowers17",
        class_names=_FLOWERS,
        feature_names=["image"],
        origin="own kernels",
        truth=marks,
        matrices=_distances(files["jpg.tar"], "SEVEN", "flowers17"),
    )


def load_caltech101(files: Mapping[str, Path]) -> MultiTaskData:
    """Read the first 30 images of each category of Caltech-101 as one-vs-rest tasks.

    The 3,060 images of 102 categories, ``BACKGROUND_Google`` among them, are in all
    tasks; X is the row of the image in the twelve ``matrices``, which take about
    fifteen minutes.
    """
    archive = files["caltech101_30.tar"]
    with tarfile.open(archive) as tar:
        names = sorted(name for name in tar.getnames() if name.endswith(".jpg"))
    category = np.array([Path(name).parent.name for name in names])
    return one_vs_rest(
        np.arange(len(names), dtype=np.float64)[:, None],
        category,
        name="caltech101",
        class_names=[name.replace("_", " ") for name in np.unique(category)],
        feature_names=["image"],
        origin="own kernels",
        matrices=_distances(archive, "TWELVE", "caltech101"),
    )


def _distances(archive: Path, kinds: str, name: str) -> dict[str, NDArray[np.float32]]:
    try:
        from mtmkl_suite.data.loaders import images
    except ImportError as error:
        raise ImportError(
            f"data set {name!r} needs scikit-image: pip install 'mtmkl[images]'"
        ) from error
    folder = Places().cache / name
    return images.stored_distances(archive, getattr(images, kinds), folder)
