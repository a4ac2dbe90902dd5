"""SARCOS: the torques of a robot arm's seven joints from its positions and motion."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field
from scipy.io import loadmat

from mtmkl.datasets.container import MultiTaskData
from mtmkl_suite.documents import NotNegative

_N_ROWS, _N_JOINTS = 4449, 7
_QUANTITIES = ("position", "velocity", "acceleration")
_N_FEATURES = _N_JOINTS * len(_QUANTITIES)
_Rows = Annotated[int, Field(ge=1, le=_N_ROWS)]


def load_sarcos(
    files: Mapping[str, Path], *, n_per_task: _Rows = 2000, seed: NotNegative = 0
) -> MultiTaskData:
    """Read the inverse dynamics of the arm, one task per joint.

    Every task draws its own rows, without replacement, as in Jawanpuria & Nath (2011),
    who drew from all 48,933. An arm's state may be a training sample of one joint and a
    test sample of another.
    """
    table = loadmat(files["sarcos_inv_test.mat"])["sarcos_inv_test"]
    table = np.asarray(table, dtype=np.float64)
    rng = np.random.default_rng(seed)
    rows = [np.sort(rng.permutation(_N_ROWS)[:n_per_task]) for _ in range(_N_JOINTS)]
    return MultiTaskData(
        X=table[np.concatenate(rows), :_N_FEATURES],
        y=np.concatenate([table[r, _N_FEATURES + k] for k, r in enumerate(rows)]),
        task=np.repeat(np.arange(_N_JOINTS), n_per_task),
        name="sarcos",
        task_names=tuple(f"joint {k + 1}" for k in range(_N_JOINTS)),
        feature_names=tuple(
            f"{quantity} {k + 1}" for quantity in _QUANTITIES for k in range(_N_JOINTS)
        ),
    )
