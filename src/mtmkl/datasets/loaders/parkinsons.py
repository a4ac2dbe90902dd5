"""Parkinson's telemonitoring: two symptom scores of 42 patients from their voices."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mtmkl.datasets.container import MultiTaskData
from mtmkl.datasets.errors import DataCorruptError, check_expected

_N_ROWS, _N_PATIENTS = 5875, 42
_SCORES = {"motor_UPDRS": "motor", "total_UPDRS": "total"}
_FEATURES = {
    "age": "age",
    "sex": "sex",
    "test_time": "test time",
    "Jitter(%)": "jitter, %",
    "Jitter(Abs)": "jitter, absolute",
    "Jitter:RAP": "jitter, RAP",
    "Jitter:PPQ5": "jitter, PPQ5",
    "Jitter:DDP": "jitter, DDP",
    "Shimmer": "shimmer",
    "Shimmer(dB)": "shimmer, dB",
    "Shimmer:APQ3": "shimmer, APQ3",
    "Shimmer:APQ5": "shimmer, APQ5",
    "Shimmer:APQ11": "shimmer, APQ11",
    "Shimmer:DDA": "shimmer, DDA",
    "NHR": "noise to harmonics",
    "HNR": "harmonics to noise",
    "RPDE": "RPDE",
    "DFA": "DFA",
    "PPE": "PPE",
}
_COLUMNS = ["subject#", *list(_FEATURES)[:3], *_SCORES, *list(_FEATURES)[3:]]


def load_parkinsons(files: Mapping[str, Path]) -> MultiTaskData:
    """Read the telemonitoring data, two tasks per patient.

    Parameters
    ----------
    files : mapping of str to Path
        ``parkinsons_updrs.data``.

    Returns
    -------
    MultiTaskData
        84 tasks of 101 to 168 rows: the motor score of patients 1 to 42, then their
        total score. Features are age (years), sex (0 male, 1 female), the time since
        recruitment (days) and 16 measures of the voice, as they are stored. Age and
        sex are constant within a task. ``sample`` is the recording, which the two
        tasks of a patient share.

    Raises
    ------
    DataCorruptError
        If a column or a count is not the known one.
    """
    import pandas as pd

    try:
        table = pd.read_csv(files["parkinsons_updrs.data"], dtype=np.float64)
    except (ValueError, pd.errors.ParserError) as error:
        raise DataCorruptError(
            f"parkinsons_telemonitoring: not a table of numbers: {error}"
        ) from None
    name = "parkinsons_telemonitoring"
    check_expected(name, "columns", table.columns.tolist(), _COLUMNS)
    check_expected(name, "number of recordings", len(table), _N_ROWS)
    patient = table["subject#"].to_numpy(dtype=np.intp) - 1
    patients = np.unique(patient).tolist()
    check_expected(name, "patients", patients, list(range(_N_PATIENTS)))
    order = np.argsort(patient, kind="stable")
    inputs = table[list(_FEATURES)].to_numpy()[order]
    n_scores = len(_SCORES)
    return MultiTaskData(
        X=np.tile(inputs, (n_scores, 1)),
        y=np.concatenate([table[score].to_numpy()[order] for score in _SCORES]),
        task=np.concatenate(
            [patient[order] + k * _N_PATIENTS for k in range(n_scores)]
        ),
        sample=np.tile(order, n_scores),
        name=name,
        task_names=tuple(
            f"patient {k + 1}, {score} score"
            for score in _SCORES.values()
            for k in range(_N_PATIENTS)
        ),
        feature_names=tuple(_FEATURES.values()),
    )
