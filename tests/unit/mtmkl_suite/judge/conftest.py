"""Score tables made for tests: their truth is known because the test wrote it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import pytest

DEFAULTS: dict[str, Any] = {
    "paper": "p", "experiment": "e", "dataset": "d", "method": "m", "n_tasks": 4,
    "subset": 0, "train_size": 0, "repeat": 0, "fold": 0, "setting": "", "task": "all",
    "metric": "mse", "value": 0.0, "params": "", "at_grid_edge": 0.0,
    "fit_seconds": 1.0, "n_iter": 10, "gap": 0.0, "data_digest": "0",
    "code_version": "0", "train_unit": "",
}  # fmt: skip


@pytest.fixture
def table() -> Callable[[Sequence[Mapping[str, Any]]], pd.DataFrame]:
    """Rows with the named columns; all others are the same everywhere."""
    return lambda rows: pd.DataFrame([DEFAULTS | dict(row) for row in rows])
