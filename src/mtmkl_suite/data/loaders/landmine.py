"""Landmine detection: clutter and mines from radar features, 29 fields."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.io import loadmat

from mtmkl.datasets.container import MultiTaskData
from mtmkl_suite.documents import NotNegative

_N_FIELDS = 29


def load_landmine(files: Mapping[str, Path]) -> MultiTaskData:
    """Read the landmine data, one task per field.

    Rows and features are as they are stored; y is +1 for a mine (6.1 % of all).
    """
    stored = loadmat(files["LandmineData.mat"])
    features = [np.asarray(X, dtype=np.float64) for X in stored["feature"].ravel()]
    labels = [np.asarray(y, dtype=np.float64).ravel() for y in stored["label"].ravel()]
    return MultiTaskData(
        X=np.concatenate(features),
        y=2.0 * np.concatenate(labels) - 1.0,
        task=np.repeat(np.arange(_N_FIELDS), [len(rows) for rows in features]),
        name="landmine",
        task_names=tuple(f"field {k + 1}" for k in range(_N_FIELDS)),
    )


def load_balanced_landmine(
    files: Mapping[str, Path], *, seed: NotNegative = 0
) -> MultiTaskData:
    """Read the landmine data with as much clutter as mines per field, drawn anew."""
    whole = load_landmine({"LandmineData.mat": files["landmine/LandmineData.mat"]})
    rng = np.random.default_rng(seed)
    kept = []
    for task in range(whole.n_tasks):
        rows = whole.rows_of(task)
        mines, clutter = rows[whole.y[rows] > 0], rows[whole.y[rows] < 0]
        drawn = rng.permutation(clutter)[: mines.size]
        kept.append(np.sort(np.concatenate([mines, drawn])))
    part = whole.subset(np.concatenate(kept))
    # Rows that are left out leave no gap in the numbers of the samples.
    return replace(part, name="landmine_balanced", sample=np.arange(part.y.size))
