"""Inner London Education Authority: examination scores of pupils in 139 schools."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat

from mtmkl.datasets.container import MultiTaskData

N_SPLITS = 10
"""Published splits into training and test pupils."""

_N_PUPILS, _N_SCHOOLS = 15362, 139
_BIAS = 27

# The archive's README codes gender as male, female; the single-sex schools of the file
# and the scores show the columns in the other order.
_FEATURES = (
    "year 1985", "year 1986", "year 1987", "% free school meals", "% VR band 1",
    "female", "male", "VR band 3", "VR band 1", "VR band 2", "ESWI", "African", "Arab",
    "Bangladeshi", "Caribbean", "Greek", "Indian", "Pakistani", "S.E. Asian", "Turkish",
    "other ethnic group", "mixed school", "boys' school", "girls' school", "maintained",
    "Church of England", "Roman Catholic", "bias",
)  # fmt: skip


def load_school(files: Mapping[str, Path], *, bias: bool = False) -> MultiTaskData:
    """Read the School data: predict a pupil's score, one task per school.

    The features are two percentages (0-100, not scaled), others 0 or 1, and the column
    of ones where ``bias`` keeps it. ``truth["train_1"]`` … ``truth["train_10"]`` mark
    the training rows of the published splits; the other rows are for testing.
    ``truth["variance"]`` is that of all scores of each school.
    """
    table = loadmat(files["school_b.mat"])
    X = table["x"].T.astype(np.float64)  # bytes in the file: no arithmetic before this
    y = table["y"].ravel().astype(np.float64)
    start = table["task_indexes"].ravel().astype(np.intp) - 1
    n_features = len(_FEATURES) if bias else _BIAS
    truth = {
        f"train_{k}": _training_marks(files[f"school_{k}_indexes.mat"])
        for k in range(1, N_SPLITS + 1)
    }
    task = np.searchsorted(start, np.arange(_N_PUPILS), side="right") - 1
    truth["variance"] = np.array([y[task == t].var() for t in range(_N_SCHOOLS)])
    return MultiTaskData(
        X=X[:, :n_features],
        y=y,
        task=task,
        name="school",
        task_names=tuple(f"school {k + 1}" for k in range(_N_SCHOOLS)),
        feature_names=_FEATURES[:n_features],
        truth=truth,
    )


def _training_marks(path: Path) -> NDArray[np.bool_]:
    """Read the training rows of one published split."""
    marks = np.zeros(_N_PUPILS, dtype=bool)
    marks[loadmat(path)["tr"].ravel().astype(np.intp) - 1] = True
    return marks
