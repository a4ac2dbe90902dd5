"""Conjoint survey of computer buyers: 180 persons rate 20 computers each."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scipy.io import loadmat

from mtmkl.datasets.container import MultiTaskData

_N_PERSONS, _N_TRAIN, _N_TEST = 180, 16, 4

_FEATURES = (
    "bias", "TE hot line", "RAM", "SC screen size", "CPU", "HD hard disk", "CD-ROM",
    "CA cache", "CO colour", "AV availability", "WA warranty", "SW software",
    "GU guarantee", "PR price",
)  # fmt: skip


def load_computer_survey(files: Mapping[str, Path]) -> MultiTaskData:
    """Read the computer survey: predict a rating, one task per person.

    A person's first 16 rows are the file's training block, whose order differs from
    person to person; ``truth["test_block"]`` marks the other 4.
    """
    stored = loadmat(files["lenk_data.mat"])
    width = len(_FEATURES) + 1
    blocks = [
        stored[key].astype(np.float64).reshape(_N_PERSONS, -1, width)
        for key in ("Traindata", "Testdata")
    ]
    per_person = _N_TRAIN + _N_TEST
    table = np.concatenate(blocks, axis=1).reshape(-1, width)
    return MultiTaskData(
        X=table[:, :-1],
        y=table[:, -1],
        task=np.repeat(np.arange(_N_PERSONS), per_person),
        name="computer_survey",
        task_names=tuple(f"person {k + 1}" for k in range(_N_PERSONS)),
        feature_names=_FEATURES,
        truth={"test_block": np.tile(np.arange(per_person) >= _N_TRAIN, _N_PERSONS)},
    )
