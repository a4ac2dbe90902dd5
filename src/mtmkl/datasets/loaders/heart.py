"""Statlog heart disease, as tasks of patients of similar age.

The splits into thirds are those of the protocol ``heart_thirds`` of Jebara 2011.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.errors import DataCorruptError, check_expected

ATTRIBUTES = (
    "age",
    "sex",
    "chest pain type",
    "resting blood pressure",
    "serum cholesterol",
    "fasting blood sugar over 120 mg/dl",
    "resting electrocardiogram",
    "maximum heart rate",
    "exercise induced angina",
    "ST depression",
    "slope of the ST segment",
    "vessels coloured by fluoroscopy",
    "thal",
)

_N_PATIENTS, _N_TASKS = 270, 10


def load_heart(files: Mapping[str, Path]) -> MultiTaskData:
    """Read Statlog heart as ten tasks of 27 patients, from the youngest to the oldest.

    Patients are sorted by age, those of one age in the order of the file, and cut into
    blocks of 27 (Jebara 2011, section 11).

    Parameters
    ----------
    files : mapping of str to Path
        ``heart.dat``; other files are not read.

    Returns
    -------
    MultiTaskData
        13 features, each scaled to [0, 1] by its least and largest value over all
        patients, y = +1 where heart disease is present and −1 where it is absent; rows
        in the order of age.

    Raises
    ------
    DataCorruptError
        If a count or a label is not the known one.
    """
    try:
        table = np.loadtxt(files["heart.dat"])
    except ValueError as error:
        raise DataCorruptError(
            f"statlog_heart: not a table of numbers: {error}"
        ) from None
    shape = (_N_PATIENTS, len(ATTRIBUTES) + 1)
    check_expected("statlog_heart", "shape", table.shape, shape)
    codes, counts = np.unique(table[:, -1], return_counts=True)
    check_expected("statlog_heart", "classes", codes.tolist(), [1.0, 2.0])
    check_expected("statlog_heart", "class sizes", counts.tolist(), [150, 120])
    ages = (table[:, 0].min(), table[:, 0].max())
    check_expected("statlog_heart", "range of age", ages, (29.0, 77.0))

    table = table[np.argsort(table[:, 0], kind="stable")]
    X = table[:, :-1]
    per_task = _N_PATIENTS // _N_TASKS
    blocks = X[:, 0].reshape(_N_TASKS, per_task)
    return MultiTaskData(
        X=(X - X.min(axis=0)) / np.ptp(X, axis=0),
        y=np.where(table[:, -1] == 2.0, 1.0, -1.0),
        task=np.repeat(np.arange(_N_TASKS), per_task),
        name="statlog_heart",
        task_names=tuple(
            f"block {k + 1}, age {ages.min():.0f} to {ages.max():.0f}"
            for k, ages in enumerate(blocks)
        ),
        feature_names=ATTRIBUTES,
    )
