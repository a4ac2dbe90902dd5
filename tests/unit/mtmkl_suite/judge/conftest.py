"""Score tables made for tests: their truth is known because the test wrote it."""

import pandas as pd
import pytest
from made_scores import made_row


@pytest.fixture
def table():
    """Rows with the named columns; all others are the same everywhere."""
    blank = made_row("e", "m", "mse", 0.0, dataset="d", n_tasks=4, train_unit="")
    return lambda rows: pd.DataFrame([blank | row for row in rows])


@pytest.fixture
def by_methods(table):
    """Return a function of the values that methods a, b and c have in each repeat."""
    return lambda *values, **columns: table(
        [
            {"method": name, "repeat": repeat, "value": value, **columns}
            for name, own in zip("abc", values, strict=False)
            for repeat, value in enumerate(own)
        ]
    )
